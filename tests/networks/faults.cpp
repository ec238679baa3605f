// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "networks/faults.hpp"

#include "chorus/collective/all_reduce.hpp"
#include "chorus/collective/barrier.hpp"
#include "chorus/collective/broadcast.hpp"
#include "chorus/gossip/mixer.hpp"
#include "chorus/schedule/algorithms.hpp"
#include "chorus/topo/ring_graph.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using chorus::any_transport;
using chorus::rank_id;
using chorus::sum;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr rank_id odd_one = 1;
constexpr seconds deadline{2};

struct scene {
    any_transport& net;
    chorus::group<any_transport> world;
    std::vector<std::string> parameters;
    std::chrono::steady_clock::time_point& begun;  // the last operation

    bool is_odd() const { return world.rank() == odd_one; }

    /// All ranks are there and have met before the fault, as in the middle of a training run.
    void warm_up() const {
        std::vector<int> one(1, 1);
        chorus::all_reduce(world, one, sum{});
    }
    template <class T>
    void reduce(std::size_t count, char const* algorithm = "ring") const {
        std::vector<T> v(count, T{1});
        begun = std::chrono::steady_clock::now();
        chorus::all_reduce(world, v, sum{}, chorus::algorithm_named(algorithm));
        expect_sum(v);
    }
    template <class T>
    void expect_sum(std::vector<T> const& v) const {
        for (T x : v)
            if (x != static_cast<T>(world.size())) throw std::runtime_error{"success with a wrong result"};
    }
    void broadcast(std::size_t count, rank_id root) const {
        std::vector<float> v(count);
        begun = std::chrono::steady_clock::now();
        chorus::broadcast(world, v, root, chorus::algorithm_named("binomial_tree"));
    }
    /// Stays away for longer than the others' deadline, as a rank that computes.
    static void stay_away() { std::this_thread::sleep_for(deadline + milliseconds{1500}); }
};

void never_calls(scene const& s) {
    s.warm_up();
    if (s.is_odd()) return scene::stay_away();
    s.reduce<float>(1000);
}
void mismatched_count(scene const& s) {
    s.warm_up();
    s.reduce<float>(s.is_odd() ? 999 : 1000);
}
void mismatched_type(scene const& s) {
    s.warm_up();
    if (s.is_odd()) s.reduce<std::int32_t>(1000);
    else s.reduce<float>(1000);
}
void mismatched_root(scene const& s) {
    s.warm_up();
    s.broadcast(1000, s.is_odd() ? 1 : 0);
    s.reduce<float>(10);  // a rank that only sends learns of it at the next meeting
}
void mismatched_algorithm(scene const& s) {
    s.warm_up();
    s.reduce<float>(1000, s.is_odd() ? "recursive_doubling" : "ring");
}
void swapped_operations(scene const& s) {
    s.warm_up();
    if (s.is_odd()) s.broadcast(1000, 0);
    s.reduce<float>(1000);
    if (!s.is_odd()) s.broadcast(1000, 0);
}
void one_ahead(scene const& s) {
    s.warm_up();
    if (!s.is_odd()) s.reduce<float>(1000);
    s.reduce<float>(1000);
    if (s.is_odd()) return scene::stay_away();
}
void stopped(scene const& s) {
    s.warm_up();
    if (s.is_odd()) ::raise(SIGSTOP);
    s.reduce<float>(1000);
}
void abort_from_another_thread(scene const& s) {
    s.warm_up();
    if (s.is_odd()) return scene::stay_away();
    std::jthread outside;
    if (s.world.rank() == 0)
        outside = std::jthread{[&] {
            std::this_thread::sleep_for(milliseconds{100});
            s.world.abort("the user has had enough");
        }};
    s.reduce<float>(1000);
}
void destroyed_while_under_way(scene const& s) {
    s.warm_up();
    std::vector<float> v(100000, 1.0f);
    auto plan = chorus::plan_all_reduce(s.world, v, sum{}, chorus::algorithm_named("ring"));
    if (s.is_odd()) {
        plan.start();
        return;
    }
    plan.run();
}
/// Parameters: algorithm, how many times `advance` is called before the end. A rank whose part was done before then has the
/// right result; the next operation tells it.
void killed(scene const& s) {
    s.warm_up();
    std::vector<float> v(300000, 1.0f);
    auto plan = chorus::plan_all_reduce(s.world, v, sum{}, chorus::algorithm_named(s.parameters.at(0)));
    if (!s.is_odd()) {
        plan.run();
        s.expect_sum(v);
        return s.reduce<float>(1000);
    }
    int const turns = std::stoi(s.parameters.at(1));
    plan.start();
    for (int turn = 0; turn < turns && plan.advance() != chorus::progress::done; ++turn)
        if (turn % 4 == 3) std::this_thread::sleep_for(std::chrono::microseconds{50});
    ::raise(SIGKILL);
}
/// The others mix on without it and hear from each other.
void killed_in_gossip(scene const& s) {
    s.warm_up();
    constexpr chorus::step_id death = 10, steps = 40;
    std::vector<float> values(20000, static_cast<float>(s.world.rank()));
    chorus::gossip::mixer mix{s.world, values, chorus::topo::ring_graph{}, chorus::topo::metropolis{},
                              {.late = chorus::gossip::when_late::skip, .late_after = milliseconds{100}}};
    for (chorus::step_id t = 0; t < steps; ++t) {
        mix.start(t);
        if (t == death && s.is_odd()) ::raise(SIGKILL);
        s.begun = std::chrono::steady_clock::now();
        mix.wait();
    }
    auto const skipped = mix.counts().skipped;
    if (skipped < steps - death - 1) throw std::runtime_error{"nobody was left out"};
    if (skipped >= 2 * (steps - death - 1)) throw std::runtime_error{"those who live do not hear from each other"};
    for (float const x : values)
        if (!(x >= 0.0f && x <= 2.0f)) throw std::runtime_error{"values are no means"};
}
/// Reduces until two seconds after the last change. Parameters, in pairs: after how many milliseconds, and what rank 0 asks tests/net/cluster
/// to do to the links then, "1 down".
void links(scene const& s) {
    s.warm_up();
    auto const begin = std::chrono::steady_clock::now();
    auto const moment = [&](std::size_t i) { return begin + milliseconds{std::stoi(s.parameters.at(i))}; };
    std::jthread hand;
    if (s.world.rank() == 0)
        hand = std::jthread{[&](std::stop_token const& enough) {
            for (std::size_t i = 0; i + 1 < s.parameters.size(); i += 2) {
                while (!enough.stop_requested() && std::chrono::steady_clock::now() < moment(i)) std::this_thread::sleep_for(milliseconds{5});
                if (!enough.stop_requested()) std::cout << "@fault link " + s.parameters[i + 1] + "\n" << std::flush;
            }
        }};
    std::vector<float> go(1, 1.0f);
    while (go[0] > 0) {
        s.reduce<float>(100000);
        go[0] = std::chrono::steady_clock::now() < moment(s.parameters.size() - 2) + seconds{2} ? 1.0f : 0.0f;
        s.begun = std::chrono::steady_clock::now();
        chorus::broadcast(s.world, go, 0);
    }
}
/// Parameter: elements. Until something goes wrong; each rank says so once it has begun.
void reduces_for_ever(scene const& s) {
    s.warm_up();
    std::cout << "begun\n" << std::flush;
    for (;;) s.reduce<float>(std::stoul(s.parameters.at(0)));
}
void nothing(scene const& s) { s.warm_up(); }

