// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/collective/detail/collective_call.hpp"

#include <cstdint>
#include <span>

namespace chorus {

/// A plan for: every rank's `in_out` becomes the root's.
///
/// collective | equal counts and element on all ranks, else `mismatch` on all | the root's buffer is only read |
/// buffers as for all_reduce
template <transport Transport, buffer Buffer, algorithm_choice Algorithm = automatic>
plan plan_broadcast(group<Transport> const& members, Buffer&& in_out, rank_id root, Algorithm const& algorithm = {},
                    plan_options const& options = {}) {
    using element_type = element_of<Buffer>;
    auto const memory = detail::target_span(in_out);
    return detail::compose_plan(members, collective::broadcast, [&](auto& asked) {
        asked.template of_elements<element_type>(memory.size());
        asked.rooted_at(root);
        asked.expect_memory(memory, "the buffer");
        asked.cut_at_will(memory.size());
        if (asked.me() == root) asked.asked().input = {asked.bytes_of(memory), 0, 1};
        asked.asked().output = {asked.bytes_of(memory), 0, 1};
        asked.asked().result = {0, 1};
        return asked.finish(algorithm, options);
    });
}

/// The same, done at once.
template <transport Transport, buffer Buffer, algorithm_choice Algorithm = automatic>
void broadcast(group<Transport> const& members, Buffer&& in_out, rank_id root, Algorithm const& algorithm = {},
               plan_options const& options = {}) {
    plan_broadcast(members, in_out, root, algorithm, options).run();
}

}  // namespace chorus
