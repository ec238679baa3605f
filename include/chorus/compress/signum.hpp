// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/compress/compressor.hpp"
#include "chorus/compress/detail/nonfinite_values.hpp"
#include "chorus/compress/detail/saved_calls.hpp"
#include "chorus/compress/detail/sign_bits.hpp"
#include "chorus/compress/detail/wire_header.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace chorus {

namespace detail {

/// momentum = beta · momentum + (1 - beta) · element, but where the element is not finite, and the bits of the results
/// below 0. Products of floats are exact in double, so that every machine rounds alike.
template <bool Sanitises> struct momentum_kernel {
    template <instruction_set Level>
    [[gnu::always_inline]] static void run(float* momentum, float const* from, std::size_t count, std::byte* bits,
                                           float beta, bool* has_nonfinite) {
        sixteen::integers bad = {};
        by_sixteen(count, [&](std::size_t i, std::size_t many) __attribute__((always_inline)) {
            sixteen::words word, old;
            load_bits<Sanitises>(word, from + i, many);
            load_sixteen(old, momentum + i, many);
            sixteen::integers const is_bad = reinterpret_cast<sixteen::integers>(word & ~sixteen::sign) > 0x7F7FFFFF;
            bad |= is_bad;
            sixteen::words next;
            blend(next, old, word, beta);
            select_words(next, is_bad, old, next);
            store_sixteen(momentum + i, next, many);
            put_mask(bits, i, mask_of(reinterpret_cast<sixteen::floats>(next) < 0.0f), many);
        });
        *has_nonfinite = mask_of(bad) != 0;
    }

 private:
    [[gnu::always_inline]] static void blend(sixteen::words& to, sixteen::words const& old, sixteen::words const& word,
                                             float beta) {
        sixteen::eight_floats a[2], b[2];
        std::memcpy(a, &old, sizeof old);
        std::memcpy(b, &word, sizeof word);
        auto const keep = static_cast<double>(beta), take = static_cast<double>(1.0f - beta);
        for (int half = 0; half < 2; ++half) {
            auto const mixed = __builtin_convertvector(a[half], sixteen::eight_doubles) * keep +
                               __builtin_convertvector(b[half], sixteen::eight_doubles) * take;
            a[half] = __builtin_convertvector(mixed, sixteen::eight_floats);
        }
        std::memcpy(&to, a, sizeof to);
    }
};

}  // namespace detail

/// The sign of a momentum of what was encoded, momentum = beta · momentum + (1 - beta) · element; decoded as -1 for those
/// below 0 and +1 for all others, zeros too.
///
/// Majority vote: sum what all ranks sent with decode_add, then `majority_vote` makes of it the sign that most ranks have.
///
/// layout    header (detail 1: an element was not finite), then a bit for each element, set where the momentum is below 0,
///           the first in the lowest bit; the last byte is filled up with 0
/// bytes     16 + ⌈count / 8⌉
/// promise   none: it has no scale, and δ = 0
/// NaN, Inf  propagate: all elements of the message are decoded as NaN; the momentum of that element stays as it was
/// state     the momentum, 4 bytes for each element; another count is refused with `invalid_argument` until `reset`
/// source    Bernstein et al., "signSGD with majority vote", ICLR 2019
struct signum {
    static constexpr std::string_view name = "signum";

    float beta = 0.9f;  ///< 0 … 1; 0 is signSGD
    nonfinite on_nonfinite = nonfinite::propagate;
    std::vector<float> momentum = {};  ///< empty: of nothing yet

    constexpr std::size_t max_wire_bytes(std::size_t count) const noexcept {
        return detail::wire_header::bytes + detail::sign_bytes(count);
    }
    compression_promise promise(std::size_t) const noexcept { return {}; }

