// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/transport/simulated.hpp"

#include "suites/transport_suite.hpp"
#include "suites/turn_taking.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using chorus::progress;
using chorus::rank_id;
using chorus::simulated_network;
using chorus::simulated_options;
using ticket = chorus::simulated_transport::ticket;

namespace {

std::span<std::byte const> bytes_of(std::uint64_t const& value) { return std::as_bytes(std::span{&value, 1}); }
std::span<std::byte> bytes_of(std::uint64_t& value) { return std::as_writable_bytes(std::span{&value, 1}); }

void affine(std::byte* out, std::byte const* left, std::byte const* right, std::size_t count, void const*) {
    for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t l = 0;
        std::uint64_t r = 0;
        std::memcpy(&l, left + 8 * i, 8);
        std::memcpy(&r, right + 8 * i, 8);
        std::uint64_t const combined = 3 * l + r;
        std::memcpy(out + 8 * i, &combined, 8);
    }
}
chorus::byte_reduction const affine_reduction{.apply = affine, .op = nullptr, .element_bytes = 8};

// Everybody sends `many` numbered messages to everybody (itself too) on two streams; one state machine per rank.
class everybody_to_everybody {
 public:
    everybody_to_everybody(chorus::simulated_transport& net, std::uint64_t many) : net_{&net}, many_{many} {
        std::size_t const all = std::size_t{net.size()} * 2 * many;
        out_.resize(all);
        in_.resize(all);
        std::size_t at = 0;
        for (std::uint64_t number = 0; number < many; ++number)
            for (rank_id peer = 0; peer < net.size(); ++peer)
                for (std::uint64_t stream = 0; stream < 2; ++stream, ++at) {
                    out_[at] = value(net.rank(), peer, stream, number);
                    open_.push_back(net.post_send(peer, {stream, 1}, bytes_of(std::as_const(out_[at]))));
                    open_.push_back(net.post_recv(peer, {stream, 1}, bytes_of(in_[at])));
                }
    }

    progress operator()() {
        bool moved = false;
        bool open = false;
        for (ticket& t : open_) {
            progress const came_to = net_->poll(t);
            if (came_to == progress::failed) return came_to;
            open |= came_to == progress::idle;
            moved |= came_to == progress::done;
        }
        if (!open) return progress::done;
        bool const more = moved && ++calls_ < 2;
        return more ? progress::moved : progress::idle;
    }

    bool is_right() const {
        std::size_t at = 0;
        for (std::uint64_t number = 0; number < many_; ++number)
            for (rank_id peer = 0; peer < net_->size(); ++peer)
                for (std::uint64_t stream = 0; stream < 2; ++stream, ++at)
                    if (in_[at] != value(peer, net_->rank(), stream, number)) return false;
        return true;
    }

 private:
    static std::uint64_t value(rank_id from, rank_id to, std::uint64_t stream, std::uint64_t number) {
        return ((from * std::uint64_t{1000} + to) * 10 + stream) * 1000 + number;
    }

    chorus::simulated_transport* net_;
    std::uint64_t many_;
    int calls_ = 0;
    std::vector<std::uint64_t> out_;
    std::vector<std::uint64_t> in_;
    std::vector<ticket> open_;
};

progress exchange(simulated_network& network, std::uint64_t many, bool& right, std::uint64_t order = 0) {
    std::vector<everybody_to_everybody> ranks;
    for (rank_id r = 0; r < network.size(); ++r) ranks.emplace_back(network.endpoint(r), many);
    progress const came_to = chorus::run_all(std::span{ranks}, {.seed = order, .idle_rounds = 1000});
    right = true;
    for (everybody_to_everybody const& rank : ranks) right = right && rank.is_right();
    return came_to;
}

}  // namespace

