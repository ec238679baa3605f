// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "chorus/collective/all_reduce.hpp"
#include "chorus/transport/mpi.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

// What is MPI's own about mpi_transport. Test cases run in the order of this file; the last one finalises MPI.

using chorus::detail::mpi_introduction;
using chorus::detail::mpi_wire;

namespace {

int world_rank() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}
int world_size() {
    int size = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return size;
}

/// The error that `act` throws.
template <class Act>
std::optional<chorus::error> refusal(Act const& act) {
    try {
        act();
    } catch (chorus::error const& thrown) {
        return thrown;
    }
    return std::nullopt;
}

std::vector<std::byte> pattern(std::size_t bytes, int seed) {
    std::vector<std::byte> made(bytes);
    for (std::size_t i = 0; i < bytes; ++i) made[i] = static_cast<std::byte>((i * 7 + i / 250 + static_cast<std::size_t>(seed)) & 0xFF);
    return made;
}

template <class Net>
void finish(Net& net, typename Net::ticket pending) {
    for (std::uint32_t idle = 1;; ++idle) {
        chorus::progress const now = net.poll(pending);
        if (now == chorus::progress::done) return;
        REQUIRE(now != chorus::progress::failed);
        net.rest(idle);
    }
}

void finish(mpi_wire& net, mpi_wire::transfer& moving) {
    for (;;) {
        chorus::progress const now = net.poll(moving);
        if (now == chorus::progress::done) return;
        REQUIRE(now != chorus::progress::failed);
    }
}

std::size_t resident_bytes() {
    std::size_t all = 0;
    std::size_t resident = 0;
    std::ifstream{"/proc/self/statm"} >> all >> resident;
    return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

int sum_of_ranks(MPI_Comm members) {
    chorus::mpi_transport net{members};
    std::vector<int> v(1000, static_cast<int>(net.rank()) + 1);
    chorus::all_reduce(chorus::group{net}, v, chorus::sum{});
    CHECK(std::all_of(v.begin(), v.end(), [&](int x) { return x == v[0]; }));
    return v[0];
}

int triangle(int n) { return n * (n + 1) / 2; }

}  // namespace

TEST_CASE("a session joins an MPI that runs and leaves it running") {
    {
        chorus::mpi::session const joined;
        CHECK_FALSE(joined.is_owner());
        chorus::mpi::session moved;
        moved = chorus::mpi::session{};
        CHECK_FALSE(moved.is_owner());
    }
    CHECK(chorus::detail::mpi_is_running());
    CHECK(sum_of_ranks(MPI_COMM_WORLD) == triangle(world_size()));
}

TEST_CASE("what is no group of ranks is refused") {
    auto const none = refusal([] { chorus::mpi_transport{MPI_COMM_NULL}; });
    REQUIRE(none);
    CHECK(none->code() == chorus::errc::invalid_argument);
    CHECK(std::string{none->what()}.find("MPI_COMM_NULL") != std::string::npos);
    if (world_size() < 2) return;
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm joined = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, world_rank() == 0 ? 0 : 1, world_rank(), &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, world_rank() == 0 ? 1 : 0, 5, &joined);
    auto const inter = refusal([&] { chorus::mpi_transport{joined}; });
    REQUIRE(inter);
    CHECK(inter->code() == chorus::errc::invalid_argument);
    CHECK(std::string{inter->what()}.find("inter-communicator") != std::string::npos);
    MPI_Comm_free(&joined);
    MPI_Comm_free(&half);
}

TEST_CASE("a communicator of some ranks, numbered as it numbers them, that is freed at once") {
    MPI_Comm some = MPI_COMM_NULL;
    int const colour = world_rank() % 2;
    MPI_Comm_split(MPI_COMM_WORLD, colour, -world_rank(), &some);
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(some, &rank);
    MPI_Comm_size(some, &size);
    chorus::mpi_transport net{some};
    MPI_Comm_free(&some);
    CHECK(net.rank() == static_cast<chorus::rank_id>(rank));
    CHECK(net.size() == static_cast<chorus::rank_id>(size));
    std::vector<int> v(5000, 1 << rank);
    chorus::all_reduce(chorus::group{net}, v, chorus::sum{});
    CHECK(std::all_of(v.begin(), v.end(), [&](int x) { return x == (1 << size) - 1; }));
}

