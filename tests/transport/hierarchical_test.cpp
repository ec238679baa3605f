// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/transport/hierarchical.hpp"

#include "chorus/transport/any_transport.hpp"
#include "chorus/transport/self.hpp"
#include "chorus/transport/shared_memory.hpp"
#include "suites/expected_error.hpp"
#include "suites/hierarchical_fleet.hpp"
#include "suites/loopback_wire.hpp"
#include "suites/recovery_suite.hpp"
#include "suites/transport_suite.hpp"
#include "suites/watchdog.hpp"

#include <csignal>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <unistd.h>

#include <doctest/doctest.h>

using chorus::errc;
using chorus::hierarchical_transport;
using chorus::progress;
using chorus::rank_id;
using chorus::thread_transport;
using chorus::topo::layout;
using suites::hierarchical_fleet;

namespace {

using thread_pair = hierarchical_transport<thread_transport, thread_transport>;
static_assert(chorus::reducing_transport<thread_pair> && chorus::aborting_transport<thread_pair> &&
              chorus::explaining_transport<thread_pair> && chorus::resting_transport<thread_pair> &&
              chorus::announcing_transport<thread_pair> && chorus::cancelling_transport<thread_pair> &&
              chorus::guarded_transport<thread_pair> && chorus::counting_transport<thread_pair> &&
              chorus::recovering_transport<thread_pair>);

/// A transport that can do no more than every transport can.
template <class Net>
class bare {
 public:
    using ticket = typename Net::ticket;

    explicit bare(Net& net) : net_{&net} {}
    rank_id rank() const noexcept { return net_->rank(); }
    rank_id size() const noexcept { return net_->size(); }
    ticket post_send(rank_id peer, chorus::message_tag tag, std::span<std::byte const> out) {
        return net_->post_send(peer, tag, out);
    }
    ticket post_recv(rank_id peer, chorus::message_tag tag, std::span<std::byte> in) {
        return net_->post_recv(peer, tag, in);
    }
    progress poll(ticket& pending) noexcept { return net_->poll(pending); }

 private:
    Net* net_;
};

auto networked(layout const& places) {
    return hierarchical_fleet{places, suites::loopback_fleet{places.size()}};
}

template <class Rank, class Ticket>
void expect_failure(Rank& rank, Ticket& pending, errc code, rank_id blamed, std::string_view words) {
    rank.check(rank.wait(pending) == progress::failed, "is not told");
    rank.check(rank.net().is_aborted(), "is_aborted says no");
    rank.check(rank.net().failure().code() == code, "wrong code" + rank.reason());
    rank.check(rank.net().failure().peer() == blamed,
               "blames rank " + std::to_string(rank.net().failure().peer()) + rank.reason());
    rank.check(rank.reason().find(words) != std::string::npos, "the reason is lost" + rank.reason());
}

/// They have posted what they will wait for.
template <class Rank>
void hear_from_all_others(Rank& rank) {
    std::vector<std::byte> in(1);
    for (rank_id p = 0; p < rank.size(); ++p) {
        if (p == rank.me()) continue;
        auto pending = rank.recv(p, 2, in);
        rank.finish(pending, "the others are ready");
    }
}

/// Rank `by` finds its local rank 0 lost; everybody waits for a message of a neighbour, which never comes.
template <class MakeFleet>
void check_aborted_inside(MakeFleet const& make, layout const& places, rank_id by) {
    suites::hold(
        "aborted inside", make, places.size(),
        [&](auto& rank) {
            std::vector<std::byte> in(1);
            auto pending = rank.recv(places.ranks_of(places.host_of(rank.me())).back(), 1, in);
            if (rank.me() == by) rank.net().inside().abort(errc::peer_lost, 0, "local rank 0 is gone");
            expect_failure(rank, pending, errc::peer_lost, places.leader_of(places.host_of(by)), "local rank 0 is gone");
            if (by == 3) rank.check(rank.reason().find("rank 0 is rank 1, 1 is 3") != std::string::npos, rank.reason());
            if (by == 4) rank.check(rank.reason().find("rank 0 is rank 4") != std::string::npos, rank.reason());
        },
        suites::ending::may_abort);
}

/// The ranks of a hierarchical fleet see their transports through `wrap`, which is given both halves and the layout.
template <class Wrap>
struct rewired_fleet {
    layout places;
    Wrap wrap;

    template <class Body>
    void run(Body const& body) const {
        hierarchical_fleet{places}.run([&](thread_pair& net) { wrap(net.inside(), net.between(), places, body); });
    }
};
template <class Wrap>
rewired_fleet(layout, Wrap) -> rewired_fleet<Wrap>;

/// Processes of one machine; what a host has in common is a session of its own.
struct process_hierarchy {
    layout places;

