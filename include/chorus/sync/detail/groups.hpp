// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/types.hpp"
#include "chorus/sync/policy.hpp"

#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace chorus::detail {

/// Throws `invalid_argument` for a rank that does not exist.
inline void expect_rank(std::string_view policy, rank_id rank, rank_id size) {
    expects(rank < size, [&] {
        return std::string{policy} + ": rank " + std::to_string(rank) + " is not below " + std::to_string(size);
    });
}

/// The rank keeps what it has.
inline membership alone(rank_id rank) { return {.members = {rank}, .weights = {}}; }

/// Equal shares of all ranks.
inline membership everyone(rank_id size) {
    membership all{.members = std::vector<rank_id>(size), .weights = {}};
    std::iota(all.members.begin(), all.members.end(), rank_id{0});
    return all;
}

}  // namespace chorus::detail
