// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

namespace chorus {

/// What a compressor does with a vector that holds values which are not finite. None of them is silent.
enum class nonfinite : std::uint8_t {
    propagate,  ///< a NaN is decoded as NaN, an infinity as infinity or NaN; the compressor says which other elements suffer with them
    sanitise,   ///< NaN counts as 0, infinities as the largest finite value of their sign
    refuse      ///< `encode` raises `invalid_argument` with the index of the first one; nothing was changed
};

/// The texts of all its values, in order: beside every enumeration that is a parameter of a compressor.
constexpr std::array<std::string_view, 3> words_of(nonfinite) noexcept { return {"propagate", "sanitise", "refuse"}; }
constexpr std::string_view to_string(nonfinite policy) noexcept { return words_of(policy)[static_cast<std::size_t>(policy)]; }

/// What a compressor C promises for finite vectors x of `count` elements. Tests measure each of these.
struct compression_promise {
    /// The mean of decode(encode(x)) over the random choices is x.
    bool is_unbiased = false;

    /// δ with |x - C(x)|² ≤ (1 - δ) |x|² in the Euclidean norm, for every x (of a random C: in the mean): 1 is lossless, 0 promises nothing, as
    /// for unbiased ones that may stretch a vector. Error feedback converges for δ > 0 (Karimireddy et al., ICML 2019, "Error feedback fixes SignSGD").
    double contraction = 0.0;

    /// What is decoded is, element by element, either the input's own bits or zero: sent + residual = input to the bit.
    bool is_selection = false;

    /// The two above hold for vectors whose elements are 0 or of a magnitude from `smallest` to `largest`. Finite vectors up to `largest` are decoded to
    /// finite ones; beyond it a cast makes infinities, as casts do, and others the largest that they have.
    float smallest = 0.0f;
    float largest = (std::numeric_limits<float>::max)();

    friend bool operator==(compression_promise const&, compression_promise const&) = default;
};

/// Encodes vectors of float into bytes and back.
///
/// encode      Writes at most max_wire_bytes(dense.size()) bytes to `wire`, at any alignment, and returns how many. Raises `invalid_argument` when
///             `wire` is shorter than that, or for what `nonfinite::refuse` refuses. Moves the compressor's own state (a residual, a count of calls) on.
/// decode      Overwrites all of `out`.
/// decode_add  Adds to `out`; touches only what is not zero, where the layout tells.
///             Both take any bytes whatever: those that no encoder of this kind wrote for out.size() elements raise `corrupt`, before `out` was touched,
///             and nothing outside `wire` and `out` is read or written. They may be called from several threads at once.
/// promise     See compression_promise; for vectors of `count` elements.
///
/// Equal state and input give equal bytes, on every machine and instruction set. A compressor is copied with its state. After the first call with a count
/// nothing is allocated for counts up to it. `on_nonfinite`, a member, chooses among the policies above.
template <class C> concept compressor =
    std::movable<C> && requires(C& c, C const& fixed, std::span<float const> dense, std::span<std::byte> wire,
                                std::span<std::byte const> received, std::span<float> out, std::size_t count) {
        { C::name } -> std::convertible_to<std::string_view>;
        { fixed.max_wire_bytes(count) } -> std::same_as<std::size_t>;
        { c.encode(dense, wire) } -> std::same_as<std::size_t>;
        fixed.decode(received, out);
        fixed.decode_add(received, out);
        { fixed.promise(count) } -> std::same_as<compression_promise>;
    };

/// Payloads of equal state and count on all ranks may be added instead of what they stand for: bytes after the header are an array of `payload_type`,
/// of payload_count(count) elements, and decode(header, sum of payloads) = sum of the decoded, but for the rounding of that type.
template <class C> concept linear_compressor = compressor<C> && requires(C const& fixed, std::size_t count) {
    typename C::payload_type;
    { fixed.payload_count(count) } -> std::same_as<std::size_t>;
};

/// Has state that a checkpoint must keep: a residual, a momentum, a count of calls.
/// `restore_state` takes what `save_state` wrote, of a compressor with the same parameters, and raises `corrupt` for anything else, changing nothing.
template <class C> concept stateful_compressor =
    compressor<C> && requires(C& c, C const& fixed, std::span<std::byte> saved, std::span<std::byte const> read) {
        { fixed.state_bytes() } -> std::same_as<std::size_t>;
        fixed.save_state(saved);
        c.restore_state(read);
    };

}  // namespace chorus
