// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/compress/minimum_size.hpp"

#include "chorus/compress/error_feedback.hpp"
#include "chorus/compress/top_k.hpp"
#include "suites/compressor_suite.hpp"

#include <cstddef>

#include <doctest/doctest.h>

using chorus::errc;
using chorus::minimum_size;
using chorus::top_k;
using suites::floats;

namespace {

static_assert(!chorus::stateful_compressor<minimum_size<top_k>> && !chorus::linear_compressor<minimum_size<top_k>>);
static_assert(chorus::stateful_compressor<minimum_size<chorus::error_feedback<top_k>>>);
static_assert(chorus::linear_compressor<minimum_size<chorus::uncompressed>>);

}  // namespace

TEST_CASE("minimum_size: all laws of a compressor") {
    CHECK(minimum_size<top_k>::name == "minimum_size{top_k}");
    suites::compressor_suite(minimum_size{top_k{0.1}, 9}, {.is_large_tried = false});
}

TEST_CASE("below the smallest count all is sent, from there on what the compressor sends") {
    minimum_size small{top_k{0.1}, 50};
    top_k alone{0.1};
    for (std::size_t count : {0u, 1u, 49u, 50u, 51u, 1000u}) {
        floats const x = suites::drawn(count, count);
        bool const is_small = count < 50;
        auto const wire = suites::encoded(small, x);
        CHECK(small.promise(count) == (is_small ? chorus::uncompressed{}.promise(count) : alone.promise(count)));
        if (is_small) {
            CHECK(wire.size() == 16 + 4 * count);
            CHECK(suites::decoded(small, wire, count) == x);
        } else {
            CHECK(wire == suites::encoded(alone, x));
            CHECK(suites::decoded(small, wire, count) == suites::decoded(alone, wire, count));
        }
    }
}

TEST_CASE("what is not sent stays in the vector: nothing of small ones") {
    minimum_size small{top_k{0.1}, 50};
    static_assert(chorus::rest_keeping_compressor<minimum_size<top_k>>);
    for (std::size_t count : {std::size_t{20}, std::size_t{200}}) {
        floats const x = suites::drawn(count, 1);
        floats rest = x;
        suites::message_bytes wire(small.max_wire_bytes(count));
        wire.resize(small.encode_rest(rest, wire));
        CHECK(wire == suites::encoded(small, x));
        CHECK((rest == floats(count)) == (count == 20));
        small.decode_add(wire, rest);
        CHECK(rest == x);
    }
}

TEST_CASE("ranks that disagree about the smallest count notice") {
    minimum_size sends{top_k{0.1}, 50}, receives{top_k{0.1}, 60};
    auto const wire = suites::encoded(sends, suites::drawn(55, 1));
    CHECK(suites::unlike(errc::corrupt, {"format"}, [&] { suites::decoded(receives, wire, 55); }) == "");
}

TEST_CASE("the policy of the compressor inside holds for small vectors too") {
    minimum_size small{top_k{0.1}, 50};
    floats const x{1, std::numeric_limits<float>::quiet_NaN(), 3};
    small.inner.on_nonfinite = chorus::nonfinite::sanitise;
    CHECK(suites::decoded(small, suites::encoded(small, x), 3) == floats{1, 0, 3});
    small.inner.on_nonfinite = chorus::nonfinite::refuse;
    CHECK(suites::unlike(errc::invalid_argument, {"element 1"}, [&] { suites::encoded(small, x); }) == "");
}

TEST_CASE("EFB-7: what is inside is saved; another smallest count is refused") {
    minimum_size whole{chorus::error_feedback{top_k{0.1}}, 50};
    for (std::uint64_t step = 0; step < 5; ++step) suites::encoded(whole, suites::drawn(80, step));
    suites::message_bytes saved(whole.state_bytes());
    whole.save_state(saved);
    minimum_size restored{chorus::error_feedback{top_k{0.1}}, 50}, other{chorus::error_feedback{top_k{0.1}}, 60};
    restored.restore_state(saved);
    CHECK(suites::encoded(restored, suites::drawn(80, 9)) == suites::encoded(whole, suites::drawn(80, 9)));
    CHECK(suites::unlike(errc::corrupt, {"smallest count"}, [&] { other.restore_state(saved); }) == "");
}