    template <class Body>
    void run(Body const& body) const {
        static int runs = 0;
        std::string const session = "chorus_hosts_" + std::to_string(::getpid()) + "_" + std::to_string(++runs) + "_";
        chorus::process_fleet{places.size()}.run([&](chorus::shared_memory_transport& between) {
            rank_id const host = places.host_of(between.rank());
            chorus::shared_memory_transport inside{session + std::to_string(host), places.local_rank(between.rank()),
                                                   static_cast<rank_id>(places.ranks_of(host).size())};
            hierarchical_transport net{inside, between, places};
            body(net);
        });
    }
};

/// One of two transports, played: nothing ever comes; what it is told is noted.
struct played_transport {
    struct ticket {
        bool is_open = false;
    };
    rank_id me;
    rank_id ranks;
    std::optional<chorus::error> told{};
    bool is_down = false;
    int polls = 0;
    int rests = 0;

    rank_id rank() const noexcept { return me; }
    rank_id size() const noexcept { return ranks; }
    ticket post_send(rank_id, chorus::message_tag, std::span<std::byte const>) { return {true}; }
    ticket post_recv(rank_id, chorus::message_tag, std::span<std::byte>) { return {true}; }
    progress poll(ticket& pending) noexcept {
        ++polls;
        if (!pending.is_open) return progress::done;
        return is_down || told ? progress::failed : progress::idle;
    }
    void cancel(ticket& pending) noexcept { pending = {}; }
    void abort(errc code, rank_id blamed, std::string_view why) noexcept {
        if (!told) told.emplace(code, std::string{why}, blamed);
    }
    bool is_aborted() noexcept { return told.has_value(); }
    chorus::error failure() const { return told ? *told : chorus::error{errc::peer_lost, "rank 0 is gone", 0}; }
    void rest(std::uint32_t) noexcept { ++rests; }
};

}  // namespace

TEST_CASE("HET-1: the laws of a transport hold, however ranks sit on hosts") {
    suites::watchdog const guard{200};
    for (layout const& places : suites::placements_on_hosts()) {
        CAPTURE(places.hosts());
        suites::check_transport([&](rank_id) { return hierarchical_fleet{places}; }, {places.size()});
    }
}

TEST_CASE("the laws of a transport hold through any_transport, and where hierarchies nest") {
    suites::watchdog const guard{100};
    layout const places{0, 0, 1};
    auto erase = [](auto& inside, auto& between, layout const& of, auto const& body) {
        thread_pair net{inside, between, of};
        chorus::any_transport erased{net};
        body(erased);
    };
    auto erase_halves = [](auto& inside, auto& between, layout const& of, auto const& body) {
        chorus::any_transport erased_inside{inside};
        chorus::any_transport erased_between{between};
        hierarchical_transport net{erased_inside, erased_between, of};
        body(net);
    };
    auto nest = [](auto& inside, auto& between, layout const& of, auto const& body) {
        chorus::self_transport self;
        hierarchical_transport between_all{self, between, layout::blocks(3, 1)};
        hierarchical_transport net{inside, between_all, of};
        body(net);
    };
    suites::check_transport([&](rank_id) { return rewired_fleet{places, erase}; }, {3});
    suites::check_transport([&](rank_id) { return rewired_fleet{places, erase_halves}; }, {3});
    suites::check_transport([&](rank_id) { return rewired_fleet{places, nest}; }, {3});
}

TEST_CASE("a host of one rank needs no more than a transport to oneself") {
    suites::watchdog const guard{100};
    auto alone = [](auto&, auto& between, layout const& places, auto const& body) {
        chorus::self_transport self;
        hierarchical_transport net{self, between, places};
        body(net);
    };
    auto const make = [&](rank_id p) { return rewired_fleet{layout::blocks(p, 1), alone}; };
    suites::check_transport(make, {1, 3});
}

