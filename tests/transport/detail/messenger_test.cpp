// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/transport/detail/messenger.hpp"

#include "chorus/transport/any_transport.hpp"
#include "chorus/transport/recording.hpp"
#include "suites/loopback_wire.hpp"
#include "suites/recovery_suite.hpp"
#include "suites/transport_suite.hpp"

#include <doctest/doctest.h>

using chorus::rank_id;
using suites::loopback_fleet;
using suites::loopback_transport;

static_assert(chorus::transport<loopback_transport> && chorus::aborting_transport<loopback_transport> &&
              chorus::explaining_transport<loopback_transport> && chorus::resting_transport<loopback_transport> &&
              chorus::announcing_transport<loopback_transport> && chorus::cancelling_transport<loopback_transport> &&
              chorus::guarded_transport<loopback_transport> && chorus::counting_transport<loopback_transport>);

TEST_CASE("the laws of a transport hold over a network") {
    suites::check_transport([](rank_id p) { return loopback_fleet{p}; });
}

TEST_CASE("the laws of a transport hold over a network that has hardly any place") {
    suites::check_transport([](rank_id p) { return loopback_fleet{p, {.places = 1, .refuse_every = 3}}; }, {2, 3});
}

TEST_CASE("the laws of a transport hold where nearly all messages are short, or nearly none") {
    suites::check_transport([](rank_id p) { return loopback_fleet{p, {.largest_short = 64 * 1024}}; }, {3});
}

TEST_CASE("the living go on over a network") {
    suites::check_recovery([](rank_id p) { return loopback_fleet{p}; }, [](auto& net) { net.net().die(); });
    suites::check_recovery([](rank_id p) { return loopback_fleet{p, {.places = 1, .refuse_every = 3}}; },
                           [](auto& net) { net.net().die(); });
    suites::check_recovery([](rank_id p) { return loopback_fleet{p}; }, [](auto&) {});
}