TEST_CASE("the laws of a transport hold, however the network is set") {
    for (std::uint64_t seed = 1; seed <= 3; ++seed)
        for (bool rendezvous : {false, true}) {
            CAPTURE(seed);
            CAPTURE(rendezvous);
            suites::check_transport(
                [&](rank_id p) {
                    auto const delay = static_cast<std::uint32_t>(10 * (seed - 1));
                    return suites::simulated_fleet{p, {.seed = seed, .delay = delay, .rendezvous = rendezvous}};
                },
                {static_cast<rank_id>(seed + 1)});
        }
}

TEST_CASE("HNG-7: a rank that finds something wrong, or throws, hangs nobody, and all is reported") {
    auto make = [](rank_id p) { return suites::simulated_fleet{p}; };
    suites::outcome const wrong_on_one = suites::observe(make, 4, [](auto& rank) {
        rank.check(rank.me() != 2, "it is rank 2");
        rank.meet();
    });
    REQUIRE(wrong_on_one.failures.size() == 1);
    CHECK(wrong_on_one.failures[0] == "rank 2 of 4: it is rank 2");
    CHECK(wrong_on_one.thrown.empty());
    suites::outcome const wrong_on_all = suites::observe(make, 4, [](auto& rank) { rank.check(false, "wrong"); });
    CHECK(wrong_on_all.failures.size() == 4);
    suites::outcome const throws_on_one = suites::observe(make, 4, [](auto& rank) {
        if (rank.me() == 0) throw std::runtime_error{"out of cheese"};
        rank.meet();
    });
    CHECK(throws_on_one.thrown == "out of cheese");
    CHECK(throws_on_one.failures.size() >= 4);
}

TEST_CASE("everybody to everybody is exact for every size, seed, delay, order and kind of send") {
    for (rank_id p = 1; p <= 17; ++p)
        for (std::uint64_t seed = 0; seed < 3; ++seed)
            for (bool rendezvous : {false, true})
                for (bool reorder : {false, true}) {
                    simulated_network network{p, {.seed = seed,
                                                  .delay = static_cast<std::uint32_t>(40 * seed),
                                                  .reorder = reorder,
                                                  .rendezvous = rendezvous}};
                    bool right = false;
                    REQUIRE(exchange(network, 3, right, seed) == progress::done);
                    REQUIRE(right);
                    REQUIRE(network.messages() == std::uint64_t{p} * p * 6);
                }
}

TEST_CASE("64 ranks are cheap") {
    simulated_network network{64, {.seed = 5, .delay = 100}};
    bool right = false;
    CHECK(exchange(network, 2, right) == progress::done);
    CHECK(right);
}

TEST_CASE("the same seed gives the same trace, another seed another; kept in order per stream") {
    auto trace_of = [](std::uint64_t seed) {
        simulated_network network{5, {.seed = seed, .delay = 200, .keep_trace = 100000}};
        bool right = false;
        REQUIRE(exchange(network, 4, right) == progress::done);
        REQUIRE(right);
        return network.trace();
    };
    std::set<std::uint64_t> first_streams;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        auto const once = trace_of(seed);
        REQUIRE(once.size() == 5 * 5 * 4 * 2);
        REQUIRE(once == trace_of(seed));
        REQUIRE(once != trace_of(seed + 100));
        std::vector<std::uint64_t> ticks(5, 0);
        for (chorus::simulated_delivery const& d : once) {
            CHECK(d.tick >= ticks[d.destination]);
            ticks[d.destination] = d.tick;
        }
        first_streams.insert(once.front().stream);
    }
    CHECK(first_streams.size() == 2);
}

TEST_CASE("without reorder a rank gets its messages in the order sent, with it sometimes not") {
    auto overtakes = [](bool reorder) {
        int overtaken = 0;
        for (std::uint64_t seed = 0; seed < 50; ++seed) {
            simulated_network network{2, {.seed = seed, .delay = 50, .reorder = reorder}};
            std::uint64_t const out = 1;
            std::uint64_t early = 0;
            std::uint64_t late = 0;
            network.endpoint(0).post_send(1, {1, 0}, bytes_of(out));
            network.endpoint(0).post_send(1, {2, 0}, bytes_of(out));
            ticket first = network.endpoint(1).post_recv(0, {1, 0}, bytes_of(early));
            ticket second = network.endpoint(1).post_recv(0, {2, 0}, bytes_of(late));
            while (network.endpoint(1).poll(first) == progress::idle)
                if (network.endpoint(1).poll(second) == progress::done) {
                    ++overtaken;
                    break;
                }
        }
        return overtaken;
    };
    // A tie in time may fall between the two polls of one turn, which counts as overtaking too.
    CHECK(overtakes(true) > 15);
    CHECK(overtakes(false) < overtakes(true));
}

