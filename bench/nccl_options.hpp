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

/// One of the _perf programs.
struct nccl_program {
    std::string_view name;
    chorus::collective what;
    bool is_shift = false;  ///< sendrecv: every rank sends to the next one

    bool reduces() const { return !is_shift && chorus::has_reduction(what); }
    bool has_root() const { return !is_shift && chorus::has_root(what); }
    /// Whether the size asked for is that of a block per rank, all together, and the count that of one block.
    bool has_blocks() const { return !is_shift && chorus::has_block_per_rank(what); }
    /// In one buffer all-to-all and a shift are not offered.
    bool has_in_place() const { return !is_shift && what != chorus::collective::all_to_all; }
};

/// Throws std::invalid_argument.
nccl_program nccl_program_named(std::string_view name);

/// What the command line of a _perf program asks for; defaults as in nccl-tests.
struct nccl_options {
    bool wants_help = false;
    std::size_t threads = 1;
    std::size_t per_thread = 1;              ///< -g
    std::uint64_t smallest = std::uint64_t{32} << 20;
    std::uint64_t largest = std::uint64_t{32} << 20;
    std::uint64_t step = std::uint64_t{1} << 20;
    double factor = 0;                       ///< above 1: instead of the step
    std::size_t iterations = 20;
    std::size_t aggregated = 1;
    std::size_t warm_up = 1;
    std::size_t cycles = 1;                  ///< 0: for ever
    std::vector<std::pair<std::string, operation>> operations{{"sum", operation::sum}};
    std::vector<std::pair<std::string, std::string>> types{{"float", "float"}};  ///< as shown, and the element
    std::optional<chorus::rank_id> root = 0; ///< none: all, one after another
    std::size_t check_calls = 1;             ///< 0: results are not looked at
    unsigned blocking = 0;
    unsigned average = 1;                    ///< 0: rank 0, 1: mean, 2: least, 3: greatest of the ranks' times
    std::uint64_t unaligned = 0;
    bool parallel_init = false;
    bool per_iteration = false;
    std::size_t skipped = 0;                 ///< -K: iterations not counted in those numbers
    bool stamps = false;
    std::string json;
    std::optional<double> least_bus;         ///< NCCL_TESTS_MIN_BW: the mean bus bandwidth may be a tenth below it

    // not those of nccl-tests: long names only
    start where{.transport = "", .ranks = 0};
    std::string algorithm = "automatic";
    std::string carry;                       ///< a compressor; empty: none
    floors limits;
    chorus::rank_id spoil = chorus::nobody;
};

/// Reads the environment too. Whether the program's collective can be carried, `expect_carried` says. Throws std::invalid_argument for what is unknown, malformed, or offered there but not here.
nccl_options parse_nccl_options(std::vector<std::string> const& arguments);

/// Throws std::invalid_argument for operations and types of the program that no compressor carries, if one is asked for.
void expect_carried(nccl_program const& program, nccl_options const& asked);

/// "8", "1K", "1.5M", "2g": powers of 1024, fractions allowed. Throws std::invalid_argument.
std::uint64_t parse_nccl_size(std::string const& text);

/// The sizes from the smallest to the largest, both included where the step hits the largest.
std::vector<std::uint64_t> nccl_sizes(nccl_options const& asked);

std::string nccl_usage(std::string_view program);

}  // namespace bench