    std::size_t encode(std::span<float const> dense, std::span<std::byte> wire) {
        std::size_t const count = dense.size();
        detail::expect_room(wire, max_wire_bytes(count), name);
        detail::expects(beta >= 0 && beta <= 1, [&] { return "signum's beta is 0 to 1, not " + std::to_string(beta); });
        detail::expects(momentum.empty() || momentum.size() == count, [&] {
            return "signum keeps the momentum of " + std::to_string(momentum.size()) + " elements and was given " +
                   std::to_string(count) + "; reset() forgets it";
        });
        detail::refuse_nonfinite(dense, on_nonfinite, name);
        if (momentum.empty()) momentum.resize(count);
        std::byte* const bits = wire.data() + detail::wire_header::bytes;
        bool is_bad = false;
        if (on_nonfinite == nonfinite::sanitise)
            detail::run_kernel<detail::momentum_kernel<true>>(momentum.data(), dense.data(), count, bits, beta, &is_bad);
        else detail::run_kernel<detail::momentum_kernel<false>>(momentum.data(), dense.data(), count, bits, beta, &is_bad);
        detail::wire_header{format, is_bad, 0, count}.write(wire);
        return max_wire_bytes(count);
    }
    void decode(std::span<std::byte const> received, std::span<float> out) const { set_or_add(received, out, false); }
    void decode_add(std::span<std::byte const> received, std::span<float> out) const { set_or_add(received, out, true); }

    void reset() noexcept { momentum.clear(); }

    std::size_t state_bytes() const { return detail::wire_header::bytes + 4 * momentum.size(); }
    void save_state(std::span<std::byte> saved) const {
        detail::expects(saved.size() >= state_bytes(), [&] {
            return "signum needs room for " + std::to_string(state_bytes()) + " bytes of state and was given " +
                   std::to_string(saved.size());
        });
        detail::saved_calls::save(saved, format, momentum.size(), name);
        if (!momentum.empty())
            std::memcpy(saved.data() + detail::wire_header::bytes, momentum.data(), 4 * momentum.size());
    }
    void restore_state(std::span<std::byte const> saved) {
        using detail::wire_header;
        auto const header = saved.first(saved.size() < wire_header::bytes ? saved.size() : wire_header::bytes);
        std::uint64_t const count = detail::saved_calls::restore(header, format, name);
        std::size_t const floats = saved.size() - wire_header::bytes;
        wire_header::expect_whole(floats % 4 == 0 && floats / 4 == count, name, [&] {
            return "it is the state of " + std::to_string(count) + " elements and has " + std::to_string(floats) +
                   " bytes of momentum";
        });
        std::vector<float> read(count);
        if (count != 0) std::memcpy(read.data(), saved.data() + wire_header::bytes, floats);
        wire_header::expect_whole(detail::first_nonfinite(read) == count, name,
                                  [] { return "it holds a momentum that is not finite"; });
        momentum = std::move(read);
    }

 private:
    static constexpr auto format = detail::wire_format::signum;

    static void set_or_add(std::span<std::byte const> received, std::span<float> out, bool adds) {
        using detail::wire_header;
        auto const header = wire_header::read(received, format, out.size(), name);
        wire_header::expect_whole(header.detail <= 1 && header.number == 0, name,
                                  [] { return "its header has numbers that this format does not use"; });
        wire_header::expect_payload(received, detail::sign_bytes(out.size()), name);
        detail::expect_unused_signs(received, out.size(), name);
        float const vote = header.detail == 1 ? std::numeric_limits<float>::quiet_NaN() : 1.0f;
        detail::decode_signs(out, received.data() + wire_header::bytes, -vote, vote, adds);
    }
};
static_assert(stateful_compressor<signum>);

/// Sums of -1 and +1 become the sign that most of them had: -1, +1, or 0 for a tie; NaN stays.
inline void majority_vote(std::span<float> votes) noexcept {
    for (float& vote : votes) vote = vote > 0 ? 1.0f : vote < 0 ? -1.0f : vote;
}

}  // namespace chorus
