// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/schedule/algorithm.hpp"
#include "chorus/schedule/cost.hpp"
#include "chorus/schedule/schedule.hpp"

namespace archetypes {

/// Models `all_reduce_algorithm` and nothing more: no default constructor, no other collective, no cheap extras.
/// Right for every size: rank 0 folds one block in rank order and sends it back.
class least_algorithm {
 public:
    static constexpr char const* name = "least_algorithm";
    static constexpr bool keeps_order = true;

    static least_algorithm make() { return least_algorithm{0}; }

    chorus::schedule all_reduce(chorus::rank_id me, chorus::rank_id size) const {
        chorus::schedule s{1};
        if (size == 1) return s;
        chorus::block_range const whole{0, 1};
        for (chorus::rank_id p = 1; p < size; ++p) {
            s.round();
            if (me == 0) s.recv_reduce(p, whole);
            else if (me == p) s.send(0, whole);
        }
        s.round();
        if (me != 0) s.recv(0, whole);
        for (chorus::rank_id p = 1; me == 0 && p < size; ++p) s.send(p, whole);
        return s;
    }

    chorus::cost all_reduce_cost(chorus::rank_id size, double bytes) const {
        double const others = size - 1.0;
        return {.rounds = size > 1 ? size : 0.0, .bytes_sent = others * bytes, .bytes_reduced = others * bytes};
    }

    friend bool operator==(least_algorithm const&, least_algorithm const&) = default;

 private:
    explicit least_algorithm(int) {}
};
static_assert(chorus::all_reduce_algorithm<least_algorithm>);
static_assert(!chorus::broadcast_algorithm<least_algorithm>);

}  // namespace archetypes
