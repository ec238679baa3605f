// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "floors.hpp"
#include "measure.hpp"
#include "ranks.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

/// One of the osu_ programs.
struct osu_program {
    std::string name;                        ///< osu_iallgatherv
    std::string title;                       ///< "Non-blocking Allgatherv Latency"
    chorus::collective what = chorus::collective::barrier;
    std::optional<message_pattern> pattern{};
    bool by_counts = false;
    bool overlaps = false;
    bool has_block_size = false;             ///< the size is that of each rank's block, not of the whole vector
};

/// Throws std::invalid_argument.
osu_program osu_program_named(std::string_view name);
std::vector<std::string> osu_program_names();

/// What the command line of an osu_ program asks for; defaults as in OSU 7.
struct osu_options {
    bool wants_help = false;
    bool wants_version = false;
    bool is_full = false;
    bool check = false;
    std::string log_folder;                  ///< -c log:FOLDER
    std::uint64_t smallest = 1;
    std::uint64_t largest = std::uint64_t{1} << 20;
    std::optional<std::size_t> iterations;
    std::optional<std::size_t> warm_up;
    std::uint64_t memory = std::uint64_t{512} << 20;
    std::size_t rehearsals = 5;
    std::size_t advances = 0;
    std::size_t array = 32;
    std::optional<chorus::rank_id> root = 0; ///< none: it rotates
    bool in_place = false;
    std::vector<std::pair<std::string, std::string>> types{{"MPI_CHAR", "int8"}};  ///< as shown, and the element
    std::vector<unsigned> percentiles;
    std::size_t window = 64;
    bool own_buffers = false;                ///< -b multiple

    // not OSU's: long names only
    start where{.transport = "", .ranks = 0};
    std::string algorithm = "automatic";
    operation op = operation::sum;
    std::string carry;                       ///< a compressor; empty: none
    bool off_cache = false;
    floors limits;
    std::string json;
    std::string csv;
    chorus::rank_id spoil = chorus::nobody;

    std::size_t iterations_for(std::uint64_t bytes) const {
        return iterations.value_or(bytes > large_from ? large_iterations : small_iterations);
    }
    std::size_t warm_up_for(std::uint64_t bytes) const {
        return warm_up.value_or(bytes > large_from ? large_warm_up : small_warm_up);
    }

    // where -i and -x are not given
    static constexpr std::uint64_t large_from = 8192;
    std::size_t small_iterations = 1000;
    std::size_t large_iterations = 100;
    std::size_t small_warm_up = 100;
    std::size_t large_warm_up = 10;
};

/// Throws std::invalid_argument for what is unknown, malformed, or offered by OSU but not here.
osu_options parse_osu_options(osu_program const& program, std::vector<std::string> const& arguments);

std::string osu_usage(osu_program const& program);

}  // namespace bench
