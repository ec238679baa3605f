// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/transport/tcp_listener.hpp"

#include "suites/expected_error.hpp"
#include "suites/tcp_ranks.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include <doctest/doctest.h>

using chorus::errc;
using chorus::tcp_listener;

namespace {

bool accepts(char const* address, std::uint16_t port) {
    std::string problem;
    auto const place = chorus::detail::resolve(address, port).places.at(0);
    return chorus::detail::connect_to(place, std::chrono::steady_clock::now() + suites::enough, problem).is_open();
}

}  // namespace

TEST_CASE("port 0 takes a free one and tells it; closed, it does not answer any more") {
    tcp_listener first{"127.0.0.1"};
    tcp_listener const second{"127.0.0.1"};
    std::uint16_t const port = first.port();
    CHECK(port != 0);
    CHECK(port != second.port());
    CHECK(to_string(first) == "127.0.0.1:" + std::to_string(port));
    CHECK(accepts("127.0.0.1", port));
    CHECK(!accepts("127.0.0.2", port));
    first.close();
    CHECK(!first.is_open());
    CHECK(!accepts("127.0.0.1", port));
}

TEST_CASE("a port in use is named, and waited for a little") {
    std::optional<tcp_listener> stranger{std::in_place, "127.0.0.1"};
    std::uint16_t const port = stranger->port();
    CHECK(suites::unlike(errc::system_failed, {std::to_string(port), "another program uses the port"}, [&] {
              tcp_listener{"127.0.0.1", port};
          }) == "");
    std::jthread const ending{[&] {
        std::this_thread::sleep_for(std::chrono::milliseconds{100});
        stranger.reset();
    }};
    tcp_listener const next{"127.0.0.1", port};
    CHECK(next.port() == port);
}

TEST_CASE("an address that this host does not have, or a name, is listened for on all") {
    for (char const* address : {"203.0.113.254", "a-name.invalid"}) {  // both set aside for documents
        tcp_listener const listener{address};
        std::string const where = to_string(listener);
        CHECK_MESSAGE((where.find("[::]") == 0 || where.find("0.0.0.0") == 0), where);
        CHECK(accepts("127.0.0.1", listener.port()));
    }
}

TEST_CASE("a refused listener leaves no descriptor behind") {
    tcp_listener const stranger{"127.0.0.1"};
    std::size_t const before = suites::open_descriptors();
    CHECK(suites::error_of([&] { tcp_listener{"127.0.0.1", stranger.port()}; }));
    CHECK(suites::open_descriptors() == before);
}
