// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/schedule/timeline.hpp"

#include "chorus/schedule/binomial_tree.hpp"
#include "chorus/schedule/direct.hpp"
#include "chorus/schedule/double_binary_tree.hpp"
#include "chorus/schedule/hierarchical.hpp"
#include "chorus/schedule/rabenseifner.hpp"
#include "chorus/schedule/recursive_doubling.hpp"
#include "chorus/schedule/ring.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace chorus;

namespace {

constexpr link_model wire{.latency = 2e-6, .per_byte = 1e-9, .per_reduced_byte = 3e-10};
network uniform() { return {.link = wire}; }

template <class Algorithm>
timeline_result all_reduce_time(Algorithm const& algorithm, rank_id size, double bytes, network const& net) {
    return simulate([&](rank_id me) { return algorithm.all_reduce(me, size); }, size, bytes, net);
}

doctest::Approx near(double x) { return doctest::Approx(x).epsilon(1e-9); }

/// Stretches follow one another from 0 to the total, and the shares add up to it.
void check_path(timeline_result const& result) {
    double at = 0;
    for (timeline_result::stretch const& s : result.critical_path) {
        CHECK(s.begin == near(at));
        CHECK(s.end > s.begin);
        at = s.end;
    }
    CHECK(at == near(result.total));
    double sum = 0;
    double fractions = 0;
    for (timeline_result::share const& s : result.shares()) {
        sum += s.seconds;
        fractions += s.fraction;
    }
    CHECK(sum == near(result.total));
    if (result.total > 0) CHECK(fractions == near(1));
}

/// Calls visit(algorithm) for several all-reduces of different shapes.
template <class Visit>
void for_each_algorithm(Visit const& visit) {
    visit(direct{});
    visit(ring{});
    visit(ring{.segments = 3});
    visit(recursive_doubling{});
    visit(rabenseifner{});
    visit(binomial_tree{});
    visit(double_binary_tree{.segments = 4});
    visit(hierarchical{ring{}, ring{}, 4});
}

}  // namespace

TEST_CASE("a uniform network: closed forms") {
    for (rank_id size = 1; size <= 17; ++size) {
        INFO("p=", size);
        double const bytes = 1000.0 * size;
        double const others = size - 1.0;
        double const share = bytes / size;
        CHECK(all_reduce_time(ring{}, size, bytes, uniform()).total ==
              near(2 * others * (wire.latency + share * wire.per_byte) + others * share * wire.per_reduced_byte));
        double const two_rounds = size > 1 ? 2 * wire.latency : 0.0;
        CHECK(all_reduce_time(direct{}, size, bytes, uniform()).total ==
              near(two_rounds + 2 * others * share * wire.per_byte + others * share * wire.per_reduced_byte));
    }
    for (rank_id rounds = 0; rounds <= 6; ++rounds)
        CHECK(all_reduce_time(recursive_doubling{}, rank_id{1} << rounds, 4096, uniform()).total ==
              near(rounds * (wire.latency + 4096 * wire.per_byte + 4096 * wire.per_reduced_byte)));
}

TEST_CASE("nobody is faster than the bytes and rounds of the cost") {
    for_each_algorithm([](auto const& algorithm) {
        for (rank_id size : {2u, 3u, 8u, 13u, 16u}) {
            double const bytes = 64.0 * 5040 * 13;
            cost const c = algorithm.all_reduce_cost(size, bytes);
            timeline_result const result = all_reduce_time(algorithm, size, bytes, uniform());
            CHECK(result.total >= wire.latency + c.bytes_sent * wire.per_byte - 1e-12);
            CHECK(result.total >= c.bytes_reduced * wire.per_reduced_byte);
            CHECK(result.finish.size() == size);
        }
    });
}