using play = void (*)(scene const&);
std::map<std::string, play> const plays{{"never_calls", never_calls},
                                        {"mismatched_count", mismatched_count},
                                        {"mismatched_type", mismatched_type},
                                        {"mismatched_root", mismatched_root},
                                        {"mismatched_algorithm", mismatched_algorithm},
                                        {"swapped_operations", swapped_operations},
                                        {"one_ahead", one_ahead},
                                        {"stopped", stopped},
                                        {"abort_from_another_thread", abort_from_another_thread},
                                        {"destroyed_while_under_way", destroyed_while_under_way},
                                        {"killed", killed},
                                        {"killed_in_gossip", killed_in_gossip},
                                        {"links", links},
                                        {"reduces_for_ever", reduces_for_ever},
                                        {"nothing", nothing}};

}  // namespace

int networks::run_fault(int argc, char** argv, rank_id rank, rank_id, std::function<any_transport()> const& make) {
    std::vector<std::string> arguments(argv + 1, argv + argc);
    bool const dies_in_init = !arguments.empty() && arguments[0] == "killed_in_init";
    auto const known = arguments.empty() ? plays.end() : plays.find(dies_in_init ? "nothing" : arguments[0]);
    if (known == plays.end()) {
        for (auto const& [name, unused] : plays) std::cout << name << '\n';
        return 2;
    }
    nlohmann::json said{{"rank", rank}, {"outcome", "success"}};
    auto begin = std::chrono::steady_clock::now();
    try {
        std::jthread killer;
        if (dies_in_init && rank == odd_one)
            killer = std::jthread{[&] {
                std::this_thread::sleep_for(std::chrono::microseconds{std::stoi(arguments.at(1))});
                ::raise(SIGKILL);
            }};
        any_transport net = make();
        if (killer.joinable()) killer.join();  // the end of it
        begin = std::chrono::steady_clock::now();
        known->second({net, chorus::group{net}.within(deadline), {arguments.begin() + 1, arguments.end()}, begin});
    } catch (chorus::error const& failure) {
        said["outcome"] = "error";
        said["code"] = to_string(failure.code());
        said["message"] = failure.what();
        if (failure.peer() != chorus::nobody) said["peer"] = failure.peer();
    } catch (std::exception const& failure) {
        said["outcome"] = "error";
        said["code"] = "another exception";
        said["message"] = failure.what();
    }
    said["seconds"] = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::cout << (said.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n") << std::flush;
    return 0;
}
