// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/transport/detail/messenger.hpp"
#include "chorus/transport/detail/mpi_collective.hpp"
#include "chorus/transport/detail/mpi_library.hpp"
#include "chorus/transport/detail/mpi_members.hpp"
#include "chorus/transport/detail/mpi_wire.hpp"
#include "chorus/transport/transport.hpp"

#include <string_view>
#include <utility>

#include <mpi.h>

namespace chorus {

namespace mpi {

/// MPI, from here to the end of the scope. Where it is initialised already, it is joined and left as it is: whoever initialised it finalises it.
///
/// Initialises with MPI_THREAD_FUNNELED. Throws `invalid_argument` after MPI_Finalize, since MPI starts once per process; `system_failed` if it does not start.
/// Transports are to be destroyed before. MPI_Finalize may wait for ranks that do not come to it: that is MPI's; launchers end such jobs.
class session {
 public:
    session() : session{nullptr, nullptr} {}
    session(int& argc, char**& argv) : session{&argc, &argv} {}

    session(session&& other) noexcept : is_owner_{std::exchange(other.is_owner_, false)} {}
    session& operator=(session&& other) noexcept {
        std::swap(is_owner_, other.is_owner_);
        return *this;
    }
    ~session() {
        if (is_owner_ && !detail::mpi_is_finalised()) MPI_Finalize();
    }

    /// Whether this will finalise MPI.
    bool is_owner() const noexcept { return is_owner_; }

 private:
    session(int* argc, char*** argv) {
        if (detail::mpi_is_finalised())
            detail::raise(errc::invalid_argument, "chorus::mpi::session: MPI is finalised already, and cannot be started twice in one process");
        if (detail::mpi_is_initialised()) return;
        int level = MPI_THREAD_SINGLE;
        detail::expect_mpi(MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &level), "initialising MPI");
        is_owner_ = true;
    }

    bool is_owner_ = false;
};

}  // namespace mpi

/// The ranks of a communicator: a transport over any MPI-3.1 library.
///
/// matching: peer, stream, order | threads: as MPI was initialised: SINGLE and FUNNELED: the one that initialised MPI, for all of chorus; SERIALIZED: one at
/// a time in the whole process, calls of the user's own included; MULTIPLE: one at a time per endpoint. `abort` from any | copies: one of ours at each end up
/// to the short limit (`describe`), none above it; MPI's come in addition | pins: MPI's own | largest message 2^63 - 1 bytes, in chunks of 2^30 |
/// tags: all 64 bits of a stream travel in the message; MPI sees tags below 2^15 or what it permits, of a communicator of our own |
/// a peer that ended is `peer_lost` if it ran on this host or MPI reports it, provided that the launcher does not end the job first (docs/design/networks.md).
/// MPI does not wake: waiting spins, then yields, then naps from 10 µs to 2 ms, each nap an eighth longer than the last one.
/// Destroyed after MPI_Finalize it does nothing; a forked child's copy does nothing.
class mpi_transport : public detail::messenger<detail::mpi_wire> {
 public:
    /// The name in tables of algorithms.
    static constexpr std::string_view kind() noexcept { return "mpi"; }

    /// Collective over `members`, which is duplicated and may be freed at once. Throws `invalid_argument` for MPI_COMM_NULL and inter-communicators,
    /// `unsupported` where MPI's thread level does not let this thread call, `system_failed` for what MPI refuses.
    explicit mpi_transport(MPI_Comm members) : mpi_transport{detail::mpi_introduction{members}} {}

    using native_operation = detail::mpi_collective;

    /// One of MPI's own collectives, for the algorithm `native`. Blocks until all members are in it where they have not met. Throws `unsupported` for what MPI has no type or operation for, and after a recovery: MPI goes on with all or none; `too_large` from 2^31 elements on.
    native_operation make_native(native_call const& asked) {
        detail::expect_mpi_usable("native");
        if (recoveries() > 0)
            detail::raise(errc::unsupported, "native: MPI's own collectives do not go on without the ranks that were lost");
        return {*this, member_lists_, asked};
    }

    /// Whether these ranks have a communicator: all in order from the beginning, others since they made their first native operation.
    bool has_met(std::span<rank_id const> members) { return member_lists_.knows(net().communicator(), members); }

 private:
    explicit mpi_transport(detail::mpi_introduction known)
        : messenger{detail::waiting_style_for(known.ranks_on_host()), std::move(known)} {}

    detail::mpi_member_lists member_lists_;
};
static_assert(transport<mpi_transport> && aborting_transport<mpi_transport> && explaining_transport<mpi_transport> &&
              resting_transport<mpi_transport> && announcing_transport<mpi_transport> && cancelling_transport<mpi_transport> &&
              guarded_transport<mpi_transport> && counting_transport<mpi_transport> && recovering_transport<mpi_transport> &&
              native_transport<mpi_transport>);

}  // namespace chorus