TEST_CASE("the critical path is without gaps, and its shares add up") {
    network crossed = uniform();
    crossed.rack = 3;
    crossed.uplink_latency = 5e-6;
    crossed.uplink_per_byte = 4e-9;
    crossed.slow_down = {1, 2.5};
    crossed.start_delay = {0, 0, 1e-5};
    for_each_algorithm([&](auto const& algorithm) {
        for (rank_id size = 1; size <= 17; ++size)
            for (network const& net : {uniform(), crossed}) check_path(all_reduce_time(algorithm, size, 9000, net));
    });
    CHECK(all_reduce_time(ring{}, 1, 9000, uniform()).critical_path.empty());
}

TEST_CASE("a rank that enters late delays everybody by at least its delay") {
    for_each_algorithm([](auto const& algorithm) {
        for (rank_id size : {2u, 3u, 7u, 8u}) {
            double const undisturbed = all_reduce_time(algorithm, size, 4000, uniform()).total;
            for (rank_id late = 0; late < size; ++late) {
                network net = uniform();
                double const delay = 10 * undisturbed;
                net.start_delay.assign(size, 0);
                net.start_delay[late] = delay;
                timeline_result const result = all_reduce_time(algorithm, size, 4000, net);
                for (double seconds : result.finish) CHECK(seconds >= delay + wire.latency);
                CHECK(result.total <= delay + 1.5 * undisturbed);  // its messages may now come in a worse order
                CHECK(result.shares().front().what == "start of rank " + std::to_string(late));
                CHECK(to_string(result).find("start of rank " + std::to_string(late)) != std::string::npos);
            }
        }
    });
}

/// Twice the bandwidth, half the latency, ranks or uplinks twice as fast: the total must not exceed `worst` times the
/// one before.
template <class Algorithm>
void check_improvements(Algorithm const& algorithm, network const& slow, double worst) {
    for (rank_id size = 2; size <= 17; ++size) {
        network before = slow;
        before.slow_down.assign(size, 2);
        network better[4] = {before, before, before, before};
        better[0].link.per_byte /= 2;
        better[1].link.latency /= 2;
        better[2].slow_down.assign(size, 1);
        better[3].uplink_per_byte /= 2;
        double const total = all_reduce_time(algorithm, size, 50000, before).total;
        for (network const& net : better) CHECK(all_reduce_time(algorithm, size, 50000, net).total <= worst * total);
    }
}

TEST_CASE("a better network never slows where messages do not queue") {
    check_improvements(ring{}, uniform(), 1 + 1e-9);
    check_improvements(recursive_doubling{}, uniform(), 1 + 1e-9);
    check_improvements(rabenseifner{}, uniform(), 1 + 1e-9);
    check_improvements(hierarchical{ring{}, ring{}, 4}, uniform(), 1 + 1e-9);
}

TEST_CASE("a better network hardly slows where the order of a queue changes") {
    network net = uniform();
    net.rack = 4;
    net.uplink_per_byte = 2e-9;
    for_each_algorithm([&](auto const& algorithm) { check_improvements(algorithm, net, 1.15); });
}

TEST_CASE("everything twice as slow takes twice as long") {
    network slow = uniform();
    slow.link = {
        .latency = 2 * wire.latency, .per_byte = 2 * wire.per_byte, .per_reduced_byte = 2 * wire.per_reduced_byte};
    for_each_algorithm([&](auto const& algorithm) {
        for (rank_id size : {2u, 5u, 16u})
            CHECK(all_reduce_time(algorithm, size, 7000, slow).total ==
                  near(2 * all_reduce_time(algorithm, size, 7000, uniform()).total));
    });
}

TEST_CASE("racks behind slow uplinks: two floors beat one ring") {
    network net = uniform();
    net.rack = 4;
    net.uplink_per_byte = 20 * wire.per_byte;
    net.uplink_latency = 5e-6;
    for (rank_id size : {8u, 16u}) {
        for (double bytes : {1e3, 1e6}) {
            timeline_result const flat = all_reduce_time(ring{}, size, bytes, net);
            timeline_result const nested = all_reduce_time(hierarchical{ring{}, ring{}, 4}, size, bytes, net);
            CHECK(nested.total < flat.total);
        }
    }
    timeline_result const flat = all_reduce_time(ring{}, 16, 1e6, net);
    CHECK(flat.shares().front().what.find("uplink of racks") == 0);
}

