// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/collective/discover_layout.hpp"

#include "chorus/base/random.hpp"
#include "chorus/collective/all_reduce.hpp"
#include "chorus/schedule/hierarchical.hpp"
#include "chorus/schedule/ring.hpp"
#include "chorus/transport/shared_memory.hpp"
#include "chorus/transport/this_host.hpp"
#include "chorus/transport/thread.hpp"
#include "suites/failure_list.hpp"
#include "suites/hierarchical_fleet.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using chorus::rank_id;
using chorus::topo::layout;

TEST_CASE("HET-1: all ranks find the layout that their identities make") {
    for (rank_id p = 1; p <= 9; ++p)
        for (std::uint64_t seed : {1u, 2u, 3u}) {
            chorus::counter_random const random{seed, p};
            std::vector<std::uint64_t> hosts;
            for (rank_id r = 0; r < p; ++r) hosts.push_back(random.bits(1000 + random.below(r, seed + 1)));
            suites::failure_list failures;
            chorus::thread_fleet{p}.run([&](chorus::thread_transport& net) {
                chorus::group const world{net};
                if (discover_layout(world, hosts[net.rank()], {.deadline = std::chrono::seconds{20}}) != layout{hosts})
                    failures.add("another layout on rank " + std::to_string(net.rank()));
            });
            CHECK(failures.texts().empty());
        }
}

TEST_CASE("processes of this machine are on one host") {
    suites::failure_list failures;
    chorus::process_fleet{3}.run([&](chorus::shared_memory_transport& net) {
        chorus::group const world{net};
        if (discover_layout(world, chorus::this_host()) != layout::blocks(3, 3)) failures.add("several hosts");
    });
    CHECK(failures.texts().empty());
}

TEST_CASE("HET-1: a two-level sum over a layout that was discovered") {
    for (layout const& made : suites::placements_on_hosts()) {
        suites::failure_list failures;
        suites::hierarchical_fleet{made}.run([&](auto& net) {
            chorus::group const world{net};
            layout const found = discover_layout(world, 77 * made.host_of(net.rank()) + 5);
            chorus::hierarchical const two_levels{chorus::ring{}, chorus::ring{}, 1, found.sizes()};
            std::vector<std::uint32_t> v(100, net.rank() + 1);
            all_reduce(world.subgroup(found.order()), v, chorus::sum{}, two_levels);
            if (v != std::vector<std::uint32_t>(100, net.size() * (net.size() + 1) / 2))
                failures.add("wrong sum on rank " + std::to_string(net.rank()));
        });
        CHECK(failures.texts().empty());
    }
}
