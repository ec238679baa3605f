// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/compress/compressors.hpp"

#include "suites/compressor_vectors.hpp"
#include "suites/expected_error.hpp"

#include <cstddef>
#include <initializer_list>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

using chorus::any_compressor;
using chorus::compressor_named;

namespace {

std::vector<std::byte> encoded(any_compressor c, suites::floats const& x) {
    std::vector<std::byte> wire(c.max_wire_bytes(x.size()));
    wire.resize(c.encode(x, wire));
    return wire;
}

std::string refusal(std::string_view text, std::initializer_list<std::string_view> words) {
    return suites::unlike(chorus::errc::invalid_argument, words, [&] { compressor_named(text); });
}

}  // namespace

TEST_CASE("every compressor of the list has a name of its own, by which it is made") {
    std::set<std::string_view> names;
    for (std::string_view name : chorus::known_compressors()) {
        names.insert(name);
        CHECK(compressor_named(name).kind() == name);
        CHECK(compressor_named(name).describe() == name);
    }
    CHECK(names.size() == std::tuple_size_v<chorus::compressors>);
}

TEST_CASE("a compressor is described as it is named") {
    for (std::string_view text :
         {"block_integer(bits=4, block=128)", "block_integer(scale=range, rounding=stochastic, seed=18446744073709551615)",
          "qsgd(levels=7)", "ternary(block=64, clip=2.5)", "signum(beta=0.5)", "half_cast(on_nonfinite=refuse)",
          "top_k(ratio=0.05, indices=packed)", "error_feedback(top_k(ratio=0.1))",
          "error_feedback(sign_bit, decay=0.5, against=averaged)", "minimum_size(error_feedback(qsgd), smallest=10)",
          "clipping(momentum_correction(top_k, momentum=0.5, is_nesterov=true), norm=2)",
          "warm_up(top_k, first_ratio=0.5, steps_per_stage=7)"}) {
        any_compressor const made = compressor_named(text);
        CHECK(made.describe() == text);
        CHECK(compressor_named(made.describe()).describe() == text);
    }
    CHECK(compressor_named("  qsgd ( levels = 127 , block=512 )").describe() == "qsgd");
}

TEST_CASE("a compressor by name makes the bytes of the one by type") {
    auto const x = suites::drawn(5000, 1);
    CHECK(encoded(compressor_named("block_integer(bits=4, block=128)"), x) ==
          encoded(chorus::block_integer{.bits = 4, .block = 128}, x));
    CHECK(encoded(compressor_named("top_k(ratio=0.1)"), x) == encoded(chorus::top_k{0.1}, x));
    any_compressor named = compressor_named("error_feedback(top_k(ratio=0.1))");
    any_compressor typed = chorus::error_feedback{chorus::top_k{0.1}};
    for (int step = 0; step < 5; ++step) {
        std::vector<std::byte> one(named.max_wire_bytes(x.size())), other = one;
        REQUIRE(named.encode(x, one) == typed.encode(x, other));
        REQUIRE(one == other);
    }
}

TEST_CASE("what cannot be named is refused, and says what can") {
    CHECK(refusal("topk", {"there is no compressor \"topk\"", "block_integer", "top_k", "error_feedback(…)"}) == "");
    CHECK(refusal("qsgd(bits=4)", {"qsgd has no parameter bits; it has levels, block, seed, on_nonfinite"}) == "");
    CHECK(refusal("qsgd(levels=many)", {"levels=many: a whole number is needed"}) == "");
    CHECK(refusal("qsgd(levels=200)", {"1 to 127 levels, not 200"}) == "");
    CHECK(refusal("top_k(ratio=0.1x)", {"ratio=0.1x: a number is needed"}) == "");
    CHECK(refusal("half_cast(on_nonfinite=ignore)", {"one of propagate, sanitise, refuse is needed"}) == "");
    CHECK(refusal("error_feedback", {"is built around a compressor"}) == "");
    CHECK(refusal("error_feedback(top_k, qsgd)", {"around one compressor, not several"}) == "");
    CHECK(refusal("error_feedback(top_k, speed=1)", {"error_feedback has no parameter speed; it has decay, against"}) == "");
    CHECK(refusal("error_feedback(nothing)", {"there is no compressor \"nothing\""}) == "");
    CHECK(refusal("warm_up(sign_bit)", {"warm_up changes a ratio, and sign_bit has none"}) == "");
    CHECK(refusal("qsgd(", {"is not of the form"}) == "");
    CHECK(refusal("qsgd(top_k)", {"qsgd: top_k is not of the form parameter=value"}) == "");
}

TEST_CASE("CMP-10: a kept ratio that is none is refused by name too") {
    for (std::string_view ratio : {"0", "-1", "1.5", "nan"})
        CHECK(refusal("top_k(ratio=" + std::string{ratio} + ")", {"ratio"}) == "");
}