TEST_CASE("an uplink carries one message at a time, a rank's ways too") {
    // Ranks 0 and 1 of rack 0 send to ranks 2 and 3 of rack 1.
    std::vector<schedule> ranks(4, schedule{1});
    for (rank_id me = 0; me < 2; ++me) {
        ranks[me].round().send(me + 2, {0, 1});
        ranks[me + 2].round().recv(me, {0, 1});
    }
    network net{.link = {.latency = 1, .per_byte = 1, .per_reduced_byte = 0}};
    CHECK(simulate(ranks, 10, net).total == near(11));
    net.rack = 2;
    net.uplink_per_byte = 3;
    CHECK(simulate(ranks, 10, net).total == near(30 + 30 + 1));
    net.uplink_per_byte = 0.25;  // wide enough for both, a quarter of their time each
    CHECK(simulate(ranks, 10, net).total == near(2.5 + 10 + 1));

    std::vector<schedule> star(3, schedule{1});
    star[0].round().send(1, {0, 1}).send(2, {0, 1});
    star[1].round().recv(0, {0, 1});
    star[2].round().recv(0, {0, 1});
    timeline_result const result = simulate(star, 10, {.link = {.latency = 1, .per_byte = 1, .per_reduced_byte = 0}});
    CHECK(result.finish[1] == near(11));
    CHECK(result.finish[2] == near(21));
    CHECK(result.finish[0] == near(20));
}

TEST_CASE("a slow rank is named") {
    network net = uniform();
    net.link.per_reduced_byte = 1e-8;
    net.slow_down.assign(8, 1);
    net.slow_down[5] = 30;
    CHECK(all_reduce_time(ring{}, 8, 1e6, net).shares().front().what == "rank 5");
}

TEST_CASE("rounds in flight hide latency") {
    network far = uniform();
    far.link.latency = 1e-3;
    std::vector<schedule> ranks(2, schedule{1});
    for (int r = 0; r < 8; ++r) {
        ranks[0].round().send(1, {0, 1});
        ranks[1].round().recv(0, {0, 1});
    }
    double const one = simulate(ranks, 8, far).total;
    for (schedule& plan : ranks) plan.set_in_flight(8);
    CHECK(one == near(8 * (1e-3 + 8e-9)));
    CHECK(simulate(ranks, 8, far).total == near(1e-3 + 64e-9));
}

TEST_CASE("schedules that cannot run are refused") {
    std::vector<schedule> ranks(2, schedule{1});
    ranks[0].round().send(1, {0, 1});
    CHECK_THROWS_AS(simulate(ranks, 1, uniform()), error);
    ranks[1].round().recv(0, {0, 1});
    CHECK(simulate(ranks, 1, uniform()).total > 0);
    for (rank_id me = 0; me < 2; ++me) {
        ranks[me] = schedule{1};
        ranks[me].round().recv(1 - me, {0, 1});
        ranks[me].round().send(1 - me, {0, 1});
    }
    CHECK_THROWS_WITH_AS(simulate(ranks, 1, uniform()), "invalid argument: cannot simulate: the schedules never end",
                         error);
}

TEST_CASE("thousands of ranks") {
    timeline_result const doubling = all_reduce_time(recursive_doubling{}, 4096, 8, uniform());
    CHECK(doubling.total == near(12 * (wire.latency + 8 * wire.per_byte + 8 * wire.per_reduced_byte)));
    CHECK(all_reduce_time(binomial_tree{}, 4096, 8, uniform()).total ==
          near(24 * (wire.latency + 8 * wire.per_byte) + 12 * 8 * wire.per_reduced_byte));
    CHECK(doubling.critical_path.size() == 24);
}
