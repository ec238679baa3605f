// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/schedule/detail/foreign_rows.hpp"
#include "chorus/schedule/detail/selection_text.hpp"
#include "chorus/schedule/selection_table.hpp"

#include <cstdint>
#include <istream>
#include <string>
#include <utility>
#include <vector>

namespace chorus {

/// A table made of rules that were written for another library, and what of them has no counterpart here: one line
/// each, which names the line of the text and says why. Rules of ours that would do as much may still be slow here:
/// such a table is a beginning for `tune`, not a result.
struct imported_table {
    selection_table table;
    std::vector<std::string> left_out;
};

/// Reads what Open MPI takes as coll_tuned_dynamic_rules_filename, in its form of numbers (versions 1 and 2):
///
///     [rule-file-version-N]
///     number of collectives, then for each: its id, number of communicator sizes, then for each of these:
///     the size, number of message sizes, then for each: bytes, algorithm, fan-out, segment bytes [, requests]
///
/// Numbers are apart by blanks or line ends; # begins a comment. A rule holds from its communicator size up to the next
/// and from its bytes up to the next. Algorithm 0 leaves the decision to the library and becomes no row. Segments are
/// counted in bytes there and per block here, so sizes of segments are not taken over.
/// Throws `invalid_argument` that names the line for what Open MPI would not read either.
inline imported_table import_open_mpi_rules(std::istream& text, std::string const& source = "rules") {
    detail::table_lines lines{text, source};
    detail::number_stream numbers{lines};
    detail::foreign_rows rows{lines};
    std::uint64_t const version = numbers.read_version();
    std::uint64_t const collectives = numbers.next("a number of collectives", 64);
    for (std::uint64_t c = 0; c < collectives; ++c) {
        std::uint64_t const id = numbers.next("the id of a collective", 63);
        std::uint64_t const sizes = numbers.next("a number of communicator sizes", 4096);
        std::vector<detail::open_mpi_rule> rules;
        for (std::uint64_t s = 0; s < sizes; ++s) detail::read_communicator(numbers, version, rules);
        detail::add_open_mpi_rules(id, rules, rows);
    }
    numbers.expect_end();
    return {std::move(rows.table), std::move(rows.left_out)};
}

/// Reads the table of NCCL's example tuner plugin:
///
///     collective,min bytes,max bytes,algorithm,protocol,channels,nodes,ranks[,pipeline operations[,registered buffer]]
///
/// with -1 for any, and # at the beginning of comments. The first line that matches wins there; rows here are cut so
/// that it does here as well. Protocols and channels have no counterpart and are ignored. `nodes`: lines for so many
/// nodes, or any, are taken; 0: lines for any. Lines for aggregated operations or registered buffers alone are left out,
/// and algorithms that need a switch (collnet, nvls).
/// Throws `invalid_argument` that names the line; unknown words are refused, where the plugin takes them for a default.
inline imported_table import_nccl_tuner(std::istream& text, std::string const& source = "tuner", std::int64_t nodes = 0) {
    detail::table_lines lines{text, source};
    detail::foreign_rows rows{lines};
    while (lines.next())
        if (!lines.rest().empty()) detail::add_nccl_line(lines, nodes, rows);
    return {std::move(rows.table), std::move(rows.left_out)};
}

}  // namespace chorus
