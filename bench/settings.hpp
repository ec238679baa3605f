// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "bandwidth.hpp"
#include "pattern.hpp"
#include "sizes.hpp"
#include "statistics.hpp"

#include <chorus/base/types.hpp>
#include <chorus/schedule/algorithm.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace bench {

/// What the command line asks for.
struct settings {
    chorus::collective what = chorus::collective::all_reduce;
    std::string transport = "thread";
    chorus::rank_id ranks = 2;
    std::vector<std::string> algorithms{"automatic"};
    std::string element = "float";
    operation op = operation::sum;
    std::string bytes = "4:1M:x4";
    std::size_t warm_up = 5;
    std::size_t repeat = 30;
    chorus::rank_id root = 0;
    bool in_place = false;
    bool check = true;
    chorus::rank_id spoil = chorus::nobody;  ///< flips one byte of each result on this rank before it is checked
    std::string json;
};

/// One line of the table: one algorithm at one size. Times in seconds, each from the last rank's begin to the last
/// rank's end.
struct row {
    std::string algorithm;    ///< as asked for
    std::string chosen;       ///< with its parameters; what "automatic" came to
    std::uint64_t bytes = 0;  ///< really handed over: whole elements, and whole blocks where every rank has one
    std::uint64_t count = 0;  ///< elements
    summary time;
    std::uint64_t wrong = 0;  ///< elements, over all ranks and calls

    bandwidth rates(settings const& asked) const {
        return bandwidth_of(asked.what, asked.ranks, static_cast<double>(bytes), time.median);
    }
};

}  // namespace bench
