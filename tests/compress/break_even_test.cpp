// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/compress/break_even.hpp"

#include "suites/expected_error.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using chorus::codec_rates;
using chorus::compressed_exchange;
using chorus::errc;
using chorus::exchange_rates;

namespace {

// Powers of two throughout, so that sums are exact.
constexpr exchange_rates cable{.latency = 0x1p-10, .per_byte = 0x1p-20, .per_reduced_byte = 0x1p-23};
constexpr codec_rates quarter(compressed_exchange form) {
    return {.name = "quarter", .wire_bytes = 0x1p18, .per_encoded_byte = 0x1p-24, .per_decoded_byte = 0x1p-25, .form = form};
}

bool tells(std::string const& text, std::string const& words) { return text.find(words) != std::string::npos; }

}  // namespace

TEST_CASE("a dense ring takes 2(p-1) rounds, 2n(p-1)/p bytes and n(p-1)/p reduced") {
    auto const t = chorus::dense_time(0x1p20, 4, cable);
    CHECK(t.latency == 6 * 0x1p-10);
    CHECK(t.wire == 1.5);
    CHECK(t.arithmetic == 0.75 * 0x1p-3);
    CHECK(t.total() == t.latency + t.wire + t.arithmetic);
    CHECK(chorus::dense_time(0x1p20, 1, cable).total() == 0);
}

TEST_CASE("each form of a compressed all-reduce takes the rounds, bytes and elements that it says") {
    struct expected { compressed_exchange form; double rounds, sent, decoded, reduced; };
    double const n = 0x1p20, w = 0x1p18;
    for (double p : {2.0, 4.0, 8.0}) {
        double const share = (p - 1) / p;
        for (expected const& each : {expected{compressed_exchange::ring, 2 * (p - 1), 2 * w * share, 2 * n * share, 0},
                                     expected{compressed_exchange::direct, 2, 2 * w * share, 2 * n * share, 0},
                                     expected{compressed_exchange::payload_sum, 2 * (p - 1), 2 * w * share, n, w * share},
                                     expected{compressed_exchange::all_gather, p - 1, w * (p - 1), n * p, 0}}) {
            auto const t = chorus::compressed_time(n, static_cast<std::uint32_t>(p), cable, quarter(each.form));
            INFO(std::string{to_string(each.form)}, " of ", p, " ranks");
            CHECK(t.latency == each.rounds * cable.latency);
            CHECK(t.wire == each.sent * cable.per_byte);
            CHECK(t.arithmetic == n * 0x1p-24 + each.decoded * 0x1p-25 + each.reduced * cable.per_reduced_byte);
        }
    }
    CHECK(chorus::compressed_time(0x1p20, 1, cable, quarter(compressed_exchange::all_gather)).total() == 0);
}

TEST_CASE("at the break-even both take equally long; on slower links compression pays, on faster ones it does not") {
    for (auto form : {compressed_exchange::ring, compressed_exchange::direct, compressed_exchange::payload_sum, compressed_exchange::all_gather})
        for (std::uint32_t ranks : {2u, 3u, 4u, 7u}) {
            codec_rates slow = quarter(form);
            slow.per_encoded_byte = 0x1p-20;
            double const at = chorus::break_even(0x1p20, ranks, cable, slow).break_even_per_byte;
            INFO(std::string{to_string(form)}, " of ", ranks, " ranks");
            REQUIRE((at > 0 && std::isfinite(at)));
            exchange_rates there = cable;
            there.per_byte = at;
            auto const even = chorus::break_even(0x1p20, ranks, there, slow, 1.0);
            CHECK(even.dense.total() == doctest::Approx(even.compressed.total()));
            there.per_byte = at * 1.01;
            CHECK(chorus::break_even(0x1p20, ranks, there, slow, 1.0).pays);
            there.per_byte = at / 1.01;
            CHECK(!chorus::break_even(0x1p20, ranks, there, slow, 1.0).pays);
        }
    // 7 W is 14/8 n: gathered by 8 ranks, messages of a quarter are no shorter.
    CHECK(std::isinf(chorus::break_even(0x1p20, 8, cable, quarter(compressed_exchange::all_gather)).break_even_per_byte));
    codec_rates free_of_cost{.name = "free", .wire_bytes = 0x1p10, .form = compressed_exchange::direct};
    CHECK(chorus::break_even(0x1p20, 8, cable, free_of_cost).break_even_per_byte == 0);
}

