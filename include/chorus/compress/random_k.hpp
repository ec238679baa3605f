// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/random.hpp"
#include "chorus/compress/compressor.hpp"
#include "chorus/compress/detail/drawn_indices.hpp"
#include "chorus/compress/detail/kept_share.hpp"
#include "chorus/compress/detail/nonfinite_values.hpp"
#include "chorus/compress/detail/saved_calls.hpp"
#include "chorus/compress/detail/wire_header.hpp"
#include "chorus/compress/detail/wire_words.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

namespace chorus {

/// Sends k elements that are drawn without replacement, their values alone: ranks with one `seed` that encode equally often draw the same indices, so that
/// payloads may be added. Every call draws others, until after 2^24 they come again. Any compressor with the same seed decodes a message.
///
/// layout    header (lower 24 bits of number: calls before this one; upper 16, and detail: a hash of seed and k), then k floats in ascending order of
///           their indices
/// bytes     16 + 4k
/// promise   δ = k / n in the mean and a selection; with `is_scaled`, unbiased instead. Payloads add
/// NaN, Inf  propagate: where one was not drawn, or all that was drawn is NaN, every element is decoded as NaN; costs a pass over the input, as refuse does
/// state     the number of calls
class random_k : public detail::kept_share {
 public:
    static constexpr std::string_view name = "random_k";
    using payload_type = float;

    std::uint64_t seed;      ///< the same on all ranks whose payloads are added
    bool is_scaled = false;  ///< multiplies what is sent by n / k: unbiased, but longer than the input
    nonfinite on_nonfinite = nonfinite::propagate;

    /// Raises `invalid_argument` for a ratio that is not above 0 and at most 1.
    explicit random_k(double kept_ratio = 0.01, std::uint64_t common_seed = 0) : kept_share{kept_ratio, 0}, seed{common_seed} {
        static_cast<void>(kept(0));
    }

    std::size_t max_wire_bytes(std::size_t count) const { return detail::wire_header::bytes + 4 * kept(count); }
    std::size_t payload_count(std::size_t count) const { return kept(count); }

    std::size_t encode(std::span<float const> dense, std::span<std::byte> wire) {
        std::size_t const count = dense.size(), k = kept(count);
        detail::expects(count <= largest_count, [&] {
            return std::string{name} + " was given " + std::to_string(count) + " elements and draws among fewer than 2^32: cut the vector into several";
        });
        detail::expect_room(wire, max_wire_bytes(count), name);
        detail::refuse_nonfinite(dense, on_nonfinite, name);
        header(k, count).write(wire);
        std::byte* const payload = wire.data() + detail::wire_header::bytes;
        std::size_t const nonfinite_drawn = write_drawn(dense, k, payload);
        if (on_nonfinite == nonfinite::propagate && nonfinite_drawn != count_nonfinite(dense)) fill_with_nan(payload, k);
        ++calls_;
        return detail::wire_header::bytes + 4 * k;
    }

    /// Overwrites all of `out`.
    void decode(std::span<std::byte const> wire, std::span<float> out) const {
        message const m = read(wire, out.size());
        std::fill(out.begin(), out.end(), m.is_all_nan ? nan : 0.0f);
        if (!m.is_all_nan) for_each_entry(m, out, [](float& element, float value) { element = value; });
    }

    /// Adds to the elements that were drawn.
    void decode_add(std::span<std::byte const> wire, std::span<float> out) const {
        message const m = read(wire, out.size());
        if (m.is_all_nan)
            for (float& element : out) element += nan;
        else for_each_entry(m, out, [](float& element, float value) { element += value; });
    }

    compression_promise promise(std::size_t count) const {
        std::size_t const k = kept(count);
        double const share = count == 0 ? 1.0 : static_cast<double>(k) / static_cast<double>(count);
        if (!is_scaled || k == count) return {.is_unbiased = k == count, .contraction = share, .is_selection = true};
        return {.is_unbiased = true, .largest = static_cast<float>(share * 0.999 * static_cast<double>((std::numeric_limits<float>::max)()))};
    }

    std::size_t state_bytes() const noexcept { return detail::saved_calls::bytes; }
    void save_state(std::span<std::byte> saved) const { detail::saved_calls::save(saved, detail::wire_format::random_k, calls_, name); }
    void restore_state(std::span<std::byte const> saved) {
        calls_ = detail::saved_calls::restore(saved, detail::wire_format::random_k, name);
    }

