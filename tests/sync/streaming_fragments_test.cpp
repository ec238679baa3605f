// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/sync/streaming_fragments.hpp"

#include "chorus/compress/error_feedback.hpp"
#include "chorus/compress/top_k.hpp"
#include "chorus/schedule/ring.hpp"
#include "chorus/sync/every_step.hpp"
#include "chorus/sync/local_steps.hpp"
#include "chorus/sync/synchroniser.hpp"
#include "chorus/sync/take_arrived.hpp"
#include "chorus/transport/recording.hpp"
#include "suites/expected_error.hpp"
#include "suites/replica_training.hpp"
#include "suites/transport_suite.hpp"
#include "suites/turn_taking.hpp"
#include "suites/watchdog.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using chorus::fragment_options;
using chorus::rank_id;
using chorus::step_id;
using chorus::synchroniser_options;
using chorus::uncompressed;

namespace {

using net = chorus::recording_transport<suites::turn_taking_transport>;
using tensors = std::vector<std::span<double>>;
using diloco = chorus::streaming_fragments<net, chorus::every_step, chorus::outer_step<>, double>;

/// The law runs on every rank, over a network that counts.
void on_ranks(rank_id p, char const* what, std::function<void(suites::rank_of<suites::turn_taking_transport>&, net&)> const& law) {
    suites::hold(what, [](rank_id size) { return suites::simulated_fleet{size}; }, p, [&](auto& rank) {
        net recorded{rank.net()};
        law(rank, recorded);
    });
}

diloco streaming(net& on, tensors model, fragment_options const& cut, synchroniser_options const& options = {}) {
    return {chorus::group{on}, model, {}, cut, uncompressed{}, chorus::outer_step<>{}, options};
}

}  // namespace

TEST_CASE("one fragment is DiLoCo, to the bit, also late") {
    suites::watchdog const guard{60};
    for (rank_id p : {1u, 2u, 3u, 5u, 8u})
        on_ranks(p, "one fragment", [](auto& rank, net& on) {
            for (step_id delay : {0u, 2u}) {
                auto const one = suites::trained(rank.me(), 10, [&](tensors w) { return streaming(on, w, {.fragments = 1, .period = 3}, {.delay = delay}); });
                auto const plain = suites::trained(rank.me(), 10, [&](tensors w) {
                    return chorus::synchroniser{chorus::group{on}, w, chorus::local_steps{.period = 3}, uncompressed{}, chorus::outer_step<>{}, {.delay = delay}};
                });
                rank.check(one == plain, "not the same bits, delay " + std::to_string(delay));
            }
        });
}

TEST_CASE("every element is averaged exactly once in each period, and no step sends more than its part") {
    suites::watchdog const guard{60};
    for (rank_id p : {2u, 4u})
        for (std::uint32_t fragments : {1u, 2u, 3u, 4u, 6u})
            for (step_id period : {step_id{fragments}, step_id{7}, step_id{12}})
                on_ranks(p, "once", [&](auto& rank, net& on) {
                    std::size_t const count = 12 * p * 4;
                    std::vector<double> w(count);
                    std::span const all{w};
                    chorus::streaming_fragments sync{chorus::group{on}, tensors{all.first(5), all.subspan(5)}, chorus::every_step{}, {fragments, period}, uncompressed{}, chorus::take_arrived{},
                                                     synchroniser_options{.algorithm = chorus::any_algorithm{chorus::ring{}}}};
                    std::uint64_t const whole = 8 * 2 * count * (p - 1) / p;
                    for (int round = 0; round < 2; ++round) {
                        std::vector<int> averaged(count);
                        std::uint64_t sum = 0;
                        for (step_id t = 0; t < period; ++t) {
                            std::fill(w.begin(), w.end(), static_cast<double>(rank.me()));
                            std::uint64_t const before = on.sent_bytes();
                            auto const report = sync.step();
                            std::uint64_t const sent = on.sent_bytes() - before;
                            rank.check(sent * fragments <= whole, "step " + std::to_string(t) + " sends " + std::to_string(sent) + " of " + std::to_string(whole));
                            rank.check(report.bytes_sent == sent && report.has_merged == (sent > 0), "report of step " + std::to_string(t));
                            sum += sent;
                            for (std::size_t i = 0; i < count; ++i) averaged[i] += w[i] == (p - 1) / 2.0 ? 1 : 0;
                        }
                        rank.check(sum == whole, "bytes of a period");
                        rank.check(averaged == std::vector<int>(count, 1), "not each element once");
                    }
                });
}

