// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/transport/detail/mpi_library.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <mpi.h>

namespace chorus::detail {

/// Some ranks of a transport and their communicator, on which MPI's own collectives run.
struct mpi_members {
    std::vector<rank_id> ranks;
    MPI_Comm net = MPI_COMM_NULL;
    mpi_communicator own{};  ///< null where `net` is the transport's
};

/// The communicators of a transport's member lists: its own for all ranks in order; for another list one is made at the first call, a collective
/// of that list's ranks that blocks, and kept.
class mpi_member_lists {
 public:
    bool knows(MPI_Comm world, std::span<rank_id const> ranks) const { return is_whole(world, ranks) || made_before(ranks) != nullptr; }

    std::shared_ptr<mpi_members> find(MPI_Comm world, std::span<rank_id const> ranks) {
        if (auto known = made_before(ranks)) return known;
        auto made = std::make_shared<mpi_members>();
        made->ranks.assign(ranks.begin(), ranks.end());
        if (is_whole(world, ranks)) made->net = world;
        else create(world, *made);
        known_.push_back(made);
        return made;
    }

 private:
    std::shared_ptr<mpi_members> made_before(std::span<rank_id const> ranks) const {
        for (auto const& each : known_)
            if (std::equal(each->ranks.begin(), each->ranks.end(), ranks.begin(), ranks.end())) return each;
        return nullptr;
    }

    static bool is_whole(MPI_Comm world, std::span<rank_id const> ranks) {
        int size = 0;
        expect_mpi(MPI_Comm_size(world, &size), "asking for the number of ranks");
        if (ranks.size() != static_cast<std::size_t>(size)) return false;
        for (rank_id r = 0; r < ranks.size(); ++r)
            if (ranks[r] != r) return false;
        return true;
    }

    /// MPI's messages about a new communicator travel under the tag given, in Open MPI 4 beside the transport's own: it must be none of theirs.
    static void create(MPI_Comm world, mpi_members& members) {
        std::vector<int> const ranks(members.ranks.begin(), members.ranks.end());
        MPI_Group all = MPI_GROUP_NULL;
        MPI_Group some = MPI_GROUP_NULL;
        expect_mpi(MPI_Comm_group(world, &all), "asking for the ranks of a communicator");
        int code = MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &some);
        if (code == MPI_SUCCESS) code = MPI_Comm_create_group(world, some, mpi_largest_tag(), &members.net);
        MPI_Group_free(&all);
        if (some != MPI_GROUP_NULL) MPI_Group_free(&some);
        expect_mpi(code, "making a communicator of some ranks");
        members.own = mpi_communicator{members.net};
    }

    std::vector<std::shared_ptr<mpi_members>> known_;
};

}  // namespace chorus::detail
