// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/collective/detail/collective_call.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace chorus {

/// A plan for: the root's `output` becomes all ranks' inputs one after another, that of rank b being counts[b] elements
/// long. `output` is looked at on the root only.
///
/// collective | `counts` equal on all ranks, also where they are not the root | on the root `input` may be its block of
/// `output` | errors as for all_reduce
template <transport Transport, buffer Input, buffer Output, algorithm_choice Algorithm = automatic>
plan plan_gather_v(group<Transport> const& members, Input const& input, Output&& output,
                   std::span<std::uint64_t const> counts, rank_id root, Algorithm const& algorithm = {},
                   plan_options const& options = {}) {
    using element_type = element_of<Input>;
    auto const in = detail::source_span(input);
    auto const out = detail::target_span(output);
    return detail::compose_plan(members, collective::gather, [&](auto& asked) {
        asked.expect_counts(counts, "counts");
        blocks const cut = blocks::of_counts(counts);
        rank_id const me = asked.me();
        asked.template of_elements<element_type>(cut.count());
        asked.rooted_at(root);
        asked.expect_memory(in, "the input");
        asked.expect_count(in, cut.length(me), "the input");
        asked.asked().input = {asked.bytes_of(in), me, 1};
        if (me == root) {
            asked.expect_memory(out, "the root's output");
            asked.expect_count(out, cut.count(), "the root's output");
            asked.expect_apart(in, out, static_cast<std::ptrdiff_t>(cut.begin(me)));
            asked.asked().output = {asked.bytes_of(out), 0, asked.ranks()};
            asked.asked().result = {0, asked.ranks()};
        }
        asked.cut_by(cut);
        return asked.finish(algorithm, options);
    });
}

/// Equal blocks.
template <transport Transport, buffer Input, buffer Output, algorithm_choice Algorithm = automatic>
plan plan_gather(group<Transport> const& members, Input const& input, Output&& output, rank_id root,
                 Algorithm const& algorithm = {}, plan_options const& options = {}) {
    std::vector<std::uint64_t> const counts(members.size(), std::ranges::size(input));
    return plan_gather_v(members, input, output, counts, root, algorithm, options);
}

/// The same, done at once.
template <transport Transport, buffer Input, buffer Output, algorithm_choice Algorithm = automatic>
void gather_v(group<Transport> const& members, Input const& input, Output&& output,
              std::span<std::uint64_t const> counts, rank_id root, Algorithm const& algorithm = {},
              plan_options const& options = {}) {
    plan_gather_v(members, input, output, counts, root, algorithm, options).run();
}
template <transport Transport, buffer Input, buffer Output, algorithm_choice Algorithm = automatic>
void gather(group<Transport> const& members, Input const& input, Output&& output, rank_id root,
            Algorithm const& algorithm = {}, plan_options const& options = {}) {
    plan_gather(members, input, output, root, algorithm, options).run();
}

}  // namespace chorus
