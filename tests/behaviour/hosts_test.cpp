// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "suites/execution_suite.hpp"
#include "suites/hierarchical_fleet.hpp"
#include "suites/watchdog.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

// Collectives between ranks on several hosts: what they give, and how many bytes leave a host.

using chorus::collective;
using chorus::rank_id;
using chorus::topo::layout;
using suites::hierarchical_fleet;

namespace {

std::vector<layout> const& uneven_and_even_hosts() {
    static std::vector<layout> const all{layout::blocks(4, 2), layout::blocks(6, 3), layout{0, 0, 0, 1},
                                         layout::round_robin(4, 2)};
    return all;
}

/// Every algorithm, placement and some counts of one collective, on ranks that sit as `places` says.
template <collective What>
void check_collective(layout const& places) {
    rank_id const p = places.size();
    suites::exercise<What, std::int32_t> const work{p, {1, std::uint64_t{3} * p + 1, 5003}};
    auto const algorithms = suites::algorithms_for(What);
    suites::failure_list failures;
    hierarchical_fleet{places}.run([&](auto& net) { work.perform(net, algorithms, failures); });
    suites::expect_none(failures);
}

template <collective What>
void check_collective_everywhere() {
    suites::watchdog const guard{120};
    for (layout const& places : uneven_and_even_hosts()) check_collective<What>(places);
}

/// Payload bytes that left each host in one all-reduce of `count` 32-bit elements; the result is checked.
template <class Algorithm>
std::vector<std::uint64_t> bytes_left(layout const& places, std::uint64_t count, bool reorder, Algorithm const& algorithm) {
    std::vector<std::atomic<std::uint64_t>> left(places.hosts());
    suites::failure_list failures;
    hierarchical_fleet{places}.run([&](auto& net) {
        chorus::group const world{net};
        auto const members = (reorder ? world.subgroup(places.order()) : world).within(std::chrono::seconds{20});
        std::vector<std::int32_t> mine(count);
        for (std::uint64_t i = 0; i < count; ++i) mine[i] = static_cast<std::int32_t>(i * 7 + net.rank() * 1000);
        all_reduce(members, mine, chorus::sum{}, algorithm);
        auto const p = static_cast<std::int32_t>(net.size());
        for (std::uint64_t i = 0; i < count; ++i)
            if (mine[i] != p * static_cast<std::int32_t>(i * 7) + 1000 * (p * (p - 1) / 2)) {
                failures.add("wrong sum on rank " + std::to_string(net.rank()));
                break;
            }
        left[places.host_of(net.rank())] += net.bytes_between();
    });
    suites::expect_none(failures);
    return {left.begin(), left.end()};
}

}  // namespace

TEST_CASE("HET-1: all_reduce on hosts") { check_collective_everywhere<collective::all_reduce>(); }
TEST_CASE("HET-1: reduce_scatter on hosts") { check_collective_everywhere<collective::reduce_scatter>(); }
TEST_CASE("HET-1: all_gather on hosts") { check_collective_everywhere<collective::all_gather>(); }
TEST_CASE("HET-1: broadcast on hosts") { check_collective_everywhere<collective::broadcast>(); }
TEST_CASE("HET-1: reduce on hosts") { check_collective_everywhere<collective::reduce>(); }
TEST_CASE("HET-1: gather on hosts") { check_collective_everywhere<collective::gather>(); }
TEST_CASE("HET-1: scatter on hosts") { check_collective_everywhere<collective::scatter>(); }
TEST_CASE("HET-1: all_to_all on hosts") { check_collective_everywhere<collective::all_to_all>(); }
TEST_CASE("HET-1: scan on hosts") { check_collective_everywhere<collective::scan>(); }
TEST_CASE("HET-1: exclusive_scan on hosts") { check_collective_everywhere<collective::exclusive_scan>(); }

TEST_CASE("with two ranks per host, two levels send between hosts what one rank per host would, a flat ring more") {
    suites::watchdog const guard{60};
    for (rank_id h = 2; h <= 5; ++h) {
        CAPTURE(h);
        rank_id const p = 2 * h;
        std::uint64_t const count = 120 * p;  // divided by every cut
        std::uint64_t const n = 4 * count;
        chorus::ring const flat{};
        layout const neighbours = layout::blocks(p, 2);
        layout const dealt = layout::round_robin(p, h);
        std::uint64_t const of_one_rank_per_host = 2 * (h - 1) * n / h;
        std::uint64_t const of_a_ring = 2 * (p - 1) * n / p;
        auto all = [&](std::uint64_t bytes) { return std::vector<std::uint64_t>(h, bytes); };
        chorus::hierarchical const two_levels{chorus::ring{}, chorus::ring{}, 1, dealt.sizes()};
        CHECK(bytes_left(dealt, count, true, two_levels) == all(of_one_rank_per_host));
        CHECK(bytes_left(neighbours, count, true, two_levels) == all(of_one_rank_per_host));
        CHECK(bytes_left(neighbours, count, false, flat) == all(of_a_ring));
        CHECK(bytes_left(dealt, count, false, flat) == all(2 * of_a_ring));
        CHECK(bytes_left(dealt, count, true, flat) == all(of_a_ring));
        CHECK(2 * of_one_rank_per_host < 2 * of_a_ring);  // less than half of what the ring over ranks dealt out sends
    }
}

TEST_CASE("HET-1: on uneven hosts in any order only the leaders send between hosts, and only one vector's worth") {
    suites::watchdog const guard{60};
    for (layout const& places : {layout{0, 0, 0, 1}, layout{0, 1, 1}, layout{0, 0, 1, 1, 1}, layout{0, 1, 2, 2, 2},
                                 layout{0, 1, 0, 0}, layout{0, 1, 1, 0, 1}, layout{0, 1, 2, 1, 0, 1}}) {
        CAPTURE(places.hosts());
        std::uint64_t const h = places.hosts();
        std::uint64_t const count = 720 * h;
        chorus::hierarchical const two_levels{chorus::ring{}, chorus::ring{}, 1, places.sizes()};
        CHECK(bytes_left(places, count, true, two_levels) == std::vector<std::uint64_t>(h, 2 * (h - 1) * 4 * count / h));
    }
}

TEST_CASE("ORD-1: ranks that disagree are told so on all hosts") {
    suites::watchdog const guard{60};
    for (layout const& places : uneven_and_even_hosts()) {
        suites::failure_list failures;
        std::atomic<rank_id> told{0};
        try {
            hierarchical_fleet{places}.run([&](auto& net) {
                auto const world = chorus::group{net}.within(std::chrono::seconds{20});
                std::vector<int> v(net.rank() + 1 == net.size() ? 9 : 8, 1);
                try {
                    all_reduce(world, v, chorus::sum{}, chorus::ring{});
                    failures.add("nothing was noticed");
                } catch (chorus::error const& why) {
                    std::string const text = why.what();
                    if (why.code() != chorus::errc::mismatch) failures.add("wrong code: " + text);
                    if (text.find("of 8 ") == std::string::npos || text.find("of 9 ") == std::string::npos)
                        failures.add("not both views: " + text);
                    ++told;
                }
            });
        } catch (chorus::error const&) {
        }
        suites::expect_none(failures);
        CHECK(told == places.size());
    }
}
