// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/random.hpp"
#include "chorus/collective/detail/operation.hpp"
#include "chorus/collective/group.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace chorus::detail {

/// What must be the same on all ranks, in 32 bits.
inline std::uint32_t fingerprint_of(operation const& asked) noexcept {
    std::uint64_t hash = counter_random::mix(static_cast<std::uint64_t>(asked.what) + 1);
    auto add = [&](std::uint64_t value) { hash = counter_random::mix(hash ^ (value + 0x9E3779B97F4A7C15u)); };
    add(asked.root);
    add(asked.count);
    for (char c : asked.element) add(static_cast<unsigned char>(c));
    for (char c : asked.algorithm) add(static_cast<unsigned char>(c));
    return static_cast<std::uint32_t>(hash >> 32);
}

/// The `number`th plan of a group as others see it, before it has run. Ordinals are for transports that count them.
inline operation_record record_of(operation const& asked, group_state const& members, std::uint64_t number, bool is_counted) noexcept {
    operation_record record;
    record.sequence = number - 1;
    record.group = static_cast<std::uint32_t>(members.context);
    if (is_counted) record.ordinal = number;
    record.count = asked.count;
    record.stream = counter_random::mix(members.context ^ (number * 0x9E3779B97F4A7C15u));
    record.fingerprint = fingerprint_of(asked);
    record.root = asked.root;
    auto cut = [](auto& to, std::string_view text) {
        std::size_t const length = (std::min)(text.size(), to.size() - 1);
        std::copy_n(text.data(), length, to.data());
    };
    cut(record.operation, to_string(asked.what));
    cut(record.algorithm, asked.algorithm);
    cut(record.element, asked.element);
    return record;
}

/// "all_reduce #3 of 1000 float sum by ring"
inline std::string title_of(operation const& asked, std::uint64_t sequence) {
    std::string text{to_string(asked.what)};
    text += " #" + std::to_string(sequence);
    text += " of " + std::to_string(asked.count);
    return text + ' ' + asked.element + " by " + asked.algorithm;
}

/// " on rank 5 (2 in the group)"
inline std::string on_rank(rank_id in_world, rank_id in_group) {
    std::string text = " on rank " + std::to_string(in_world);
    if (in_world != in_group) text += " (" + std::to_string(in_group) + " in the group)";
    return text;
}

}  // namespace chorus::detail