TEST_CASE("no message of a stream can be taken before an earlier one of it") {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        simulated_network network{2, {.seed = seed, .delay = 300}};
        std::uint64_t const out = 1;
        std::vector<std::uint64_t> in(20);
        std::vector<ticket> open;
        for (std::uint64_t& value : in) {
            network.endpoint(0).post_send(1, {1, 0}, bytes_of(out));
            open.push_back(network.endpoint(1).post_recv(0, {1, 0}, bytes_of(value)));
        }
        for (bool all = false; !all;) {
            all = true;
            for (std::size_t i = open.size(); i-- > 0;) all &= network.endpoint(1).poll(open[i]) == progress::done;
            for (std::size_t i = 1; i < in.size(); ++i) REQUIRE(in[i] <= in[i - 1]);
        }
    }
}

TEST_CASE("a lost message leaves its receive idle; later messages still reach later receives") {
    for (bool rendezvous : {false, true}) {
        simulated_network network{2, {.rendezvous = rendezvous}};
        std::uint64_t const out[] = {11, 22};
        std::uint64_t in[] = {0, 0};
        network.lose_next(0, 1);
        ticket lost_send = network.endpoint(0).post_send(1, {1, 0}, bytes_of(out[0]));
        ticket kept_send = network.endpoint(0).post_send(1, {1, 0}, bytes_of(out[1]));
        ticket lost = network.endpoint(1).post_recv(0, {1, 0}, bytes_of(in[0]));
        ticket kept = network.endpoint(1).post_recv(0, {1, 0}, bytes_of(in[1]));
        CHECK(network.endpoint(1).poll(kept) == progress::done);
        for (int i = 0; i < 1000; ++i) REQUIRE(network.endpoint(1).poll(lost) == progress::idle);
        CHECK(in[0] == 0);
        CHECK(in[1] == 22);
        CHECK(network.endpoint(0).poll(kept_send) == progress::done);
        CHECK(network.endpoint(0).poll(lost_send) == (rendezvous ? progress::idle : progress::done));
    }
}

TEST_CASE("random losses follow their share, and run_all says that the run is stuck") {
    simulated_network none{3, {.loss = 0.0}};
    simulated_network all{3, {.loss = 1.0}};
    bool right = false;
    CHECK(exchange(none, 2, right) == progress::done);
    CHECK(exchange(all, 2, right) == progress::idle);
    CHECK(!right);
    simulated_network some{2, {.seed = 3, .loss = 0.25}};
    std::vector<std::uint64_t> in(2000);
    int arrived = 0;
    for (std::uint64_t& value : in) {
        some.endpoint(0).post_send(1, {1, 0}, bytes_of(std::uint64_t{1}));
        ticket t = some.endpoint(1).post_recv(0, {1, 0}, bytes_of(value));
        arrived += some.endpoint(1).poll(t) == progress::done ? 1 : 0;
    }
    CHECK(arrived > 1400);
    CHECK(arrived < 1600);
}

