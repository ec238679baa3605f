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

TEST_CASE("ORD-1: a rank that has seen a disagreement sends nothing more that others could complete by") {
    using chorus::progress;
    for (std::size_t many : {std::size_t{8}, std::size_t{100000}}) {
        suites::loopback_network network{3};
        loopback_transport zero{{}, network, 0u};
        loopback_transport one{{}, network, 1u};
        loopback_transport two{{}, network, 2u};
        chorus::operation_record mine;
        mine.stream = 70;
        mine.ordinal = 1;
        mine.fingerprint = 1;
        one.announce(mine);
        std::vector<std::byte> const out(many);
        std::vector<std::byte> in(many);
        auto of_another_operation = zero.post_send(1, {70, 2}, out);
        auto never = one.post_recv(0, {71, 0}, in);
        CHECK(one.poll(never) == progress::idle);
        auto sending = one.post_send(2, {72, 0}, out);
        auto receiving = two.post_recv(1, {72, 0}, in);
        auto asked = zero.post_recv(1, {73, 0}, in);
        progress now = progress::idle;
        for (int turn = 0; turn < 100 && now != progress::failed; ++turn) {
            zero.poll(asked);
            one.poll(never);
            now = two.poll(receiving);
            REQUIRE(now != progress::done);
            REQUIRE(now != progress::moved);
        }
        CHECK(now == progress::failed);
        CHECK(two.failure().code() == chorus::errc::mismatch);
        zero.cancel(of_another_operation);
        zero.cancel(asked);
        one.cancel(never);
        one.cancel(sending);
        two.cancel(receiving);
    }
}
