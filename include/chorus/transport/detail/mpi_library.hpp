// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/error.hpp"
#include "chorus/transport/detail/process_watch.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <mpi.h>
#include <unistd.h>

// What is asked of an MPI library before anything moves: whether it runs, who calls, who else there is.

namespace chorus::detail {

inline std::string mpi_error_text(int code) {
    char text[MPI_MAX_ERROR_STRING + 1] = {};
    int length = 0;
    if (MPI_Error_string(code, text, &length) != MPI_SUCCESS || length <= 0) return "MPI error " + std::to_string(code);
    return {text, static_cast<std::size_t>(length)};
}

inline void expect_mpi(int code, char const* what) {
    if (code != MPI_SUCCESS) raise(errc::system_failed, std::string{what} + ": MPI says \"" + mpi_error_text(code) + '"');
}

/// Of the whole library: attributes of it are those of its world, and in Open MPI a communicator made by a split does not know them.
inline int mpi_largest_tag() {
    int* largest = nullptr;
    int is_known = 0;
    expect_mpi(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &largest, &is_known), "asking for the largest tag");
    return is_known != 0 ? *largest : 0;
}

inline bool mpi_is_initialised() noexcept {
    int is_so = 0;
    return MPI_Initialized(&is_so) == MPI_SUCCESS && is_so != 0;
}
inline bool mpi_is_finalised() noexcept {
    int is_so = 0;
    return MPI_Finalized(&is_so) == MPI_SUCCESS && is_so != 0;
}
inline bool mpi_is_running() noexcept { return mpi_is_initialised() && !mpi_is_finalised(); }

inline char const* mpi_thread_level_name(int level) noexcept {
    return level == MPI_THREAD_SINGLE     ? "MPI_THREAD_SINGLE"
           : level == MPI_THREAD_FUNNELED ? "MPI_THREAD_FUNNELED"
           : level == MPI_THREAD_SERIALIZED ? "MPI_THREAD_SERIALIZED"
                                            : "MPI_THREAD_MULTIPLE";
}

/// Throws unless MPI runs and lets this thread call it.
inline void expect_mpi_usable(char const* what) {
    if (!mpi_is_initialised())
        raise(errc::invalid_argument, std::string{what} + ": MPI is not initialised; make a chorus::mpi::session before");
    if (mpi_is_finalised()) raise(errc::invalid_argument, std::string{what} + ": MPI is finalised already");
    int level = MPI_THREAD_SINGLE;
    int is_main = 0;
    expect_mpi(MPI_Query_thread(&level), "asking for MPI's thread level");
    expect_mpi(MPI_Is_thread_main(&is_main), "asking for MPI's main thread");
    if (level < MPI_THREAD_SERIALIZED && is_main == 0)
        raise(errc::unsupported, std::string{what} + ": MPI was initialised with " + mpi_thread_level_name(level) +
                                     ", so that only the thread that initialised it may call; for others ask for "
                                     "MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE");
}

/// A communicator of our own, whose errors are returned. Freed with this, unless MPI ended before or this is a forked child.
class mpi_communicator {
 public:
    mpi_communicator() = default;
    explicit mpi_communicator(MPI_Comm adopted) : handle_{adopted}, owner_{::getpid()} {
        if (handle_ != MPI_COMM_NULL) MPI_Comm_set_errhandler(handle_, MPI_ERRORS_RETURN);
    }
    mpi_communicator(mpi_communicator&& other) noexcept
        : handle_{std::exchange(other.handle_, MPI_COMM_NULL)}, owner_{other.owner_} {}
    mpi_communicator& operator=(mpi_communicator&& other) noexcept {
        std::swap(handle_, other.handle_);
        std::swap(owner_, other.owner_);
        return *this;
    }
    ~mpi_communicator() { free(); }

    MPI_Comm get() const noexcept { return handle_; }

    /// Leaves it to MPI for ever.
    void release() noexcept { owner_ = 0; }

    void free() noexcept {
        if (handle_ != MPI_COMM_NULL && owner_ == ::getpid() && mpi_is_running()) MPI_Comm_free(&handle_);
        handle_ = MPI_COMM_NULL;
    }

 private:
    MPI_Comm handle_ = MPI_COMM_NULL;
    pid_t owner_ = 0;
};

/// What a rank knows when its transport begins: a communicator of its own, and where everybody runs. Collective over the user's communicator.
struct mpi_introduction {
    mpi_communicator communicator;
    std::vector<process_identity> identities;
    rank_id me = 0;

    explicit mpi_introduction(MPI_Comm users) {
        expect_mpi_usable("mpi_transport");
        expect_intra(users);
        MPI_Comm own = MPI_COMM_NULL;
        expect_mpi(MPI_Comm_dup(users, &own), "duplicating the communicator");
        communicator = mpi_communicator{own};
        int rank = 0;
        int size = 0;
        expect_mpi(MPI_Comm_rank(own, &rank), "asking for the rank");
        expect_mpi(MPI_Comm_size(own, &size), "asking for the number of ranks");
        me = static_cast<rank_id>(rank);
        identities.resize(static_cast<std::size_t>(size));
        process_identity const mine = process_identity::own();
        expect_mpi(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, identities.data(), sizeof mine, MPI_BYTE, own),
                   "exchanging process numbers");
    }

    rank_id ranks_on_host() const noexcept {
        return static_cast<rank_id>(std::count_if(identities.begin(), identities.end(), [&](process_identity const& other) {
            return other.host == identities[me].host;
        }));
    }

 private:
    static void expect_intra(MPI_Comm users) {
        if (users == MPI_COMM_NULL)
            raise(errc::invalid_argument, "mpi_transport: the communicator is MPI_COMM_NULL, that of a rank that is not a member");
        int is_inter = 0;
        expect_mpi(MPI_Comm_test_inter(users, &is_inter), "asking for the kind of communicator");
        if (is_inter != 0)
            raise(errc::invalid_argument, "mpi_transport: an inter-communicator joins two groups of ranks; merge them by "
                                          "MPI_Intercomm_merge before");
    }
};

}  // namespace chorus::detail
