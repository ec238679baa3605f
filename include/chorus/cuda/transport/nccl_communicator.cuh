// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/cuda/detail/nccl_member.cuh"
#include "chorus/cuda/device.cuh"
#include "chorus/transport/rendezvous.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace chorus::cuda {

/// A rank's end of an NCCL communicator, on the device that is current when it is made. NCCL 2.18 and newer.
///
///     cuda::nccl_communicator world{meet, std::chrono::seconds{60}};   // collective; meet: any rendezvous, tcp_rendezvous for one
///     auto sum = cuda::plan_all_reduce(world, gradients, chorus::mean{});
///     sum.enqueue(stream);                                             // later work on the stream sees the result
///
/// The ranks use the same calls in the same order: NCCL does not compare them. What never fits together, a rank that has not come or has died, is `timed_out` after the
/// deadline or what NCCL itself reports of it; either way the communicator is aborted, and what is asked of it later is `poisoned`. Move-only, one thread at a time.
/// Destroying it finishes what was enqueued, within the deadline; plans keep it alive.
class nccl_communicator {
 public:
    using partition = std::vector<std::vector<rank_id>>;

    /// Collective. Errors: those of the rendezvous; mismatch where ranks have different versions of NCCL; timed_out; unsupported without a GPU.
    template <bootstrap Meeting>
    explicit nccl_communicator(Meeting& meet, time_limit deadline = std::chrono::seconds{60}) : state_{std::make_unique<state>()} {
        expect_device();
        int device = 0;
        expect_success(cudaGetDevice(&device), "cudaGetDevice");
        state_->member = std::make_shared<detail_member>(meet.rank(), meet.size(), device, deadline);
        chorus::detail::nccl_invitation const invited = meet_and_compare(meet);
        ncclConfig_t config = chorus::detail::nccl_config();
        state_->member->perform("ncclCommInitRankConfig", [&](ncclComm_t) {
            return ncclCommInitRankConfig(state_->member->place(), static_cast<int>(size()), invited.key, static_cast<int>(rank()), &config);
        });
    }

    rank_id rank() const noexcept { return state_->member->rank(); }
    rank_id size() const noexcept { return state_->member->size(); }

    /// This rank's group, whose members are numbered in the order given; null if it is in none. Each group is made once, by ncclCommSplit, and kept: the groups of a policy
    /// cost nothing from its second period on. Collective, `groups` being the same on all ranks. Raises invalid_argument where a rank is in two.
    nccl_communicator* split(partition const& groups) {
        std::size_t mine = none;
        expect_disjoint(groups);
        partition fresh;
        for (auto const& group : groups)
            if (find(group) == none && !group.empty()) fresh.push_back(group);
        if (!fresh.empty()) make(fresh);
        for (auto const& group : groups)
            if (std::find(group.begin(), group.end(), rank()) != group.end()) mine = find(group);
        return mine == none ? nullptr : state_->known[mine].mine.get();
    }

    /// Raises what went wrong, as far as NCCL knows: for who launches CUDA graphs, to be called now and then.
    void check() { state_->member->check("a communicator"); }

    /// Ends what is under way, here and in the groups; later calls are `poisoned`. The others learn of it from NCCL, or by their deadlines.
    void abort(std::string const& why = "abort was called") noexcept {
        for (auto& each : state_->known)
            if (each.mine) each.mine->abort(why);
        state_->member->abort({errc::aborted, why, rank()});
    }

    std::shared_ptr<chorus::detail::nccl_member> const& member() const noexcept { return state_->member; }  ///< for plans

 private:
    using detail_member = chorus::detail::nccl_member;
    static constexpr std::size_t none = (std::numeric_limits<std::size_t>::max)();

    explicit nccl_communicator(std::shared_ptr<detail_member> member) : state_{std::make_unique<state>()} { state_->member = std::move(member); }

