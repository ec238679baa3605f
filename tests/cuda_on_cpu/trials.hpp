// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "cuda_on_cpu/control.hpp"

#include <cstdint>

namespace cuda_on_cpu {

/// The first of so many seeds for which `trial(seed)` is false; `seeds` if there is none. Begins and ends with nothing going on.
template <class Trial> std::uint64_t first_failing(std::uint64_t seeds, Trial const& trial) {
    std::uint64_t failing = seeds;
    for (std::uint64_t seed = 0; seed < seeds && failing == seeds; ++seed) {
        begin(seed);
        bool const holds = trial(seed) && failure().empty();
        if (!holds) failing = seed;
    }
    begin(0);
    return failing;
}

/// What is right holds for all of 200 seeds; what is broken is caught by one of 1000.
template <class Trial> bool always_holds(Trial const& trial) { return first_failing(200, trial) == 200; }
template <class Trial> bool is_caught(Trial const& trial) { return first_failing(1000, trial) < 1000; }

}  // namespace cuda_on_cpu
