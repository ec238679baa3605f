// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/schedule/algorithm.hpp"
#include "chorus/schedule/combine.hpp"
#include "chorus/schedule/detail/cost_count.hpp"
#include "chorus/schedule/detail/offered.hpp"
#include "chorus/schedule/direct.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

namespace chorus {

namespace detail {

/// Runs of neighbouring ranks: group g is the ranks starts[g] … starts[g + 1] - 1.
class rank_groups {
 public:
    /// Groups of `width`, the last maybe smaller; or, unless `sizes` is empty, of these sizes.
    rank_groups(rank_id size, rank_id width, std::vector<rank_id> const& sizes) {
        expects(!sizes.empty() || width > 0, [] { return "hierarchical: a group needs at least one rank"; });
        starts_.push_back(0);
        for (rank_id const ranks : sizes) {
            expects(ranks > 0 && ranks <= size - starts_.back(),
                    [] { return "hierarchical: group sizes must be positive and add up to the number of ranks"; });
            starts_.push_back(starts_.back() + ranks);
        }
        while (sizes.empty() && starts_.back() < size)
            starts_.push_back(starts_.back() + (std::min)(width, size - starts_.back()));
        expects(starts_.back() == size, [] { return "hierarchical: group sizes must add up to the number of ranks"; });
    }

    rank_id count() const { return static_cast<rank_id>(starts_.size() - 1); }
    rank_id first(rank_id group) const { return starts_[group]; }
    rank_id size(rank_id group) const { return starts_[group + 1] - starts_[group]; }
    rank_id group_of(rank_id rank) const {
        return static_cast<rank_id>(std::upper_bound(starts_.begin(), starts_.end(), rank) - starts_.begin()) - 1;
    }

    /// Each size that occurs, once.
    std::vector<rank_id> sizes() const {
        std::vector<rank_id> all;
        for (rank_id g = 0; g < count(); ++g) all.push_back(size(g));
        std::sort(all.begin(), all.end());
        all.erase(std::unique(all.begin(), all.end()), all.end());
        return all;
    }

 private:
    std::vector<rank_id> starts_;
};

}  // namespace detail

/// All-reduce in two floors: `inside` works within groups of neighbouring ranks (a node's), `between` across groups.
///
/// Groups of equal size, where `inside` has reduce_scatter and all_gather: each rank of a group gets a slice of the
/// group's sum, slice i is all-reduced between the i-th ranks of all groups, slices are gathered inside. Every rank
/// sends only about 2n/width between groups.
/// Otherwise: reduce inside to the group's first rank (`reduce`, or reduce_scatter and a gather, or all_reduce),
/// all-reduce between first ranks, spread inside (`broadcast`, or a scatter and all_gather, or `direct`'s broadcast).
///
/// rounds, bytes and scratch: the sums of the parts, counted in the schedules of all p ranks (the cost takes as long
/// as making these) Any p, the last group smaller if need be, or groups of any stated sizes | order of ranks kept if
/// both parts keep it. All ranks get the same bits where both parts give that. Best where messages inside groups are
/// much cheaper.
template <reducing_algorithm Inside, all_reduce_algorithm Between>
    requires reduce_algorithm<Inside> || reduce_scatter_algorithm<Inside> || all_reduce_algorithm<Inside>
struct hierarchical {
    static constexpr std::string_view name = "hierarchical";
    static constexpr bool keeps_order = Inside::keeps_order && Between::keeps_order;
    static constexpr bool adds_up_everywhere = detail::adds_up_everywhere_of<Inside>() || detail::adds_up_everywhere_of<Between>();

    Inside inside{};
    Between between{};
    rank_id width = 1;              ///< ranks per group; the last group may be smaller
    std::vector<rank_id> groups{};  ///< unless empty: the size of each group, in rank order; `width` is then ignored

    /// Throws `invalid_argument` if the groups do not add up to `size`.
    schedule all_reduce(rank_id me, rank_id size) const {
        detail::rank_groups const all{size, width, groups};
        if constexpr (reduce_scatter_algorithm<Inside> && all_gather_algorithm<Inside>)
            if (all.sizes().size() == 1) return by_slices(me, all);
        return by_leaders(me, all);
    }

