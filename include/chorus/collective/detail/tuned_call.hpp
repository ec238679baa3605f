// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/collective/all_gather.hpp"
#include "chorus/collective/all_reduce.hpp"
#include "chorus/collective/all_to_all.hpp"
#include "chorus/collective/barrier.hpp"
#include "chorus/collective/broadcast.hpp"
#include "chorus/collective/gather.hpp"
#include "chorus/collective/group.hpp"
#include "chorus/collective/plan.hpp"
#include "chorus/collective/reduce.hpp"
#include "chorus/collective/reduce_scatter.hpp"
#include "chorus/collective/scan.hpp"
#include "chorus/collective/scatter.hpp"
#include "chorus/data/reduction.hpp"
#include "chorus/schedule/any_algorithm.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace chorus::detail {

/// Buffers for calls that are only timed: zeros, as large as was needed so far, touched when they grow.
class tuned_call {
 public:
    using element = float;
    static constexpr std::uint64_t element_bytes = sizeof(element);

    /// Elements of the whole vector: at least so many bytes, in whole blocks where every rank has one.
    static std::uint64_t count_for(collective operation, rank_id ranks, std::uint64_t bytes) {
        if (operation == collective::barrier) return 0;
        std::uint64_t const unit = has_block_per_rank(operation) ? ranks : 1;
        std::uint64_t const blocks = bytes / (unit * element_bytes) + (bytes % (unit * element_bytes) != 0 ? 1 : 0);
        return blocks * unit;
    }

    /// Plans made before hold the old memory: they must be gone.
    void make_room(std::uint64_t count) {
        if (in_.size() >= count) return;
        in_.assign(count, element{});
        out_.assign(count, element{});
    }

    /// A plan for `count` elements in the whole vector, out of place but for broadcast; root 0.
    template <transport Transport>
    plan plan_of(group<Transport> const& members, collective operation, std::uint64_t count,
                 any_algorithm const& algorithm) {
        std::uint64_t const share = count / members.size();
        std::span<element const> const in{in_.data(), count};
        std::span<element const> const in_block{in_.data(), share};
        std::span<element> const out{out_.data(), count};
        std::span<element> const out_block{out_.data(), share};
        bool const is_root = members.rank() == 0;
        switch (operation) {
            case collective::all_reduce: return plan_all_reduce(members, in, out, sum{}, algorithm);
            case collective::reduce_scatter: return plan_reduce_scatter(members, in, out_block, sum{}, algorithm);
            case collective::all_gather: return plan_all_gather(members, in_block, out, algorithm);
            case collective::broadcast: return plan_broadcast(members, out, 0, algorithm);
            case collective::reduce:
                return plan_reduce(members, in, is_root ? out : out.first(0), 0, sum{}, algorithm);
            case collective::gather: return plan_gather(members, in_block, is_root ? out : out.first(0), 0, algorithm);
            case collective::scatter: return plan_scatter(members, is_root ? in : in.first(0), out_block, 0, algorithm);
            case collective::all_to_all: return plan_all_to_all(members, in, out, algorithm);
            case collective::scan: return plan_scan(members, in, out, sum{}, algorithm);
            case collective::exclusive_scan: return plan_exclusive_scan(members, in, out, sum{}, algorithm);
            case collective::barrier: break;
        }
        return plan_barrier(members, algorithm);
    }

 private:
    std::vector<element> in_;
    std::vector<element> out_;
};

}  // namespace chorus::detail