TEST_CASE("a crash fails pending and later receives from that rank, and nothing else") {
    for (bool rendezvous : {false, true}) {
        simulated_network network{3, {.rendezvous = rendezvous}};
        auto& alive = network.endpoint(0);
        std::uint64_t const out = 9;
        std::uint64_t in[5] = {};
        ticket pending = alive.post_recv(1, {1, 0}, bytes_of(in[0]));
        ticket from_alive = alive.post_recv(2, {1, 0}, bytes_of(in[1]));
        network.endpoint(1).post_send(0, {2, 0}, bytes_of(out));
        CHECK(alive.poll(pending) == progress::idle);
        network.crash(1);
        CHECK(network.is_crashed(1));
        CHECK(alive.poll(pending) == progress::failed);
        CHECK(alive.failure().code() == chorus::errc::peer_lost);
        CHECK(alive.failure().peer() == 1);
        ticket later = alive.post_recv(1, {1, 0}, bytes_of(in[2]));
        CHECK(alive.poll(later) == progress::failed);
        ticket on_its_way = alive.post_recv(1, {2, 0}, bytes_of(in[3]));
        CHECK(alive.poll(on_its_way) == (rendezvous ? progress::failed : progress::done));
        ticket to_crashed = alive.post_send(1, {1, 0}, bytes_of(out));
        CHECK(alive.poll(to_crashed) == (rendezvous ? progress::failed : progress::done));
        CHECK(alive.poll(from_alive) == progress::idle);
        network.endpoint(2).post_send(0, {1, 0}, bytes_of(out));
        CHECK(alive.poll(from_alive) == progress::done);
        CHECK(in[1] == 9);
        ticket own = network.endpoint(1).post_recv(0, {1, 0}, bytes_of(in[4]));
        CHECK(network.endpoint(1).poll(own) == progress::failed);
        CHECK(network.endpoint(1).failure().peer() == 1);
    }
}

TEST_CASE("a rank can crash at every point of an exchange, and nobody hangs") {
    for (bool rendezvous : {false, true})
        for (std::uint64_t posts = 0; posts <= 4 * 2 * 2 * 2; ++posts) {
            simulated_network network{4, {.seed = posts, .delay = 7, .rendezvous = rendezvous}};
            network.crash_after(2, posts);
            bool right = false;
            CHECK(exchange(network, 2, right) == progress::failed);
            CHECK(network.is_crashed(2));
        }
}

TEST_CASE("ABT-1: abort fails every pending and later poll on every rank and keeps the first reason") {
    simulated_network network{3};
    std::uint64_t const out = 1;
    std::uint64_t in = 0;
    ticket waiting = network.endpoint(0).post_recv(1, {}, bytes_of(in));
    ticket sent = network.endpoint(1).post_send(2, {}, bytes_of(out));
    CHECK(!network.endpoint(2).is_aborted());
    network.endpoint(2).abort(chorus::errc::timed_out, 1, "too late");
    network.endpoint(1).abort(chorus::errc::aborted, 0, "second");
    CHECK(network.endpoint(0).is_aborted());
    CHECK(network.endpoint(0).poll(waiting) == progress::failed);
    CHECK(network.endpoint(1).poll(sent) == progress::failed);
    ticket later = network.endpoint(2).post_recv(1, {}, bytes_of(in));
    CHECK(network.endpoint(2).poll(later) == progress::failed);
    for (rank_id r = 0; r < 3; ++r) {
        CHECK(network.endpoint(r).failure().code() == chorus::errc::timed_out);
        CHECK(network.endpoint(r).failure().peer() == 1);
    }
}

