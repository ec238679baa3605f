// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace bench {

/// Call number `call` of rank `rank` sends bytes that no other rank and no neighbouring call sends.
inline void fill_message(std::span<std::byte> memory, std::uint64_t rank, std::uint64_t call) {
    for (std::size_t i = 0; i < memory.size(); ++i)
        memory[i] = static_cast<std::byte>((i * 7 + i / 251 + rank * 31 + call * 17 + 1) % 251);
}

inline std::uint64_t count_unlike(std::span<std::byte const> memory, std::uint64_t rank, std::uint64_t call) {
    std::vector<std::byte> expected(memory.size());
    fill_message(expected, rank, call);
    if (memory.empty() || std::memcmp(memory.data(), expected.data(), memory.size()) == 0) return 0;
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; i < memory.size(); ++i)
        if (memory[i] != expected[i]) ++wrong;
    return wrong;
}

inline void clear(std::span<std::byte> memory) { std::fill(memory.begin(), memory.end(), std::byte{0xFF}); }

}  // namespace bench
