// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/collective/detail/collective_call.hpp"

#include <cstdint>
#include <span>
#include <utility>

namespace chorus {

namespace detail {

template <transport Transport, class Element, class Op, class Algorithm>
plan plan_prefix(collective what, group<Transport> const& members, std::span<Element const> in, std::span<Element> out, Op const& op,
                 Algorithm const& algorithm, plan_options const& options) {
    static_assert(reduction_for<Op, Element>, "chorus: this operation is not defined for this element type");
    static_assert(!std::same_as<Op, mean>, "chorus: the mean of a prefix is not offered; scan by sum and divide");
    return compose_plan(members, what, [&](auto& asked) {
        asked.template of_elements<Element>(out.size());
        asked.expect_memory(in, "the input");
        asked.expect_memory(out, "the output");
        asked.expect_count(in, out.size(), "the input");
        asked.expect_apart(in, out, 0);
        asked.template reducing_by<Element>(op);
        asked.cut_at_will(out.size());
        asked.asked().input = {asked.bytes_of(in), 0, 1};
        asked.asked().output = {asked.bytes_of(out), 0, 1};
        bool const has_result = what == collective::scan || asked.me() != 0;
        asked.asked().result = {0, has_result ? 1u : 0u};
        return asked.finish(algorithm, options);
    });
}

}  // namespace detail

/// A plan for: `output` becomes the reduction of the inputs of ranks 0 … this one, in rank order.
///
/// collective | buffers, counts and errors as for all_reduce | in place where output is input
template <transport Transport, buffer Input, buffer Output, class Op, algorithm_choice Algorithm = automatic>
plan plan_scan(group<Transport> const& members, Input const& input, Output&& output, Op const& op,
               Algorithm const& algorithm = {}, plan_options const& options = {}) {
    return detail::plan_prefix(collective::scan, members, detail::source_span(input), detail::target_span(output), op, algorithm, options);
}

/// A plan for: `output` becomes the reduction of the inputs of the ranks before this one; on rank 0 it is unspecified.
template <transport Transport, buffer Input, buffer Output, class Op, algorithm_choice Algorithm = automatic>
plan plan_exclusive_scan(group<Transport> const& members, Input const& input, Output&& output, Op const& op,
                         Algorithm const& algorithm = {}, plan_options const& options = {}) {
    return detail::plan_prefix(collective::exclusive_scan, members, detail::source_span(input), detail::target_span(output), op, algorithm,
                               options);
}

/// The same, done at once.
template <transport Transport, buffer Input, buffer Output, class Op, algorithm_choice Algorithm = automatic>
void scan(group<Transport> const& members, Input const& input, Output&& output, Op const& op,
          Algorithm const& algorithm = {}, plan_options const& options = {}) {
    plan_scan(members, input, output, op, algorithm, options).run();
}
template <transport Transport, buffer Input, buffer Output, class Op, algorithm_choice Algorithm = automatic>
void exclusive_scan(group<Transport> const& members, Input const& input, Output&& output, Op const& op,
                    Algorithm const& algorithm = {}, plan_options const& options = {}) {
    plan_exclusive_scan(members, input, output, op, algorithm, options).run();
}

}  // namespace chorus