TEST_CASE("a cancelled operation no longer touches its buffer, and other messages are untouched by it") {
    for (bool rendezvous : {false, true})
        for (bool sent_before : {false, true}) {
            simulated_network network{2, {.rendezvous = rendezvous}};
            std::uint64_t const out[] = {11, 22};
            std::uint64_t in[] = {0, 0};
            auto send = [&](std::size_t i) { return network.endpoint(0).post_send(1, {1, 0}, bytes_of(out[i])); };
            ticket sent[2];
            if (sent_before) sent[0] = send(0);
            ticket cancelled = network.endpoint(1).post_recv(0, {1, 0}, bytes_of(in[0]));
            network.endpoint(1).cancel(cancelled);
            if (!sent_before) sent[0] = send(0);
            sent[1] = send(1);
            ticket kept = network.endpoint(1).post_recv(0, {1, 0}, bytes_of(in[1]));
            CHECK(network.endpoint(1).poll(kept) == progress::done);
            CHECK(network.endpoint(1).poll(cancelled) == progress::done);
            CHECK(in[0] == 0);
            CHECK(in[1] == 22);
            CHECK(network.endpoint(0).poll(sent[1]) == progress::done);
            if (!rendezvous || sent_before) CHECK(network.endpoint(0).poll(sent[0]) == progress::done);
        }
    simulated_network network{2, {.rendezvous = true}};
    std::uint64_t in = 0;
    {
        std::vector<std::byte> gone(8, std::byte{7});
        ticket withdrawn = network.endpoint(0).post_send(1, {}, gone);
        network.endpoint(0).cancel(withdrawn);
    }
    ticket waiting = network.endpoint(1).post_recv(0, {}, bytes_of(in));
    CHECK(network.endpoint(1).poll(waiting) == progress::idle);
    CHECK(in == 0);
}

TEST_CASE("receive with reduction: both sides, in place and not, any cut") {
    for (std::uint64_t seed = 0; seed < 30; ++seed)
        for (bool left : {false, true})
            for (bool in_place : {false, true}) {
                std::size_t const count = seed % 7;
                simulated_network network{2, {.seed = seed, .rendezvous = seed % 2 == 0}};
                std::vector<std::uint64_t> arriving(count);
                std::vector<std::uint64_t> mine(count);
                for (std::size_t i = 0; i < count; ++i) {
                    arriving[i] = 100 * seed + i;
                    mine[i] = 7 * seed + 3 * i;
                }
                std::vector<std::uint64_t> const before = mine;
                std::vector<std::uint64_t> apart(count);
                std::vector<std::uint64_t>& out = in_place ? mine : apart;
                network.endpoint(0).post_send(1, {4, 2}, std::as_bytes(std::span{arriving}));
                ticket t = network.endpoint(1).post_recv_reduce(
                    0, {4, 2},
                    {reinterpret_cast<std::byte*>(out.data()), reinterpret_cast<std::byte const*>(mine.data()),
                     8 * count, left, &affine_reduction});
                REQUIRE(network.endpoint(1).poll(t) == progress::done);
                for (std::size_t i = 0; i < count; ++i)
                    CHECK(out[i] == (left ? 3 * arriving[i] + before[i] : 3 * before[i] + arriving[i]));
            }
}

TEST_CASE("ORD-1: a mismatch fails the receive with both sizes and both ranks") {
    simulated_network network{6};
    std::vector<std::byte> const out(4094);
    std::vector<std::byte> in(4096);
    network.endpoint(5).post_send(3, {1, 0}, out);
    ticket t = network.endpoint(3).post_recv(5, {1, 0}, in);
    CHECK(network.endpoint(3).poll(t) == progress::failed);
    std::string const text = network.endpoint(3).failure().what();
    CHECK(network.endpoint(3).failure().code() == chorus::errc::mismatch);
    for (char const* fact : {"rank 3", "rank 5", "4094", "4096"})
        CHECK_MESSAGE(text.find(fact) != std::string::npos, text);
}

TEST_CASE("ranks see one another's records; arguments are checked") {
    simulated_network network{2};
    chorus::operation_record record;
    record.sequence = 42;
    network.endpoint(0).announce(record);
    CHECK(network.endpoint(1).view_of(0).sequence == 42);
    CHECK(network.endpoint(0).view_of(1).sequence == 0);
    CHECK(network.endpoint(0).view_of(99).sequence == 0);
    std::vector<std::byte> buffer(1);
    CHECK_THROWS_AS(network.endpoint(0).post_send(2, {}, buffer), chorus::error);
    CHECK_THROWS_AS(network.endpoint(0).post_recv(2, {}, buffer), chorus::error);
    CHECK_THROWS_AS(network.lose_next(0, 2), chorus::error);
    CHECK_THROWS_AS(simulated_network{0}, chorus::error);
}
