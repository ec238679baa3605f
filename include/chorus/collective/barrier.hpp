// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/collective/detail/collective_call.hpp"

#include <cstdint>
#include <span>
#include <utility>

namespace chorus {

/// A plan for: nobody is done before everybody has started.
///
/// collective | no buffers | errors as for all_reduce
template <transport Transport, algorithm_choice Algorithm = automatic>
plan plan_barrier(group<Transport> const& members, Algorithm const& algorithm = {}, plan_options const& options = {}) {
    return detail::compose_plan(members, collective::barrier, [&](auto& asked) {
        asked.cut_at_will(0);
        asked.asked().element = "nothing";
        return asked.finish(algorithm, options);
    });
}

/// The same, done at once.
template <transport Transport, algorithm_choice Algorithm = automatic>
void barrier(group<Transport> const& members, Algorithm const& algorithm = {}, plan_options const& options = {}) {
    plan_barrier(members, algorithm, options).run();
}

}  // namespace chorus
