// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/collective/detail/collective_call.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace chorus {

namespace detail {

template <transport Transport, class Element, class Algorithm>
plan plan_exchange(group<Transport> const& members, std::span<Element const> in,
                   std::span<std::uint64_t const> send_counts, std::span<Element> out,
                   std::span<std::uint64_t const> receive_counts, bool uneven, Algorithm const& algorithm,
                   plan_options const& options) {
    return compose_plan(members, collective::all_to_all, [&](auto& asked) {
        asked.expect_counts(send_counts, "send_counts");
        asked.expect_counts(receive_counts, "receive_counts");
        blocks const in_cut = blocks::of_counts(send_counts);
        blocks const out_cut = blocks::of_counts(receive_counts);
        asked.template of_elements<Element>(uneven ? 0 : in_cut.count());
        asked.expect_memory(in, "the input");
        asked.expect_memory(out, "the output");
        asked.expect_count(in, in_cut.count(), "the input");
        asked.expect_count(out, out_cut.count(), "the output");
        std::uint64_t const to_self = in_cut.length(asked.me());
        std::uint64_t const from_self = out_cut.length(asked.me());
        expects(to_self == from_self, [&] {
            return asked.here() + "it sends " + std::to_string(to_self) + " elements to itself and expects " +
                   std::to_string(from_self);
        });
        asked.expect_apart(in, out, (std::numeric_limits<std::ptrdiff_t>::max)());
        asked.asked().input = {asked.bytes_of(in), 0, 0};
        asked.asked().input_cut = in_cut;
        asked.asked().output = {asked.bytes_of(out), 0, asked.ranks()};
        asked.asked().result = {0, asked.ranks()};
        asked.cut_by(out_cut);
        return asked.finish(algorithm, options, uneven);
    });
}

}  // namespace detail

/// A plan for: block b of `output` becomes block (this rank) of rank b's `input`. Rank r sends send_counts[b] elements to b and receives
/// receive_counts[b] from b, which must be what b sends to r.
///
/// collective | input and output must be apart | a pair of ranks that disagrees about their counts gets `mismatch` | errors as for all_reduce
template <transport Transport, buffer Input, buffer Output, algorithm_choice Algorithm = automatic>
plan plan_all_to_all_v(group<Transport> const& members, Input const& input, std::span<std::uint64_t const> send_counts,
                       Output&& output, std::span<std::uint64_t const> receive_counts, Algorithm const& algorithm = {},
                       plan_options const& options = {}) {
    return detail::plan_exchange(members, detail::source_span(input), send_counts, detail::target_span(output),
                                 receive_counts, true, algorithm, options);
}

/// Equal blocks: input and output have a multiple of size elements, the same on all ranks.
template <transport Transport, buffer Input, buffer Output, algorithm_choice Algorithm = automatic>
plan plan_all_to_all(group<Transport> const& members, Input const& input, Output&& output,
                     Algorithm const& algorithm = {}, plan_options const& options = {}) {
    auto const in = detail::source_span(input);
    std::vector<std::uint64_t> const counts(members.size(), in.size() / members.size());
    return detail::plan_exchange(members, in, counts, detail::target_span(output), counts, false, algorithm, options);
}

/// The same, done at once.
template <transport Transport, buffer Input, buffer Output, algorithm_choice Algorithm = automatic>
void all_to_all_v(group<Transport> const& members, Input const& input, std::span<std::uint64_t const> send_counts,
                  Output&& output, std::span<std::uint64_t const> receive_counts, Algorithm const& algorithm = {},
                  plan_options const& options = {}) {
    plan_all_to_all_v(members, input, send_counts, output, receive_counts, algorithm, options).run();
}
template <transport Transport, buffer Input, buffer Output, algorithm_choice Algorithm = automatic>
void all_to_all(group<Transport> const& members, Input const& input, Output&& output, Algorithm const& algorithm = {},
                plan_options const& options = {}) {
    plan_all_to_all(members, input, output, algorithm, options).run();
}

}  // namespace chorus
