// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/collective/detail/collective_call.hpp"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace chorus {

/// A plan for: the ranks' inputs, each one block per rank of `counts[b]` elements, are reduced, and rank b's `output` becomes block b of the reduction.
///
/// collective | `counts` equal on all ranks, one per rank, zeros allowed | `input` has the sum of them, `output` counts[rank] | buffers, order and errors as for
/// all_reduce | `output` may be this rank's block of `input`
template <transport Transport, buffer Input, buffer Output, class Op, algorithm_choice Algorithm = automatic>
plan plan_reduce_scatter_v(group<Transport> const& members, Input const& input, Output&& output,
                           std::span<std::uint64_t const> counts, Op const& op, Algorithm const& algorithm = {},
                           plan_options const& options = {}) {
    using element_type = element_of<Input>;
    auto const in = detail::source_span(input);
    auto const out = detail::target_span(output);
    static_assert(reduction_for<Op, element_type>, "chorus: this operation is not defined for this element type");
    return detail::compose_plan(members, collective::reduce_scatter, [&](auto& asked) {
        asked.expect_counts(counts, "counts");
        blocks const cut = blocks::of_counts(counts);
        rank_id const me = asked.me();
        bool const whole = static_cast<void const*>(in.data()) == out.data() && out.size() == in.size();
        asked.template of_elements<element_type>(cut.count());
        asked.expect_memory(in, "the input");
        asked.expect_memory(out, "the output");
        asked.expect_count(in, cut.count(), "the input");
        if (!whole) {
            asked.expect_count(out, cut.length(me), "the output");
            asked.expect_apart(in, out, -static_cast<std::ptrdiff_t>(cut.begin(me)));
        }
        asked.template reducing_by<element_type>(op);
        asked.asked().input = {asked.bytes_of(in), 0, asked.ranks()};
        if (whole) asked.asked().output = {asked.bytes_of(out), 0, asked.ranks()};
        else asked.asked().output = {asked.bytes_of(out), me, 1};
        asked.asked().result = {me, 1};
        asked.cut_by(cut);
        return asked.finish(algorithm, options);
    });
}

/// In place: this rank's block of `in_out` becomes its block of the reduction; the other blocks are unspecified afterwards.
template <transport Transport, buffer Buffer, class Op, algorithm_choice Algorithm = automatic>
    requires(!buffer<Op>)
plan plan_reduce_scatter_v(group<Transport> const& members, Buffer&& in_out, std::span<std::uint64_t const> counts,
                           Op const& op, Algorithm const& algorithm = {}, plan_options const& options = {}) {
    return plan_reduce_scatter_v(members, in_out, in_out, counts, op, algorithm, options);
}

/// Equal blocks: `output` has as many elements as every other rank's, `input` size times as many.
template <transport Transport, buffer Input, buffer Output, class Op, algorithm_choice Algorithm = automatic>
plan plan_reduce_scatter(group<Transport> const& members, Input const& input, Output&& output, Op const& op,
                         Algorithm const& algorithm = {}, plan_options const& options = {}) {
    std::vector<std::uint64_t> const counts(members.size(), std::ranges::size(output));
    return plan_reduce_scatter_v(members, input, output, counts, op, algorithm, options);
}

/// The same, done at once.
template <transport Transport, buffer Input, buffer Output, class Op, algorithm_choice Algorithm = automatic>
void reduce_scatter_v(group<Transport> const& members, Input const& input, Output&& output,
                      std::span<std::uint64_t const> counts, Op const& op, Algorithm const& algorithm = {},
                      plan_options const& options = {}) {
    plan_reduce_scatter_v(members, input, output, counts, op, algorithm, options).run();
}
template <transport Transport, buffer Buffer, class Op, algorithm_choice Algorithm = automatic>
    requires(!buffer<Op>)
void reduce_scatter_v(group<Transport> const& members, Buffer&& in_out, std::span<std::uint64_t const> counts,
                      Op const& op, Algorithm const& algorithm = {}, plan_options const& options = {}) {
    plan_reduce_scatter_v(members, in_out, counts, op, algorithm, options).run();
}
template <transport Transport, buffer Input, buffer Output, class Op, algorithm_choice Algorithm = automatic>
void reduce_scatter(group<Transport> const& members, Input const& input, Output&& output, Op const& op,
                    Algorithm const& algorithm = {}, plan_options const& options = {}) {
    plan_reduce_scatter(members, input, output, op, algorithm, options).run();
}

}  // namespace chorus
