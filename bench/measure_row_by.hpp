// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "measure_row.hpp"
#include "timing.hpp"
#include "vectors.hpp"

#include <chorus/chorus.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

// How rows are measured; included where measurement<...> is instantiated.

namespace bench {

template <class Visit>
chorus::plan with_operation(operation op, Visit visit) {
    switch (op) {
        case operation::sum: return visit(chorus::sum{});
        case operation::product: return visit(chorus::product{});
        case operation::minimum: return visit(chorus::minimum{});
        case operation::maximum: return visit(chorus::maximum{});
    }
    throw std::invalid_argument{"no such operation"};
}

/// The algorithm of that name; "automatic" is asked what it would take for so many bytes.
inline chorus::any_algorithm find_algorithm(std::string const& name, settings const& asked, std::uint64_t bytes) {
    if (name != "automatic") return chorus::algorithm_named(name);
    return chorus::automatic{}.choose(asked.what, asked.ranks, bytes, false, false).algorithm;
}

/// The plan for what is asked, on this memory.
template <class Group, class Element>
chorus::plan make_plan(Group const& world, settings const& asked, vectors<Element>& memory,
                       chorus::any_algorithm const& algorithm) {
    using chorus::collective;
    std::span<Element const> const in = memory.input();
    std::span<Element> const out = memory.output();
    auto const reducing = [&](auto make) { return with_operation(asked.op, make); };
    switch (asked.what) {
        case collective::all_reduce:
            return reducing([&](auto op) { return chorus::plan_all_reduce(world, in, out, op, algorithm); });
        case collective::reduce_scatter:
            return reducing([&](auto op) { return chorus::plan_reduce_scatter(world, in, out, op, algorithm); });
        case collective::reduce:
            return reducing([&](auto op) { return chorus::plan_reduce(world, in, out, asked.root, op, algorithm); });
        case collective::scan:
            return reducing([&](auto op) { return chorus::plan_scan(world, in, out, op, algorithm); });
        case collective::exclusive_scan:
            return reducing([&](auto op) { return chorus::plan_exclusive_scan(world, in, out, op, algorithm); });
        case collective::broadcast: return chorus::plan_broadcast(world, memory.whole(), asked.root, algorithm);
        case collective::all_gather: return chorus::plan_all_gather(world, in, out, algorithm);
        case collective::gather: return chorus::plan_gather(world, in, out, asked.root, algorithm);
        case collective::scatter: return chorus::plan_scatter(world, in, out, asked.root, algorithm);
        case collective::all_to_all: return chorus::plan_all_to_all(world, in, out, algorithm);
        case collective::barrier: break;
    }
    return chorus::plan_barrier(world, algorithm);
}

template <class Element, class Group>
row measure_row(Group const& world, settings const& asked, std::string const& name, std::uint64_t count) {
    vectors<Element> memory{asked, world.rank(), count};
    std::uint64_t const bytes = count * sizeof(Element);
    chorus::any_algorithm const algorithm = find_algorithm(name, asked, bytes);
    chorus::plan call = make_plan(world, asked, memory, algorithm);
    chorus::plan gate = chorus::plan_barrier(world);
    if (!asked.check) memory.fill(0);

    std::uint64_t wrong = 0;
    call_times times = time_calls(
        asked.warm_up, asked.repeat,
        [&](std::size_t i) {
            if (asked.check) memory.fill(i);
            gate.run();
        },
        [&] { call.run(); },
        [&](std::size_t i) {
            if (asked.spoil == world.rank()) memory.spoil();
            if (asked.check) wrong += memory.count_wrong(i);
        });
    chorus::all_reduce(world, times.begin, chorus::maximum{});
    chorus::all_reduce(world, times.end, chorus::maximum{});
    std::vector<double> seconds;
    for (std::size_t i = 0; i < asked.repeat; ++i)
        seconds.push_back(static_cast<double>(times.end[i] - times.begin[i]) * 1e-9);
    chorus::all_reduce(world, std::span{&wrong, 1}, chorus::sum{});
    return {.algorithm = name,
            .chosen = algorithm.describe(),
            .bytes = bytes,
            .count = count,
            .time = summarise(seconds),
            .wrong = wrong};
}

template <class Element>
row measurement<Element>::run(threads const& world, settings const& asked, std::string const& algorithm,
                              std::uint64_t count) {
    return measure_row<Element>(world, asked, algorithm, count);
}

template <class Element>
row measurement<Element>::run(processes const& world, settings const& asked, std::string const& algorithm,
                              std::uint64_t count) {
    return measure_row<Element>(world, asked, algorithm, count);
}

}  // namespace bench