    struct known_group {
        std::vector<rank_id> members;
        std::unique_ptr<nccl_communicator> mine;  ///< null: of others
    };
    struct state {
        std::shared_ptr<detail_member> member;
        std::vector<known_group> known;  ///< in one order on all ranks
        std::shared_ptr<detail_member> coming;  ///< where NCCL may still write if a split fails
    };

    template <class Meeting> static chorus::detail::nccl_invitation meet_and_compare(Meeting& meet) {
        chorus::detail::nccl_invitation mine, first, other;
        ncclResult_t result = ncclGetVersion(&mine.version);
        if (result == ncclSuccess && meet.rank() == 0) result = ncclGetUniqueId(&mine.key);
        if (result != ncclSuccess) mine.version = -1;  // the others are told, and do not wait
        auto const all = meet.exchange(std::as_bytes(std::span{&mine, 1}));
        if (result != ncclSuccess)
            chorus::detail::raise(chorus::detail::code_of(result), "ncclGetUniqueId of rank " + std::to_string(meet.rank()) + " failed: " + ncclGetErrorString(result));
        for (rank_id r = 0; r < all.size(); ++r) {
            chorus::detail::expects(all[r].size() == sizeof other, [&] { return "rank " + std::to_string(r) + " makes something else than an nccl_communicator"; });
            std::memcpy(&other, all[r].data(), sizeof other);
            if (r == 0) first = other;
            if (other.version < 0) chorus::detail::raise(errc::peer_lost, "NCCL cannot be used on rank " + std::to_string(r), r);
            if (other.version == first.version) continue;
            std::string text = "rank " + std::to_string(r) + " has NCCL " + std::to_string(other.version);
            text += ", rank 0 has " + std::to_string(first.version);
            chorus::detail::raise(errc::mismatch, text, r);
        }
        return first;
    }

    void expect_disjoint(partition const& groups) const {
        std::vector<bool> is_taken(size());
        for (auto const& group : groups)
            for (rank_id each : group) {
                chorus::detail::expects(each < size(), [&] { return "rank " + std::to_string(each) + " of a group, in a communicator of " + std::to_string(size()); });
                chorus::detail::expects(!is_taken[each], [&] { return "rank " + std::to_string(each) + " is in two groups, or twice in one"; });
                is_taken[each] = true;
            }
    }

    std::size_t find(std::vector<rank_id> const& group) const {
        for (std::size_t i = 0; i < state_->known.size(); ++i)
            if (state_->known[i].members == group) return i;
        return none;
    }

    void make(partition const& fresh) {
        int colour = NCCL_SPLIT_NOCOLOR, key = 0;
        std::shared_ptr<detail_member> mine;
        for (auto const& group : fresh) {
            auto const at = std::find(group.begin(), group.end(), rank());
            if (at == group.end()) continue;
            colour = static_cast<int>(*std::min_element(group.begin(), group.end()));
            key = static_cast<int>(at - group.begin());
            mine = std::make_shared<detail_member>(static_cast<rank_id>(key), static_cast<rank_id>(group.size()), state_->member->device(), state_->member->deadline());
        }
        split_off(mine, colour, key);
        for (auto const& group : fresh) {
            bool const is_mine = std::find(group.begin(), group.end(), rank()) != group.end();
            state_->known.push_back({group, is_mine ? std::unique_ptr<nccl_communicator>{new nccl_communicator{mine}} : nullptr});
        }
    }

    /// The group's communicator is there when the whole one is at rest again, and usable when it is at rest itself.
    void split_off(std::shared_ptr<detail_member> const& mine, int colour, int key) {
        state_->coming = mine ? mine : std::make_shared<detail_member>(rank(), 1, state_->member->device(), state_->member->deadline());
        ncclConfig_t config = chorus::detail::nccl_config();
        state_->member->perform("ncclCommSplit", [&](ncclComm_t from) { return ncclCommSplit(from, colour, key, state_->coming->place(), &config); });
        if (mine) mine->perform("ncclCommSplit", [](ncclComm_t) { return ncclInProgress; });
        state_->coming.reset();
    }

    std::unique_ptr<state> state_;
};

}  // namespace chorus::cuda
