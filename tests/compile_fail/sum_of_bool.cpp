// expect: this operation is not defined for this element type
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
// DTY-5: true + true is not a bool.
#include <chorus/collective/all_reduce.hpp>
#include <chorus/transport/self.hpp>

#include <array>

void any(chorus::group<chorus::self_transport>& world, std::array<bool, 3>& v) {
#ifdef CONTROL
    chorus::all_reduce(world, v, chorus::logical_or{});
#else
    chorus::all_reduce(world, v, chorus::sum{});
#endif
}
