// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace networks {

constexpr int most_descriptors = 1024;

/// Those that were open before main: a launcher's, not ours.
inline std::array<bool, most_descriptors> const inherited_descriptors = [] {
    std::array<bool, most_descriptors> open{};
    for (int descriptor = 0; descriptor < most_descriptors; ++descriptor)
        open[static_cast<std::size_t>(descriptor)] = ::fcntl(descriptor, F_GETFD) >= 0;
    return open;
}();

inline bool is_own_connection(int descriptor) {
    sockaddr_storage other{};
    socklen_t length = sizeof other;
    return !inherited_descriptors[static_cast<std::size_t>(descriptor)] &&
           ::getpeername(descriptor, reinterpret_cast<sockaddr*>(&other), &length) == 0 &&
           (other.ss_family == AF_INET || other.ss_family == AF_INET6);
}

/// To be called before MPI_Finalize, when all ranks have got what they wanted: after `limit` what connects this process to others over TCP is shut
/// down, again and again until it ends. MPICH 4.0 over UCX 1.13 waits for ever in about half of all MPI_Finalize where ranks were connected by TCP,
/// on one host or more, even in a program that did nothing but MPI_Barrier: a rank flushes an endpoint whose other side has stopped to make
/// progress. With the connection gone it goes on, and all end as they should. Takes SIGALRM.
inline void end_connections_after(std::chrono::seconds limit) {
    std::signal(SIGALRM, [](int) {
        for (int descriptor = 0; descriptor < most_descriptors; ++descriptor)
            if (is_own_connection(descriptor)) ::shutdown(descriptor, SHUT_RDWR);
        ::alarm(1);
    });
    ::alarm(static_cast<unsigned>(limit.count()));
}

}  // namespace networks
