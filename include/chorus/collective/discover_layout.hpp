// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/collective/all_gather.hpp"
#include "chorus/topo/layout.hpp"

#include <cstdint>
#include <vector>

namespace chorus {

/// Which ranks of a group share a host: those that give the same `identity`, as `this_host()` of transport/this_host.hpp does.
/// What `hierarchical_transport` needs is known after one call on a group of all ranks of the transport between hosts.
///
/// collective | one all_gather of 8 bytes per rank | the same layout on all ranks | throws what an all_gather throws
template <transport Transport>
topo::layout discover_layout(group<Transport> const& members, std::uint64_t identity, plan_options const& options = {}) {
    std::vector<std::uint64_t> const mine{identity};
    std::vector<std::uint64_t> all(members.size());
    all_gather(members, mine, all, automatic{}, options);
    return topo::layout{all};
}

}  // namespace chorus
