// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace chorus {

/// How an all-reduce carries compressed vectors. With messages of W bytes for a whole vector of n, on p ranks:
enum class compressed_exchange : std::uint8_t {
    ring,         ///< 2(p-1) rounds, 2W(p-1)/p bytes; encodes n, decodes 2n(p-1)/p; whatever is encoded block by block
    direct,       ///< 2 rounds, otherwise the same
    payload_sum,  ///< 2(p-1) rounds, 2W(p-1)/p bytes; encodes n, adds W(p-1)/p, decodes n; linear compressors alone
    all_gather    ///< p-1 rounds, W(p-1) bytes; encodes n, decodes p·n; sparse messages, whose decoding is cheap
};

constexpr std::string_view to_string(compressed_exchange form) noexcept {
    constexpr std::string_view names[] = {"ring", "direct", "payload_sum", "all_gather"};
    return names[static_cast<std::size_t>(form)];
}

/// Of a machine, in seconds; measured.
struct exchange_rates {
    double latency = 1e-6;
    double per_byte = 1e-10;
    double per_reduced_byte = 5e-11;
};

/// What one compressor does to the vector in question; times in seconds per byte of the uncompressed vector, measured.
struct codec_rates {
    std::string_view name;
    double wire_bytes = 0;
    double per_encoded_byte = 0;
    double per_decoded_byte = 0;  ///< of decode_add; for sparse messages far less than of writing a vector
    compressed_exchange form = compressed_exchange::ring;
};

/// Seconds of one all-reduce, in parts. Nothing is taken to overlap, so what really happens is no slower.
struct exchange_time {
    double latency = 0;
    double wire = 0;
    double arithmetic = 0;  ///< reducing, encoding, decoding

    constexpr double total() const noexcept { return latency + wire + arithmetic; }
};

/// Uncompressed, in a ring.
constexpr exchange_time dense_time(double bytes, std::uint32_t ranks, exchange_rates const& rates) noexcept {
    double const others = ranks - 1.0, share = others / ranks;
    return {2 * others * rates.latency, 2 * bytes * share * rates.per_byte, bytes * share * rates.per_reduced_byte};
}

constexpr exchange_time compressed_time(double bytes, std::uint32_t ranks, exchange_rates const& rates, codec_rates const& codec) noexcept {
    double const others = ranks - 1.0, share = others / ranks;
    if (ranks == 1) return {};
    double rounds = 2 * others, sent = 2 * codec.wire_bytes * share, decoded = 2 * bytes * share, reduced = 0;
    switch (codec.form) {
        case compressed_exchange::ring: break;
        case compressed_exchange::direct: rounds = 2; break;
        case compressed_exchange::payload_sum:
            decoded = bytes;
            reduced = codec.wire_bytes * share;
            break;
        case compressed_exchange::all_gather:
            rounds = others;
            sent = codec.wire_bytes * others;
            decoded = bytes * ranks;
            break;
    }
    return {rounds * rates.latency, sent * rates.per_byte,
            bytes * codec.per_encoded_byte + decoded * codec.per_decoded_byte + reduced * rates.per_reduced_byte};
}

/// Whether a compressor pays on a link, by how much, and why.
struct break_even_verdict {
    exchange_time dense, compressed;
    bool pays = false;
    /// Compression takes less time on links with more seconds per byte than this: 0 if on all, infinity if no link is slow enough. What
    /// sends more never pays on slow links; on fast ones it may, by fewer rounds.
    double break_even_per_byte = 0;
    std::string reason;
};

