// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace chorus::detail {

// Words in messages are little-endian and lie at any address.
static_assert(std::endian::native == std::endian::little, "messages are little-endian");

/// The word that begins `at` words behind `from`.
template <class Word>
inline Word load_word(std::byte const* from, std::size_t at = 0) noexcept {
    Word word;
    std::memcpy(&word, from + at * sizeof(Word), sizeof(Word));
    return word;
}

template <class Word>
inline void store_word(std::byte* to, Word word) noexcept {
    std::memcpy(to, &word, sizeof(Word));
}

template <class Word>
inline void load_words(Word* to, std::byte const* from, std::size_t count) noexcept {
    if (count != 0) std::memcpy(to, from, count * sizeof(Word));
}

template <class Word>
inline void store_words(std::byte* to, Word const* from, std::size_t count) noexcept {
    if (count != 0) std::memcpy(to, from, count * sizeof(Word));
}

}  // namespace chorus::detail
