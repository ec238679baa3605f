// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <chorus/base/random.hpp>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace bench {

enum class operation : std::uint8_t { sum, product, minimum, maximum, mean };

inline constexpr operation all_operations[] = {operation::sum, operation::product, operation::minimum,
                                               operation::maximum, operation::mean};

constexpr std::string_view to_string(operation op) noexcept {
    constexpr std::string_view names[] = {"sum", "product", "minimum", "maximum", "mean"};
    return names[static_cast<int>(op)];
}

/// Throws std::invalid_argument.
inline operation operation_named(std::string_view name) {
    for (operation op : all_operations)
        if (to_string(op) == name) return op;
    throw std::invalid_argument{"no operation '" + std::string{name} + "': sum, product, minimum, maximum, mean"};
}

/// What the ranks put into their vectors, and what must come out: small integers that depend on rank, index and call,
/// chosen so that every value, partial result and result lies in 0 … 126, which every element type (8-bit integers,
/// bfloat16) holds exactly. Repeats after a prime number of elements, so that a block in the wrong place is noticed.
class pattern {
 public:
    static constexpr std::uint64_t period = 61;
    static constexpr std::uint32_t most_ranks = 126;

    /// Throws std::invalid_argument for more than 126 ranks: their sum would not fit in 8 bits.
    pattern(operation op, std::uint32_t ranks) : op_{op}, ranks_{ranks} {
        if (ranks == 0 || ranks > most_ranks)
            throw std::invalid_argument{"results can be checked for 1 to 126 ranks, not " + std::to_string(ranks)};
    }

    /// Element `index` of rank `rank`'s vector in call number `call`.
    int value(std::uint32_t rank, std::uint64_t index, std::uint64_t call) const {
        chorus::counter_random const random{call, rank};
        std::uint64_t const place = index % period;
        switch (op_) {
            case operation::sum: {
                std::uint32_t const most = (std::min)(7u, most_ranks / ranks_);
                return static_cast<int>(random.below(place, most + 1));
            }
            case operation::product: {  // at most six ranks have a 2, the others a 1
                chorus::counter_random const common{call, most_ranks};
                std::uint64_t const first = common.below(place, ranks_);
                std::uint64_t const many = common.below(place + period, 7);
                return (rank + first) % ranks_ < many ? 2 : 1;
            }
            case operation::minimum:
            case operation::maximum: return static_cast<int>(random.below(place, 101));
            case operation::mean: {  // neighbours differ by as much to either side: the mean of all ranks is whole
                chorus::counter_random const common{call, most_ranks};
                auto const middle = static_cast<int>(common.below(place, (std::min)(7u, most_ranks / ranks_) + 1));
                auto const apart = static_cast<int>(common.below(place + period, static_cast<unsigned>(middle) + 1));
                if (rank % 2 == 1) return middle - apart;
                return rank + 1 < ranks_ ? middle + apart : middle;
            }
        }
        return 0;
    }

    /// The reduction of element `index` over ranks first … last - 1; there must be at least one. A mean is whole over
    /// all ranks only.
    int reduced(std::uint32_t first, std::uint32_t last, std::uint64_t index, std::uint64_t call) const {
        int result = value(first, index, call);
        for (std::uint32_t rank = first + 1; rank < last; ++rank) {
            int const next = value(rank, index, call);
            switch (op_) {
                case operation::mean:
                case operation::sum: result += next; break;
                case operation::product: result *= next; break;
                case operation::minimum: result = (std::min)(result, next); break;
                case operation::maximum: result = (std::max)(result, next); break;
            }
        }
        return op_ == operation::mean ? result / static_cast<int>(last - first) : result;
    }

 private:
    operation op_;
    std::uint32_t ranks_;
};

}  // namespace bench
