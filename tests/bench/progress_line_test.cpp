// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

#include "../../bench/progress_line.hpp"

#include <doctest/doctest.h>

TEST_CASE("a progress line says how far it is, how long it took and what is being measured") {
    CHECK(bench::progress_text(0, 20, 0.5, "ring at 4 bytes") == "1 of 20 after 0 s: ring at 4 bytes");
    CHECK(bench::progress_text(19, 20, 61.9, "x") == "20 of 20 after 61 s: x");
}

TEST_CASE("who does not speak shows nothing") {
    bench::progress_line silent{false};
    silent.show(0, 1, "nothing");
    silent.clear();
}
