// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/data/bfloat16.hpp"
#include "chorus/data/half.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace chorus {

/// What a buffer may be made of: any object type that can be copied as bytes, numbers as well as users' own structs.
/// Addresses are refused, since they mean nothing on another rank.
template <class T> concept element =
    std::is_object_v<T> && std::is_trivially_copyable_v<T> && std::same_as<T, std::remove_cv_t<T>> &&
    !std::is_array_v<T> && !std::is_pointer_v<T> && !std::is_member_pointer_v<T> && !std::is_null_pointer_v<T>;

namespace detail {

template <class T> inline constexpr bool is_narrow_float = std::same_as<T, half> || std::same_as<T, bfloat16>;

/// Built-in integers of 1, 2, 4 or 8 bytes, without bool.
template <class T> concept integer = std::is_integral_v<T> && !std::same_as<T, bool> && sizeof(T) <= 8;

template <class T> concept real = std::is_floating_point_v<T> || is_narrow_float<T>;

/// What the library itself can compute with; bool is not among them.
template <class T> concept number = integer<T> || real<T>;

constexpr std::size_t log2_of_bytes(std::size_t bytes) noexcept {
    return bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3;
}

}  // namespace detail

/// The type in which sums are kept before the one rounding to the element: float for half and bfloat16.
template <class T> using wide_t = std::conditional_t<detail::is_narrow_float<T>, float, T>;

/// The element in texts and fingerprints. Integers are named by size and sign, so long and long long are both "int64".
template <element T> constexpr std::string_view element_name() noexcept {
    constexpr std::string_view signed_names[] = {"int8", "int16", "int32", "int64"};
    constexpr std::string_view unsigned_names[] = {"uint8", "uint16", "uint32", "uint64"};
    if constexpr (std::same_as<T, float>) return "float";
    else if constexpr (std::same_as<T, double>) return "double";
    else if constexpr (std::same_as<T, half>) return "half";
    else if constexpr (std::same_as<T, bfloat16>) return "bfloat16";
    else if constexpr (std::same_as<T, bool>) return "bool";
    else if constexpr (std::same_as<T, std::byte>) return "byte";
    else if constexpr (detail::integer<T> && std::is_signed_v<T>) return signed_names[detail::log2_of_bytes(sizeof(T))];
    else if constexpr (detail::integer<T>) return unsigned_names[detail::log2_of_bytes(sizeof(T))];
    else return "user";
}

}  // namespace chorus
