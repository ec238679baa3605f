// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <cuda_runtime.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace chorus::detail {

/// The word of so many bytes that the hardware moves at once.
template <std::size_t Bytes> struct word_of;
template <> struct word_of<1> { using type = unsigned char; };
template <> struct word_of<2> { using type = unsigned short; };
template <> struct word_of<4> { using type = unsigned int; };
template <> struct word_of<8> { using type = unsigned long long; };
template <> struct word_of<16> { using type = uint4; };

template <class T> inline constexpr bool is_one_word =
    (sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16) && alignof(T) == sizeof(T);

template <class Word, std::size_t Words> struct word_array {
    Word word[Words];
};

/// What T is moved as: one word, or several of its alignment.
template <class T> struct moved_as {
    using word = typename word_of<(is_one_word<T> ? sizeof(T) : alignof(T) < 16 ? alignof(T) : 16)>::type;
    static constexpr std::size_t words = sizeof(T) / sizeof(word);
    using type = word_array<word, words>;
};

}  // namespace chorus::detail

namespace chorus::cuda {

// How kernels read and write global memory: past the first-level cache, which streaming kernels do not need. Everything goes through
// here, so that the accesses of a kernel can be counted and checked.

/// The value at `from`, which is aligned to alignof(T).
template <class T>
__device__ T load(T const* from) {
    using moved = chorus::detail::moved_as<T>;
    typename moved::type words;
    auto const* const source = reinterpret_cast<typename moved::word const*>(from);
    for (std::size_t i = 0; i < moved::words; ++i) words.word[i] = __ldcg(source + i);
    return std::bit_cast<T>(words);
}

template <class T>
__device__ void store(T* to, std::type_identity_t<T> const& value) {
    using moved = chorus::detail::moved_as<T>;
    auto const words = std::bit_cast<typename moved::type>(value);
    auto* const target = reinterpret_cast<typename moved::word*>(to);
    for (std::size_t i = 0; i < moved::words; ++i) __stcg(target + i, words.word[i]);
}

/// N elements that are moved in accesses of 16 bytes: N * sizeof(T) is a multiple of 16.
template <class T, std::size_t N> struct pack {
    static_assert(N * sizeof(T) % 16 == 0);
    T element[N];
};

/// `from` is aligned to 16 bytes.
template <std::size_t N, class T>
__device__ pack<T, N> load_pack(T const* from) {
    chorus::detail::word_array<uint4, N * sizeof(T) / 16> words;
    auto const* const source = reinterpret_cast<uint4 const*>(from);
    for (std::size_t i = 0; i < N * sizeof(T) / 16; ++i) words.word[i] = __ldcg(source + i);
    return std::bit_cast<pack<T, N>>(words);
}

template <class T, std::size_t N>
__device__ void store_pack(T* to, pack<T, N> const& elements) {
    auto const words = std::bit_cast<chorus::detail::word_array<uint4, N * sizeof(T) / 16>>(elements);
    auto* const target = reinterpret_cast<uint4*>(to);
    for (std::size_t i = 0; i < N * sizeof(T) / 16; ++i) __stcg(target + i, words.word[i]);
}

}  // namespace chorus::cuda
