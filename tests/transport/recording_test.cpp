// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/transport/recording.hpp"

#include "archetypes/least_transport.hpp"
#include "chorus/base/random.hpp"
#include "chorus/transport/simulated.hpp"
#include "chorus/transport/thread.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

using chorus::progress;
using chorus::rank_id;
using chorus::recording_transport;
using chorus::transport_event;

namespace {

template <class Outer, class Inner>
constexpr bool has_same_refinements() {
    return chorus::transport<Outer> && chorus::transport<Inner> &&
           chorus::reducing_transport<Outer> == chorus::reducing_transport<Inner> &&
           chorus::aborting_transport<Outer> == chorus::aborting_transport<Inner> &&
           chorus::explaining_transport<Outer> == chorus::explaining_transport<Inner> &&
           chorus::resting_transport<Outer> == chorus::resting_transport<Inner> &&
           chorus::cancelling_transport<Outer> == chorus::cancelling_transport<Inner> &&
           chorus::guarded_transport<Outer> == chorus::guarded_transport<Inner> &&
           chorus::announcing_transport<Outer> == chorus::announcing_transport<Inner>;
}

template <class Inner>
constexpr bool is_transparent = has_same_refinements<recording_transport<Inner>, Inner>();

}  // namespace

TEST_CASE("a recorder has exactly the refinements of what it records") {
    static_assert(is_transparent<archetypes::least_transport>);
    static_assert(is_transparent<chorus::self_transport>);
    static_assert(is_transparent<chorus::simulated_transport>);
    static_assert(is_transparent<chorus::thread_transport>);
    static_assert(is_transparent<recording_transport<chorus::simulated_transport>>);
    archetypes::least_transport net;
    recording_transport recorder{net};
    CHECK(recorder.size() == 1);
    CHECK(recorder.rank() == 0);
}

TEST_CASE("counts and events agree with what was posted, and the messages arrive") {
    rank_id const p = 5;
    chorus::simulated_network network{p};
    std::vector<recording_transport<chorus::simulated_transport>> recorders;
    for (rank_id r = 0; r < p; ++r) recorders.emplace_back(network.endpoint(r));
    std::vector<std::vector<std::uint64_t>> sent(p, std::vector<std::uint64_t>(p));
    std::vector<std::vector<std::uint64_t>> messages = sent;
    std::vector<std::vector<transport_event>> events(p);
    std::vector<std::byte> const out(100, std::byte{42});
    std::vector<std::byte> in(100);
    chorus::counter_random const random{7};
    for (std::uint64_t i = 0; i < 500; ++i) {
        auto const source = static_cast<rank_id>(random.below(4 * i, p));
        auto const destination = static_cast<rank_id>(random.below(4 * i + 1, p));
        std::size_t const bytes = static_cast<std::size_t>(random.below(4 * i + 2, 101));
        std::uint64_t const stream = random.below(4 * i + 3, 4);
        auto sending = recorders[source].post_send(destination, {stream, 0}, std::span{out}.first(bytes));
        auto receiving = recorders[destination].post_recv(source, {stream, 0}, std::span{in}.first(bytes));
        sent[source][destination] += bytes;
        ++messages[source][destination];
        events[source].push_back({transport_event::kind::send, destination, stream, bytes});
        events[destination].push_back({transport_event::kind::recv, source, stream, bytes});
        REQUIRE(recorders[source].poll(sending) == progress::done);
        REQUIRE(recorders[destination].poll(receiving) == progress::done);
        if (bytes > 0) REQUIRE(in[bytes - 1] == std::byte{42});
    }
    for (rank_id a = 0; a < p; ++a) {
        std::uint64_t all_bytes = 0;
        std::uint64_t all_messages = 0;
        for (rank_id b = 0; b < p; ++b) {
            CHECK(recorders[a].sent_bytes(b) == sent[a][b]);
            CHECK(recorders[b].received_bytes(a) == sent[a][b]);
            CHECK(recorders[a].messages(b) == messages[a][b]);
            all_bytes += sent[a][b];
            all_messages += messages[a][b];
        }
        CHECK(recorders[a].sent_bytes() == all_bytes);
        CHECK(recorders[a].messages() == all_messages);
        CHECK(recorders[a].events() == events[a]);
        CHECK(recorders[a].events_left_out() == 0);
    }
    for (auto& recorder : recorders) {
        recorder.clear();
        CHECK(recorder.sent_bytes() + recorder.received_bytes() + recorder.messages() == 0);
        CHECK(recorder.events().empty());
    }
}

TEST_CASE("a post that throws is not counted, and the list of events stops at its bound") {
    chorus::simulated_network network{2};
    recording_transport recorder{network.endpoint(0), 3};
    std::vector<std::byte> const out(1);
    CHECK_THROWS_AS(recorder.post_send(2, {}, out), chorus::error);
    CHECK(recorder.messages() == 0);
    for (std::uint64_t i = 0; i < 10; ++i) recorder.post_send(1, {i, 0}, out);
    CHECK(recorder.messages() == 10);
    REQUIRE(recorder.events().size() == 3);
    CHECK(recorder.events()[2].stream == 2);
    CHECK(recorder.events_left_out() == 7);
}

TEST_CASE("refinements reach the inner transport") {
    chorus::simulated_network network{2};
    recording_transport recorder{network.endpoint(0)};
    std::vector<std::byte> in(8);
    std::vector<std::byte> const shorter(7);
    auto receiving = recorder.post_recv(1, {}, in);
    network.endpoint(1).post_send(0, {}, shorter);
    CHECK(recorder.poll(receiving) == progress::failed);
    CHECK(recorder.failure().code() == chorus::errc::mismatch);
    chorus::operation_record record;
    record.sequence = 5;
    recorder.announce(record);
    CHECK(network.endpoint(1).view_of(0).sequence == 5);
    CHECK(recorder.view_of(0).sequence == 5);
    recorder.abort(chorus::errc::aborted, 0, "enough");
    CHECK(network.endpoint(1).is_aborted());
    CHECK(recorder.is_aborted());
    CHECK(&recorder.inner() == &network.endpoint(0));
}
