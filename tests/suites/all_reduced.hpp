// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "suites/execution_suite.hpp"

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace suites {

template <class T> using per_rank = std::vector<std::vector<T>>;

/// The outputs of one all_reduce on simulated ranks. Buffers start `shift` elements into larger ones.
template <class T, class Op>
per_rank<T> all_reduced(per_rank<T> const& inputs, Op const& op, chosen const& by, std::size_t shift = 0,
                        std::uint64_t seed = 1) {
    auto const size = static_cast<chorus::rank_id>(inputs.size());
    std::size_t const count = inputs.front().size();
    chorus::simulated_network network{size, {.seed = seed, .delay = 3, .rendezvous = seed % 2 == 0}};
    std::vector<guarded<T>> sources;
    std::vector<guarded<T>> targets;
    std::vector<chorus::plan> plans;
    for (chorus::rank_id r = 0; r < size; ++r) {
        std::span<T> const source = sources.emplace_back(count, shift).span();
        std::copy(inputs[r].begin(), inputs[r].end(), source.begin());
        std::span<T> const target = targets.emplace_back(count, shift).span();
        std::span<T const> const in = source;
        chorus::group<chorus::simulated_transport> const members{network.endpoint(r)};
        plans.push_back(by ? plan_all_reduce(members, in, target, op, *by) : plan_all_reduce(members, in, target, op));
    }
    std::vector<chorus::plan*> addresses;
    for (chorus::plan& work : plans) addresses.push_back(&work);
    for (chorus::plan& work : plans) work.start();
    REQUIRE(drive(addresses, seed) == chorus::progress::done);
    per_rank<T> outputs;
    for (chorus::rank_id r = 0; r < size; ++r) {
        CHECK(sources[r].is_intact());
        CHECK(targets[r].is_intact());
        outputs.emplace_back(targets[r].span().begin(), targets[r].span().end());
    }
    return outputs;
}

/// Bit for bit.
template <class T> bool is_same(std::vector<T> const& a, std::vector<T> const& b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

template <class T> bool are_same(per_rank<T> const& outputs) {
    for (std::vector<T> const& output : outputs)
        if (!is_same(output, outputs.front())) return false;
    return true;
}

/// Every element of every rank has these very bits.
template <class T> bool are_all(per_rank<T> const& outputs, T expected) {
    for (std::vector<T> const& output : outputs)
        if (!is_same(output, std::vector<T>(output.size(), expected))) return false;
    return true;
}

}  // namespace suites
