// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/transport/network_interface.hpp"

#include "suites/expected_error.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

using chorus::decide_interface;
using chorus::errc;
using chorus::interface_choice;
using chorus::ip_address;
using chorus::network_interface;

namespace {

ip_address at(std::string_view text) {
    auto const address = chorus::detail::parse_address(text);
    REQUIRE_MESSAGE(address, text);
    return *address;
}

network_interface face(std::string name, std::vector<std::string_view> addresses, bool is_up = true) {
    network_interface made{std::move(name), {}, is_up, false, false};
    for (auto text : addresses) made.addresses.push_back(at(text));
    made.is_loopback = made.name == "lo";
    made.is_container_bridge = chorus::detail::is_name_of_container_bridge(made.name);
    return made;
}

std::vector<network_interface> host() {
    return {face("lo", {"127.0.0.1", "::1"}),
            face("docker0", {"172.17.0.1"}),
            face("eth0", {}, false),
            face("eth1", {"fe80::1", "fd00::11", "10.1.2.3"}),
            face("eth2", {"10.2.2.3", "10.2.2.4"}),
            face("ib0", {"192.168.7.1"})};
}

std::string verdict(interface_choice const& choice, std::string_view name) {
    for (auto const& one : choice.candidates)
        if (one.face.name == name) return one.verdict;
    return "not listed";
}

}  // namespace

TEST_CASE("without a wish or a peer the first real interface is chosen, and each other one is told why not") {
    auto const present = host();
    auto const choice = decide_interface(present, {});
    CHECK(choice.name == "eth1");
    CHECK(choice.address == at("10.1.2.3"));
    CHECK(choice.candidates.size() == present.size());
    CHECK(verdict(choice, "lo") == "is the loopback");
    CHECK(verdict(choice, "docker0") == "is a bridge for containers");
    CHECK(verdict(choice, "eth0") == "is down");
    CHECK(verdict(choice, "eth1") == "chosen");
    CHECK(verdict(choice, "eth2").find("later") != std::string::npos);
    std::string const text = describe(choice);
    for (auto const& one : present) CHECK(text.find("\n  " + one.name) != std::string::npos);
    CHECK(text.find("eth1 10.1.2.3: " + choice.reason) == 0);
}

TEST_CASE("the kernel's way to the peer goes before the order of the list") {
    auto const choice = decide_interface(host(), {"", at("192.168.7.9"), at("192.168.7.1")});
    CHECK(choice.name == "ib0");
    CHECK(choice.address == at("192.168.7.1"));
    CHECK(choice.reason.find("192.168.7.9") != std::string::npos);
    CHECK(verdict(choice, "eth1").find("kernel") != std::string::npos);
    // Even where that is the loopback; and an address that no interface has decides nothing.
    CHECK(decide_interface(host(), {"", at("127.0.0.1"), at("127.0.0.1")}).name == "lo");
    CHECK(decide_interface(host(), {"", at("9.9.9.9"), at("8.8.8.8")}).name == "eth1");
}

TEST_CASE("the address is of the peer's family") {
    CHECK(decide_interface(host(), {"", at("fd00::99"), {}}).address == at("fd00::11"));
    CHECK(decide_interface(host(), {"", at("1.2.3.4"), {}}).address == at("10.1.2.3"));
    auto const choice = decide_interface(std::vector{face("eth2", {"10.2.2.3"})}, {"", at("fd00::99"), {}});
    CHECK(!choice.is_made());
    CHECK(verdict(choice, "eth2") == "has no IPv6 address");
    CHECK(describe(choice).find("none") == 0);
}