TEST_CASE("the reason says what decides") {
    auto const pays = chorus::break_even(0x1p20, 4, cable, quarter(compressed_exchange::ring));
    CHECK(pays.pays);
    CHECK(tells(pays.reason, "quarter pays: "));
    CHECK(tells(pays.reason, "the wire 375 ms"));
    CHECK(tells(pays.reason, "instead of 1600 ms"));  // 5.859 + 1500 + 93.75
    codec_rates slow = quarter(compressed_exchange::ring);
    slow.per_encoded_byte = 2 * 0x1p-20;
    auto const loses = chorus::break_even(0x1p20, 4, cable, slow);
    CHECK((!loses.pays && tells(loses.reason, "does not pay") && tells(loses.reason, "the wire saves 1125 ms")));
    codec_rates longer = quarter(compressed_exchange::all_gather);
    auto const no_less = chorus::break_even(0x1p20, 16, cable, longer);
    CHECK((!no_less.pays && tells(no_less.reason, "it sends no less")));
    auto const alone = chorus::break_even(0x1p20, 1, cable, longer);
    CHECK((!alone.pays && tells(alone.reason, "one rank sends nothing")));
    double const gain = pays.dense.total() / pays.compressed.total();
    auto const little = chorus::break_even(0x1p20, 4, cable, quarter(compressed_exchange::ring), gain * 1.01);
    CHECK((!little.pays && tells(little.reason, "gains too little")));
    CHECK(chorus::break_even(0x1p20, 4, cable, quarter(compressed_exchange::ring), gain / 1.01).pays);
    CHECK(!chorus::break_even(0, 4, cable, {.name = "nothing", .wire_bytes = 16}).pays);
}

TEST_CASE("of several the fastest is chosen, and none that loses unless that is insisted on") {
    codec_rates const tiny{.name = "tiny", .wire_bytes = 0x1p12, .per_encoded_byte = 0x1p-19, .form = compressed_exchange::direct};
    std::vector<codec_rates> const both{quarter(compressed_exchange::ring), tiny};
    CHECK(chorus::advise_compression(0x1p20, 4, cable, both).chosen == 0);
    exchange_rates slow_link = cable;
    slow_link.per_byte = 0x1p-15;
    auto const slow = chorus::advise_compression(0x1p20, 4, slow_link, both);
    CHECK(slow.chosen == 1);
    CHECK(tells(slow.verdict.reason, "tiny pays"));
    exchange_rates fast_link = cable;
    fast_link.per_byte = 0x1p-40;
    fast_link.per_reduced_byte = 0;
    CHECK(!chorus::advise_compression(0x1p20, 4, fast_link, both).chosen.has_value());
    auto const insisted = chorus::advise_compression(0x1p20, 4, fast_link, both, 1.05, true);
    CHECK(insisted.chosen == 0);
    CHECK((!insisted.verdict.pays && tells(insisted.verdict.reason, "does not pay")));
}

TEST_CASE("numbers that are none are refused") {
    constexpr double no = std::numeric_limits<double>::quiet_NaN();
    codec_rates const good = quarter(compressed_exchange::ring);
    auto const refused = [](auto const& call) { return suites::unlike(errc::invalid_argument, {"break_even"}, call); };
    CHECK(refused([&] { chorus::break_even(1, 0, cable, good); }) == "");
    CHECK(refused([&] { chorus::break_even(no, 2, cable, good); }) == "");
    CHECK(refused([&] { chorus::break_even(1, 2, {.per_byte = 0}, good); }) == "");
    CHECK(refused([&] { chorus::break_even(1, 2, {.latency = -1}, good); }) == "");
    CHECK(refused([&] { chorus::break_even(1, 2, cable, {.name = "wrong", .wire_bytes = no}); }) == "");
    CHECK(refused([&] { chorus::break_even(1, 2, cable, good, no); }) == "");
    CHECK(suites::unlike(errc::invalid_argument, {"no candidates"}, [] { chorus::advise_compression(1, 2, cable, {}); }) == "");
}