TEST_CASE("a transfer longer than a chunk arrives whole, at and around the length of one") {
    if (world_size() < 2) return;
    mpi_wire net{mpi_introduction{MPI_COMM_WORLD}, 1000};
    std::uint32_t number = 0;
    for (std::size_t bytes : {std::size_t{1}, std::size_t{999}, std::size_t{1000}, std::size_t{1001}, std::size_t{2000}, std::size_t{12345}}) {
        std::vector<std::byte> const sent = pattern(bytes, 3);
        std::vector<std::byte> came(bytes + 8, std::byte{0xEE});
        mpi_wire::transfer moving;
        if (net.rank() == 1) moving = net.receive_bulk(0, number, {came.data(), bytes});
        MPI_Barrier(MPI_COMM_WORLD);
        if (net.rank() == 0) moving = net.send_bulk(1, number, sent);
        finish(net, moving);
        ++number;
        if (net.rank() != 1) continue;
        CHECK(std::equal(sent.begin(), sent.end(), came.begin()));
        CHECK(std::all_of(came.end() - 8, came.end(), [](std::byte b) { return b == std::byte{0xEE}; }));
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

TEST_CASE("messages in chunks, both ways at once, several at a time") {
    if (world_size() < 2) return;
    chorus::detail::messenger<mpi_wire> net{chorus::detail::waiting_style_for(64), mpi_introduction{MPI_COMM_WORLD}, std::size_t{1000}};
    if (net.rank() < 2) {
        chorus::rank_id const peer = 1 - net.rank();
        std::vector<std::vector<std::byte>> out;
        std::vector<std::vector<std::byte>> in;
        for (int m = 0; m < 6; ++m) {
            out.push_back(pattern(12345 + 500 * static_cast<std::size_t>(m), m));
            in.emplace_back(out.back().size());
        }
        std::vector<chorus::detail::messenger<mpi_wire>::ticket> pending;
        for (auto& v : in) pending.push_back(net.post_recv(peer, {1, 1}, v));
        for (auto& v : out) pending.push_back(net.post_send(peer, {1, 1}, v));
        for (auto& t : pending) finish(net, std::move(t));
        CHECK(in == out);
    }
}

TEST_CASE("two hundred transports, one after another, leave no memory behind") {
    for (int i = 0; i < 30; ++i) sum_of_ranks(MPI_COMM_WORLD);
    std::size_t const before = resident_bytes();
    for (int i = 0; i < 200; ++i) CHECK(sum_of_ranks(MPI_COMM_WORLD) == triangle(world_size()));
    CHECK(resident_bytes() < before + (std::size_t{16} << 20));
}

TEST_CASE("a message that is under way when its transport is destroyed is not taken for one of the next") {
    if (world_size() < 2) return;
    for (int turn = 0; turn < 40; ++turn) {
        bool const is_long = turn % 2 == 1;
        std::size_t const bytes = is_long ? 100000 : 100;
        std::vector<std::byte> const stale(bytes, std::byte{1});
        std::vector<std::byte> const fresh(bytes, std::byte{2});
        {
            chorus::mpi_transport net{MPI_COMM_WORLD};
            if (net.rank() == 0)
                for (int i = 0; i < 5; ++i) (void)net.post_send(1, {9, 9}, stale);
        }
        chorus::mpi_transport net{MPI_COMM_WORLD};
        if (net.rank() == 0) finish(net, net.post_send(1, {9, 9}, fresh));
        if (net.rank() != 1) continue;
        std::vector<std::byte> came(bytes);
        finish(net, net.post_recv(0, {9, 9}, came));
        CHECK(came == fresh);
    }
}

TEST_CASE("a receive that has begun when the transport is destroyed leaves its buffer alone afterwards") {
    if (world_size() < 2) return;
    for (int turn = 0; turn < 3; ++turn) {
        std::vector<std::byte> big(std::size_t{1} << 20, std::byte{7});
        {
            chorus::mpi_transport net{MPI_COMM_WORLD};
            if (net.rank() == 0) {
                auto pending = net.post_send(1, {9, 9}, big);
                for (int i = 0; i < 20 * turn; ++i) net.poll(pending);
            } else if (net.rank() == 1) {
                auto pending = net.post_recv(0, {9, 9}, big);
                for (int i = 0; i < 20 * turn; ++i) net.poll(pending);
            }
        }
        std::fill(big.begin(), big.end(), std::byte{3});
        CHECK(sum_of_ranks(MPI_COMM_WORLD) == triangle(world_size()));
        CHECK(std::all_of(big.begin(), big.end(), [](std::byte b) { return b == std::byte{3}; }));
    }
}

TEST_CASE("after MPI_Finalize a transport that is left is inert, and nothing new begins") {
    auto left = std::make_unique<chorus::mpi_transport>(MPI_COMM_WORLD);
    chorus::mpi::session const session;
    MPI_Finalize();
    CHECK_FALSE(left->net().is_open());
    if (left->size() > 1) {
        std::vector<std::byte> in(10);
        auto pending = left->post_recv(left->rank() == 0 ? 1 : 0, {1, 1}, in);
        CHECK(left->poll(pending) != chorus::progress::done);
        left->cancel(pending);
    }
    left.reset();
    auto const again = refusal([] { chorus::mpi::session{}; });
    REQUIRE(again);
    CHECK(again->code() == chorus::errc::invalid_argument);
    auto const late = refusal([] { chorus::mpi_transport{MPI_COMM_WORLD}; });
    REQUIRE(late);
    CHECK(late->code() == chorus::errc::invalid_argument);
    CHECK(std::string{late->what()}.find("finalised") != std::string::npos);
}

/// MPI is the caller's: initialised here, before anything of chorus is used.
int main(int argc, char** argv) {
    int level = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    doctest::Context context{argc, argv};
    int const result = context.run();
    if (!chorus::detail::mpi_is_finalised()) MPI_Finalize();
    return result;
}
