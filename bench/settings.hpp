// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "bandwidth.hpp"
#include "carry.hpp"
#include "floors.hpp"
#include "measure.hpp"
#include "ranks.hpp"
#include "sizes.hpp"

#include <chorus/base/types.hpp>
#include <chorus/schedule/algorithm.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bench {

/// What the command line of chorus-bench asks for.
struct settings {
    std::string subject = "all_reduce";           ///< the command: a collective, perhaps with _v, or a message pattern
    chorus::collective what = chorus::collective::all_reduce;
    std::optional<message_pattern> pattern{};     ///< messages instead of a collective
    start where{.transport = "thread", .ranks = 2};
    std::vector<std::string> algorithms{"automatic"};
    std::string element = "float";
    operation op = operation::sum;
    std::string bytes = "4:1M:x4";
    chorus::rank_id root = 0;
    bool in_place = false;
    bool by_counts = false;
    bool uneven = false;
    bool versus_native = false;
    std::size_t window = 64;
    std::string carry{};                          ///< a compressor; empty: none
    sampling how{};
    floors limits{};
    std::string json{};
    std::string csv{};
    std::string plot{};
};

/// One line of the table: one algorithm at one size.
struct row {
    std::string element{};
    std::string algorithm{};  ///< as asked for
    std::string chosen{};     ///< with its parameters; what "automatic" came to
    std::uint64_t bytes = 0;  ///< really handed over: whole elements, and whole blocks where every rank has one
    std::uint64_t count = 0;  ///< elements
    timing taken{};
    std::optional<timing> native{};  ///< the transport's own collective, in turn with ours
    bandwidth rates{};        ///< of the median
    std::optional<carried_facts> carried{};

    std::uint64_t wrong() const noexcept { return taken.wrong + (native ? native->wrong : 0); }
};

}  // namespace bench
