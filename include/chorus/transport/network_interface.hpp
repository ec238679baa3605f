// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/error.hpp"
#include "chorus/transport/detail/ip_address.hpp"
#include "chorus/transport/detail/owned_descriptor.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <sys/socket.h>

namespace chorus {

using detail::ip_address;

/// A way from this host to others.
struct network_interface {
    std::string name;
    std::vector<ip_address> addresses;
    bool is_up = false;
    bool is_loopback = false;
    bool is_container_bridge = false;  ///< judged by its name: docker0, br-4f…, cni0, virbr0 and the like
};

/// What became of one interface when one was to be chosen.
struct interface_candidate {
    network_interface face;
    std::string verdict;
};

/// The interface that was chosen, and why; or why none was.
struct interface_choice {
    std::string name;    ///< "" if none would do
    ip_address address;  ///< of that interface; meaningless if there is none
    std::string reason;
    std::vector<interface_candidate> candidates;  ///< all interfaces of this host, as the system lists them

    bool is_made() const noexcept { return !name.empty(); }
};

/// Several lines: what was chosen and why, and for each other interface why not.
inline std::string describe(interface_choice const& choice) {
    std::string text = choice.is_made() ? choice.name + ' ' + to_string(choice.address) + ": " + choice.reason
                                        : "none: " + choice.reason;
    for (interface_candidate const& one : choice.candidates) {
        text += "\n  " + one.face.name;
        for (ip_address const& address : one.face.addresses) text += ' ' + to_string(address);
        text += ": " + one.verdict;
    }
    return text;
}

/// What is asked of the choice. Everything may be left out.
struct interface_wish {
    std::string named;  ///< a name (eth0), an address (10.1.2.3), a network (10.1.0.0/16) or a beginning (eth)
    std::optional<ip_address> peer;    ///< whom to reach: the address chosen is of the same family
    std::optional<ip_address> routed;  ///< the own address from which the kernel would send to the peer
};

namespace detail {

/// Bridges that container engines and hypervisors make for guests of this host, and the host's ends of their cables.
inline bool is_name_of_container_bridge(std::string_view name) {
    constexpr std::array<std::string_view, 14> beginnings{"docker", "br-",   "virbr",  "lxcbr",   "lxdbr",
                                                          "cni",    "cbr",   "podman", "flannel", "kube-",
                                                          "cali",   "weave", "vmnet",  "vboxnet"};
    return std::any_of(beginnings.begin(), beginnings.end(),
                       [&](std::string_view start) { return name.starts_with(start); });
}

/// Which interfaces a wish means, and how it was read.
class wish_matcher {
 public:
    wish_matcher(std::string_view named, std::span<network_interface const> present)
        : named_{named}, network_{parse_network(named)} {
        is_name_ = std::any_of(present.begin(), present.end(), [&](auto const& face) { return face.name == named; });
    }

    bool wants(network_interface const& face) const {
        if (is_name_) return face.name == named_;
        if (network_)
            return std::any_of(face.addresses.begin(), face.addresses.end(),
                               [&](auto const& a) { return network_->holds(a); });
        return face.name.starts_with(named_);
    }

    bool wants(ip_address const& address) const { return is_name_ || !network_ || network_->holds(address); }

 private:
    std::string_view named_;
    std::optional<ip_network> network_;
    bool is_name_ = false;
};

/// The first fitting address of an interface: of the peer's family, if there is a peer, else IPv4 before IPv6;
/// link-local ones last.
template <class Fits>
std::optional<ip_address> pick_address(network_interface const& face, std::optional<ip_address> const& peer,
                                       Fits const& fits) {
    std::optional<ip_address> best;
    auto const rank_of = [](ip_address const& a) { return a.is_link_local() ? 2 : a.is_v6 ? 1 : 0; };
    for (ip_address const& address : face.addresses)
        if (fits(address) && (!peer || peer->is_v6 == address.is_v6) && (!best || rank_of(address) < rank_of(*best)))
            best = address;
    return best;
}

/// Goes through the interfaces once; each gets its verdict, the first that is fit by the rule in force is chosen.
class interface_decision {
 public:
    interface_decision(std::span<network_interface const> present, interface_wish const& wish)
        : present_{present}, wish_{wish}, matcher_{wish.named, present} {
        is_routed_ = std::any_of(present.begin(), present.end(),
                                 [&](auto const& face) { return face.is_up && owns_route(face); });
    }

    interface_choice make() {
        for (network_interface const& face : present_) choice_.candidates.push_back({face, verdict_on(face)});
        if (!choice_.is_made()) choice_.reason = "no interface would do";
        return choice_;
    }

 private:
    bool owns_route(network_interface const& face) const {
        return wish_.routed &&
               std::find(face.addresses.begin(), face.addresses.end(), *wish_.routed) != face.addresses.end();
    }

