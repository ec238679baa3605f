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

namespace {

/// Whose short messages need a while to leave, and which sees to it that each message is released once.
class slow_wire : public suites::loopback_wire {
 public:
    slow_wire(suites::loopback_network& network, rank_id me, int& kept_names) : loopback_wire{network, me}, kept_names_{&kept_names} {}

    bool send_short(rank_id peer, std::span<std::byte const> header, std::span<std::byte const> payload) noexcept {
        looks_left_ = 10;
        return loopback_wire::send_short(peer, header, payload);
    }
    bool is_quiet() noexcept { return looks_left_ == 0 || --looks_left_ == 0; }
    chorus::detail::short_message next_short() noexcept {
        auto const next = loopback_wire::next_short();
        is_shown_ = next.peer != chorus::nobody;
        return next;
    }
    void release_short() noexcept {
        CHECK(is_shown_);
        is_shown_ = false;
        loopback_wire::release_short();
    }
    void keep_name() noexcept { ++*kept_names_; }

 private:
    int* kept_names_;
    int looks_left_ = 0;
    bool is_shown_ = false;
};

using slow_transport = chorus::detail::messenger<slow_wire>;

void send_by_hand(suites::loopback_wire& from, rank_id peer, chorus::detail::network_kind kind, std::span<std::byte const> payload = {}) {
    REQUIRE(from.send_short(peer, chorus::detail::bytes_of_object(chorus::detail::network_header{.kind = kind}), payload));
}

}  // namespace

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

TEST_CASE("a farewell is heard that comes while the own one is leaving, and nothing is answered after it") {
    suites::loopback_network network{2};
    suites::loopback_wire one{network, 1};
    int kept_names = 0;
    {
        slow_transport zero{{}, network, 0u, kept_names};
        chorus::operation_record const asked;
        send_by_hand(one, 0, chorus::detail::network_kind::ask_view, chorus::detail::bytes_of_object(asked));
        send_by_hand(one, 0, chorus::detail::network_kind::farewell);
    }
    CHECK(kept_names == 0);
    chorus::detail::network_header header;
    auto bytes = one.next_short().bytes;
    REQUIRE(chorus::detail::read_object(bytes, header));
    CHECK(header.kind == chorus::detail::network_kind::farewell);
    one.release_short();
    CHECK(one.next_short().peer == chorus::nobody);
}

TEST_CASE("who joins a recovery is heard while the own failure is still being told") {
    suites::loopback_network network{2};
    suites::loopback_wire one{network, 1};
    int kept_names = 0;
    slow_transport zero{{}, network, 0u, kept_names};
    send_by_hand(one, 0, chorus::detail::network_kind::join, chorus::detail::rank_bits{2}.bytes());
    CHECK(zero.recover(std::chrono::milliseconds{200}) == std::vector<rank_id>{0, 1});
    send_by_hand(one, 0, chorus::detail::network_kind::farewell);
}

TEST_CASE("a failure that is found in a message is told when that message is read, and the next one is read then") {
    suites::loopback_network network{2};
    suites::loopback_wire one{network, 1};
    int kept_names = 0;
    slow_transport zero{{}, network, 0u, kept_names};
    std::vector<std::byte> in(8);
    auto pending = zero.post_recv(1, {1, 1}, in);
    REQUIRE(one.send_short(0, std::vector<std::byte>(3), {}));  // no header
    send_by_hand(one, 0, chorus::detail::network_kind::farewell);
    CHECK(zero.poll(pending) == chorus::progress::failed);
    CHECK(zero.failure().code() == chorus::errc::system_failed);
    CHECK(zero.has_lost(1));
    zero.cancel(pending);
    chorus::detail::network_header header;
    auto bytes = one.next_short().bytes;
    REQUIRE(chorus::detail::read_object(bytes, header));
    CHECK(header.kind == chorus::detail::network_kind::abort);
}
