// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/compress/any_compressor.hpp"

#include "chorus/compress/half_cast.hpp"
#include "chorus/compress/qsgd.hpp"
#include "chorus/compress/signum.hpp"
#include "suites/compressor_suite.hpp"

#include <doctest/doctest.h>

using chorus::any_compressor;

TEST_CASE("any_compressor: all laws of a compressor, with and without state") {
    suites::compressor_suite(any_compressor{chorus::half_cast{}}, {.is_large_tried = false});
    suites::compressor_suite(any_compressor{chorus::signum{}}, {.suffering = 0, .is_large_tried = false});
}

TEST_CASE("any_compressor does what the compressor inside does, and a copy has a state of its own") {
    auto const x = suites::drawn(1000, 1);
    chorus::qsgd plain{.levels = 7};
    any_compressor erased{plain};
    any_compressor const copy = erased;
    CHECK(erased.kind() == "qsgd");
    CHECK(erased.describe() == "qsgd(levels=7)");
    CHECK(!erased.is_linear());
    CHECK(erased.promise(1000) == plain.promise(1000));
    auto const first = suites::encoded(plain, x), second = suites::encoded(plain, x);
    CHECK(suites::encoded(erased, x) == first);
    CHECK(suites::encoded(erased, x) == second);
    any_compressor again = copy;
    CHECK(suites::encoded(again, x) == first);
    again = erased;
    CHECK(suites::encoded(again, x) == suites::encoded(erased, x));
}

TEST_CASE("any_compressor tells what of a compressor cannot be seen by type") {
    CHECK(any_compressor{chorus::half_cast{}}.is_linear());
    CHECK(any_compressor{chorus::half_cast{.on_nonfinite = chorus::nonfinite::refuse}}.policy() == chorus::nonfinite::refuse);
    CHECK(any_compressor{chorus::half_cast{}, "short"}.describe() == "short");
}

TEST_CASE("any_compressor leaves in the vector what was not sent") {
    any_compressor erased{chorus::half_cast{}}, other = erased;
    auto x = suites::drawn(100, 1);
    auto const before = x;
    auto const sent = suites::decoded(other, suites::encoded(other, x), x.size());
    suites::message_bytes wire(erased.max_wire_bytes(x.size()));
    erased.encode_rest(x, wire);
    for (std::size_t i = 0; i < x.size(); ++i) CHECK(x[i] == before[i] - sent[i]);
}

TEST_CASE("any_compressor gives random choices of their own to copies that are told apart") {
    auto const x = suites::drawn(1000, 1);
    any_compressor a{chorus::qsgd{.levels = 1}}, b = a, c = a;
    b.choose_apart(1);
    c.choose_apart(2);
    auto const first = suites::encoded(a, x), second = suites::encoded(b, x), third = suites::encoded(c, x);
    CHECK((first != second && second != third && first != third));
}
