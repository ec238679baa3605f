// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/collective/all_reduce.hpp"
#include "chorus/collective/broadcast.hpp"
#include "chorus/collective/reduce_scatter.hpp"
#include "chorus/schedule/automatic.hpp"
#include "chorus/transport/recording.hpp"
#include "chorus/transport/simulated.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

// What `automatic` chooses, judged by counts and by its own model alone: no clock is read.

using chorus::collective;
using chorus::group;
using chorus::rank_id;

namespace {

std::string what_runs(chorus::plan const& made) {
    std::string const text = made.describe();
    std::size_t const by = text.find(" by ");
    return text.substr(by, text.find(" on rank") - by);
}

template <class Element>
std::string algorithm_for(rank_id p, std::size_t bytes) {
    chorus::simulated_network network{p};
    group world{network.endpoint(0)};
    std::vector<Element> v(bytes / sizeof(Element));
    return what_runs(plan_all_reduce(world, v, chorus::sum{}));
}

struct work {
    std::uint32_t rounds = 0;
    std::size_t messages = 0;
};

work work_of(chorus::any_algorithm const& algorithm, collective what, rank_id p) {
    work most;
    for (rank_id me = 0; me < p; ++me) {
        chorus::schedule const made = algorithm.make(what, me, p);
        std::size_t sends = 0;
        for (chorus::step const& s : made.steps()) sends += s.kind == chorus::step_kind::send;
        most.rounds = (std::max)(most.rounds, made.rounds());
        most.messages = (std::max)(most.messages, sends);
    }
    return most;
}

std::uint32_t log2_up(rank_id p) {
    std::uint32_t rounds = 0;
    while ((rank_id{1} << rounds) < p) ++rounds;
    return rounds;
}

}  // namespace

TEST_CASE("PRF-1: the choice depends on bytes, not on how many elements they make") {
    for (rank_id p : {2u, 3u, 8u, 13u})
        for (std::size_t bytes : {8u, 1024u, 32'768u, 1u << 20}) {
            std::string const chosen = algorithm_for<double>(p, bytes);
            CHECK(algorithm_for<float>(p, bytes) == chosen);
            CHECK(algorithm_for<std::int8_t>(p, bytes) == chosen);
        }
}

TEST_CASE("PRF-2: one rank more or one element less never falls to a chain of as many rounds as ranks") {
    for (rank_id p : {3u, 4u, 5u, 7u, 8u, 9u, 15u, 16u, 17u, 63u, 64u, 65u})
        for (collective what : {collective::all_reduce, collective::broadcast})
            for (std::uint64_t const elements : {1u, p - 1, p, p + 1}) {
                auto const chosen = chorus::automatic{}.choose(what, p, 4 * elements, false, false);
                work const w = work_of(chosen.algorithm, what, p);
                CAPTURE(chosen.why);
                CHECK(w.rounds <= 2 * log2_up(p) + 1);
            }
}

TEST_CASE("PRF-5: by its own model, nothing listed is faster than what is chosen") {
    chorus::automatic const chooser;
    for (rank_id p : {2u, 3u, 4u, 8u, 16u, 31u})
        for (std::uint64_t bytes = 8; bytes <= (4u << 20); bytes *= 8)
            for (collective what : {collective::all_reduce, collective::broadcast, collective::all_gather}) {
                auto const chosen = chooser.choose(what, p, bytes, false, false);
                double const time = chooser.expected_seconds(chosen.algorithm, what, p, bytes);
                for (std::string_view name : chorus::known_algorithms()) {
                    auto const other = chorus::algorithm_named(name);
                    if (name == "hierarchical" || !other.supports(what)) continue;
                    CAPTURE(name);
                    CAPTURE(chosen.why);
                    CHECK(time <= chooser.expected_seconds(other, what, p, bytes) * 1.0000001);
                }
            }
}

TEST_CASE("PRF-5: large sums move little more than the least that any algorithm can: 2 (p - 1) / p of the vector") {
    for (rank_id p : {2u, 3u, 4u, 5u, 8u, 12u, 16u}) {
        chorus::simulated_network network{p};
        std::vector<float> v(4u << 20);
        for (rank_id r = 0; r < p; ++r) {
            group world{network.endpoint(r)};
            auto const plan = plan_all_reduce(world, v, chorus::sum{});
            double const least = 2.0 * (p - 1) / p * 4.0 * static_cast<double>(v.size());
            CHECK(static_cast<double>(plan.bytes_sent()) <= 1.01 * least);
        }
    }
}