    cost all_reduce_cost(rank_id size, double bytes) const {
        detail::cost_count count{bytes};
        for (rank_id p = 0; p < size; ++p) count.add(all_reduce(p, size));
        return count.result();
    }

    friend bool operator==(hierarchical const&, hierarchical const&) = default;

 private:
    schedule by_slices(rank_id me, detail::rank_groups const& all) const {
        rank_id const group = all.group_of(me);
        rank_id const local = me - all.first(group);
        rank_id const ranks = all.size(group);
        schedule const across = between.all_reduce(group, all.count());
        rank_id const blocks = ranks * across.blocks();
        auto neighbour = [&](rank_id p) { return all.first(group) + p; };
        auto counterpart = [&](rank_id g) { return all.first(g) + local; };
        block_range const slice{local * across.blocks(), across.blocks()};
        return then(then(placed(mapped(inside.reduce_scatter(local, ranks), neighbour), blocks, {0, blocks}),
                         placed(mapped(across, counterpart), blocks, slice)),
                    placed(mapped(inside.all_gather(local, ranks), neighbour), blocks, {0, blocks}));
    }

    schedule by_leaders(rank_id me, detail::rank_groups const& all) const {
        rank_id const group = all.group_of(me);
        rank_id const local = me - all.first(group);
        rank_id const ranks = all.size(group);
        schedule across = between.all_reduce(local == 0 ? group : 0, all.count());
        shape const common = shape_of(all, across);
        if (local != 0) across = padded(schedule{across.blocks()}, across.rounds());
        auto neighbour = [&](rank_id p) { return all.first(group) + p; };
        auto leader = [&](rank_id g) { return all.first(g); };
        auto whole = [&](schedule const& s) { return placed(s, common.blocks, {0, common.blocks}); };
        return then(then(padded(whole(mapped(reduce_inside(local, ranks), neighbour)), common.rounds_up),
                         whole(mapped(across, leader))),
                    padded(whole(mapped(spread_inside(local, ranks), neighbour)), common.rounds_down));
    }

    schedule reduce_inside(rank_id me, rank_id size) const {
        if constexpr (reduce_algorithm<Inside>) return inside.reduce(me, size, 0);
        else if constexpr (reduce_scatter_algorithm<Inside>)
            return then(inside.reduce_scatter(me, size), direct{}.gather(me, size, 0));
        else return inside.all_reduce(me, size);
    }

    schedule spread_inside(rank_id me, rank_id size) const {
        if constexpr (broadcast_algorithm<Inside>) return inside.broadcast(me, size, 0);
        else if constexpr (all_gather_algorithm<Inside>)
            return then(direct{}.scatter(me, size, 0), inside.all_gather(me, size));
        else return direct{}.broadcast(me, size, 0);
    }

    /// What all ranks must agree on.
    struct shape {
        rank_id blocks = 1;  ///< a multiple of each part's, or, where that is too many, several times the finest cut
        std::uint32_t rounds_up = 0;
        std::uint32_t rounds_down = 0;
    };

    shape shape_of(detail::rank_groups const& all, schedule const& across) const {
        constexpr std::uint64_t most_blocks = 1u << 16;
        shape common;
        std::uint64_t multiple = across.blocks();
        rank_id finest = across.blocks();
        auto include = [&](schedule const& s, std::uint32_t& rounds) {
            if (multiple <= most_blocks) multiple = std::lcm(multiple, std::uint64_t{s.blocks()});
            finest = (std::max)(finest, s.blocks());
            rounds = (std::max)(rounds, s.rounds());
        };
        for (rank_id const ranks : all.sizes()) {
            include(reduce_inside(0, ranks), common.rounds_up);
            include(spread_inside(0, ranks), common.rounds_down);
        }
        common.blocks = multiple <= most_blocks ? static_cast<rank_id>(multiple) : 16 * finest;
        return common;
    }
};

template <class Inside, class Between>
hierarchical(Inside, Between, rank_id = 1, std::vector<rank_id> = {}) -> hierarchical<Inside, Between>;

static_assert(all_reduce_algorithm<hierarchical<direct, direct>>);

}  // namespace chorus
