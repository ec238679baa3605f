// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include <doctest/doctest.h>

#include "chorus/transport/detail/relax.hpp"

#include <chrono>
#include <cstdint>

using chorus::detail::spin_budget;
using namespace std::chrono_literals;

namespace {

/// A wait of `polls` idle polls, all that are not spun being yields that take `away` each; how many were spun.
std::uint32_t wait(spin_budget& budget, std::uint32_t polls, std::chrono::nanoseconds away) {
    std::uint32_t spun = 0;
    for (std::uint32_t idle = 1; idle <= polls; ++idle) {
        if (budget.allows(idle)) ++spun;
        else budget.was_away(away);
    }
    return spun;
}

}  // namespace

TEST_CASE("a rank whose peers run when it yields spins less, and more again when what it awaits comes by itself") {
    spin_budget budget{300};
    CHECK(wait(budget, 300, 5us) == 299);
    std::uint32_t before = 299;
    for (int i = 0; i < 10; ++i) {
        std::uint32_t const spun = wait(budget, budget.spins(), 5us);
        CHECK(spun <= before);
        before = spun;
    }
    CHECK(before == 63);
    for (int i = 0; i < 10; ++i) wait(budget, 5, 5us);
    CHECK(wait(budget, 300, 5us) == 299);
}

TEST_CASE("yields to nobody, or to somebody who keeps the core for long, teach nothing") {
    spin_budget budget{300};
    for (auto away : {std::chrono::nanoseconds{300ns}, std::chrono::nanoseconds{3ms}})
        for (int i = 0; i < 10; ++i) CHECK(wait(budget, 310, away) == 299);
}

TEST_CASE("who is to spin little spins no more than that") {
    for (std::uint32_t most : {0u, 1u, 10u, 63u}) {
        spin_budget budget{most};
        for (int i = 0; i < 10; ++i) {
            wait(budget, 100, 5us);
            CHECK(budget.spins() == most);
            wait(budget, 1, 5us);
            CHECK(budget.spins() == most);
        }
    }
}
