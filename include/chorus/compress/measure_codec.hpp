// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/compress/break_even.hpp"
#include "chorus/compress/compressor.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace chorus {

/// What a compressor was measured to do to one vector on this machine, for `break_even`.
struct codec_measurement {
    codec_rates rates{};            ///< medians; wire_bytes: of the longest message for as many elements, which is what travels in rings
    double message_bytes = 0;       ///< of the last message
    double per_copied_byte = 0;     ///< seconds, of memcpy of the vector, in turn with the others
    double per_reduced_byte = 0;    ///< seconds, of adding such a vector to another
    double relative_error = 0;      ///< Euclidean norm of what the first message lost over that of the vector; 0 for a vector of zeros
};

namespace detail {

template <class Call>
double seconds_of(Call const& call) {
    auto const begin = std::chrono::steady_clock::now();
    call();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

inline double median_of(std::vector<double>& values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

inline double relative_error(std::span<float const> right, std::span<float const> found) {
    double off = 0, norm = 0;
    for (std::size_t i = 0; i < right.size(); ++i) {
        double const x = right[i], difference = x - static_cast<double>(found[i]);
        off += difference * difference;
        norm += x * x;
    }
    return norm > 0 ? std::sqrt(off / norm) : std::sqrt(off);
}

template <class C>
std::string_view codec_name(C const& by) {
    if constexpr (requires { by.kind(); }) return by.kind();
    else return C::name;
}

}  // namespace detail

/// Encodes the vector `repeat` times, after one more that does not count, in turn with decode_add, memcpy and a sum. Moves the state of the compressor on.
/// Needs 8 bytes per element, and a message. Raises `invalid_argument` for an empty vector or no repetition.
template <compressor C>
codec_measurement measure_codec(C& by, std::span<float const> vector, std::size_t repeat = 5, compressed_exchange form = compressed_exchange::ring) {
    detail::expects(!vector.empty() && repeat > 0, [] { return std::string{"measure_codec was given nothing to measure: no element, or no repetition"}; });
    std::vector<std::byte> wire(by.max_wire_bytes(vector.size()));
    std::vector<float> sum(vector.size()), copy(vector.size());
    std::size_t used = by.encode(vector, wire);
    by.decode(std::span{wire}.first(used), copy);
    codec_measurement found;
    found.relative_error = detail::relative_error(vector, copy);
    std::vector<double> encoding, decoding, copying, adding;
    for (std::size_t i = 0; i < repeat; ++i) {
        copying.push_back(detail::seconds_of([&] { std::memcpy(copy.data(), vector.data(), vector.size_bytes()); }));
        encoding.push_back(detail::seconds_of([&] { used = by.encode(vector, wire); }));
        decoding.push_back(detail::seconds_of([&] { by.decode_add(std::span{wire}.first(used), sum); }));
        adding.push_back(detail::seconds_of([&] { std::transform(copy.begin(), copy.end(), sum.begin(), sum.begin(), std::plus<>{}); }));
    }
    auto const bytes = static_cast<double>(vector.size_bytes());
    found.rates = {.name = detail::codec_name(by), .wire_bytes = static_cast<double>(wire.size()), .per_encoded_byte = detail::median_of(encoding) / bytes,
                   .per_decoded_byte = detail::median_of(decoding) / bytes, .form = form};
    found.message_bytes = static_cast<double>(used);
    found.per_copied_byte = detail::median_of(copying) / bytes;
    found.per_reduced_byte = detail::median_of(adding) / bytes;
    return found;
}

/// Of a link of so many bytes a second, and of the machine that the compressor was measured on.
inline exchange_rates rates_of_link(double bytes_per_second, double latency, codec_measurement const& here) {
    detail::expects(bytes_per_second > 0, [] { return std::string{"a link that carries no byte a second"}; });
    return {.latency = latency, .per_byte = 1 / bytes_per_second, .per_reduced_byte = here.per_reduced_byte};
}

}  // namespace chorus
