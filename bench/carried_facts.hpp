// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bench {

/// What a compressor did to a collective that it carried.
struct carried_facts {
    std::string compressor{};
    std::vector<std::uint64_t> wire_bytes{};  ///< that each rank sends in a call, rooms for the longest messages and lengths included
    double ratio = 1;                         ///< of what all ranks send uncompressed by the same algorithm to that
    std::optional<double> error{};            ///< the greatest of the ranks' relative errors of a result of gradients; none: not looked at
    std::string checked{};                    ///< how, in words
};

}  // namespace bench
