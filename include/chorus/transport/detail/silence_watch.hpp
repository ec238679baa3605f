// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/types.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <dirent.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace chorus::detail {

/// An IPv6 address, or an IPv4 address mapped into one.
using host_address = std::array<std::uint8_t, 16>;

inline bool read_address(sockaddr const* from, host_address& to) noexcept {
    if (from->sa_family == AF_INET) {
        to = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
        std::memcpy(to.data() + 12, &reinterpret_cast<sockaddr_in const*>(from)->sin_addr, 4);
        return true;
    }
    if (from->sa_family != AF_INET6) return false;
    std::memcpy(to.data(), &reinterpret_cast<sockaddr_in6 const*>(from)->sin6_addr, 16);
    return true;
}

/// Where this host can be reached from others.
inline std::vector<host_address> own_addresses() {
    std::vector<host_address> all;
    ifaddrs* first = nullptr;
    if (::getifaddrs(&first) != 0) return all;
    host_address one{};
    for (ifaddrs const* at = first; at != nullptr; at = at->ifa_next)
        if (at->ifa_addr != nullptr && (at->ifa_flags & IFF_LOOPBACK) == 0 && read_address(at->ifa_addr, one)) all.push_back(one);
    ::freeifaddrs(first);
    return all;
}

/// Notices hosts that do not acknowledge what is sent to them, from what the kernel knows of this process's TCP connections: those made by a
/// library count, too. TCP's own keep-alive does not probe while something is on its way; then it gives up after a quarter of an hour only.
/// A host whose process is stopped or busy acknowledges all the same.
class silence_watch {
 public:
    silence_watch() = default;

    /// `addresses` of every rank. Silent is who has not acknowledged anything for `limit` though it was asked again and again.
    silence_watch(std::vector<std::vector<host_address>> addresses, std::chrono::milliseconds limit)
        : addresses_{std::move(addresses)}, limit_{limit} {}

    /// At most one system call, but once a second the connections of the process are looked through.
    bool is_silent(rank_id p) noexcept {
        auto const now = clock::now();
        if (now > next_search_) search(now);
        if (connections_.empty()) return false;
        connection& one = connections_[next_++ % connections_.size()];
        look_at(one, now);
        return std::any_of(connections_.begin(), connections_.end(), [&](connection const& known) {
            return known.is_silent && known.has(p, addresses_);
        });
    }

 private:
    using clock = std::chrono::steady_clock;

    struct connection {
        int descriptor = -1;
        host_address peer{};
        clock::time_point asked_since{};  ///< when it was first seen to be asked again; the beginning of time: it is not
        bool is_silent = false;

        bool has(rank_id p, std::vector<std::vector<host_address>> const& addresses) const noexcept {
            return std::find(addresses[p].begin(), addresses[p].end(), peer) != addresses[p].end();
        }
    };

    void look_at(connection& one, clock::time_point now) const noexcept {
        tcp_info info{};
        socklen_t length = sizeof info;
        bool const is_known = ::getsockopt(one.descriptor, IPPROTO_TCP, TCP_INFO, &info, &length) == 0;
        bool const is_asked = is_known && (info.tcpi_retransmits >= 2 || info.tcpi_probes >= 3);
        if (!is_asked) one.asked_since = {};
        else if (one.asked_since == clock::time_point{}) one.asked_since = now;
        one.is_silent = is_asked && now - one.asked_since > limit_ && std::chrono::milliseconds{info.tcpi_last_ack_recv} > limit_;
    }

    /// What is known of a connection is kept if it still leads to the same place.
    void search(clock::time_point now) noexcept {
        next_search_ = now + std::chrono::seconds{1};
        DIR* const folder = ::opendir("/proc/self/fd");
        if (folder == nullptr) return;
        std::vector<connection> found;
        while (dirent const* const entry = ::readdir(folder)) {
            std::string_view const name{entry->d_name};
            connection one;
            if (std::from_chars(name.data(), name.data() + name.size(), one.descriptor).ec != std::errc{}) continue;
            if (!leads_to_a_rank(one)) continue;
            for (connection const& known : connections_)
                if (known.descriptor == one.descriptor && known.peer == one.peer) one = known;
            found.push_back(one);
        }
        ::closedir(folder);
        connections_ = std::move(found);
    }

    bool leads_to_a_rank(connection& one) const noexcept {
        sockaddr_storage place{};
        socklen_t length = sizeof place;
        if (::getpeername(one.descriptor, reinterpret_cast<sockaddr*>(&place), &length) != 0) return false;
        if (!read_address(reinterpret_cast<sockaddr const*>(&place), one.peer)) return false;
        for (rank_id p = 0; p < addresses_.size(); ++p)
            if (one.has(p, addresses_)) return true;
        return false;
    }

    std::vector<std::vector<host_address>> addresses_;
    std::chrono::milliseconds limit_{};
    std::vector<connection> connections_;
    clock::time_point next_search_{};
    std::size_t next_ = 0;
};

}  // namespace chorus::detail
