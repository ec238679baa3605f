// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/random.hpp"

#include <array>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

namespace chorus::detail {

/// A number that processes of one host have in common: of the running kernel (boot id), the host's name, and the process and
/// network namespaces. Processes that cannot see one another's process numbers, as in two containers, are on two hosts.
inline std::uint64_t host_identity() {
    std::uint64_t hash = 0;
    auto add = [&](std::uint64_t value) { hash = counter_random::mix(hash ^ (value + 0x9E3779B97F4A7C15u)); };
    auto add_text = [&](std::string_view text) {
        for (char c : text) add(static_cast<unsigned char>(c));
    };
    std::string boot;
    std::getline(std::ifstream{"/proc/sys/kernel/random/boot_id"}, boot);
    add_text(boot);
    std::array<char, HOST_NAME_MAX + 1> name{};
    if (::gethostname(name.data(), name.size() - 1) == 0) add_text(name.data());
    for (char const* space : {"/proc/self/ns/pid", "/proc/self/ns/net"}) {
        struct stat facts {};
        add(::stat(space, &facts) == 0 ? static_cast<std::uint64_t>(facts.st_ino) : 0);
    }
    return hash;
}

}  // namespace chorus::detail
