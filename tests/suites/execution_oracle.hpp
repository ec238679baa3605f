// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/random.hpp"
#include "chorus/base/types.hpp"
#include "chorus/data/reduction.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace suites {

/// An upper triangular 2 x 2 matrix modulo 2^32: 12 bytes, and a product that is associative but does not commute.
struct triangle {
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    std::uint32_t c = 0;

    friend bool operator==(triangle const&, triangle const&) = default;
};
static_assert(sizeof(triangle) == 12);

struct matrix_product {
    triangle operator()(triangle const& x, triangle const& y) const {
        return {x.a * y.a, x.a * y.b + x.b * y.c, x.c * y.c};
    }
};
static_assert(!chorus::is_commutative<matrix_product>);

/// Commutes, but only the promise of `commutative` tells so.
struct elementwise {
    triangle operator()(triangle const& x, triangle const& y) const {
        return {x.a + y.a, x.b ^ y.b, x.c < y.c ? x.c : y.c};
    }
};

/// Draws an element from (rank, index, iteration): numbers are integers in [-500, 500], whose sums are exact.
template <class T> T drawn(std::uint64_t rank, std::uint64_t index, std::uint64_t iteration) {
    std::uint64_t const bits = chorus::counter_random::mix((rank << 40) + (iteration << 32) + index + 1);
    return static_cast<T>(static_cast<int>(bits % 1001) - 500);
}
template <> inline triangle drawn<triangle>(std::uint64_t rank, std::uint64_t index, std::uint64_t iteration) {
    std::uint64_t const bits = chorus::counter_random::mix((rank << 40) + (iteration << 32) + index + 1);
    return {static_cast<std::uint32_t>(bits) | 1u, static_cast<std::uint32_t>(bits >> 32),
            static_cast<std::uint32_t>(bits >> 16) | 1u};
}

/// The inputs of all ranks, and their reductions in rank order, for some iterations.
template <class T, class Op> class oracle {
 public:
    using vectors = std::vector<std::vector<T>>;  // one per rank

    oracle(chorus::rank_id size, std::size_t count, std::size_t iterations) : count_{count} {
        for (std::size_t it = 0; it < iterations; ++it) {
            vectors& inputs = inputs_.emplace_back(size, std::vector<T>(count));
            for (chorus::rank_id r = 0; r < size; ++r)
                for (std::size_t i = 0; i < count; ++i) inputs[r][i] = drawn<T>(r, i, it);
            vectors& prefixes = prefixes_.emplace_back(inputs);
            for (chorus::rank_id r = 1; r < size; ++r)
                for (std::size_t i = 0; i < count; ++i) prefixes[r][i] = Op{}(prefixes[r - 1][i], inputs[r][i]);
        }
    }

    std::size_t count() const { return count_; }
    std::size_t iterations() const { return inputs_.size(); }
    vectors const& inputs(std::size_t iteration) const { return inputs_[iteration]; }
    /// Of ranks 0 … r.
    std::vector<T> const& prefix(std::size_t iteration, chorus::rank_id r) const { return prefixes_[iteration][r]; }
    std::vector<T> const& total(std::size_t iteration) const { return prefixes_[iteration].back(); }

 private:
    std::size_t count_;
    std::vector<vectors> inputs_;
    std::vector<vectors> prefixes_;
};

}  // namespace suites
