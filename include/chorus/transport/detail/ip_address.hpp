// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace chorus::detail {

/// An IPv4 or IPv6 address without its port. An IPv4 address in IPv6 clothes (::ffff:a.b.c.d) is the IPv4 address.
struct ip_address {
    std::array<std::uint8_t, 16> bytes{};  ///< the first `length()` count; network order
    bool is_v6 = false;

    std::size_t length() const noexcept { return is_v6 ? 16 : 4; }
    bool is_loopback() const noexcept {
        if (!is_v6) return bytes[0] == 127;
        return bytes == std::array<std::uint8_t, 16>{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    }
    bool is_link_local() const noexcept { return is_v6 && bytes[0] == 0xFE && (bytes[1] & 0xC0) == 0x80; }

    friend bool operator==(ip_address const&, ip_address const&) = default;
};

inline std::string to_string(ip_address const& address) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    ::inet_ntop(address.is_v6 ? AF_INET6 : AF_INET, address.bytes.data(), text.data(), text.size());
    return text.data();
}

inline std::optional<ip_address> parse_address(std::string_view text) {
    std::string const whole{text};
    ip_address address;
    address.is_v6 = whole.find(':') != std::string::npos;
    if (::inet_pton(address.is_v6 ? AF_INET6 : AF_INET, whole.c_str(), address.bytes.data()) != 1) return std::nullopt;
    return address;
}

/// Nothing if it is of neither family.
inline std::optional<ip_address> address_of(sockaddr const* from) {
    ip_address address;
    if (from != nullptr && from->sa_family == AF_INET) {
        std::memcpy(address.bytes.data(), &reinterpret_cast<sockaddr_in const*>(from)->sin_addr, 4);
        return address;
    }
    if (from == nullptr || from->sa_family != AF_INET6) return std::nullopt;
    in6_addr const& wide = reinterpret_cast<sockaddr_in6 const*>(from)->sin6_addr;
    address.is_v6 = !IN6_IS_ADDR_V4MAPPED(&wide);
    if (address.is_v6) std::memcpy(address.bytes.data(), &wide, 16);
    else std::memcpy(address.bytes.data(), reinterpret_cast<std::uint8_t const*>(&wide) + 12, 4);
    return address;
}

/// All addresses that begin with the same bits, "10.1.0.0/16"; without a length, the one address.
struct ip_network {
    ip_address base;
    unsigned bits = 0;

    bool holds(ip_address const& address) const noexcept {
        if (address.is_v6 != base.is_v6) return false;
        for (unsigned i = 0; i < bits; ++i) {
            unsigned const differing = static_cast<unsigned>(address.bytes[i / 8] ^ base.bytes[i / 8]);
            if ((differing >> (7 - i % 8) & 1u) != 0) return false;
        }
        return true;
    }
};

inline std::optional<ip_network> parse_network(std::string_view text) {
    auto const slash = text.find('/');
    auto const base = parse_address(text.substr(0, slash));
    if (!base) return std::nullopt;
    ip_network network{*base, static_cast<unsigned>(base->length() * 8)};
    if (slash == std::string_view::npos) return network;
    std::string_view const length = text.substr(slash + 1);
    unsigned bits = 0;
    auto const [end, problem] = std::from_chars(length.data(), length.data() + length.size(), bits);
    if (length.empty() || problem != std::errc{} || end != length.data() + length.size() || bits > network.bits)
        return std::nullopt;
    network.bits = bits;
    return network;
}

}  // namespace chorus::detail
