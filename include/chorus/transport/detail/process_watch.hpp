// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/types.hpp"
#include "chorus/transport/detail/host_identity.hpp"
#include "chorus/transport/detail/shared_region.hpp"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <vector>

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace chorus::detail {

/// Where a rank runs; plain bytes, to be exchanged when a transport is made.
struct process_identity {
    std::uint64_t host = 0;
    std::uint64_t process = 0;

    static process_identity own() { return {host_identity(), static_cast<std::uint64_t>(::getpid())}; }
    friend bool operator==(process_identity const&, process_identity const&) = default;
};

/// Notices the end of processes of this host through process descriptors; of other hosts it knows nothing.
class process_watch {
 public:
    process_watch() = default;

    process_watch(std::vector<process_identity> const& ranks, rank_id me) : peers_(ranks.size()) {
        for (rank_id p = 0; p < ranks.size(); ++p) {
            peer& other = peers_[p];
            other.is_local = ranks[p].host == ranks[me].host;
            if (!other.is_local || ranks[p] == ranks[me]) continue;
            other.process = static_cast<pid_t>(ranks[p].process);
            int const descriptor = static_cast<int>(::syscall(SYS_pidfd_open, other.process, 0));
            other.is_gone = descriptor < 0 && errno == ESRCH;
            other.watched = owned_descriptor{descriptor};
        }
    }

    bool is_local(rank_id p) const noexcept { return peers_[p].is_local; }

    /// False once the process has ended; true for ever for ranks of other hosts and of this process. One system call.
    bool is_alive(rank_id p) noexcept {
        peer& other = peers_[p];
        if (other.process == 0 || other.is_gone) return !other.is_gone;
        if (other.watched.is_open()) {
            pollfd look{.fd = other.watched.get(), .events = POLLIN, .revents = 0};
            other.is_gone = ::poll(&look, 1, 0) == 1;
        } else {  // a system without process descriptors
            other.is_gone = ::kill(other.process, 0) != 0 && errno == ESRCH;
        }
        return !other.is_gone;
    }

 private:
    struct peer {
        owned_descriptor watched;
        pid_t process = 0;
        bool is_local = false;
        bool is_gone = false;
    };
    std::vector<peer> peers_;
};

}  // namespace chorus::detail
