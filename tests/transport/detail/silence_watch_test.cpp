// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/transport/detail/silence_watch.hpp"

#include "chorus/transport/detail/shared_region.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

using chorus::detail::host_address;
using chorus::detail::owned_descriptor;
using chorus::detail::silence_watch;

namespace {

constexpr host_address here{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 127, 0, 0, 1};
constexpr host_address elsewhere{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 192, 0, 2, 1};

sockaddr_in loopback(in_port_t port) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = port;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return at;
}

struct connection {
    owned_descriptor listener{::socket(AF_INET, SOCK_STREAM, 0)};
    owned_descriptor out{::socket(AF_INET, SOCK_STREAM, 0)};
    owned_descriptor in;

    connection() {
        sockaddr_in at = loopback(0);
        socklen_t length = sizeof at;
        REQUIRE(::bind(listener.get(), reinterpret_cast<sockaddr*>(&at), sizeof at) == 0);
        REQUIRE(::listen(listener.get(), 1) == 0);
        REQUIRE(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&at), &length) == 0);
        REQUIRE(::connect(out.get(), reinterpret_cast<sockaddr*>(&at), sizeof at) == 0);
        in = owned_descriptor{::accept(listener.get(), nullptr, nullptr)};
        ::fcntl(out.get(), F_SETFL, O_NONBLOCK);
    }
};

}  // namespace

// That a silent host is noticed is tested where there are cables: networks.ucx_silence.

TEST_CASE("whoever acknowledges but does not read is not silent") {
    connection full;
    std::vector<std::byte> const much(1 << 16);
    while (::send(full.out.get(), much.data(), much.size(), MSG_NOSIGNAL) > 0) {}
    silence_watch watch{{{here}, {elsewhere}}, std::chrono::milliseconds{50}};
    for (int look = 0; look < 80; ++look) {  // the kernel asks for room again and again meanwhile
        CHECK_FALSE(watch.is_silent(0));
        CHECK_FALSE(watch.is_silent(1));
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
    }
}

TEST_CASE("connections may come, go and be replaced by other files") {
    silence_watch watch{{{here}}, std::chrono::milliseconds{1}};
    CHECK_FALSE(watch.is_silent(0));
    for (int turn = 0; turn < 3; ++turn) {
        connection one;
        std::this_thread::sleep_for(std::chrono::milliseconds{400});
        CHECK_FALSE(watch.is_silent(0));
        one.out = owned_descriptor{::open("/dev/null", O_RDWR)};
        one.in = owned_descriptor{::socket(AF_UNIX, SOCK_STREAM, 0)};
        CHECK_FALSE(watch.is_silent(0));
    }
    CHECK_FALSE(silence_watch{{{}}, std::chrono::milliseconds{1}}.is_silent(0));
}

TEST_CASE("what a host tells of itself leads to it from elsewhere") {
    for (host_address const& one : chorus::detail::own_addresses()) CHECK(one != here);
}
