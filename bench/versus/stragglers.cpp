// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/base/random.hpp"
#include "chorus/sync/divide_and_shuffle.hpp"
#include "chorus/sync/every_step.hpp"
#include "chorus/sync/rack_delegates.hpp"
#include "chorus/sync/sampled_barrier.hpp"
#include "chorus/topo/one_peer_exponential.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <memory>
#include <queue>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

// How many steps ranks make while others are slow, by who waits for whom: in simulated time, by the rules that the library itself uses. A step takes 1 where nothing slows it;
// messages take no time, so that waiting is all that is seen. Fails unless the order is that of the papers: BSP slowest, then those that wait for a few (DS-Sync in groups,
// gossip for one neighbour), then those that wait only when they are too far ahead (SSP for everybody, PSP for whom it asks), ASP fastest.

using chorus::rank_id;
using chorus::step_id;

namespace {

constexpr rank_id ranks = 8;
constexpr double length = 600, look_again = 0.01;
constexpr std::size_t first_bounded = 4;  // of the ways: those before it wait for somebody at every step

/// Whether a rank may begin its next step, given how many steps each has made; asked again a little later.
using barrier = std::function<bool(rank_id, std::vector<step_id> const&)>;

/// What a step takes.
using slowness = std::function<double(rank_id, step_id)>;

template <class Policy>
barrier averaging(Policy const& policy) {
    return [policy](rank_id rank, std::vector<step_id> const& made) {
        auto const members = policy.at(made[rank] - 1, rank, ranks).members;
        return std::all_of(members.begin(), members.end(), [&](rank_id r) { return made[r] >= made[rank]; });
    };
}

barrier gossiping() {
    return [](rank_id rank, std::vector<step_id> const& made) {
        auto const heard = chorus::topo::one_peer_exponential{}.at(made[rank] - 1, rank, ranks).from;
        return std::all_of(heard.begin(), heard.end(), [&](rank_id r) { return made[r] >= made[rank]; });
    };
}

barrier sampling(chorus::sampled_barrier const& rule) {
    auto samplers = std::make_shared<std::vector<chorus::barrier_sampler>>();
    for (rank_id r = 0; r < ranks; ++r) samplers->emplace_back(rule, r, ranks);
    return [samplers](rank_id rank, std::vector<step_id> const& made) {
        chorus::barrier_sampler& mine = (*samplers)[rank];
        mine.draw();
        return mine.passes(made[rank], [&](rank_id r) { return made[r]; });
    };
}

/// Steps of a rank in the time of one that nothing slows, over all ranks.
double rate(barrier const& may_go_on, slowness const& takes) {
    struct event {
        double when;
        rank_id rank;
        bool ends_step;
        bool operator<(event const& other) const { return std::tie(other.when, other.ends_step, other.rank) < std::tie(when, ends_step, rank); }
    };
    std::priority_queue<event> open;
    std::vector<step_id> made(ranks);
    for (rank_id r = 0; r < ranks; ++r) open.push({takes(r, 0), r, true});
    while (open.top().when <= length) {
        auto const [now, rank, ends_step] = open.top();
        open.pop();
        if (ends_step) ++made[rank];
        if (!ends_step && may_go_on(rank, made)) open.push({now + takes(rank, made[rank]), rank, true});
        else open.push({now + (ends_step ? 0 : look_again), rank, false});
    }
    double all = 0;
    for (step_id const each : made) all += static_cast<double>(each);
    return all / ranks / length;
}

}  // namespace

int main() {
    std::vector<std::pair<std::string, barrier>> const ways{
        {"BSP", averaging(chorus::every_step{})},
        {"DS-Sync, two groups drawn anew", averaging(chorus::divide_and_shuffle{.groups = 2})},
        {"DS-Sync, delegates of two racks", averaging(chorus::rack_delegates{.width = 4})},
        {"gossip, one peer", gossiping()},
        {"SSP, bound 4", sampling({.bound = 4})},
        {"PSP, bound 4, two asked", sampling({.bound = 4, .sampled = 2})},
        {"ASP", sampling({.bound = chorus::sampled_barrier::unbounded})},
    };
    chorus::counter_random const random{7};
    std::vector<std::pair<std::string, slowness>> const cases{
        {"one rank three times slower", [](rank_id r, step_id) { return r == 5 ? 3.0 : 1.0; }},
        {"each step 5 to 10 % slower", [&](rank_id r, step_id t) { return 1.05 + 0.05 * random.unit(t * ranks + r); }},
        {"a step in ten three times slower", [&](rank_id r, step_id t) { return random.unit(t * ranks + r) < 0.1 ? 3.0 : 1.0; }},
    };
    std::printf("Steps in the time of one that nothing slows, mean of %u ranks over %.0f of these\n\n| who waits for whom |", ranks, length);
    for (auto const& [name, takes] : cases) std::printf(" %s |", name.c_str());
    std::printf("\n| --- |");
    for (std::size_t i = 0; i < cases.size(); ++i) std::printf(" ---: |");
    std::printf("\n");
    std::vector<std::vector<double>> rates(cases.size());
    for (auto const& [name, may_go_on] : ways) {
        std::printf("| %s |", name.c_str());
        for (std::size_t i = 0; i < cases.size(); ++i) std::printf(" %.3f |", rates[i].emplace_back(rate(may_go_on, cases[i].second)));
        std::printf("\n");
    }
    // No way is slower than the one before it; those that wait at every step are slower than those that do not.
    for (auto const& of_case : rates)
        for (std::size_t way = 1; way < ways.size(); ++way)
            if (of_case[way] < of_case[way - 1] + (way < first_bounded + 1 ? 1e-4 : -1e-3)) return std::printf("\n%s is out of order\n", ways[way].first.c_str()), 1;
    return 0;
}
