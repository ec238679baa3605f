// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/random.hpp"
#include "chorus/base/types.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace chorus {

/// Between two rounds of an outer step a rank now and then moves towards the last synced model instead of making a local step: no gradient, no message.
/// The coin is the rank's own. Probability 0 is DiLoCo to the bit.
///
///     if (pull.is_due(step, rank)) pull.apply(w, sync.last_synced(i), rate);      // w -= (rate · strength / probability) (w - z)
///     else                         /* local step with pull.local_rate(rate) */    // rate / (1 - probability)
///
/// Naganuma et al., PALSGD, TMLR 2025; over all tensors (the authors' release pulls the first only).
struct local_pull {
    static constexpr std::string_view name = "local_pull";

    double probability = 0.1;  ///< in [0, 1)
    double strength = 0.5;     ///< η
    std::uint64_t seed = 0;

    bool is_due(step_id step, rank_id rank) const noexcept { return counter_random{seed, rank + std::uint64_t{1}}.unit(step) < probability; }

    double local_rate(double rate) const noexcept { return rate / (1 - probability); }

    template <class T> void apply(std::span<T> current, std::span<T const> synced, double rate) const noexcept {
        T const share = static_cast<T>(rate * strength / probability);
        for (std::size_t i = 0; i < current.size(); ++i) current[i] -= share * (current[i] - synced[i]);
    }

    friend bool operator==(local_pull const&, local_pull const&) = default;
};

}  // namespace chorus
