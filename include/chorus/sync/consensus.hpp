// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/collective/all_reduce.hpp"
#include "chorus/collective/group.hpp"
#include "chorus/collective/plan.hpp"
#include "chorus/data/reduction.hpp"

#include <span>
#include <vector>

namespace chorus {

/// One model out of the replicas, for the end of training: on every rank each tensor becomes the plain mean over all ranks of the group, whatever groups averaged before.
///
/// collective | blocks | equal counts on all ranks | one all-reduce per tensor, uncompressed | same bits on all ranks | throws as all_reduce does
template <transport Transport, class T>
void consensus(group<Transport> const& world, std::vector<std::span<T>> const& tensors, plan_options const& how = {}) {
    for (std::span<T> const tensor : tensors)
        if (!tensor.empty()) all_reduce(world, tensor, mean{}, automatic{}, how);
}

}  // namespace chorus
