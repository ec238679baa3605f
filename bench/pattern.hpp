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

/// Vectors of zeros with entries here and there, for what carries only such without loss. In each stretch of `spacing`
/// elements one rank has one entry; all have it at the same place of the stretch, which depends on the call.
struct entries {
    std::uint64_t spacing = 0;  ///< 0: none, and the pattern is dense; 1: every element is some rank's entry
    int value = 1;              ///< of each; of means times the number of ranks
    bool of_one_rank = false;   ///< all of them in a call; else the rank changes from stretch to stretch
    bool has_signs = false;     ///< half of them are negative

    friend bool operator==(entries const&, entries const&) = default;
};

/// What the ranks put into their vectors, and what must come out: small integers that depend on rank, index and call,
/// chosen so that every value, partial result and result lies in 0 … 126, which every element type (8-bit integers,
/// bfloat16) holds exactly. Repeats after a prime number of elements, or of stretches, so that a block in the wrong place is
/// noticed.
class pattern {
 public:
    static constexpr std::uint64_t period = 61;
    static constexpr std::uint32_t most_ranks = 126;

    /// Throws std::invalid_argument for more than 126 ranks: their sum would not fit in 8 bits.
    pattern(operation op, std::uint32_t ranks, entries of = {}) : op_{op}, ranks_{ranks}, entries_{of} {
        if (ranks == 0 || ranks > most_ranks)
            throw std::invalid_argument{"results can be checked for 1 to 126 ranks, not " + std::to_string(ranks)};
    }

    /// Elements after which it repeats.
    std::uint64_t length() const noexcept { return period * (std::max)(entries_.spacing, std::uint64_t{1}); }

    /// No result has this value.
    int foreign() const noexcept { return entries_.spacing == 0 ? 127 : 99; }

    /// Element `index` of rank `rank`'s vector in call number `call`.
    int value(std::uint32_t rank, std::uint64_t index, std::uint64_t call) const {
        if (entries_.spacing > 0) return entry(rank, index, call);
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
    int entry(std::uint32_t rank, std::uint64_t index, std::uint64_t call) const {
        chorus::counter_random const common{call, most_ranks};
        if (index % entries_.spacing != common.below(2 * period, entries_.spacing)) return 0;
        std::uint64_t const stretch = index / entries_.spacing % period;
        if (rank != common.below(entries_.of_one_rank ? 2 * period + 1 : stretch, ranks_)) return 0;
        int const size = entries_.value * (op_ == operation::mean ? static_cast<int>(ranks_) : 1);
        return entries_.has_signs && common.bits(stretch + period) % 2 == 1 ? -size : size;
    }

    operation op_;
    std::uint32_t ranks_;
    entries entries_;
};

}  // namespace bench