 private:
    static constexpr std::uint64_t largest_count = 0xFFFFFFFF;
    static constexpr std::uint64_t step_mask = (std::uint64_t{1} << 24) - 1;
    static constexpr float nan = std::numeric_limits<float>::quiet_NaN();

    struct message {
        std::byte const* payload;
        std::size_t many;
        std::uint64_t step;
        bool is_all_nan;
    };

    std::uint64_t step() const noexcept { return calls_ & step_mask; }

    /// Of seed and k, 24 bits.
    std::uint64_t hash(std::size_t k) const noexcept { return counter_random::mix(counter_random::mix(seed + 1) ^ k) >> 40; }

    detail::wire_header header(std::size_t k, std::size_t count) const noexcept {
        return {detail::wire_format::random_k, static_cast<std::uint8_t>(hash(k) & 0xFF), hash(k) >> 8 << 24 | step(), count};
    }

    message read(std::span<std::byte const> wire, std::size_t count) const {
        using detail::wire_header;
        auto const header = wire_header::read(wire, detail::wire_format::random_k, count, name);
        std::size_t const bytes = wire.size() - wire_header::bytes, many = bytes / 4;
        wire_header::expect_whole(bytes % 4 == 0 && many <= count && (many != 0 || count == 0) && count <= largest_count, name, [&] {
            return "it has " + std::to_string(bytes) + " bytes of values for " + std::to_string(count) + " elements";
        });
        wire_header::expect_whole((header.number >> 24 << 8 | header.detail) == hash(many), name, [] {
            return "its indices were drawn by another seed, or it has not the length that it was written with";
        });
        std::byte const* const payload = wire.data() + wire_header::bytes;
        return {payload, many, header.number & step_mask, is_all_nan(payload, many)};
    }

    /// Returns how many of the elements drawn are not finite.
    std::size_t write_drawn(std::span<float const> dense, std::size_t k, std::byte* to) const noexcept {
        bool const cleans = on_nonfinite == nonfinite::sanitise;
        float const scale = is_scaled && k != 0 ? static_cast<float>(static_cast<double>(dense.size()) / static_cast<double>(k)) : 1.0f;
        std::size_t bad = 0;
        auto const ahead = [&](std::size_t index) { __builtin_prefetch(dense.data() + index); };
        detail::for_each_drawn(seed, step(), dense.size(), k, ahead, [&](std::span<std::uint32_t const> indices) {
            for (std::uint32_t index : indices) {
                float const value = dense[index];
                bad += !detail::is_finite(value);
                detail::put_float(to, cleans ? detail::sanitised(detail::sanitised(value) * scale) : value * scale);
                to += 4;
            }
        });
        return bad;
    }

    static std::size_t count_nonfinite(std::span<float const> dense) noexcept {
        std::size_t many = 0;
        for (std::size_t at = detail::first_nonfinite(dense); at < dense.size(); at += 1 + detail::first_nonfinite(dense.subspan(at + 1))) ++many;
        return many;
    }

    static void fill_with_nan(std::byte* payload, std::size_t k) noexcept {
        for (std::size_t i = 0; i < k; ++i) detail::put_float(payload + 4 * i, nan);
    }

    static bool is_all_nan(std::byte const* payload, std::size_t k) noexcept {
        std::size_t many = 0;
        while (many < k && (detail::load_word<std::uint32_t>(payload, many) & 0x7FFFFFFFu) > 0x7F800000u) ++many;
        return k != 0 && many == k;
    }

    template <class F>
    void for_each_entry(message const& m, std::span<float> out, F const& f) const noexcept {
        std::byte const* from = m.payload;
        auto const ahead = [&](std::size_t index) { __builtin_prefetch(out.data() + index, 1); };
        detail::for_each_drawn(seed, m.step, out.size(), m.many, ahead, [&](std::span<std::uint32_t const> indices) {
            for (std::uint32_t index : indices) {
                f(out[index], detail::float_at(from));
                from += 4;
            }
        });
    }

    std::uint64_t calls_ = 0;
};
static_assert(linear_compressor<random_k> && stateful_compressor<random_k>);

}  // namespace chorus
