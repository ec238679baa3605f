// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/types.hpp"
#include "chorus/collective/detail/block_codec.hpp"
#include "chorus/data/blocks.hpp"
#include "chorus/data/reduce_block.hpp"
#include "chorus/schedule/algorithm.hpp"
#include "chorus/schedule/schedule.hpp"
#include "chorus/transport/transport.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

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
    bool is_native = false;                ///< the library that the transport stands on does it: there is no program
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

/// The same for the library that a transport stands on. With uneven blocks in all_to_all a rank knows its own alone, and `count` is 0.
inline native_call native_call_of(operation const& asked, rank_id me, std::vector<rank_id> const& members) {
    native_call made{.what = asked.what, .element_bytes = asked.element_bytes, .root = asked.root, .me = me, .members = members};
    if (asked.reduction) {
        made.element = asked.reduction->element;
        made.reduction = asked.reduction->op != nullptr ? "user" : asked.reduction->operation;
    }
    auto const lengths = [&](blocks const& cut) {
        std::vector<std::uint64_t> all;
        for (rank_id r = 0; r < asked.ranks; ++r) all.push_back(cut.length(r));
        return all;
    };
    if (!has_block_per_rank(asked.what)) made.count = asked.count;
    else made.counts = lengths(asked.cut);
    if (asked.what == collective::all_to_all) made.sent_counts = lengths(asked.input_cut);
    bool const is_known = asked.what != collective::all_to_all || asked.count != 0;
    made.is_even = is_known && std::count(made.counts.begin(), made.counts.end(), asked.cut.length(0)) == std::ssize(made.counts);
    made.input = asked.input.base;
    rank_id const skipped = asked.result.count > 0 ? asked.result.first - asked.output.first : 0;
    if (asked.output.base != nullptr)
        made.output = asked.output.base + asked.cut.length(asked.output.first, skipped) * asked.element_bytes;
    return made;
}

}  // namespace chorus::detail