TEST_CASE("what cannot reduce receives into scratch, on either side") {
    suites::watchdog const guard{100};
    auto plain_between = [](auto& inside, auto& between, layout const& places, auto const& body) {
        bare plain{between};
        hierarchical_transport net{inside, plain, places};
        static_assert(chorus::reducing_transport<decltype(net)> && !chorus::cancelling_transport<decltype(net)>);
        body(net);
    };
    auto plain_inside = [](auto& inside, auto& between, layout const& places, auto const& body) {
        bare plain{inside};
        hierarchical_transport net{plain, between, places};
        body(net);
    };
    auto plain_both = [](auto& inside, auto& between, layout const& places, auto const& body) {
        bare plain{inside};
        bare plain_too{between};
        hierarchical_transport net{plain, plain_too, places};
        static_assert(!chorus::reducing_transport<decltype(net)>);
        body(net);
    };
    auto check = [](auto const& wrap) {
        for (layout const& places : {layout{0, 0, 1}, layout::round_robin(4, 2)}) {
            auto const make = [&](rank_id) { return rewired_fleet{places, wrap}; };
            suites::hold("reduces on both sides", make, places.size(), suites::reduces_on_both_sides);
            suites::hold("sizes to everybody", make, places.size(), suites::sizes_to_everybody);
            suites::hold("back to back", make, places.size(), suites::back_to_back);
        }
    };
    check(plain_between);
    check(plain_inside);
    check(plain_both);
}

TEST_CASE("HET-1: the laws of a transport hold with a network between hosts") {
    suites::watchdog const guard{100};
    for (layout const& places : {layout{0, 0, 0, 1}, layout::round_robin(4, 2)})
        suites::check_transport([&](rank_id) { return networked(places); }, {4});
}

TEST_CASE("what one host notices, ranks of others learn that wait for their neighbours alone") {
    suites::watchdog const guard{60};
    layout const places{"north", "south", "north", "south", "west"};
    for (rank_id const by : {0u, 3u, 4u}) {
        check_aborted_inside([&](rank_id) { return hierarchical_fleet{places}; }, places, by);
        check_aborted_inside([&](rank_id) { return networked(places); }, places, by);
    }
}

TEST_CASE("what is noticed between hosts ends waits inside them") {
    suites::watchdog const guard{60};
    auto check = [](auto const& make) {
        suites::hold(
            "aborted between", make, 4,
            [&](auto& rank) {
                std::vector<std::byte> in(1);
                auto pending = rank.recv(rank.me() ^ 1u, 1, in);
                if (rank.me() == 1) rank.net().between().abort(errc::timed_out, 2, "enough of it");
                expect_failure(rank, pending, errc::timed_out, 2, "enough of it");
            },
            suites::ending::may_abort);
    };
    check([](rank_id) { return hierarchical_fleet{layout{0, 0, 1, 1}}; });
    check([](rank_id) { return networked(layout{0, 0, 1, 1}); });
}

TEST_CASE("a rank that left is lost to all who wait, by its world rank") {
    suites::watchdog const guard{60};
    auto check = [](auto const& make, layout const& places, rank_id leaver) {
        suites::hold(
            "left", make, 4,
            [&](auto& rank) {
                std::vector<std::byte> in(1);
                if (rank.me() == leaver) return hear_from_all_others(rank);
                // its neighbour waits for it, and the ranks of the other host for one another
                auto const host = places.ranks_of(places.host_of(rank.me()));
                auto pending = rank.recv(host[0] == rank.me() ? host[1] : host[0], 1, in);
                rank.send(leaver, 2, in);
                expect_failure(rank, pending, errc::peer_lost, leaver, "it left");
            },
            suites::ending::may_abort);
    };
    for (layout const& places : {layout::blocks(4, 2), layout::round_robin(4, 2)})
        for (rank_id const leaver : {1u, 2u, 3u}) {
            check([&](rank_id) { return hierarchical_fleet{places}; }, places, leaver);
            check([&](rank_id) { return networked(places); }, places, leaver);
        }
}

TEST_CASE("ABT-1: another thread frees ranks on all hosts") {
    suites::watchdog const guard{60};
    auto check = [](auto const& make) {
        suites::hold(
            "abort from outside", make, 4,
            [](auto& rank) {
                std::vector<std::byte> in(1);
                auto pending = rank.recv(rank.me() ^ 1u, 1, in);
                std::jthread outside;
                if (rank.me() == 0)
                    outside = std::jthread{[&] { rank.net().abort(errc::aborted, 3, "told from outside"); }};
                expect_failure(rank, pending, errc::aborted, 3, "told from outside");
                rank.check(rank.reason().find("inside host") == std::string::npos, "explains numbers that are right");
            },
            suites::ending::may_abort);
    };
    check([](rank_id) { return hierarchical_fleet{layout::blocks(4, 2)}; });
    check([](rank_id) { return networked(layout::blocks(4, 2)); });
}

TEST_CASE("HET-1: the laws of a transport hold between processes on hosts of their own") {
    for (layout const& places : {layout{0, 0, 0, 1}, layout::round_robin(4, 2)})
        suites::check_transport([&](rank_id) { return process_hierarchy{places}; }, {4});
}