TEST_CASE("a wish is a name, the beginning of one, an address or a network, and goes before everything") {
    auto const by = [](std::string wish) {
        return decide_interface(host(), {std::move(wish), at("10.1.2.9"), at("10.1.2.3")});
    };
    CHECK(by("ib0").name == "ib0");
    CHECK(by("ib").name == "ib0");
    CHECK(by("eth").name == "eth1");  // eth0 is down
    CHECK(by("docker0").name == "docker0");
    CHECK(by("lo").name == "lo");
    CHECK(by("10.2.2.4").name == "eth2");
    CHECK(by("10.2.2.4").address == at("10.2.2.4"));
    CHECK(by("10.2.0.0/16").address == at("10.2.2.3"));
    CHECK(by("192.168.0.0/21").name == "ib0");
    CHECK(by("0.0.0.0/0").name == "lo");
    CHECK(verdict(by("ib"), "eth1") == "is not \"ib\", which was asked for");
    CHECK(by("ib").reason.find("\"ib\"") != std::string::npos);
    // An exact name is not the beginning of others.
    auto const twins = std::vector{face("eth10", {"10.0.0.10"}), face("eth1", {"10.0.0.1"})};
    CHECK(decide_interface(twins, {"eth1", {}, {}}).name == "eth1");
}

TEST_CASE("a wish that nothing fulfils is refused with the list of what there is") {
    for (char const* wish : {"eth0", "wlan", "10.9.0.0/16", "10.2.2.5", "192.168.8.0/21", "fd00::/8"}) {
        CAPTURE(wish);
        auto const call = [&] { decide_interface(host(), {wish, at("10.1.2.9"), {}}); };
        CHECK(suites::unlike(errc::invalid_argument,
                             {wish, "eth1 fe80::1 fd00::11 10.1.2.3", "eth0: is down", "docker0"}, call) == "");
    }
}

TEST_CASE("a host without interfaces has no choice") {
    CHECK(!decide_interface({}, {}).is_made());
    CHECK(!decide_interface(std::vector{face("lo", {"127.0.0.1"})}, {}).is_made());
}

TEST_CASE("addresses and networks are read and written") {
    for (char const* text :
         {"0.0.0.0", "255.255.255.255", "10.1.2.3", "::", "::1", "fe80::1", "2001:db8::8:800:200c:417a"})
        CHECK(to_string(at(text)) == text);
    for (char const* text : {"", "1.2.3", "1.2.3.4.5", "256.1.1.1", "node1", ":::", "fe80::1%eth0", "1.2.3.4 "})
        CHECK_MESSAGE(!chorus::detail::parse_address(text), text);
    for (char const* text : {"10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/8x", "::/129", "eth0", "/8", ""})
        CHECK_MESSAGE(!chorus::detail::parse_network(text), text);
    // A network of b bits holds an address exactly if the first b bits agree: flip each bit in turn.
    for (char const* base : {"10.1.2.3", "2001:db8::1"})
        for (unsigned bits = 0; bits <= at(base).length() * 8; ++bits) {
            auto const network = chorus::detail::parse_network(base + ('/' + std::to_string(bits)));
            REQUIRE(network);
            unsigned held = 0;
            for (unsigned i = 0; i < at(base).length() * 8; ++i) {
                ip_address other = at(base);
                other.bytes[i / 8] = static_cast<std::uint8_t>(other.bytes[i / 8] ^ (0x80u >> i % 8));
                held += network->holds(other) ? 1u : 0u;
            }
            CHECK(held == at(base).length() * 8 - bits);
        }
}

TEST_CASE("this host's interfaces are listed, and the way to the own loopback is the loopback") {
    auto const present = chorus::network_interfaces();
    auto const loopback = std::find_if(present.begin(), present.end(), [](auto const& one) { return one.is_loopback; });
    if (loopback == present.end() || !loopback->is_up) return;  // a host without
    auto const choice = chorus::choose_interface({}, "127.0.0.1");
    CHECK(choice.name == loopback->name);
    CHECK(choice.address == at("127.0.0.1"));
    CHECK(chorus::choose_interface(loopback->name).name == loopback->name);
    CHECK(choice.candidates.size() == present.size());
    CHECK(suites::unlike(errc::invalid_argument, {"node7", "address"}, [] { chorus::choose_interface({}, "node7"); }) ==
          "");
}
