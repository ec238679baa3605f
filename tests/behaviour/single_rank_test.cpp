// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/collective/all_gather.hpp"
#include "chorus/collective/all_reduce.hpp"
#include "chorus/collective/all_to_all.hpp"
#include "chorus/collective/barrier.hpp"
#include "chorus/collective/broadcast.hpp"
#include "chorus/collective/gather.hpp"
#include "chorus/collective/reduce.hpp"
#include "chorus/collective/reduce_scatter.hpp"
#include "chorus/collective/scatter.hpp"
#include "chorus/schedule/algorithms.hpp"
#include "chorus/transport/self.hpp"
#include "chorus/transport/shared_memory.hpp"
#include "chorus/transport/simulated.hpp"
#include "chorus/transport/thread.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <unistd.h>

#include <doctest/doctest.h>

using chorus::any_algorithm;
using chorus::collective;
using chorus::group;
using chorus::rank_id;

namespace {

// Calls one collective apart and in place; what differs from its input is named.
template <class Element, class Net>
std::string not_identity(Net& net, collective what, auto const& algorithm) {
    group world{net};
    std::vector<Element> in(7);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<Element>(3 * i + 1);
    std::vector<Element> out(in.size());
    std::vector<Element> both = in;
    switch (what) {
        case collective::all_reduce:
            chorus::all_reduce(world, in, out, chorus::sum{}, algorithm);
            chorus::all_reduce(world, both, chorus::mean{}, algorithm);
            break;
        case collective::reduce:
            chorus::reduce(world, in, out, rank_id{0}, chorus::mean{}, algorithm);
            chorus::reduce(world, both, rank_id{0}, chorus::sum{}, algorithm);
            break;
        case collective::reduce_scatter:
            chorus::reduce_scatter(world, in, out, chorus::sum{}, algorithm);
            break;
        case collective::broadcast:
            chorus::broadcast(world, both, rank_id{0}, algorithm);
            out = in;
            break;
        case collective::all_gather: chorus::all_gather(world, in, out, algorithm); break;
        case collective::gather: chorus::gather(world, in, out, rank_id{0}, algorithm); break;
        case collective::scatter: chorus::scatter(world, in, out, rank_id{0}, algorithm); break;
        case collective::all_to_all: chorus::all_to_all(world, in, out, algorithm); break;
        case collective::barrier:
            chorus::barrier(world, algorithm);
            out = in;
            break;
        default: return {};
    }
    return out == in && both == in ? std::string{} : std::string{to_string(what)} + ' ';
}

template <class Net>
std::string all_not_identity(Net& net) {
    std::string wrong;
    for (collective what : {collective::all_reduce, collective::reduce, collective::reduce_scatter,
                            collective::broadcast, collective::all_gather, collective::gather, collective::scatter,
                            collective::all_to_all, collective::barrier}) {
        wrong += not_identity<float>(net, what, chorus::automatic{});
        wrong += not_identity<std::int32_t>(net, what, chorus::automatic{});
        for (std::string_view name : chorus::known_algorithms()) {
            any_algorithm const algorithm = chorus::algorithm_named(name);
            if (!algorithm.supports(what)) continue;
            std::string const here = not_identity<double>(net, what, algorithm);
            if (!here.empty()) wrong += here + "by " + std::string{name} + '\n';
        }
    }
    return wrong;
}

}  // namespace

TEST_CASE("WSZ-7: one rank needs no launcher, and every collective by every algorithm is the identity") {
    chorus::self_transport self;
    CHECK(all_not_identity(self) == "");
    chorus::simulated_network network{1};
    CHECK(all_not_identity(network.endpoint(0)) == "");
    std::string wrong;
    chorus::thread_fleet{1}.run([&](auto& net) { wrong = all_not_identity(net); });
    CHECK(wrong == "");
    chorus::process_fleet{1}.run([](auto& net) {
        std::string const here = all_not_identity(net);
        if (!here.empty()) chorus::detail::raise(chorus::errc::aborted, here);
    });
    chorus::shared_memory_transport alone{"chorus_test_alone_" + std::to_string(::getpid()), 0, 1};
    CHECK(all_not_identity(alone) == "");
}