namespace detail {

inline std::string told_milliseconds(double seconds) {
    char text[32];
    std::snprintf(text, sizeof text, "%.4g ms", seconds * 1e3);
    return text;
}

/// Where two straight lines over seconds per byte meet.
inline double crossing_per_byte(exchange_time const& dense, exchange_time const& compressed, double per_byte) noexcept {
    double const fixed = compressed.latency + compressed.arithmetic - dense.latency - dense.arithmetic;
    double const saved = (dense.wire - compressed.wire) / per_byte;
    if (saved < 0 || (saved == 0 && fixed >= 0)) return std::numeric_limits<double>::infinity();
    return fixed <= 0 ? 0.0 : fixed / saved;
}

inline std::string break_even_reason(break_even_verdict const& v, std::uint32_t ranks, codec_rates const& codec) {
    std::string const name{codec.name};
    if (ranks == 1) return name + " does not pay: one rank sends nothing";
    std::string const times = told_milliseconds(v.compressed.total()) + " instead of " + told_milliseconds(v.dense.total());
    std::string const parts = "; latency takes " + told_milliseconds(v.compressed.latency) + ", the wire " +
                              told_milliseconds(v.compressed.wire) + ", encoding and decoding " +
                              told_milliseconds(v.compressed.arithmetic);
    if (v.pays) return name + " pays: " + times + parts;
    if (v.compressed.wire >= v.dense.wire) return name + " does not pay: it sends no less; " + times + parts;
    if (v.compressed.total() < v.dense.total()) return name + " gains too little: " + times + parts;
    return name + " does not pay: " + times + parts + ", and the wire saves " + told_milliseconds(v.dense.wire - v.compressed.wire);
}

}  // namespace detail

/// Whether an all-reduce of so many bytes on so many ranks is faster compressed, at least `least_gain` times. Pure arithmetic over what was
/// measured. Raises `invalid_argument` for no ranks, negative numbers, or a link whose bytes take no time.
inline break_even_verdict break_even(double bytes, std::uint32_t ranks, exchange_rates const& rates, codec_rates const& codec,
                                     double least_gain = 1.05) {
    detail::expects(ranks >= 1 && bytes >= 0 && rates.latency >= 0 && rates.per_byte > 0 && rates.per_reduced_byte >= 0, [&] {
        return "break_even was asked about " + std::to_string(ranks) + " ranks, or about numbers of a link that are none";
    });
    detail::expects(codec.wire_bytes >= 0 && codec.per_encoded_byte >= 0 && codec.per_decoded_byte >= 0 && least_gain >= 0, [&] {
        return "break_even was given numbers of " + std::string{codec.name} + " that are negative or none";
    });
    break_even_verdict v{dense_time(bytes, ranks, rates), compressed_time(bytes, ranks, rates, codec), false, 0, {}};
    v.pays = ranks > 1 && v.compressed.total() < v.dense.total() && v.compressed.total() * least_gain <= v.dense.total();
    v.break_even_per_byte = detail::crossing_per_byte(v.dense, v.compressed, rates.per_byte);
    v.reason = detail::break_even_reason(v, ranks, codec);
    return v;
}

/// Which of several compressors to use on a link, if any.
struct compression_advice {
    std::optional<std::size_t> chosen;  ///< the candidate to use; none: send the vector as it is
    break_even_verdict verdict;         ///< of the fastest candidate, whether it pays or not
};

/// The candidate of the least time, if it pays; the first of equals. Also if it loses, when `is_insisted`: then the reason says what it costs.
/// Raises `invalid_argument` for no candidates.
inline compression_advice advise_compression(double bytes, std::uint32_t ranks, exchange_rates const& rates,
                                             std::span<codec_rates const> candidates, double least_gain = 1.05, bool is_insisted = false) {
    detail::expects(!candidates.empty(), [] { return std::string{"advise_compression was given no candidates"}; });
    std::size_t best = 0;
    break_even_verdict verdict = break_even(bytes, ranks, rates, candidates[0], least_gain);
    for (std::size_t i = 1; i < candidates.size(); ++i) {
        break_even_verdict other = break_even(bytes, ranks, rates, candidates[i], least_gain);
        if (other.compressed.total() >= verdict.compressed.total()) continue;
        best = i;
        verdict = other;
    }
    bool const is_used = verdict.pays || is_insisted;
    return {is_used ? std::optional{best} : std::nullopt, verdict};
}

}  // namespace chorus
