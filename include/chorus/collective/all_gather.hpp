// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/collective/detail/collective_call.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace chorus {

/// A plan for: every rank's `output` becomes all ranks' inputs one after another, that of rank b being counts[b] elements long.
///
/// collective | `counts` equal on all ranks, zeros allowed | `input` has counts[rank] elements, `output` the sum | `input` may be this rank's block of
/// `output` | buffers and errors as for all_reduce
template <transport Transport, buffer Input, buffer Output, algorithm_choice Algorithm = automatic>
plan plan_all_gather_v(group<Transport> const& members, Input const& input, Output&& output,
                       std::span<std::uint64_t const> counts, Algorithm const& algorithm = {},
                       plan_options const& options = {}) {
    using element_type = element_of<Input>;
    auto const in = detail::source_span(input);
    auto const out = detail::target_span(output);
    return detail::compose_plan(members, collective::all_gather, [&](auto& asked) {
        asked.expect_counts(counts, "counts");
        blocks const cut = blocks::of_counts(counts);
        rank_id const me = asked.me();
        asked.template of_elements<element_type>(cut.count());
        asked.expect_memory(in, "the input");
        asked.expect_memory(out, "the output");
        asked.expect_count(in, cut.length(me), "the input");
        asked.expect_count(out, cut.count(), "the output");
        asked.expect_apart(in, out, static_cast<std::ptrdiff_t>(cut.begin(me)));
        asked.asked().input = {asked.bytes_of(in), me, 1};
        asked.asked().output = {asked.bytes_of(out), 0, asked.ranks()};
        asked.asked().result = {0, asked.ranks()};
        asked.cut_by(cut);
        return asked.finish(algorithm, options);
    });
}

/// Equal blocks. `input` has as many elements as every other rank's, `output` size times as many.
template <transport Transport, buffer Input, buffer Output, algorithm_choice Algorithm = automatic>
plan plan_all_gather(group<Transport> const& members, Input const& input, Output&& output,
                     Algorithm const& algorithm = {}, plan_options const& options = {}) {
    std::vector<std::uint64_t> const counts(members.size(), std::ranges::size(input));
    return plan_all_gather_v(members, input, output, counts, algorithm, options);
}

/// In place: rank r's own elements are block r of `in_out` already, which is cut into size equal blocks.
template <transport Transport, buffer Buffer, algorithm_choice Algorithm = automatic>
plan plan_all_gather(group<Transport> const& members, Buffer&& in_out, Algorithm const& algorithm = {},
                     plan_options const& options = {}) {
    auto const all = detail::target_span(in_out);
    return plan_all_gather(members, all.subspan(all.size() / members.size() * members.rank(), all.size() / members.size()),
                           all, algorithm, options);
}

/// The same, done at once.
template <transport Transport, buffer Input, buffer Output, algorithm_choice Algorithm = automatic>
void all_gather_v(group<Transport> const& members, Input const& input, Output&& output,
                  std::span<std::uint64_t const> counts, Algorithm const& algorithm = {},
                  plan_options const& options = {}) {
    plan_all_gather_v(members, input, output, counts, algorithm, options).run();
}
template <transport Transport, buffer Input, buffer Output, algorithm_choice Algorithm = automatic>
void all_gather(group<Transport> const& members, Input const& input, Output&& output, Algorithm const& algorithm = {},
                plan_options const& options = {}) {
    plan_all_gather(members, input, output, algorithm, options).run();
}
template <transport Transport, buffer Buffer, algorithm_choice Algorithm = automatic>
void all_gather(group<Transport> const& members, Buffer&& in_out, Algorithm const& algorithm = {},
                plan_options const& options = {}) {
    plan_all_gather(members, in_out, algorithm, options).run();
}

}  // namespace chorus
