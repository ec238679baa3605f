// expect: contiguous_range
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
// DTY-7: vector<bool> has no elements in memory.
#include <chorus/collective/all_reduce.hpp>
#include <chorus/transport/self.hpp>

#include <array>
#include <vector>

void any(chorus::group<chorus::self_transport>& world) {
#ifdef CONTROL
    std::array<bool, 3> v{};
#else
    std::vector<bool> v(3);
#endif
    chorus::all_reduce(world, v, chorus::logical_or{});
}