TEST_CASE("each fragment goes its own way: as a synchroniser of its elements alone, to the bit") {
    suites::watchdog const guard{60};
    on_ranks(3, "alone", [](auto& rank, net& on) {
        step_id const period = 6;
        suites::replica mine{rank.me(), 12}, apart{rank.me(), 12};
        diloco sync = streaming(on, mine.tensors(), {.fragments = 3, .period = period}, {.delay = 2});
        using alone = chorus::synchroniser<net, chorus::local_steps, chorus::outer_step<>, double>;
        std::vector<alone> pieces;
        for (std::size_t f = 0; f < 3; ++f)
            pieces.emplace_back(chorus::group{on}, tensors{std::span{apart.values}.subspan(4 * f, 4)}, chorus::local_steps{period, 2 * f}, uncompressed{}, chorus::outer_step<>{}, synchroniser_options{.delay = 2});
        for (step_id t = 0; t < 20; ++t) {
            mine.update(t);
            apart.update(t);
            sync.step();
            for (alone& piece : pieces) piece.step();
            while (t % 3 == 0 && sync.advance() != chorus::progress::done) continue;
            rank.check(mine.values == apart.values, "step " + std::to_string(t));
        }
    });
}

TEST_CASE("saved and restored it goes on as if never stopped; the state of another cut changes nothing; at the end all agree") {
    suites::watchdog const guard{60};
    for (rank_id p : {1u, 3u, 4u})
        on_ranks(p, "state", [](auto& rank, net& on) {
            fragment_options const cut{.fragments = 3, .period = 5};
            suites::replica whole{rank.me()}, first{rank.me()}, second{rank.me()};
            auto go = [](diloco& sync, suites::replica& w, step_id begin, step_id end) {
                for (step_id t = begin; t < end; ++t) w.update(t), sync.step();
            };
            diloco never_stopped = streaming(on, whole.tensors(), cut, {.delay = 2}), stopped = streaming(on, first.tensors(), cut, {.delay = 2});
            go(never_stopped, whole, 0, 15);
            go(stopped, first, 0, 7);
            auto const saved = stopped.save();
            second.values = first.values;
            diloco goes_on = streaming(on, second.tensors(), cut, {.delay = 2});
            goes_on.restore(saved);
            go(goes_on, second, 7, 15);
            rank.check(second.values == whole.values, "not the same bits");

            auto const as_it_is = goes_on.save();
            auto const refuses = [&](std::initializer_list<std::string_view> words, std::vector<std::byte> const& other) {
                suites::expect_error(rank, chorus::errc::corrupt, words, [&] { goes_on.restore(other); });
                rank.check(goes_on.save() == as_it_is, "a refused state has changed something");
            };
            suites::replica third{rank.me()};
            refuses({"another number of fragments: 2, this one has 3"}, streaming(on, third.tensors(), {2, 5}, {.delay = 2}).save());
            refuses({"another policy"}, streaming(on, third.tensors(), {3, 6}, {.delay = 2}).save());
            refuses({"it is too short"}, {});
            auto changed = saved;
            changed.back() ^= std::byte{1};
            refuses({"checksum"}, changed);

            goes_on.consensus();
            std::vector<double> least = second.values, most = second.values;
            chorus::group world{on};
            chorus::all_reduce(world, least, chorus::minimum{});
            chorus::all_reduce(world, most, chorus::maximum{});
            rank.check(least == most, "not the same bits on all ranks");
        });
}

TEST_CASE("fragments need a step each, and ranks that join are not served") {
    on_ranks(1, "refused", [](auto& rank, net& on) {
        std::vector<double> w(4);
        auto const make = [&](fragment_options const& cut, synchroniser_options const& options) { streaming(on, {std::span{w}}, cut, options); };
        suites::expect_error(rank, chorus::errc::invalid_argument, {"5 fragments in a period of 4 steps"}, [&] { make({5, 4}, {}); });
        suites::expect_error(rank, chorus::errc::invalid_argument, {"0 fragments"}, [&] { make({0, 4}, {}); });
        suites::expect_error(rank, chorus::errc::invalid_argument, {"joins is not served"}, [&] { make({2, 4}, {.joins = true}); });
    });
}
