// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "element_kind.hpp"

#include <chorus/collective/compression.hpp>
#include <chorus/data/blocks.hpp>
#include <chorus/schedule/algorithm.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

/// One collective call as a value: equal on all ranks.
struct call_shape {
    chorus::collective what = chorus::collective::all_reduce;
    chorus::rank_id ranks = 1;
    chorus::rank_id root = 0;
    operation op = operation::sum;
    element_kind const* element = nullptr;
    std::uint64_t count = 0;   ///< elements in the whole vector, all blocks together
    bool in_place = false;
    bool by_counts = false;    ///< the form that is told the length of each block, as all_to_all_v
    bool uneven = false;       ///< block b is about b + 1 times as long as block 0; only by counts
    std::uint64_t unaligned = 0;  ///< buffers begin so many elements behind an aligned address
    chorus::compression carried_by{};  ///< a copy of it, by every plan; none: elements travel as they are

    std::uint64_t bytes() const noexcept { return count * element->bytes; }

    /// How rank `rank` sees the vector cut into a block per rank. Only all-to-all is seen differently by different ranks:
    /// what goes from r to b is as long as what goes from b to r.
    chorus::blocks cut(chorus::rank_id rank) const {
        if (!uneven) return chorus::blocks::near_equal(count, ranks);
        chorus::rank_id const parts = ranks * (ranks + 1) / 2;
        chorus::blocks const fine = chorus::blocks::near_equal(count, parts);
        chorus::rank_id const shift = what == chorus::collective::all_to_all ? rank : 0;
        std::vector<std::uint64_t> lengths;
        for (chorus::rank_id b = 0; b < ranks; ++b) {
            chorus::rank_id const k = (b + shift) % ranks;
            lengths.push_back(fine.length(k * (k + 1) / 2, k + 1));
        }
        return chorus::blocks::of_counts(lengths);
    }
};

}  // namespace bench
