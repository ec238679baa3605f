// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/time_limit.hpp"
#include "chorus/base/types.hpp"

#include <cstdint>

namespace chorus::gossip {

/// What a meeting of two ranks does; x asks y.
enum class pair_rule : std::uint8_t {
    both,  ///< x and y become (x + y) / 2: the sum is kept
    pull,  ///< x becomes (x + y) / 2: y stays, the mean moves
    push   ///< y becomes the mean of itself and of all that came since its last call: x stays, the mean moves
};

enum class askers : std::uint8_t {
    even_ranks,  ///< even ranks ask odd ones, which answer alone: nobody is refused
    all          ///< everybody asks any neighbour
};

struct pairwise_options {
    pair_rule rule = pair_rule::both;
    askers who = askers::even_ranks;
    std::uint64_t seed = 1;    ///< of the partners drawn; ranks draw apart
    time_limit deadline{};     ///< of `wait` and `finish`; for ever: the group's
    bool is_checked = true;    ///< all ranks compare what they were given when it is made: a blocking all-reduce of 16 bytes

    friend bool operator==(pairwise_options const&, pairwise_options const&) = default;
};

/// What this rank has done so far.
struct pair_counts {
    std::uint64_t asked = 0;
    std::uint64_t met = 0;         ///< own questions that were answered
    std::uint64_t refused = 0;     ///< own questions that a rank with an open question of its own refused
    std::uint64_t skipped = 0;     ///< own questions that the partner was lost over
    std::uint64_t answered = 0;    ///< questions of others
    std::uint64_t bytes_sent = 0;  ///< values, without the notices

    friend bool operator==(pair_counts const&, pair_counts const&) = default;
};

namespace detail {

/// What `pairwise` hides.
class pair_model {
 public:
    virtual ~pair_model() = default;
    virtual bool ask(rank_id partner) = 0;
    virtual progress advance() noexcept = 0;
    virtual bool wait_for(time_limit limit) = 0;
    virtual bool finish_for(time_limit limit) = 0;
    virtual double disagreement() = 0;
    virtual pair_counts const& counts() const noexcept = 0;
};

}  // namespace detail

}  // namespace chorus::gossip
