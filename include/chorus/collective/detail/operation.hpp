// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/types.hpp"
#include "chorus/collective/detail/block_codec.hpp"
#include "chorus/data/blocks.hpp"
#include "chorus/data/reduce_block.hpp"
#include "chorus/schedule/algorithm.hpp"
#include "chorus/schedule/schedule.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace chorus::detail {

/// Consecutive blocks [first, first + count) in the caller's memory, the first of them at `base`. No blocks: no memory.
template <class Byte>
struct memory_of_blocks {
    Byte* base = nullptr;
    rank_id first = 0;
    rank_id count = 0;

    bool contains(rank_id block) const noexcept { return block >= first && block < first + count; }
    bool contains(block_range range) const noexcept { return contains(range.first) && range.end() <= first + count; }
};

/// One collective as one rank sees it, all types erased: what the engine needs to bind a schedule to memory.
struct operation {
    collective what = collective::barrier;
    schedule program;
    blocks cut;                            ///< of `data`, in elements
    blocks input_cut;                      ///< of `input`: all-to-all only
    memory_of_blocks<std::byte const> input;   ///< where blocks of data are before they are first written
    memory_of_blocks<std::byte> output;        ///< memory that may hold blocks of data
    block_range result;                    ///< the blocks that must be in `output` at the end
    std::size_t element_bytes = 1;
    std::optional<reducer> reduction;
    std::shared_ptr<block_codec> codec;    ///< turns messages into others; null: they are the elements
    rank_id root = nobody;
    rank_id ranks = 1;
    std::uint64_t count = 0;               ///< elements, for messages
    std::string element;                   ///< "float sum", for messages
    std::string algorithm;
    std::string reason;                    ///< why this algorithm, where it was chosen automatically
};

}  // namespace chorus::detail
