// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/compress/error_feedback.hpp"

#include "chorus/compress/compressors.hpp"
#include "suites/compressor_vectors.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

using chorus::any_compressor;
using chorus::error_feedback;
using suites::floats;

namespace {

/// In every step decoded + residual = x + old residual, but for 4 units in the last place of the largest term.
std::string unconserved(any_compressor const& prototype, std::size_t count) {
    error_feedback feedback{prototype};
    floats old(count);
    for (std::uint64_t step = 0; step < 50; ++step) {
        floats const x = suites::drawn(count, 100 + step);
        std::vector<std::byte> wire(feedback.max_wire_bytes(count));
        floats sent(count);
        feedback.decode(std::span{wire}.first(feedback.encode(x, wire)), sent);
        for (std::size_t i = 0; i < count; ++i) {
            float const kept = feedback.residual()[i];
            float const largest = std::max({std::abs(x[i]), std::abs(old[i]), std::abs(sent[i]), std::abs(kept)});
            double const off = static_cast<double>(sent[i]) + static_cast<double>(kept) - static_cast<double>(x[i]) - static_cast<double>(old[i]);
            if (std::abs(off) > 4.0 * static_cast<double>(std::nextafter(largest, 2 * largest + 1) - largest))
                return "step " + std::to_string(step) + ", element " + std::to_string(i) + " is off by " + std::to_string(off);
        }
        old = floats(feedback.residual().begin(), feedback.residual().end());
    }
    return "";
}

}  // namespace

TEST_CASE("EFB-2: around every compressor, what is sent and what is kept are together what came in") {
    for (std::string_view name : chorus::known_compressors())
        for (std::size_t count : {std::size_t{1}, std::size_t{9}, std::size_t{300}})
            CHECK_MESSAGE(unconserved(chorus::compressor_named(name), count) == "", std::string{name}, ", ", count, " elements");
}
