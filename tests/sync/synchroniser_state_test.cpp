// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/sync/elastic.hpp"
#include "chorus/sync/half_way.hpp"
#include "chorus/sync/keep_progress.hpp"
#include "chorus/sync/local_steps.hpp"
#include "chorus/sync/outer_step.hpp"
#include "chorus/sync/stale_gradient.hpp"
#include "chorus/sync/synchroniser.hpp"
#include "suites/replica_training.hpp"
#include "suites/transport_suite.hpp"
#include "suites/turn_taking.hpp"
#include "suites/watchdog.hpp"

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using chorus::rank_id;
using chorus::step_id;

namespace {

using net = suites::turn_taking_transport;
using tensors = std::vector<std::span<double>>;
using bytes = std::vector<std::byte>;

/// A synchroniser of any merge, so that the law is compiled once.
struct stepper {
    virtual ~stepper() = default;
    virtual void step() = 0;
    virtual void drain() = 0;
    virtual bytes save() = 0;
    virtual void restore(bytes const& saved) = 0;
    virtual chorus::sync_totals totals() = 0;
};

template <class Sync>
struct stepper_of final : stepper {
    Sync sync;
    explicit stepper_of(Sync s) : sync{std::move(s)} {}
    void step() override { sync.step(); }
    void drain() override { sync.drain(); }
    bytes save() override { return sync.save(); }
    void restore(bytes const& saved) override { sync.restore(saved); }
    chorus::sync_totals totals() override { return sync.totals(); }
};

using make_stepper = std::function<std::unique_ptr<stepper>(chorus::group<net> const&, tensors, step_id delay)>;

template <class Merge>
make_stepper of(Merge merge, std::uint32_t period) {
    return [=](chorus::group<net> const& world, tensors model, step_id delay) -> std::unique_ptr<stepper> {
        chorus::synchroniser sync{world, std::move(model), chorus::local_steps{.period = period}, chorus::uncompressed{}, merge, {.delay = delay, .bucket_bytes = 40}};
        return std::make_unique<stepper_of<decltype(sync)>>(std::move(sync));
    };
}

void train(stepper& sync, suites::replica& model, step_id begin, step_id end) {
    for (step_id t = begin; t < end; ++t) {
        model.update(t);
        sync.step();
    }
}

/// Some steps, the state saved, a new synchroniser over a copy of the values, some more steps: the same as all steps by one, to the bit.
void goes_on(std::string const& what, make_stepper const& make, std::vector<rank_id> const& ranks, step_id most_delay) {
    for (rank_id p : ranks)
        suites::hold(what.c_str(), [](rank_id size) { return suites::simulated_fleet{size}; }, p, std::function{[&](suites::rank_of<net>& rank) {
            chorus::group<net> const world{rank.net()};
            for (step_id delay = 0; delay <= most_delay; ++delay)
                for (step_id before : {0u, 1u, 5u}) {
                    suites::replica whole{rank.me()}, first{rank.me()}, second{rank.me()};
                    auto const never_stopped = make(world, whole.tensors(), delay);
                    train(*never_stopped, whole, 0, before + 4);
                    auto stopped = make(world, first.tensors(), delay);
                    train(*stopped, first, 0, before);
                    bytes const saved = stopped->save();
                    rank.check(stopped->save() == saved, "saved twice gives other bytes");
                    stopped.reset();
                    second.values = first.values;
                    auto const goes_on = make(world, second.tensors(), delay);
                    goes_on->restore(saved);
                    rank.check(goes_on->save() == saved, "restored and saved gives other bytes");
                    train(*goes_on, second, before, before + 4);
                    auto ends = never_stopped->totals(), again = goes_on->totals();
                    ends.groups = again.groups = 0;
                    rank.check(ends == again, "counters");
                    rank.check(never_stopped->save() == goes_on->save(), "states differ at the end");
                    never_stopped->drain();
                    goes_on->drain();
                    rank.check(second.values == whole.values, "not the same bits, delay " + std::to_string(delay) + " after " + std::to_string(before) + " steps");
                }
        }});
}

std::vector<rank_id> const few{1, 2, 3, 5};

std::vector<rank_id> all_to_17() {
    std::vector<rank_id> all;
    for (rank_id p = 1; p <= 17; ++p) all.push_back(p);
    return all;
}

}  // namespace

TEST_CASE("a state saved and restored into a new synchroniser goes on as if never stopped, to the bit, by every merge, also late") {
    suites::watchdog const guard{60};
    goes_on("take_arrived", of(chorus::take_arrived{}, 1), few, 3);
    goes_on("stale_gradient", of(chorus::stale_gradient{}, 1), few, 3);
    goes_on("half_way", of(chorus::half_way{}, 1), few, 3);
    goes_on("elastic", of(chorus::elastic{}, 1), few, 3);
    goes_on("outer Adam", of(chorus::outer_step{chorus::outer_adam{}, true}, 3), few, 2);
}

TEST_CASE("so it does on 1 to 17 ranks") {
    suites::watchdog const guard{60};
    goes_on("keep_progress", of(chorus::keep_progress{}, 1), all_to_17(), 1);
    goes_on("DiLoCo", of(chorus::outer_step<>{}, 3), all_to_17(), 1);
}