    std::string verdict_on(network_interface const& face) {
        if (!face.is_up) return "is down";
        if (!wish_.named.empty()) {
            if (!matcher_.wants(face)) return "is not \"" + wish_.named + "\", which was asked for";
            auto const address = pick_address(face, wish_.peer, [&](auto const& a) { return matcher_.wants(a); });
            return choose(face, address, "asked for by \"" + wish_.named + '"');
        }
        if (is_routed_) {
            if (!owns_route(face)) return "is not on the kernel's way to the peer";
            return choose(face, wish_.routed,
                          "the kernel's way to " + (wish_.peer ? to_string(*wish_.peer) : std::string{"the peer"}));
        }
        if (face.is_loopback) return "is the loopback";
        if (face.is_container_bridge) return "is a bridge for containers";
        return choose(face, pick_address(face, wish_.peer, [](auto const&) { return true; }),
                      "the first that is up and neither the loopback nor a bridge for containers");
    }

    std::string choose(network_interface const& face, std::optional<ip_address> const& address,
                       std::string const& reason) {
        if (!address)
            return !wish_.peer ? "has no address" : wish_.peer->is_v6 ? "has no IPv6 address" : "has no IPv4 address";
        if (choice_.is_made()) return "would do as well, but comes later";
        choice_.name = face.name;
        choice_.address = *address;
        choice_.reason = reason;
        return "chosen";
    }

    std::span<network_interface const> present_;
    interface_wish const& wish_;
    wish_matcher matcher_;
    bool is_routed_ = false;
    interface_choice choice_;
};

}  // namespace detail

/// The decision alone, for any list of interfaces. In this order: what is wished for by name; the interface that owns
/// the address from which the kernel would send; the first that is up, not the loopback, no container bridge and has an
/// address that fits the peer. A wish that nothing fulfils is invalid_argument; without a wish, none may be chosen.
inline interface_choice decide_interface(std::span<network_interface const> present, interface_wish const& wish) {
    interface_choice const choice = detail::interface_decision{present, wish}.make();
    if (!choice.is_made() && !wish.named.empty())
        detail::raise(
            errc::invalid_argument,
            "no network interface fits \"" + wish.named +
                "\" (a name, the beginning of one, an address, or a network like 10.0.0.0/8): " + describe(choice));
    return choice;
}

/// The interfaces of this host as the system lists them, with their IPv4 and IPv6 addresses. Raises system_failed.
inline std::vector<network_interface> network_interfaces() {
    ifaddrs* all = nullptr;
    if (::getifaddrs(&all) != 0) detail::raise_system("listing the network interfaces");
    std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> const release{all, &::freeifaddrs};
    std::vector<network_interface> found;
    for (ifaddrs const* one = all; one != nullptr; one = one->ifa_next) {
        auto face =
            std::find_if(found.begin(), found.end(), [&](auto const& known) { return known.name == one->ifa_name; });
        if (face == found.end()) {
            found.push_back({one->ifa_name,
                             {},
                             (one->ifa_flags & IFF_UP) != 0,
                             (one->ifa_flags & IFF_LOOPBACK) != 0,
                             detail::is_name_of_container_bridge(one->ifa_name)});
            face = found.end() - 1;
        }
        if (auto const address = detail::address_of(one->ifa_addr)) face->addresses.push_back(*address);
    }
    return found;
}

/// The own address from which the kernel would send to `peer`; nothing if it knows no way. Sends nothing.
inline std::optional<ip_address> routed_address(ip_address const& peer) {
    detail::owned_descriptor const probe{::socket(peer.is_v6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    sockaddr_storage place{};
    socklen_t length = 0;
    if (peer.is_v6) {
        auto& to = reinterpret_cast<sockaddr_in6&>(place);
        to.sin6_family = AF_INET6;
        to.sin6_port = htons(9);  // any: nothing is sent
        std::memcpy(&to.sin6_addr, peer.bytes.data(), 16);
        length = sizeof to;
    } else {
        auto& to = reinterpret_cast<sockaddr_in&>(place);
        to.sin_family = AF_INET;
        to.sin_port = htons(9);
        std::memcpy(&to.sin_addr, peer.bytes.data(), 4);
        length = sizeof to;
    }
    auto* const generic = reinterpret_cast<sockaddr*>(&place);
    if (!probe.is_open() || ::connect(probe.get(), generic, length) != 0) return std::nullopt;
    length = sizeof place;
    if (::getsockname(probe.get(), generic, &length) != 0) return std::nullopt;
    return detail::address_of(generic);
}

/// Chooses by `named` ("": no wish), else by the kernel's way to `peer` (an address; "": none in particular), else by
/// the rules of `decide_interface`. Errors: invalid_argument if nothing fits the wish, or `peer` is no address.
inline interface_choice choose_interface(std::string_view named = {}, std::string_view peer = {}) {
    interface_wish wish{std::string{named}, {}, {}};
    if (!peer.empty()) {
        wish.peer = detail::parse_address(peer);
        if (!wish.peer)
            detail::raise(errc::invalid_argument, "\"" + std::string{peer} + "\" is no IPv4 or IPv6 address");
        wish.routed = routed_address(*wish.peer);
    }
    return decide_interface(network_interfaces(), wish);
}

}  // namespace chorus
