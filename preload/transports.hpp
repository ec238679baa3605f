// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "below.hpp"
#include "pieces.hpp"
#include "settings.hpp"

#include "chorus/collective/group.hpp"
#include "chorus/transport/shared_memory.hpp"
#include "chorus/transport/this_host.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <variant>
#include <vector>

#include <sched.h>

namespace preload {

using chorus::rank_id;

/// As long as this lives, this thread may run on the cores of all ranks of `members`: a launcher may have bound each to one, and who counts cores would
/// take them for ranks that share it.
class unbound {
 public:
    explicit unbound(MPI_Comm members) {
        CPU_ZERO(&own_);
        if (::sched_getaffinity(0, sizeof own_, &own_) != 0) return;
        cpu_set_t all = own_;
        PMPI_Allreduce(MPI_IN_PLACE, &all, static_cast<int>(sizeof all), MPI_BYTE, MPI_BOR, members);
        is_changed_ = ::sched_setaffinity(0, sizeof all, &all) == 0;
    }
    ~unbound() {
        if (is_changed_) ::sched_setaffinity(0, sizeof own_, &own_);
    }
    unbound(unbound const&) = delete;
    unbound& operator=(unbound const&) = delete;

 private:
    cpu_set_t own_;
    bool is_changed_ = false;
};

/// The transports of this process, made once for all ranks of MPI_COMM_WORLD: shared memory among those of its host, and MPI between hosts, where there are
/// several. Collective over MPI_COMM_WORLD.
class transports {
 public:
    explicit transports(settings const& asked) {
        int me = 0;
        int size = 0;
        PMPI_Comm_rank(MPI_COMM_WORLD, &me);
        PMPI_Comm_size(MPI_COMM_WORLD, &size);
        hosts_.resize(static_cast<std::size_t>(size));
        std::uint64_t const here = chorus::this_host();
        PMPI_Allgather(&here, 1, MPI_UINT64_T, hosts_.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD);
        for (std::size_t r = 0; r < hosts_.size(); ++r)
            local_.push_back(static_cast<rank_id>(std::count(hosts_.begin(), hosts_.begin() + static_cast<std::ptrdiff_t>(r), hosts_[r])));
        bool const shares = asked.allows_shared_memory && join(me);
        bool const is_one_host = std::count(hosts_.begin(), hosts_.end(), here) == size;
        if (!asked.needs_shared_memory && !agree(shares && is_one_host)) between_ = std::make_unique<chorus::mpi_transport>(MPI_COMM_WORLD);
    }

    /// No member, where the group has too few ranks or ranks that are not of this world.
    using group = std::variant<std::monostate, chorus::group<chorus::shared_memory_transport>, chorus::group<chorus::mpi_transport>>;

    /// Of these ranks of MPI_COMM_WORLD, in this order: over shared memory where all are of one host. Local.
    group group_of(std::vector<rank_id> const& ranks, std::uint64_t label) const {
        if (!is_on_one_host(ranks)) return between_ ? group{chorus::group{*between_}.subgroup(ranks, label)} : group{};
        std::vector<rank_id> locals;
        for (rank_id r : ranks) locals.push_back(local_[r]);
        return chorus::group{*inside_}.subgroup(locals, label);
    }

    bool is_on_one_host(std::vector<rank_id> const& ranks) const {
        return inside_ != nullptr && std::all_of(ranks.begin(), ranks.end(), [&](rank_id r) { return hosts_[r] == hosts_[ranks[0]]; });
    }

 private:
    static bool agree(bool mine) {
        int all = mine ? 1 : 0;
        PMPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        return all != 0;
    }

    /// True if every host could; otherwise none does.
    bool join(int me) {
        MPI_Comm host = MPI_COMM_NULL;
        int const first = static_cast<int>(std::find(hosts_.begin(), hosts_.end(), hosts_[static_cast<std::size_t>(me)]) - hosts_.begin());
        PMPI_Comm_split(MPI_COMM_WORLD, first, me, &host);
        std::uint64_t token = (std::uint64_t{std::random_device{}()} << 32) + std::random_device{}();
        PMPI_Bcast(&token, 1, MPI_UINT64_T, 0, host);
        {
            unbound const anywhere{host};
            try {
                auto const ranks = static_cast<rank_id>(std::count(hosts_.begin(), hosts_.end(), hosts_[static_cast<std::size_t>(first)]));
                inside_ = std::make_unique<chorus::shared_memory_transport>("mpi." + std::to_string(token), local_[static_cast<std::size_t>(me)],
                                                                            ranks);
            } catch (chorus::error const& failure) {
                std::fprintf(stderr, "chorus: rank %d goes on without shared memory: %s\n", me, failure.what());
            }
        }
        PMPI_Comm_free(&host);
        bool const all = agree(inside_ != nullptr);
        if (!all) inside_.reset();
        return all;
    }

    std::vector<std::uint64_t> hosts_;  // by world rank
    std::vector<rank_id> local_;        // by world rank: the rank within its host
    std::unique_ptr<chorus::shared_memory_transport> inside_;
    std::unique_ptr<chorus::mpi_transport> between_;
};

/// Which labels tell apart the groups of communicators that have the same ranks in the same order. Members agree on a free one by one small all-reduce of MPI's; it
/// is given back when the communicator is freed. So nothing grows with the number of communicators that were ever made.
class labels {
 public:
    static constexpr std::uint64_t none = ~std::uint64_t{0};

    /// Collective over `members`. `none` on all of them if 64 such communicators live.
    std::uint64_t agree(std::vector<rank_id> const& ranks, MPI_Comm members) {
        for (unsigned attempt = 1;; ++attempt) {
            // Two threads may do this at a time for the same ranks. One of a process offers labels, the others none; who met different ones tries again.
            bool const is_mine = !is_taken_.test_and_set();
            std::array<std::uint64_t, 2> offer{};
            if (is_mine) offer = {~used(ranks), 1};
            PMPI_Allreduce(MPI_IN_PLACE, offer.data(), 2, MPI_UINT64_T, MPI_BAND, members);
            std::uint64_t const label = offer[0] == 0 ? none : static_cast<std::uint64_t>(__builtin_ctzll(offer[0]));
            if (label != none) mark(ranks, label);
            if (is_mine) is_taken_.clear();
            if (label != none || offer[1] != 0) return label;
            std::this_thread::sleep_for(std::chrono::microseconds{std::random_device{}() % (attempt < 10 ? 100 * attempt : 1000)});
        }
    }

    void give_back(std::vector<rank_id> const& ranks, std::uint64_t label) {
        std::lock_guard const lock{mutex_};
        auto const found = used_.find(ranks);
        if (found == used_.end()) return;
        found->second &= ~(std::uint64_t{1} << label);
        if (found->second == 0) used_.erase(found);
    }

    /// Lists of ranks that live communicators have.
    std::size_t lists() {
        std::lock_guard const lock{mutex_};
        return used_.size();
    }

 private:
    std::uint64_t used(std::vector<rank_id> const& ranks) {
        std::lock_guard const lock{mutex_};
        auto const found = used_.find(ranks);
        return found == used_.end() ? 0 : found->second;
    }
    void mark(std::vector<rank_id> const& ranks, std::uint64_t label) {
        std::lock_guard const lock{mutex_};
        used_[ranks] |= std::uint64_t{1} << label;
    }

    std::mutex mutex_;
    std::atomic_flag is_taken_{};
    std::map<std::vector<rank_id>, std::uint64_t> used_;
};

}  // namespace preload
