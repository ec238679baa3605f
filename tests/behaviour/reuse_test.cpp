// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/collective/all_reduce.hpp"
#include "chorus/collective/barrier.hpp"
#include "chorus/transport/shared_memory.hpp"
#include "chorus/transport/thread.hpp"
#include "suites/expected_error.hpp"
#include "suites/sanitized.hpp"
#include "suites/transport_suite.hpp"
#include "suites/watchdog.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <malloc.h>
#include <unistd.h>

#include <doctest/doctest.h>

using chorus::errc;
using chorus::group;
using chorus::rank_id;

namespace {

auto const threads = [](rank_id p) { return chorus::thread_fleet{p}; };
auto const processes = [](rank_id p) { return chorus::process_fleet{p}; };

using integers = std::vector<std::int64_t>;

struct held {
    std::size_t descriptors = 0;
    std::size_t mappings = 0;
    std::size_t shared = 0;  // of these: what a session of processes maps

    // The allocator may map a little more of its own, a sanitizer much more.
    bool is_no_more_than(held const& before) const {
        return descriptors <= before.descriptors && shared <= before.shared &&
               (suites::is_sanitized || mappings <= before.mappings + 4);
    }
    std::string text() const {
        return std::to_string(descriptors) + " descriptors, " + std::to_string(shared) + " shared of " +
               std::to_string(mappings) + " mappings";
    }
};

held held_now() {
    held now;
    for ([[maybe_unused]] auto const& one : std::filesystem::directory_iterator{"/proc/self/fd"}) ++now.descriptors;
    std::ifstream maps{"/proc/self/maps"};
    for (std::string line; std::getline(maps, line);) {
        ++now.mappings;
        std::size_t const rights = line.find(' ') + 1;  // "rw-s": the last letter tells shared from private
        if (line.at(rights + 3) == 's') ++now.shared;
    }
    return now;
}

std::size_t resident_kib() {
    std::ifstream file{"/proc/self/statm"};
    std::size_t pages = 0;
    std::size_t resident = 0;
    file >> pages >> resident;
    return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) / 1024;
}

// One life: come together, meet, sum, part. The phase tells a barrier that lets somebody pass early.
template <class Fleet>
void live_once(Fleet const& make, rank_id p, std::int64_t number) {
    suites::hold("one life", make, p, [&](auto& rank) {
        group world{rank.net()};
        chorus::barrier(world);
        integers v(3, number + rank.me());
        all_reduce(world, v, chorus::sum{});
        if (v != integers(3, p * number + p * (p - 1) / 2)) rank.check(false, "wrong sum");
    });
}

}  // namespace

TEST_CASE("REU-1: groups and plans may be made, run and dropped without end or growth") {
    suites::watchdog const guard{100};
    for (rank_id p : {1u, 2u})
        suites::hold("20000 groups", threads, p, [&](auto& rank) {
            group world{rank.net()};
            std::size_t warm = 0;
            for (std::int64_t i = 0; i < 20'000; ++i) {
                auto const label = static_cast<std::uint64_t>(i);
                group const fresh = i % 2 == 0 ? world.duplicate(label) : world.split_into(p, label);
                integers v(1, i + rank.me());
                auto plan = plan_all_reduce(fresh, v, chorus::sum{});
                plan.run();
                if (v[0] != p * i + p * (p - 1) / 2) return rank.check(false, "wrong sum");
                if (i == 2000) warm = resident_kib();
            }
            rank.check(suites::is_sanitized || resident_kib() < warm + 2048,
                       "grew from " + std::to_string(warm) + " to " + std::to_string(resident_kib()) + " KiB");
        });
}

TEST_CASE("REU-3, MEM-2: fleets may come and go; nothing is left of them") {
    suites::watchdog const guard{100};
    held warm;
    for (std::int64_t i = 0; i < 1000; ++i) {
        live_once(threads, 2, i);
        if (i == 10) warm = held_now();
    }
    CHECK_MESSAGE(held_now().is_no_more_than(warm), warm.text(), " became ", held_now().text());
    for (std::int64_t i = 0; i < 200; ++i) {
        live_once(processes, 2, i);
        if (i == 10) warm = held_now();
    }
    CHECK_MESSAGE(held_now().is_no_more_than(warm), warm.text(), " became ", held_now().text());
}

TEST_CASE("REU-3: a session of processes may be joined again under its name") {
    suites::watchdog const guard{100};
    std::string const name = "chorus_test_reuse_" + std::to_string(::getpid());
    suites::hold("sessions", processes, 2, [&](auto& rank) {
        held warm;
        for (std::int64_t i = 0; i < 100; ++i) {
            chorus::shared_memory_transport net{name, rank.me(), 2};
            group both{net};
            chorus::barrier(both);
            integers v(1, i + rank.me());
            all_reduce(both, v, chorus::sum{});
            rank.check(v[0] == 2 * i + 1, "wrong sum in session " + std::to_string(i));
            if (i == 10) warm = held_now();
        }
        rank.check(warm.shared > 0, "the transport around shows no shared mapping: nothing is counted");
        rank.check(held_now().is_no_more_than(warm), warm.text() + " became " + held_now().text());
    });
}

TEST_CASE("REU-5: dropping one group disturbs no other; using what a peer has dropped ends with an error") {
    suites::watchdog const guard{60};
    suites::hold(
        "two groups", threads, 3,
        [](auto& rank) {
            group world{rank.net()};
            auto a = std::make_unique<group<chorus::thread_transport>>(world.duplicate(1));
            group const b = world.duplicate(2);
            integers v(1000, rank.me());
            all_reduce(*a, v, chorus::sum{});
            if (rank.me() == 1) a.reset();
            for (std::int64_t i = 0; i < 100; ++i) {
                v.assign(1000, rank.me() + i);
                all_reduce(b, v, chorus::sum{});
                if (v != integers(1000, 3 * i + 3)) rank.check(false, "wrong sum in b");
            }
            if (rank.me() == 1) return;
            suites::expect_error(rank, errc::peer_lost, {"rank 1"}, [&] { all_reduce(*a, v, chorus::sum{}); });
        },
        suites::ending::may_abort);
}

TEST_CASE("HUG-1: many ranks come together, with memory that grows with their number alone") {
    suites::watchdog const guard{100};
    for (rank_id p : {16u, 64u, 128u})
        suites::hold("many", threads, p, [](auto& rank) {
            group world{rank.net()};
            chorus::barrier(world);
            integers v(1, rank.me());
            all_reduce(world, v, chorus::sum{});
            rank.check(v[0] == std::int64_t{rank.size()} * (rank.size() - 1) / 2, "wrong sum");
        });
    auto const per_rank = [](rank_id p) {
        return static_cast<double>(chorus::detail::mailbox_arena::bytes_needed({.ranks = p})) / p;
    };
    for (rank_id p : {1u, 2u, 16u, 64u, 128u, 512u}) CHECK(per_rank(2 * p) <= 2.5 * per_rank(p));
}
