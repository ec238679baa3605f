// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "sizes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace bench {

/// Bytes of the largest cache of the first core, as the system reports it; 32 MiB where it does not.
inline std::uint64_t largest_cache() {
    std::uint64_t largest = 0;
    for (char index = '0'; index < '8'; ++index) {
        std::ifstream file{std::string{"/sys/devices/system/cpu/cpu0/cache/index"} + index + "/size"};
        std::string text;
        if (file >> text) largest = (std::max)(largest, parse_size(text));
    }
    return largest == 0 ? std::uint64_t{32} << 20 : largest;
}

/// Displaces what the caches hold by writing to twice as much memory; at most 64 MiB.
class cache_displacer {
 public:
    cache_displacer() : memory_((std::min)(2 * largest_cache(), std::uint64_t{64} << 20)) {}

    void displace() {
        ++turn_;
        for (std::size_t at = 0; at < memory_.size(); at += 64) memory_[at] = static_cast<std::byte>(turn_);
    }

    std::size_t bytes() const noexcept { return memory_.size(); }

 private:
    std::vector<std::byte> memory_;
    unsigned turn_ = 0;
};

}  // namespace bench
