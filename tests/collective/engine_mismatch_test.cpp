// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/collective/engine.hpp"

#include "chorus/collective/all_gather.hpp"
#include "chorus/collective/all_reduce.hpp"
#include "chorus/collective/all_to_all.hpp"
#include "chorus/collective/barrier.hpp"
#include "chorus/collective/broadcast.hpp"
#include "chorus/collective/reduce.hpp"
#include "chorus/collective/reduce_scatter.hpp"
#include "chorus/data/bfloat16.hpp"
#include "chorus/transport/shared_memory.hpp"
#include "chorus/transport/thread.hpp"
#include "suites/expected_error.hpp"
#include "suites/transport_suite.hpp"
#include "suites/watchdog.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using chorus::errc;
using chorus::group;
using chorus::rank_id;

namespace {

// Every rank makes its own call; all must live to see `mismatch`, and the text must have the words. A rank that needs
// nobody may be done before that is known: its next operation fails then.
template <class Fleet, class Call>
void expect_mismatch(char const* name, Fleet const& make, rank_id p, std::initializer_list<std::string_view> words,
                     Call const& call) {
    suites::watchdog const guard{60};
    suites::failure_list ended;
    suites::hold(
        name, make, p,
        [&](auto& rank) {
            group world{rank.net()};
            suites::expect_error(rank, errc::mismatch, words, [&] {
                call(world);
                chorus::barrier(world);
                chorus::barrier(world);
            });
            rank.check(world.is_poisoned(), "not poisoned");
            ended.add("one");
        },
        suites::ending::may_abort);
    CHECK_MESSAGE(ended.texts().size() == p, name);
}

auto const threads = [](rank_id p) { return chorus::thread_fleet{p}; };
auto const processes = [](rank_id p) { return chorus::process_fleet{p}; };

template <class Call>
void expect_mismatch(char const* name, rank_id p, std::initializer_list<std::string_view> words, Call const& call) {
    expect_mismatch(name, processes, p, words, call);
    expect_mismatch(name, threads, p, words, call);
}

}  // namespace

TEST_CASE("ORD-1: different counts end with an error on all ranks that tells both counts") {
    for (auto const& counts : {std::array{4096u, 4094u, 4094u}, std::array{4096u, 1u, 4096u},
                               std::array{1u, 4096u, 4096u}, std::array{0u, 1u, 1u}, std::array{4096u, 4096u, 0u}})
        expect_mismatch("all_reduce", 3, {"all_reduce #0 of", std::to_string(counts[1])}, [&](auto const& world) {
            std::vector<float> v(counts[world.rank()]);
            all_reduce(world, v, chorus::sum{});
        });
    expect_mismatch("ring", 3, {"all_reduce #0 of 4096", "of 4095"}, [](auto const& world) {
        std::vector<float> v(world.rank() == 2 ? 4095u : 4096u);
        all_reduce(world, v, chorus::sum{}, chorus::ring{});
    });
}

