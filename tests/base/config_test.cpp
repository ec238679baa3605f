// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/base/config.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

namespace {

CHORUS_HOST_DEVICE constexpr int twice(int x) { return 2 * x; }
static_assert(twice(4) == 8);

#if CHORUS_HAS_X86_TARGETS
CHORUS_TARGET("avx2") int compiled_for_wider(int x) { return x + 1; }
static_assert(sizeof(&compiled_for_wider) == sizeof(void*));
#endif

int outcome_of(bool throws) {
    CHORUS_TRY {
        if (throws) throw std::runtime_error{"no"};
        return 1;
    }
    CHORUS_CATCH_ALL { return 2; }
}

}  // namespace

TEST_CASE("with exceptions on, the catch block sees every exception and nothing else") {
    CHECK(CHORUS_HAS_EXCEPTIONS == 1);
    CHECK(outcome_of(false) == 1);
    CHECK(outcome_of(true) == 2);
}

#if CHORUS_HAS_X86_TARGETS
TEST_CASE("a function for a wider instruction set runs where the machine has it") {
    if (__builtin_cpu_supports("avx2")) CHECK(compiled_for_wider(1) == 2);
    else MESSAGE("skipped: this machine has no AVX2");
}
#endif
