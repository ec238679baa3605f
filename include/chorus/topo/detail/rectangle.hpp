// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/types.hpp"
#include "chorus/topo/graph.hpp"

#include <string>
#include <string_view>

namespace chorus::topo::detail {

/// Ranks in rows and columns: rank r stands in row r / columns, column r % columns.
struct rectangle {
    rank_id rows = 1;
    rank_id columns = 1;

    /// `rows` of them; 0: the largest divisor of `size` up to its square root, which is 1 if `size` is a prime. Throws
    /// `invalid_argument` if `size` cannot be cut into that many.
    static rectangle of(std::string_view graph, rank_id rows, rank_id size) {
        if (rows == 0) rows = most_square(size);
        expects(size % rows == 0, [&] {
            return std::string{graph} + ": " + std::to_string(size) + " ranks do not make " + std::to_string(rows) +
                   " rows of equal length";
        });
        return {rows, size / rows};
    }

 private:
    static rank_id most_square(rank_id size) {
        rank_id found = 1;
        for (rank_id divisor = 2; divisor <= size / divisor; ++divisor)
            if (size % divisor == 0) found = divisor;
        return found;
    }
};

}  // namespace chorus::topo::detail
