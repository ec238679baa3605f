// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/transport/self.hpp"

#include "archetypes/least_transport.hpp"
#include "chorus/base/random.hpp"
#include "suites/transport_suite.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using chorus::progress;

namespace {

std::vector<std::byte> filled(std::size_t bytes, std::uint64_t seed) {
    std::vector<std::byte> data(bytes);
    for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>(chorus::counter_random::mix(seed + i));
    return data;
}

template <class Net>
struct one_rank {
    template <class Body>
    void run(Body const& body) const {
        Net net;
        body(net);
    }
};

}  // namespace

TEST_CASE("the laws of a transport hold for one rank, and for the least model of the concept") {
    suites::check_transport([](chorus::rank_id) { return one_rank<chorus::self_transport>{}; }, {1});
    suites::check_transport([](chorus::rank_id) { return one_rank<archetypes::least_transport>{}; }, {1});
}

TEST_CASE("a message to self arrives whichever end is posted first, for any size") {
    for (std::size_t bytes : {0u, 1u, 63u, 64u, 65u, 4097u, 1000000u}) {
        for (bool send_first : {true, false}) {
            chorus::self_transport net;
            std::vector<std::byte> out = filled(bytes, bytes);
            std::vector<std::byte> in(bytes);
            chorus::self_transport::ticket sent;
            if (send_first) sent = net.post_send(0, {7, 1}, out);
            chorus::self_transport::ticket arrived = net.post_recv(0, {7, 1}, in);
            if (!send_first) {
                CHECK(net.poll(arrived) == progress::idle);
                sent = net.post_send(0, {7, 1}, out);
            }
            CHECK(net.poll(sent) == progress::done);
            CHECK(net.poll(arrived) == progress::done);
            CHECK(net.poll(arrived) == progress::done);
            CHECK(in == out);
        }
    }
}

TEST_CASE("any interleaving of sends, receives and polls keeps each stream first in, first out") {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        chorus::counter_random const random{seed};
        chorus::self_transport net;
        struct open_receive {
            chorus::self_transport::ticket ticket;
            std::vector<std::byte> in;
            std::vector<std::byte> expected;
        };
        std::deque<open_receive> receives;
        std::map<std::uint64_t, std::uint64_t> sends;
        std::map<std::uint64_t, std::uint64_t> posted;
        auto payload = [](std::uint64_t stream, std::uint64_t number) {
            return filled((stream * 7 + number * 3) % 11, stream * 1000 + number);
        };
        for (std::uint64_t i = 0; i < 200; ++i) {
            std::uint64_t const stream = random.below(2 * i, 3);
            if (random.below(2 * i + 1, 2) == 0) {
                net.post_send(0, {stream, 0}, payload(stream, sends[stream]++));
            } else {
                std::vector<std::byte> expected = payload(stream, posted[stream]++);
                open_receive& next = receives.emplace_back();
                next.in.resize(expected.size());
                next.expected = expected;
                next.ticket = net.post_recv(0, {stream, 0}, next.in);
            }
            if (!receives.empty()) net.poll(receives[random.below(3 * i, receives.size())].ticket);
        }
        for (auto& [stream, number] : posted)
            while (sends[stream] < number) net.post_send(0, {stream, 0}, payload(stream, sends[stream]++));
        for (std::size_t i = receives.size(); i-- > 0;) {
            REQUIRE(net.poll(receives[i].ticket) == progress::done);
            REQUIRE(receives[i].in == receives[i].expected);
        }
    }
}

TEST_CASE("ORD-1: a wrong length or fingerprint fails that receive alone") {
    chorus::self_transport net;
    std::vector<std::byte> const out = filled(8, 1);
    std::vector<std::byte> in(8);
    std::vector<std::byte> shorter(7);
    net.post_send(0, {1, 5}, out);
    net.post_send(0, {1, 5}, out);
    net.post_send(0, {1, 5}, out);
    auto first = net.post_recv(0, {1, 5}, shorter);
    auto second = net.post_recv(0, {1, 6}, in);
    auto third = net.post_recv(0, {1, 5}, in);
    CHECK(net.poll(first) == progress::failed);
    CHECK(net.poll(first) == progress::failed);
    CHECK(net.failure().code() == chorus::errc::mismatch);
    CHECK(std::string{net.failure().what()}.find("expected 7 bytes") != std::string::npos);
    CHECK(net.poll(second) == progress::failed);
    CHECK(std::string{net.failure().what()}.find("expected 6, sent 5") != std::string::npos);
    CHECK(net.poll(third) == progress::done);
    CHECK(in == out);
}

TEST_CASE("there is no other rank, and a fresh ticket is done") {
    chorus::self_transport net;
    std::vector<std::byte> in(1);
    CHECK(net.rank() == 0);
    CHECK(net.size() == 1);
    CHECK_THROWS_AS(net.post_send(1, {}, in), chorus::error);
    CHECK_THROWS_AS(net.post_recv(chorus::nobody, {}, in), chorus::error);
    chorus::self_transport::ticket fresh;
    CHECK(net.poll(fresh) == progress::done);
}
