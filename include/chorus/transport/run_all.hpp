// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/random.hpp"
#include "chorus/base/types.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace chorus {

/// In which order ranks take turns, and when they are given up.
struct run_options {
    std::uint64_t seed = 0;              ///< 0: ranks take turns in order; else each round is shuffled from it
    std::uint64_t idle_rounds = 100000;  ///< gives up after so many rounds in a row in which nobody moved
};

/// Drives many ranks in one thread: calls every callable in turn until each has said `done` or `failed`, none after
/// that. `done`: all are; `failed`: all have ended, some failed; `idle`: stuck, somebody will never end.
template <class Step>
progress run_all(std::span<Step> ranks, run_options const& options = {}) {
    std::vector<std::size_t> open(ranks.size());
    for (std::size_t i = 0; i < open.size(); ++i) open[i] = i;
    counter_random const random{options.seed};
    std::uint64_t draws = 0;
    std::uint64_t idle_rounds = 0;
    bool any_failed = false;
    while (!open.empty()) {
        if (options.seed != 0)
            for (std::size_t i = open.size(); i > 1; --i)
                std::swap(open[i - 1], open[static_cast<std::size_t>(random.below(draws++, i))]);
        bool moved = false;
        std::erase_if(open, [&](std::size_t rank) {
            progress const came_to = ranks[rank]();
            moved |= came_to != progress::idle;
            any_failed |= came_to == progress::failed;
            return came_to == progress::done || came_to == progress::failed;
        });
        idle_rounds = moved ? 0 : idle_rounds + 1;
        if (idle_rounds > options.idle_rounds) return progress::idle;
    }
    return any_failed ? progress::failed : progress::done;
}

}  // namespace chorus
