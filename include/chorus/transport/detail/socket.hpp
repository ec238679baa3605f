// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/error.hpp"
#include "chorus/transport/detail/ip_address.hpp"
#include "chorus/transport/detail/owned_descriptor.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

namespace chorus::detail {

using clock_point = std::chrono::steady_clock::time_point;

/// For poll(2): how long until then, at least 0, at most `most`, rounded up.
inline int poll_milliseconds(clock_point until, std::chrono::milliseconds most) {
    auto const left = until - std::chrono::steady_clock::now();
    if (left >= most) return static_cast<int>(most.count());
    return static_cast<int>((std::max)(std::chrono::ceil<std::chrono::milliseconds>(left).count(), std::int64_t{0}));
}

/// An address with its port, of either family.
struct socket_place {
    sockaddr_storage storage{};
    socklen_t length = 0;

    sockaddr const* get() const noexcept { return reinterpret_cast<sockaddr const*>(&storage); }
    sockaddr* get() noexcept { return reinterpret_cast<sockaddr*>(&storage); }

    std::uint16_t port() const noexcept {
        return ntohs(storage.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6 const*>(&storage)->sin6_port
                                                   : reinterpret_cast<sockaddr_in const*>(&storage)->sin_port);
    }
};

/// "10.0.0.1:29500", "[fd00::1]:29500".
inline std::string to_string(socket_place const& place) {
    auto const address = address_of(place.get());
    if (!address) return "nowhere";
    std::string const host = to_string(*address);
    return (address->is_v6 ? '[' + host + ']' : host) + ':' + std::to_string(place.port());
}

inline socket_place own_place(int descriptor) {
    socket_place place;
    place.length = sizeof place.storage;
    if (::getsockname(descriptor, place.get(), &place.length) != 0) place = {};
    return place;
}

inline socket_place peer_place(int descriptor) {
    socket_place place;
    place.length = sizeof place.storage;
    if (::getpeername(descriptor, place.get(), &place.length) != 0) place = {};
    return place;
}

struct resolved_name {
    std::vector<socket_place> places;
    std::string problem;  ///< what the resolver said, if there are none
};

/// Asks the resolver; may block for as long as that does.
inline resolved_name resolve(std::string const& host, std::uint16_t port) {
    addrinfo wish{};
    wish.ai_family = AF_UNSPEC;
    wish.ai_socktype = SOCK_STREAM;
    wish.ai_flags = AI_NUMERICSERV;
    addrinfo* all = nullptr;
    int const problem = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wish, &all);
    if (problem != 0) return {{}, "the name cannot be resolved: " + std::string{::gai_strerror(problem)}};
    std::unique_ptr<addrinfo, void (*)(addrinfo*)> const release{all, &::freeaddrinfo};
    resolved_name found;
    for (addrinfo const* one = all; one != nullptr && found.places.size() < 16; one = one->ai_next) {
        socket_place place;
        place.length = one->ai_addrlen;
        std::memcpy(&place.storage, one->ai_addr, one->ai_addrlen);
        found.places.push_back(place);
    }
    return found;
}

inline owned_descriptor stream_socket(int family) {
    return owned_descriptor{::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
}

inline void set_option(int descriptor, int level, int option, int value) noexcept {
    ::setsockopt(descriptor, level, option, &value, sizeof value);
}

/// Connects, or gives a closed descriptor and says why in `problem`.
inline owned_descriptor connect_to(socket_place const& place, clock_point until, std::string& problem) {
    owned_descriptor made = stream_socket(place.get()->sa_family);
    auto const refuse = [&](int code) {
        problem = std::strerror(code);
        return owned_descriptor{};
    };
    if (!made.is_open()) return refuse(errno);
    if (::connect(made.get(), place.get(), place.length) != 0) {
        if (errno != EINPROGRESS && errno != EINTR) return refuse(errno);
        pollfd look{.fd = made.get(), .events = POLLOUT, .revents = 0};
        while (::poll(&look, 1, poll_milliseconds(until, std::chrono::milliseconds{500})) <= 0)
            if (std::chrono::steady_clock::now() >= until) return refuse(ETIMEDOUT);
        int code = 0;
        socklen_t length = sizeof code;
        if (::getsockopt(made.get(), SOL_SOCKET, SO_ERROR, &code, &length) != 0) code = errno;
        if (code != 0) return refuse(code);
    }
    // On one host, while nobody listens, a connection may meet itself if the system gave it the very port it calls.
    socket_place const here = own_place(made.get());
    if (here.port() == place.port() && address_of(here.get()) == address_of(peer_place(made.get()).get())) {
        linger const at_once{1, 0};
        ::setsockopt(made.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        return refuse(ECONNREFUSED);
    }
    set_option(made.get(), IPPROTO_TCP, TCP_NODELAY, 1);
    return made;
}

}  // namespace chorus::detail
