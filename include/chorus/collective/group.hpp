// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/random.hpp"
#include "chorus/base/time_limit.hpp"
#include "chorus/collective/observer.hpp"
#include "chorus/detail/under_way.hpp"
#include "chorus/schedule/algorithm.hpp"
#include "chorus/schedule/automatic.hpp"
#include "chorus/transport/transport.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace chorus {

namespace detail {

/// What `automatic` chose before for the same question; asking it takes some microseconds.
struct remembered_choice {
    automatic how;
    collective what;
    std::uint64_t bytes;
    bool needs_order;
    bool uneven;
    choice chosen;  ///< algorithm and reason alone
};

/// What all copies of a group share on this rank.
struct group_state {
    std::uint64_t context = 0;        ///< equal on all members, different for different groups
    rank_id me = 0;
    std::vector<rank_id> members;     ///< group rank -> rank of the transport
    std::uint64_t plans = 0;          ///< made so far; members make plans in the same order
    std::optional<error> failure;     ///< set by the first failed operation
    std::shared_ptr<under_way_list> under_way = std::make_shared<under_way_list>();  ///< shared with subgroups
    operation_counters counted;
    std::vector<remembered_choice> choices;  ///< at most `most_choices`

    static constexpr std::size_t most_choices = 64;

    void expect_usable(std::string_view operation) const {
        if (failure)
            raise(errc::poisoned, std::string{operation} + ": an earlier operation on this group failed: " + failure->what(),
                  failure->peer());
    }
};

/// The number of the next plan of a group, from 1: equal on all members, through whichever copy of the group it is made.
template <transport Transport>
std::uint64_t next_plan(Transport& net, group_state& members) {
    std::uint64_t number = ++members.plans;
    if constexpr (counting_transport<Transport>)
        if (std::uint64_t const counted = net.count_plan(members.context); counted != 0) number = counted;
    return number;
}

}  // namespace detail

/// Some ranks of a transport in a given order: a small value that costs no message to make and nothing to free.
///
/// local | allocates a few words | the transport must outlive the group and its plans | copies share their state: plans made through any copy are
/// numbered together, and a failed operation poisons all copies. Members must make their plans (and blocking calls) in the same order;
/// groups that differ in members or label are independent. Ranks that give different member lists are not told so; their deadlines tell.
/// Where the transport counts plans (threads, processes), a second `group{net}` with the same label counts on; elsewhere it serves only for
/// calls that do not overlap in time with the first one's.
template <transport Transport>
class group {
 public:
    using transport_type = Transport;

    /// All ranks of the transport.
    explicit group(Transport& net, std::uint64_t label = 0) : net_{&net}, state_{std::make_shared<detail::group_state>()} {
        state_->me = net.rank();
        state_->context = counter_random::mix(label + 0x5DEECE66Du);
        state_->members.resize(net.size());
        for (rank_id r = 0; r < net.size(); ++r) state_->members[r] = r;
        if constexpr (requires { net.under_way(); }) state_->under_way = net.under_way();
    }

    rank_id rank() const noexcept { return state_->me; }
    rank_id size() const noexcept { return static_cast<rank_id>(state_->members.size()); }
    Transport& net() const noexcept { return *net_; }

    /// The transport's rank of group rank r.
    rank_id world_rank(rank_id r) const { return state_->members.at(r); }

    /// The members with these ranks of *this* group, renumbered in the order given. Only members may call it; they must give the same list.
    /// Two groups over the same list need different labels if their plans overlap in time.
    group subgroup(std::span<rank_id const> ranks, std::uint64_t label = 0) const {
        auto made = std::make_shared<detail::group_state>();
        made->me = nobody;
        made->under_way = state_->under_way;
        made->context = counter_random::mix(state_->context ^ counter_random::mix(label + 1));
        std::vector<bool> seen(size(), false);
        for (rank_id r : ranks) {
            detail::expects(r < size() && !seen[r], [&] {
                return "subgroup on rank " + std::to_string(rank()) + ": rank " + std::to_string(r) +
                       (r < size() ? " is listed twice" : " is not below " + std::to_string(size()));
            });
            seen[r] = true;
            if (r == rank()) made->me = static_cast<rank_id>(made->members.size());
            made->members.push_back(state_->members[r]);
            made->context = counter_random::mix(made->context + state_->members[r] + 1);
        }
        detail::expects(made->me != nobody, [&] {
            return "subgroup on rank " + std::to_string(rank()) + ": the caller is not among the " +
                   std::to_string(ranks.size()) + " members";
        });
        return group{net_, std::move(made), deadline_, observer_};
    }

    /// The block of consecutive ranks that this rank falls into when the group is cut into blocks of `width`; the last block is smaller where `width` does
    /// not divide the size. Every rank is in exactly one.
    group split_into(rank_id width, std::uint64_t label = 0) const {
        detail::expects(width > 0, [&] { return "split_into on rank " + std::to_string(rank()) + ": width is 0"; });
        std::vector<rank_id> ranks;
        rank_id const first = rank() / width * width;
        for (rank_id r = first; r < size() && r - first < width; ++r) ranks.push_back(r);
        return subgroup(ranks, label);
    }

    /// The same ranks with independent plans.
    group duplicate(std::uint64_t label) const {
        std::vector<rank_id> all(size());
        for (rank_id r = 0; r < size(); ++r) all[r] = r;
        return subgroup(all, label);
    }

    /// A copy whose plans and calls have this time limit unless they name their own.
    group within(time_limit deadline) const {
        group copy = *this;
        copy.deadline_ = deadline;
        return copy;
    }
    time_limit deadline() const noexcept { return deadline_; }

    /// A copy whose plans and calls, and those of subgroups made from it, report to `watcher`, which must outlive them.
    group observed_by(observer& watcher) const {
        group copy = *this;
        copy.observer_ = &watcher;
        return copy;
    }
    observer* observed_by() const noexcept { return observer_; }

    /// What this rank did in all copies of this group, subgroups apart. For the thread that uses the group.
    operation_counters const& counters() const noexcept { return state_->counted; }

    /// Whether an operation on this group has failed; then every further one fails with `poisoned`.
    bool is_poisoned() const noexcept { return state_->failure.has_value(); }

    /// Fails every pending and later operation on this transport, on all ranks that can be reached. From any thread.
    void abort(std::string_view why = "abort was called") const noexcept
        requires aborting_transport<Transport>
    {
        net_->abort(errc::aborted, net_->rank(), why);
    }

    std::shared_ptr<detail::group_state> const& state() const noexcept { return state_; }

 private:
    group(Transport* net, std::shared_ptr<detail::group_state> state, time_limit deadline, observer* watcher)
        : net_{net}, state_{std::move(state)}, deadline_{deadline}, observer_{watcher} {}

    Transport* net_;
    std::shared_ptr<detail::group_state> state_;
    time_limit deadline_;
    observer* observer_ = nullptr;
};

}  // namespace chorus