TEST_CASE("ORD-1: counts so different that ranks choose different algorithms end with an error") {
    for (rank_id p : {2u, 3u, 4u, 5u})
        for (rank_id odd = 0; odd < p; ++odd)
            for (std::size_t count : {1u, 300u, 20'000u})
                expect_mismatch("automatic", threads, p, {"of " + std::to_string(count)}, [&](auto const& world) {
                    std::vector<float> v(world.rank() == odd ? count : 400'000u);
                    all_reduce(world, v, chorus::sum{});
                });
}

TEST_CASE("ranks that name different algorithms, roots or operations end with an error") {
    expect_mismatch("algorithm", 3, {"ring", "recursive_doubling"}, [](auto const& world) {
        std::vector<float> v(10);
        if (world.rank() == 1) all_reduce(world, v, chorus::sum{}, chorus::ring{});
        else all_reduce(world, v, chorus::sum{}, chorus::recursive_doubling{});
    });
    expect_mismatch("broadcast", 3, {"broadcast #0", "root 0", "root 1"}, [&](auto const& world) {
        std::vector<float> v(10);
        broadcast(world, v, rank_id{world.rank() == 0 ? 1u : 0u});
    });
    expect_mismatch("reduce", 3, {"reduce #0", "root 0", "root 1"}, [&](auto const& world) {
        std::vector<float> v(10);
        reduce(world, v, rank_id{world.rank() == 1 ? 1u : 0u}, chorus::sum{});
    });
    for (rank_id odd = 0; odd < 3; ++odd)
        expect_mismatch("sum and maximum", threads, 3, {"float sum", "float maximum"}, [&](auto const& world) {
            std::vector<float> v(10);
            if (world.rank() == odd) all_reduce(world, v, chorus::maximum{});
            else all_reduce(world, v, chorus::sum{});
        });
}

TEST_CASE("ranks that loaded different tables of algorithms end with an error, or agree by luck") {
    auto const with = [](std::string const& row) {
        std::istringstream text{"chorus-table 1\n" + row + "\n"};
        return chorus::automatic::with(chorus::selection_table::read(text));
    };
    for (rank_id odd = 0; odd < 3; ++odd) {
        expect_mismatch("two algorithms", 3, {"ring", "recursive_doubling"}, [&](auto const& world) {
            std::vector<float> v(3000);
            all_reduce(world, v, chorus::sum{},
                       with(world.rank() == odd ? "all_reduce * * * ring" : "all_reduce * * * recursive_doubling"));
        });
        expect_mismatch("two parameters", threads, 3, {"ring(segments=2)"}, [&](auto const& world) {
            std::vector<float> v(3000);
            all_reduce(world, v, chorus::sum{},
                       with(world.rank() == odd ? "all_reduce * * 12000 ring(segments=2)" : "all_reduce * 3 * ring"));
        });
        expect_mismatch("a table and none", threads, 3, {"ring"}, [&](auto const& world) {
            std::vector<float> v(3);
            all_reduce(world, v, chorus::sum{}, world.rank() == odd ? with("all_reduce * * * ring") : chorus::automatic{});
        });
    }
    std::vector<std::vector<float>> results(3, std::vector<float>(3000, 1.0f));
    chorus::thread_fleet{3}.run([&](chorus::thread_transport& net) {
        group world{net};
        all_reduce(world, results[world.rank()], chorus::sum{},
                   with(world.rank() == 0 ? "all_reduce * * * ring" : "all_reduce thread 3 12000 ring"));
    });
    for (auto const& result : results) CHECK(result == std::vector<float>(3000, 3.0f));
}

TEST_CASE("ORD-2: different elements end with an error on all ranks, even if as long") {
    expect_mismatch("bfloat16 and float", 3, {"bfloat16 sum", "float sum"}, [](auto const& world) {
        std::vector<float> v(1);
        std::vector<chorus::bfloat16> w(1);
        if (world.rank() == 0) all_reduce(world, w, chorus::sum{});
        else all_reduce(world, v, chorus::sum{});
    });
    expect_mismatch("int and float", 3, {"int32 sum", "float sum"}, [](auto const& world) {
        std::vector<float> v(1);
        std::vector<std::int32_t> w(1);
        if (world.rank() == 0) all_reduce(world, w, chorus::sum{});
        else all_reduce(world, v, chorus::sum{});
    });
}

TEST_CASE("ORD-3: calls in another order end with an error that names both and their numbers") {
    expect_mismatch("swapped", 2, {"all_reduce #", "broadcast #"}, [](auto const& world) {
        std::vector<float> v(1);
        if (world.rank() == 0) all_reduce(world, v, chorus::sum{});
        broadcast(world, v, rank_id{0});
        if (world.rank() == 1) all_reduce(world, v, chorus::sum{});
    });
}

TEST_CASE("ranks that disagree about blocks of an all-to-all end with an error") {
    expect_mismatch("all_to_all_v", 2, {"bytes"}, [](auto const& world) {
        std::array<std::uint64_t, 2> const send{2, 2};
        std::array<std::uint64_t, 2> const receive{2, world.rank() == 0 ? 3u : 2u};
        std::vector<float> in(4), out(receive[0] + receive[1]);
        all_to_all_v(world, in, std::span<std::uint64_t const>{send}, out, std::span<std::uint64_t const>{receive});
    });
}
