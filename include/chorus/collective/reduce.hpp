// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/collective/detail/collective_call.hpp"

#include <cstdint>
#include <span>

namespace chorus {

/// A plan for: the root's `output` becomes the reduction of all ranks' `input`. `output` is looked at on the root only;
/// elsewhere it may be empty.
///
/// collective | buffers, counts, order and errors as for all_reduce | inputs stay unchanged unless in place on the root
template <transport Transport, buffer Input, buffer Output, class Op, algorithm_choice Algorithm = automatic>
plan plan_reduce(group<Transport> const& members, Input const& input, Output&& output, rank_id root, Op const& op,
                 Algorithm const& algorithm = {}, plan_options const& options = {}) {
    using element_type = element_of<Input>;
    auto const in = detail::source_span(input);
    auto const out = detail::target_span(output);
    static_assert(reduction_for<Op, element_type>, "chorus: this operation is not defined for this element type");
    return detail::compose_plan(members, collective::reduce, [&](auto& asked) {
        asked.template of_elements<element_type>(in.size());
        asked.rooted_at(root);
        asked.expect_memory(in, "the input");
        asked.template reducing_by<element_type>(op);
        asked.cut_at_will(in.size());
        asked.asked().input = {asked.bytes_of(in), 0, 1};
        if (asked.me() == root) {
            asked.expect_memory(out, "the root's output");
            asked.expect_count(out, in.size(), "the root's output");
            asked.expect_apart(in, out, 0);
            asked.asked().output = {asked.bytes_of(out), 0, 1};
            asked.asked().result = {0, 1};
        }
        return asked.finish(algorithm, options);
    });
}

/// In place: the root's buffer holds its own input before and the reduction afterwards; the other ranks' buffers stay
/// unchanged.
template <transport Transport, buffer Buffer, class Op, algorithm_choice Algorithm = automatic>
    requires(!buffer<Op>)
plan plan_reduce(group<Transport> const& members, Buffer&& in_out, rank_id root, Op const& op,
                 Algorithm const& algorithm = {}, plan_options const& options = {}) {
    return plan_reduce(members, in_out, in_out, root, op, algorithm, options);
}

/// The same, done at once.
template <transport Transport, buffer Input, buffer Output, class Op, algorithm_choice Algorithm = automatic>
void reduce(group<Transport> const& members, Input const& input, Output&& output, rank_id root, Op const& op,
            Algorithm const& algorithm = {}, plan_options const& options = {}) {
    plan_reduce(members, input, output, root, op, algorithm, options).run();
}
template <transport Transport, buffer Buffer, class Op, algorithm_choice Algorithm = automatic>
    requires(!buffer<Op>)
void reduce(group<Transport> const& members, Buffer&& in_out, rank_id root, Op const& op,
            Algorithm const& algorithm = {}, plan_options const& options = {}) {
    plan_reduce(members, in_out, root, op, algorithm, options).run();
}

}  // namespace chorus
