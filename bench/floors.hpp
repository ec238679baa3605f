// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace bench {

/// What a run must reach at every size; a run that does not ends with the exit code 1.
struct floors {
    std::optional<double> gigabytes_per_second;  ///< at least: bus bandwidth, 1 GB = 10^9 bytes
    std::optional<double> microseconds;          ///< at most

    /// Empty, or what was missed and by what.
    std::string missed(std::uint64_t bytes, double bus_gigabytes, double seconds) const {
        std::string const at = " at " + std::to_string(bytes) + " bytes";
        if (gigabytes_per_second && !(bus_gigabytes >= *gigabytes_per_second))
            return std::to_string(bus_gigabytes) + " GB/s" + at + ", expected at least " +
                   std::to_string(*gigabytes_per_second);
        if (microseconds && !(1e6 * seconds <= *microseconds))
            return std::to_string(1e6 * seconds) + " us" + at + ", expected at most " + std::to_string(*microseconds);
        return {};
    }
};

}  // namespace bench
