// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/transport/detail/socket.hpp"

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace chorus {

/// The socket on which rank 0 awaits the others. Made by itself where the port is not known beforehand: port 0 takes a
/// free one, which `port` tells.
///
/// `address`: an address of this host, or "localhost", listens there alone; any other name, or an address that this
/// host does not have (it may be translated on the way), on all addresses, IPv6 and IPv4. A port that another program
/// uses is tried for a second, for programs that are just ending; then, system_failed.
class tcp_listener {
 public:
    explicit tcp_listener(std::string const& address, std::uint16_t port = 0) {
        auto const until = std::chrono::steady_clock::now() + std::chrono::seconds{1};
        while (!try_to_listen(address, port)) {
            if (!is_in_use_ || std::chrono::steady_clock::now() >= until)
                detail::raise(errc::system_failed,
                              "cannot listen on port " + std::to_string(port) + " for " + address + ": " + problems_ +
                                  (is_in_use_ ? "; another program uses the port, end it or choose another port" : ""));
            std::this_thread::sleep_for(std::chrono::milliseconds{20});
        }
    }

    std::uint16_t port() const noexcept { return detail::own_place(socket_.get()).port(); }
    int descriptor() const noexcept { return socket_.get(); }
    bool is_open() const noexcept { return socket_.is_open(); }
    void close() { detail::owned_descriptor const closing{std::move(socket_)}; }

    friend std::string to_string(tcp_listener const& listener) {
        return to_string(detail::own_place(listener.socket_.get()));
    }

 private:
    bool try_to_listen(std::string const& address, std::uint16_t port) {
        is_in_use_ = false;
        problems_.clear();
        for (detail::socket_place const& place : places_for(address, port)) {
            if (listen_on(place)) return true;
            int const code = errno;
            problems_ += (problems_.empty() ? "" : ", ") + to_string(place) + ": " + std::strerror(code);
            is_in_use_ = code == EADDRINUSE;
            if (is_in_use_) return false;
        }
        return false;
    }

    std::vector<detail::socket_place> places_for(std::string const& address, std::uint16_t port) {
        std::vector<detail::socket_place> places;
        auto const parsed = detail::parse_address(address);
        if (parsed || address == "localhost") {
            auto const found = detail::resolve(address, port);
            places = found.places;
            problems_ = found.problem;
            if (!parsed || parsed->is_loopback()) return places;
        }
        for (char const* all : {"::", "0.0.0.0"})
            for (detail::socket_place const& place : detail::resolve(all, port).places) places.push_back(place);
        return places;
    }

    bool listen_on(detail::socket_place const& place) {
        detail::owned_descriptor made = detail::stream_socket(place.get()->sa_family);
        if (!made.is_open()) return false;
        detail::set_option(made.get(), SOL_SOCKET, SO_REUSEADDR, 1);
        if (place.get()->sa_family == AF_INET6) detail::set_option(made.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
        if (::bind(made.get(), place.get(), place.length) != 0 || ::listen(made.get(), SOMAXCONN) != 0) return false;
        socket_ = std::move(made);
        return true;
    }

    detail::owned_descriptor socket_;
    std::string problems_;
    bool is_in_use_ = false;
};

}  // namespace chorus
