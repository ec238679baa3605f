// expect: this operation is not defined for this element type
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
// DTY-5: nor is the mean of bools.
#include <chorus/collective/all_reduce.hpp>
#include <chorus/transport/self.hpp>

#include <array>

#ifdef CONTROL
using element = unsigned char;
#else
using element = bool;
#endif

void any(chorus::group<chorus::self_transport>& world, std::array<element, 3>& v) {
    chorus::all_reduce(world, v, chorus::mean{});
}