TEST_CASE("HNG-2: a rank that is killed is lost to ranks of other hosts that wait for their neighbours alone") {
    for (rank_id const victim : {1u, 2u}) {
        layout const places = layout::round_robin(4, 2);
        suites::outcome const seen = suites::observe([&](rank_id) { return process_hierarchy{places}; }, 4, [&](auto& rank) {
            std::vector<std::byte> in(1);
            if (rank.me() == victim) {
                hear_from_all_others(rank);
                ::raise(SIGKILL);
            }
            auto pending = rank.recv((rank.me() + 2) % 4, 1, in);
            rank.send(victim, 2, in);
            expect_failure(rank, pending, errc::peer_lost, victim, "rank");
        });
        for (std::string const& text : seen.failures) FAIL_CHECK(text);
        CHECK_MESSAGE(seen.thrown.find("rank " + std::to_string(victim)) != std::string::npos, seen.thrown);
    }
}

TEST_CASE("the living go on, on all hosts, whoever was lost") {
    suites::watchdog const guard{120};
    auto leave = [](auto&) {};
    for (layout const& places : {layout::blocks(5, 2), layout{0, 1, 0, 1, 1}}) {
        suites::check_recovery([&](rank_id) { return hierarchical_fleet{places}; }, leave, 5, {2, 0, 4});
        suites::check_recovery([&](rank_id) { return networked(places); }, leave, 5, {1, 3, 2});
        suites::check_recovery([&](rank_id) { return process_hierarchy{places}; }, [](auto&) { ::raise(SIGKILL); }, 5, {0, 1});
    }
}

TEST_CASE("a failure on either side reaches the other whichever is polled, with ranks renumbered") {
    layout const places{0, 1, 0, 1, 1};
    for (bool const down_inside : {true, false})
        for (bool const waits_inside : {true, false})
            for (bool const rests : {true, false}) {
                CAPTURE(down_inside);
                CAPTURE(waits_inside);
                CAPTURE(rests);
                played_transport inside{1, 3};
                played_transport between{3, 5};
                hierarchical_transport net{inside, between, places};
                std::byte in[1];
                auto pending = net.post_recv(waits_inside ? 4 : 2, {1, 0}, in);
                for (int i = 0; i < 200; ++i) REQUIRE(net.poll(pending) == progress::idle);
                net.rest(0);
                CHECK(!net.is_aborted());
                (down_inside ? inside : between).is_down = true;
                for (int i = 0; i < 64 && !rests; ++i) net.poll(pending);
                if (rests) net.rest(0);
                CHECK(net.poll(pending) == progress::failed);
                CHECK(net.failure().code() == errc::peer_lost);
                CHECK(net.failure().peer() == (down_inside ? 1 : 0));
                REQUIRE(inside.told.has_value());
                REQUIRE(between.told.has_value());
                CHECK(between.told->peer() == (down_inside ? 1 : 0));
                CHECK(inside.told->peer() == 3 + (down_inside ? 1 : 0));
                CHECK((std::string{between.told->what()}.find("rank 0 is rank 1") != std::string::npos) == down_inside);
            }
}

TEST_CASE("rests where something is under way, never long in one while the other may have work") {
    layout const places{0, 0, 1};
    played_transport inside{0, 2};
    played_transport between{0, 3};
    hierarchical_transport net{inside, between, places};
    std::byte in[1];
    auto const inside_polls = inside.polls;
    auto const between_polls = between.polls;
    auto near = net.post_recv(1, {1, 0}, in);
    for (std::uint32_t i = 1; i <= 2000; i += 100) net.rest(i);
    CHECK(inside.rests == 20);
    CHECK(between.rests == 0);
    CHECK(inside.polls >= inside_polls + 20);  // both make progress at every rest
    CHECK(between.polls >= between_polls + 20);
    auto far = net.post_recv(2, {1, 0}, in);
    for (std::uint32_t i = 1; i <= 1000; ++i) net.rest(i);
    CHECK(inside.rests == 20);
    CHECK(between.rests == 0);
    for (std::uint32_t i = 1024; i < 1024 + 64; ++i) net.rest(i);  // now and then, to look for lost peers
    CHECK(inside.rests == 24);
    CHECK(between.rests == 4);
    net.cancel(near);
    CHECK(net.poll(near) == progress::done);
    for (std::uint32_t i = 1; i <= 10; ++i) net.rest(i);
    CHECK(inside.rests == 24);
    CHECK(between.rests == 14);
    net.cancel(far);
}

