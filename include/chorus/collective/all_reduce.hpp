// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/collective/detail/collective_call.hpp"

#include <cstdint>
#include <span>
#include <utility>

namespace chorus {

/// A plan for: every rank's `output` becomes the reduction of all ranks' `input`, element by element, with the same bits on all ranks.
///
/// collective | the plan owns its scratch, the caller the buffers from `start` until done | `output` may be `input`, but not overlap it otherwise |
/// equal counts, element, operation and algorithm on all ranks, else `mismatch` on all | a functor counts as non-commutative unless wrapped in
/// `commutative`, and is then applied in rank order | floating-point sums: fixed order for one algorithm, count and size; only `direct` and `all_pairs` give
/// bits that do not depend on how a vector is split | throws error; after a throw by `wait` the output is unspecified
template <transport Transport, buffer Input, buffer Output, class Op, algorithm_choice Algorithm = automatic>
plan plan_all_reduce(group<Transport> const& members, Input const& input, Output&& output, Op const& op,
                     Algorithm const& algorithm = {}, plan_options const& options = {}) {
    using element_type = element_of<Input>;
    auto const in = detail::source_span(input);
    auto const out = detail::target_span(output);
    static_assert(reduction_for<Op, element_type>, "chorus: this operation is not defined for this element type");
    return detail::compose_plan(members, collective::all_reduce, [&](auto& asked) {
        asked.template of_elements<element_type>(out.size());
        asked.expect_memory(in, "the input");
        asked.expect_memory(out, "the output");
        asked.expect_count(in, out.size(), "the input");
        asked.expect_apart(in, out, 0);
        asked.template reducing_by<element_type>(op);
        asked.cut_at_will(out.size());
        asked.asked().input = {asked.bytes_of(in), 0, 1};
        asked.asked().output = {asked.bytes_of(out), 0, 1};
        asked.asked().result = {0, 1};
        return asked.finish(algorithm, options);
    });
}

/// In place.
template <transport Transport, buffer Buffer, class Op, algorithm_choice Algorithm = automatic>
    requires(!buffer<Op>)
plan plan_all_reduce(group<Transport> const& members, Buffer&& in_out, Op const& op, Algorithm const& algorithm = {},
                     plan_options const& options = {}) {
    return plan_all_reduce(members, in_out, in_out, op, algorithm, options);
}

/// The same, done at once: blocks until complete; makes a plan for the one call.
template <transport Transport, buffer Input, buffer Output, class Op, algorithm_choice Algorithm = automatic>
void all_reduce(group<Transport> const& members, Input const& input, Output&& output, Op const& op,
                Algorithm const& algorithm = {}, plan_options const& options = {}) {
    plan_all_reduce(members, input, output, op, algorithm, options).run();
}
template <transport Transport, buffer Buffer, class Op, algorithm_choice Algorithm = automatic>
    requires(!buffer<Op>)
void all_reduce(group<Transport> const& members, Buffer&& in_out, Op const& op, Algorithm const& algorithm = {},
                plan_options const& options = {}) {
    plan_all_reduce(members, in_out, op, algorithm, options).run();
}

}  // namespace chorus
