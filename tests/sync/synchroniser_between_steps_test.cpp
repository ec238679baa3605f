// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/schedule/ring.hpp"
#include "chorus/sync/every_step.hpp"
#include "chorus/sync/keep_progress.hpp"
#include "chorus/sync/synchroniser.hpp"
#include "chorus/transport/recording.hpp"
#include "suites/transport_suite.hpp"
#include "suites/turn_taking.hpp"
#include "suites/watchdog.hpp"

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

using chorus::group;
using chorus::rank_id;
using chorus::synchroniser;

TEST_CASE("between two steps a delayed exchange moves by `advance`, and is merged only when it is due") {
    suites::watchdog const guard{20};
    for (rank_id p : {1u, 2u, 5u})
        suites::hold("between steps", [](rank_id size) { return suites::simulated_fleet{size}; }, p, [&](auto& rank) {
            using recording = chorus::recording_transport<std::remove_cvref_t<decltype(rank.net())>>;
            recording net{rank.net()};
            group<recording> const world{net};
            std::vector<double> v(60, rank.me());
            chorus::synchroniser_options const late{.delay = 2, .algorithm = chorus::any_algorithm{chorus::ring{}}};
            synchroniser sync{world, std::vector{std::span{v}}, chorus::every_step{}, chorus::uncompressed{}, chorus::keep_progress{}, late};
            for (std::uint64_t t = 1; t <= 2; ++t) {
                sync.step();
                while (sync.advance() != chorus::progress::done) rank.check(sync.advance() != chorus::progress::failed, "failed");
                rank.check(net.messages() == t * 2 * (p - 1), "a ring sends 2 (p - 1) messages, all before the next step");
                rank.check(v == std::vector<double>(60, rank.me()), "merged too early");
            }
            sync.step();
            rank.check(v == std::vector<double>(60, (p - 1) / 2.0), "the mean");
        });
}
