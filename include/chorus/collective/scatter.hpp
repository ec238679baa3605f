// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/collective/detail/collective_call.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace chorus {

/// A plan for: rank b's `output` becomes block b of the root's `input`, counts[b] elements long. `input` is looked at
/// on the root only.
///
/// collective | `counts` equal on all ranks, also where they are not the root | on the root `output` may be its block
/// of `input` | errors as for all_reduce
template <transport Transport, buffer Input, buffer Output, algorithm_choice Algorithm = automatic>
plan plan_scatter_v(group<Transport> const& members, Input const& input, Output&& output,
                    std::span<std::uint64_t const> counts, rank_id root, Algorithm const& algorithm = {},
                    plan_options const& options = {}) {
    using element_type = element_of<Output>;
    auto const in = detail::source_span(input);
    auto const out = detail::target_span(output);
    return detail::compose_plan(members, collective::scatter, [&](auto& asked) {
        asked.expect_counts(counts, "counts");
        blocks const cut = blocks::of_counts(counts);
        rank_id const me = asked.me();
        asked.template of_elements<element_type>(cut.count());
        asked.rooted_at(root);
        asked.expect_memory(out, "the output");
        asked.expect_count(out, cut.length(me), "the output");
        if (me == root) {
            asked.expect_memory(in, "the root's input");
            asked.expect_count(in, cut.count(), "the root's input");
            asked.expect_apart(in, out, -static_cast<std::ptrdiff_t>(cut.begin(me)));
            asked.asked().input = {asked.bytes_of(in), 0, asked.ranks()};
        }
        asked.asked().output = {asked.bytes_of(out), me, 1};
        asked.asked().result = {me, 1};
        asked.cut_by(cut);
        return asked.finish(algorithm, options);
    });
}

/// Equal blocks.
template <transport Transport, buffer Input, buffer Output, algorithm_choice Algorithm = automatic>
plan plan_scatter(group<Transport> const& members, Input const& input, Output&& output, rank_id root,
                  Algorithm const& algorithm = {}, plan_options const& options = {}) {
    std::vector<std::uint64_t> const counts(members.size(), std::ranges::size(output));
    return plan_scatter_v(members, input, output, counts, root, algorithm, options);
}

/// The same, done at once.
template <transport Transport, buffer Input, buffer Output, algorithm_choice Algorithm = automatic>
void scatter_v(group<Transport> const& members, Input const& input, Output&& output,
               std::span<std::uint64_t const> counts, rank_id root, Algorithm const& algorithm = {},
               plan_options const& options = {}) {
    plan_scatter_v(members, input, output, counts, root, algorithm, options).run();
}
template <transport Transport, buffer Input, buffer Output, algorithm_choice Algorithm = automatic>
void scatter(group<Transport> const& members, Input const& input, Output&& output, rank_id root,
             Algorithm const& algorithm = {}, plan_options const& options = {}) {
    plan_scatter(members, input, output, root, algorithm, options).run();
}

}  // namespace chorus
