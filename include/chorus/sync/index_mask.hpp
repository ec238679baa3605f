// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/random.hpp"
#include "chorus/base/types.hpp"
#include "chorus/data/blocks.hpp"
#include "chorus/sync/detail/permutation.hpp"

#include <cmath>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace chorus {

/// Which of `count` elements take part at one step: a pure function of (step, count), so that ranks with equal masks agree without a message.
///
/// at      fills `indices` with them, each once, in any order; allocates only where the vector must grow
/// period  the steps whose masks together hold every index exactly once, from any multiple of it on; 0: there is no such number
template <class M> concept index_mask = std::copyable<M> && requires(M const& m, step_id step, std::uint64_t count, std::vector<std::uint64_t>& indices) {
    { M::name } -> std::convertible_to<std::string_view>;
    { m.at(step, count, indices) } -> std::same_as<void>;
    { m.period() } -> std::same_as<step_id>;
};

namespace detail {

inline void expect_kept_share(double keep, std::string_view mask) {
    expects(keep >= 1e-9 && keep <= 1, [&] { return std::string{mask} + ": keep is " + std::to_string(keep) + ", expected a share from 1e-9 to 1"; });
}

/// ⌈1 / keep⌉.
inline rank_id chunks_of(double keep, std::string_view mask) {
    expect_kept_share(keep, mask);
    return static_cast<rank_id>(std::ceil(1 / keep));
}

/// The chunk with that number of an order drawn from `random`.
inline void fill_chunk(std::uint64_t count, rank_id chunks, rank_id chunk, counter_random const& random, std::vector<std::uint64_t>& indices) {
    blocks const cut = blocks::near_equal(count, chunks);
    permutation const order{count, random};
    indices.clear();
    for (std::uint64_t place = cut.begin(chunk); place < cut.begin(chunk + 1); ++place) indices.push_back(order.at(place));
}

}  // namespace detail

/// Every element by a coin of its own, heads with probability `keep`: how many there are varies. 1/8 hash per element.
struct bernoulli_mask {
    static constexpr std::string_view name = "bernoulli_mask";
    double keep = 0.005;
    std::uint64_t seed = 0;

    void at(step_id step, std::uint64_t count, std::vector<std::uint64_t>& indices) const {
        detail::expect_kept_share(keep, name);
        counter_random const random{seed, step};
        indices.clear();
        for (std::uint64_t first = 0; first < count; first += 64)
            for (std::uint64_t heads = coins(random, first); heads != 0; heads &= heads - 1) {
                std::uint64_t const index = first + static_cast<std::uint64_t>(__builtin_ctzll(heads));
                if (index < count) indices.push_back(index);
            }
    }
    step_id period() const noexcept { return keep == 1 ? 1 : 0; }

    friend bool operator==(bernoulli_mask const&, bernoulli_mask const&) = default;

 private:
    /// 64 coins at once: each compares a number of its own with `keep`, binary digit by digit from the highest, until all differ.
    std::uint64_t coins(counter_random const& random, std::uint64_t first) const noexcept {
        if (keep == 1) return ~std::uint64_t{0};
        std::uint64_t heads = 0, equal = ~std::uint64_t{0};
        double rest = keep;
        for (std::uint64_t digit = 0; digit < 64 && equal != 0 && rest != 0; ++digit) {
            std::uint64_t const drawn = random.bits(first + digit);
            rest *= 2;
            bool const is_one = rest >= 1;
            if (is_one) {
                rest -= 1;
                heads |= equal & ~drawn;
                equal &= drawn;
            } else {
                equal &= ~drawn;
            }
        }
        return heads;
    }
};
static_assert(index_mask<bernoulli_mask>);

/// One shuffled order cut into ⌈1/keep⌉ near-equal chunks, one per step, round and round: an element is in every ⌈1/keep⌉-th mask.
struct shuffled_chunks {
    static constexpr std::string_view name = "shuffled_chunks";
    double keep = 0.005;
    std::uint64_t seed = 0;

    void at(step_id step, std::uint64_t count, std::vector<std::uint64_t>& indices) const {
        rank_id const chunks = detail::chunks_of(keep, name);
        detail::fill_chunk(count, chunks, static_cast<rank_id>(step % chunks), counter_random{seed}, indices);
    }
    step_id period() const { return detail::chunks_of(keep, name); }

    friend bool operator==(shuffled_chunks const&, shuffled_chunks const&) = default;
};
static_assert(index_mask<shuffled_chunks>);

/// The same with another order for each round: still every element once in ⌈1/keep⌉ steps, and no two elements keep company.
struct reshuffled_chunks {
    static constexpr std::string_view name = "reshuffled_chunks";
    double keep = 0.005;
    std::uint64_t seed = 0;

    void at(step_id step, std::uint64_t count, std::vector<std::uint64_t>& indices) const {
        rank_id const chunks = detail::chunks_of(keep, name);
        detail::fill_chunk(count, chunks, static_cast<rank_id>(step % chunks), counter_random{seed, step / chunks}, indices);
    }
    step_id period() const { return detail::chunks_of(keep, name); }

    friend bool operator==(reshuffled_chunks const&, reshuffled_chunks const&) = default;
};
static_assert(index_mask<reshuffled_chunks>);

}  // namespace chorus
