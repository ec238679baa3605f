// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <cstdint>
#include <string>

namespace CLI {
class App;
}

namespace bench {

/// The link and the ranks that compression would be for.
struct compression_link {
    std::string rate = "1Gbit";
    double latency_microseconds = 30;
    std::uint32_t ranks = 4;
};

/// What the advisor says of an all-reduce of so many bytes carried by `compressor`, from rates measured here and now on vectors of 16 MiB at most, and on
/// which links it pays.
std::string advice(std::string const& compressor, std::uint64_t bytes, compression_link const& over);

/// The command `compress`.
void add_compress(CLI::App& app);

}  // namespace bench
