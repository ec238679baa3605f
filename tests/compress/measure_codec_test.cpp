// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/compress/measure_codec.hpp"

#include "chorus/compress/half_cast.hpp"
#include "chorus/compress/top_k.hpp"
#include "chorus/compress/uncompressed.hpp"
#include "suites/expected_error.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

using chorus::measure_codec;

namespace {

std::vector<float> slopes(std::size_t count) {
    std::vector<float> x(count);
    for (std::size_t i = 0; i < count; ++i) x[i] = 1.0f + static_cast<float>(i % 1000) / 1024.0f;
    return x;
}

}  // namespace

TEST_CASE("measured rates hold what the compressor is known to send and lose, and times above zero") {
    auto const x = slopes(100'000);
    chorus::half_cast half;
    auto const of_half = measure_codec(half, x, 3);
    CHECK(of_half.rates.name == "half_cast");
    CHECK(of_half.rates.wire_bytes == static_cast<double>(half.max_wire_bytes(x.size())));
    CHECK(of_half.message_bytes == of_half.rates.wire_bytes);
    CHECK(of_half.relative_error < 0x1p-11);
    for (double rate : {of_half.rates.per_encoded_byte, of_half.rates.per_decoded_byte, of_half.per_copied_byte, of_half.per_reduced_byte}) CHECK(rate > 0);

    chorus::uncompressed nothing;
    CHECK(measure_codec(nothing, x, 1).relative_error == 0);
    chorus::top_k few{0.01};
    auto const of_few = measure_codec(few, x, 1);
    CHECK(of_few.message_bytes < 0.03 * 4 * static_cast<double>(x.size()));
    CHECK(of_few.relative_error > 0.9);
}

TEST_CASE("fed by measurement the advisor says that a slow link pays and a fast one does not, and refuses what loses unless told otherwise") {
    auto const x = slopes(1 << 18);
    auto const bytes = static_cast<double>(4 * x.size());
    chorus::half_cast half;
    auto const measured = measure_codec(half, x, 3);
    chorus::codec_rates const candidates[] = {measured.rates};
    auto without_sums = measured;  // without optimisation adding up may take longer than the codec, which would then pay on any link
    without_sums.per_reduced_byte = without_sums.per_copied_byte = 0;
    auto const advice_for = [&](double bytes_per_second, bool is_insisted) {
        return chorus::advise_compression(bytes, 4, chorus::rates_of_link(bytes_per_second, 1e-5, without_sums), candidates, 1.05, is_insisted);
    };
    auto const slow = advice_for(1e6, false);
    CHECK(slow.chosen == 0u);
    CHECK(slow.verdict.reason.find("half_cast pays") == 0);
    auto const fast = advice_for(1e15, false);
    CHECK(!fast.chosen);
    CHECK(fast.verdict.reason.find("half_cast does not pay") == 0);
    CHECK(advice_for(1e15, true).chosen == 0u);
}

TEST_CASE("nothing to measure is refused") {
    chorus::half_cast half;
    CHECK(suites::unlike(chorus::errc::invalid_argument, {"nothing to measure"}, [&] { measure_codec(half, {}); }) == "");
    std::vector<float> const one(1);
    CHECK(suites::unlike(chorus::errc::invalid_argument, {"nothing to measure"}, [&] { measure_codec(half, one, 0); }) == "");
    CHECK(suites::unlike(chorus::errc::invalid_argument, {"no byte a second"}, [&] { chorus::rates_of_link(0, 0, measure_codec(half, one)); }) == "");
}
