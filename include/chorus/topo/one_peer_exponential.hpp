// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/types.hpp"
#include "chorus/topo/exponential.hpp"
#include "chorus/topo/graph.hpp"

#include <string_view>

namespace chorus::topo {

/// Each rank sends to one other and hears from one, at distance 1, b, b², … below p, the next distance at each step.
///
/// degree 1 | period ⌈log_b p⌉ | all ranks have one degree | directed | throws as `exponential`
/// the exact mean after log2 p steps if b is 2 and p a power of two; for other p in the limit only
struct one_peer_exponential {
    static constexpr std::string_view name = "one_peer_exponential";
    rank_id base = 2;

    neighbours at(step_id step, rank_id rank, rank_id size) const { return all().at(step, rank, size); }
    step_id period(rank_id size) const { return all().period(size); }

    friend bool operator==(one_peer_exponential const&, one_peer_exponential const&) = default;

 private:
    exponential all() const { return {.base = base, .peers = 1}; }
};
static_assert(graph<one_peer_exponential>);

}  // namespace chorus::topo