TEST_CASE("records, plans, guards and counters pass through") {
    suites::watchdog const guard{60};
    layout const places = layout::round_robin(5, 2);
    suites::hold("records", [&](rank_id) { return hierarchical_fleet{places}; }, 5, [&](auto& rank) {
        chorus::operation_record record;
        record.sequence = rank.me() + 10;
        rank.net().announce(record);
        rank.meet();
        for (rank_id p = 0; p < 5; ++p)
            rank.check(rank.net().view_of(p).sequence == p + 10, "another record than rank " + std::to_string(p) + " wrote");
        rank.meet();
        rank.check(rank.net().count_plan(7) == 1 && rank.net().count_plan(7) == 2 && rank.net().count_plan(8) == 1,
                   "plans are not counted");
        rank.check(rank.net().try_enter() && !rank.net().try_enter(), "a second thread is let in");
        rank.check(!rank.net().inside().try_enter() && !rank.net().between().try_enter(), "the halves are open");
        rank.net().leave();
        rank.check(rank.net().between().try_enter(), "one half is not free again");
        rank.check(!rank.net().try_enter() && rank.net().inside().try_enter(), "enters what is in use");
        rank.net().inside().leave();
        rank.net().between().leave();
        std::uint64_t const inside = rank.net().bytes_inside();
        std::uint64_t const between = rank.net().bytes_between();
        rank_id const neighbours = static_cast<rank_id>(places.ranks_of(places.host_of(rank.me())).size());
        rank.check(inside == 2 * neighbours && between == 2 * (5 - neighbours), "bytes are counted wrongly");
    });
}

TEST_CASE("messages of groups on the two halves are not mixed up with these") {
    suites::watchdog const guard{60};
    suites::hold("streams", [](rank_id) { return hierarchical_fleet{layout::blocks(4, 2)}; }, 4, [](auto& rank) {
        auto& net = rank.net();
        std::uint64_t const out[] = {1, 2, 3};
        std::uint64_t in[] = {0, 0, 0};
        rank_id const other = (rank.me() + 1) % 2;
        auto bytes_of = [](std::uint64_t const& x) { return std::as_bytes(std::span{&x, 1}); };
        auto space_of = [](std::uint64_t& x) { return std::as_writable_bytes(std::span{&x, 1}); };
        chorus::message_tag const tag{5, 5};
        rank_id const neighbour = rank.me() / 2 * 2 + other;
        auto s0 = net.inside().post_send(other, tag, bytes_of(out[0]));
        auto s1 = net.post_send(neighbour, tag, bytes_of(out[1]));
        auto s2 = net.between().post_send(neighbour, tag, bytes_of(out[2]));
        auto r1 = net.post_recv(neighbour, tag, space_of(in[1]));
        auto r2 = net.between().post_recv(neighbour, tag, space_of(in[2]));
        auto r0 = net.inside().post_recv(other, tag, space_of(in[0]));
        rank.finish(r1, "here");
        while (net.inside().poll(r0) != progress::done) {}
        while (net.between().poll(r2) != progress::done) {}
        rank.check(in[0] == 1 && in[1] == 2 && in[2] == 3, "mixed up");
        rank.finish(s1, "sent");
        rank.check(net.inside().poll(s0) == progress::done && net.between().poll(s2) == progress::done, "not sent");
        rank.meet();
    });
}

TEST_CASE("transports that do not fit the layout are refused in a sentence") {
    using suites::unlike;
    played_transport between{2, 4};
    auto make = [&](rank_id local, rank_id ranks, layout const& places) {
        return [&between, local, ranks, places] {
            played_transport inside{local, ranks};
            hierarchical_transport net{inside, between, places};
        };
    };
    layout const places{0, 0, 1, 1};
    CHECK(unlike(errc::invalid_argument, {"rank 2", "layout has 5 ranks", "between hosts 4"}, make(0, 2, layout{0, 0, 1, 1, 1})) == "");
    CHECK(unlike(errc::invalid_argument, {"rank 2", "rank 1 of 2 inside", "0 of 2 on host 1"}, make(1, 2, places)) == "");
    CHECK(unlike(errc::invalid_argument, {"rank 2", "rank 0 of 3 inside", "0 of 2 on host 1"}, make(0, 3, places)) == "");
    CHECK(unlike(errc::invalid_argument, {"one and the same"}, [&] {
        hierarchical_transport net{between, between, layout::blocks(4, 4)};
    }) == "");
    played_transport inside{0, 2};
    hierarchical_transport net{inside, between, places};
    std::byte one[1];
    CHECK(unlike(errc::invalid_argument, {"rank 2", "peer 4", "below 4"}, [&] { net.post_recv(4, {1, 0}, one); }) == "");
    CHECK(unlike(errc::invalid_argument, {"peer 9"}, [&] { net.post_send(9, {1, 0}, one); }) == "");
}
