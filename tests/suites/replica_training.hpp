// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/random.hpp"
#include "chorus/base/types.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace suites {

/// One rank's model of three tensors, the second of them empty, and a local update that depends on rank, step and the values as they stand.
struct replica {
    chorus::rank_id rank;
    std::vector<double> values;

    explicit replica(chorus::rank_id r, std::size_t count = 13) : rank{r}, values(count) {
        for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<double>(i) / 8;
    }

    std::vector<std::span<double>> tensors() {
        std::span const all{values};
        return {all.first(values.size() / 3), {}, all.subspan(values.size() / 3)};
    }

    void update(chorus::step_id step) {
        for (std::size_t i = 0; i < values.size(); ++i)
            values[i] = 0.75 * values[i] + chorus::counter_random{rank + std::uint64_t{1}, step}.unit(i);
    }

    /// Adds whole numbers, so that means over 2, 4, 8 ranks stay exact for some steps.
    void add_whole_numbers(chorus::step_id step) {
        for (std::size_t i = 0; i < values.size(); ++i) values[i] += whole_number(rank, step, i);
    }
    static double whole_number(chorus::rank_id rank, chorus::step_id step, std::size_t element) {
        return static_cast<double>((rank + 2) * (step + 3) * (element + 1) % 17) - 8;
    }
};

/// The values after so many steps, each a local update and a step of what `make(tensors)` makes.
template <class Make>
std::vector<double> trained(chorus::rank_id rank, chorus::step_id steps, Make const& make) {
    replica mine{rank};
    auto sync = make(mine.tensors());
    for (chorus::step_id t = 0; t < steps; ++t) {
        mine.update(t);
        sync.step();
    }
    sync.drain();
    return mine.values;
}

}  // namespace suites
