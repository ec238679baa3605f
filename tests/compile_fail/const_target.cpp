// expect: the target of a collective must not be const
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
// DTY-7: a span of const cannot be the result.
#include <chorus/collective/all_reduce.hpp>
#include <chorus/transport/self.hpp>

#include <span>

void sum(chorus::group<chorus::self_transport>& world, std::span<float> v) {
#ifdef CONTROL
    chorus::all_reduce(world, v, chorus::sum{});
#else
    chorus::all_reduce(world, std::span<float const>{v}, chorus::sum{});
#endif
}
