// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/error.hpp"
#include "chorus/schedule/algorithms.hpp"
#include "chorus/schedule/detail/foreign_names.hpp"
#include "chorus/schedule/detail/selection_text.hpp"
#include "chorus/schedule/selection_table.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace chorus::detail {

/// Collects rows of which the first that matches counts, as a table in which no two match.
class foreign_rows {
 public:
    explicit foreign_rows(table_lines const& lines) : lines_{lines} { table.source = lines.source(); }

    selection_table table;
    std::vector<std::string> left_out;

    void leave_out(std::uint32_t line, std::string const& why) {
        left_out.push_back(lines_.source() + " line " + std::to_string(line) + ": " + why);
    }

    /// Adds what earlier rows leave of it: none, one or several rows.
    void add(selection_row const& row) {
        if (++given_ > selection_table::most_rows)
            lines_.refuse("one rule more", "at most " + std::to_string(selection_table::most_rows));
        std::vector<selection_row> rest{row};
        for (selection_row const& earlier : table.rows()) {
            std::vector<selection_row> next;
            for (selection_row const& piece : rest) cut(piece, earlier, next);
            rest = std::move(next);
            if (rest.empty()) return leave_out(row.line, "earlier lines answer all that \"" + to_string(row) + "\" would");
        }
        for (selection_row& piece : rest) lines_.attempt([&] { table.add(std::move(piece)); });
    }

 private:
    /// What is left of `row` beside `other`: the sides below and above in ranks, then in bytes.
    static void cut(selection_row row, selection_row const& other, std::vector<selection_row>& left) {
        if (!row.overlaps(other)) return left.push_back(std::move(row));
        auto keep = [&](auto change) {
            selection_row piece = row;
            change(piece);
            left.push_back(std::move(piece));
        };
        if (row.ranks_from < other.ranks_from) keep([&](selection_row& p) { p.ranks_to = other.ranks_from - 1; });
        if (row.ranks_to > other.ranks_to) keep([&](selection_row& p) { p.ranks_from = other.ranks_to + 1; });
        row.ranks_from = (std::max)(row.ranks_from, other.ranks_from);
        row.ranks_to = (std::min)(row.ranks_to, other.ranks_to);
        if (row.bytes_from < other.bytes_from) keep([&](selection_row& p) { p.bytes_to = other.bytes_from - 1; });
        if (row.bytes_to > other.bytes_to) keep([&](selection_row& p) { p.bytes_from = other.bytes_to + 1; });
    }

    table_lines const& lines_;
    std::size_t given_ = 0;
};

/// Whole numbers one after another, over line ends.
class number_stream {
 public:
    explicit number_stream(table_lines& lines) : lines_{lines} {}

    std::uint64_t next(char const* expected, std::uint64_t most = selection_row::any_bytes) {
        if (!find()) lines_.refuse("the end of the text", expected);
        std::string_view const word = lines_.word(expected);
        auto const value = whole_number<std::uint64_t>(word);
        if (!value || *value > most)
            lines_.refuse(table_lines::quoted(word), std::string{expected} +
                                                         (value ? ", at most " + std::to_string(most) : ", a whole number"));
        return *value;
    }

    /// The version that the first word says; 1 without one.
    std::uint64_t read_version() {
        constexpr std::string_view head = "rule-file-version-";
        if (!find() || !lines_.rest().starts_with(head)) return 1;
        std::string_view const word = lines_.word("a version");
        auto const version = whole_number<std::uint64_t>(word.substr(head.size()));
        if (!version || *version < 1 || *version > 2)
            lines_.refuse(table_lines::quoted(word), "version 1 or 2; the form of version 3 is JSON");
        return *version;
    }

    bool has_more_on_line() const noexcept { return !lines_.rest().empty(); }
    std::uint32_t line() const noexcept { return lines_.number(); }
    [[noreturn]] void refuse(std::string const& found, std::string const& expected) const { lines_.refuse(found, expected); }

    void expect_end() {
        if (find()) lines_.refuse(table_lines::quoted(lines_.rest()), "the end: all that was announced has been read");
    }

 private:
    bool find() {
        while (lines_.rest().empty())
            if (!lines_.next()) return false;
        return true;
    }

    table_lines& lines_;
};

struct open_mpi_rule {
    std::uint32_t line = 0;
    rank_id ranks = 0;
    std::uint64_t bytes = 0;
    std::uint64_t bytes_to = 0;
    std::uint64_t algorithm = 0;
};

/// The rules of one size of communicator.
inline void read_communicator(number_stream& numbers, std::uint64_t version, std::vector<open_mpi_rule>& rules) {
    auto const ranks = static_cast<rank_id>(numbers.next("a communicator size", 0x7FFFFFFF));
    if (!rules.empty() && ranks <= rules.back().ranks)
        numbers.refuse(std::to_string(ranks), "communicator sizes in ascending order");
    std::uint64_t const messages = numbers.next("a number of message sizes", 4096);
    if (messages == 0) rules.push_back({numbers.line(), ranks, 0, selection_row::any_bytes, 0});
    for (std::uint64_t m = 0; m < messages; ++m) {
        open_mpi_rule rule{.ranks = ranks, .bytes = numbers.next("a message size"), .bytes_to = selection_row::any_bytes};
        rule.line = numbers.line();
        if (m == 0 && rule.bytes != 0) numbers.refuse(std::to_string(rule.bytes), "0 as the first message size");
        if (m > 0 && rule.bytes <= rules.back().bytes)
            numbers.refuse(std::to_string(rule.bytes), "message sizes in ascending order");
        if (m > 0) rules.back().bytes_to = rule.bytes - 1;
        rule.algorithm = numbers.next("the id of an algorithm", 1000);
        numbers.next("a fan-out");
        numbers.next("a segment size");
        if (version > 1 && numbers.has_more_on_line()) numbers.next("a number of requests");
        rules.push_back(rule);
    }
}

inline foreign_algorithm const* open_mpi_algorithm(std::uint64_t collective_id, std::uint64_t algorithm_id) {
    for (foreign_algorithm const& known : open_mpi_algorithms)
        if (known.collective_id == collective_id && known.algorithm_id == algorithm_id) return &known;
    return nullptr;
}

/// Rules of one collective, in ascending order of ranks, then of bytes.
inline void add_open_mpi_rules(std::uint64_t id, std::vector<open_mpi_rule> const& rules, foreign_rows& rows) {
    foreign_collective const* what = nullptr;
    for (foreign_collective const& known : open_mpi_collectives)
        if (known.id == id) what = &known;
    for (std::size_t i = 0; i < rules.size(); ++i) {
        open_mpi_rule const& rule = rules[i];
        if (what == nullptr || !what->ours) {
            rows.leave_out(rule.line, "collective " + std::to_string(id) + " has no counterpart");
            continue;
        }
        if (rule.algorithm == 0) continue;
        bool const is_scan = what->ours == collective::scan || what->ours == collective::exclusive_scan;
        if (is_scan && (rule.bytes != 0 || rule.bytes_to != selection_row::any_bytes)) {
            rows.leave_out(rule.line, "message sizes of " + std::string{what->theirs} + " do not count the elements");
            continue;
        }
        foreign_algorithm const* const algorithm = open_mpi_algorithm(id, rule.algorithm);
        if (algorithm == nullptr || algorithm->ours.empty()) {
            rows.leave_out(rule.line, "algorithm " + std::to_string(rule.algorithm) +
                                          (algorithm ? " (" + std::string{algorithm->theirs} + ')' : "") + " of " +
                                          std::string{what->theirs} + " has no counterpart");
            continue;
        }
        std::size_t next = i;
        while (next < rules.size() && rules[next].ranks == rule.ranks) ++next;
        rank_id const ranks_to = next < rules.size() ? rules[next].ranks - 1 : selection_row::any_ranks;
        rank_id const ranks_from = (std::max)(rule.ranks, rank_id{1});
        if (ranks_from <= ranks_to)
            rows.add({*what->ours, "*", ranks_from, ranks_to, rule.bytes, rule.bytes_to,
                      algorithm_named(algorithm->ours), rule.line});
    }
}

/// A whole number that may be -1 for any.
inline std::int64_t nccl_number(table_lines const& lines, std::string_view text, char const* expected) {
    auto const value = whole_number<std::int64_t>(text);
    if (!value || *value < -1) lines.refuse(table_lines::quoted(text), expected);
    return *value;
}

inline void add_nccl_line(table_lines& lines, std::int64_t nodes, foreign_rows& rows) {
    std::vector<std::string_view> fields;
    std::string_view const whole = lines.rest();
    do fields.push_back(lines.part(','));
    while (lines.has_more() && fields.size() < 11);
    if (fields.size() < 8 || fields.size() > 10)
        lines.refuse(table_lines::quoted(whole), "8 to 10 fields: collective,min bytes,max bytes,algorithm,protocol,"
                                                 "channels,nodes,ranks[,pipeline operations[,registered buffer]]");
    auto const operation = nccl_collective(fields[0]);
    if (!operation)
        lines.refuse(table_lines::quoted(fields[0]), "broadcast, reduce, allgather, reducescatter or allreduce");
    auto const from = whole_number<std::uint64_t>(fields[1]);
    auto const to = whole_number<std::uint64_t>(fields[2]);
    if (!from || !to || *from > *to)
        lines.refuse(table_lines::quoted(std::string{fields[1]} + "," + std::string{fields[2]}), "min bytes,max bytes");
    auto const is_known = [&](std::string_view name) { return name == fields[3]; };
    if (std::none_of(std::begin(nccl_algorithm_names), std::end(nccl_algorithm_names), is_known))
        lines.refuse(table_lines::quoted(fields[3]), "tree, ring, collnet_direct, collnet_chain, nvls, nvls_tree or pat");
    if (fields[4] != "ll" && fields[4] != "ll128" && fields[4] != "simple")
        lines.refuse(table_lines::quoted(fields[4]), "a protocol: ll, ll128 or simple");
    nccl_number(lines, fields[5], "channels, or -1");
    std::int64_t const on_nodes = nccl_number(lines, fields[6], "a number of nodes, or -1 for any");
    std::int64_t const ranks = nccl_number(lines, fields[7], "a number of ranks, or -1 for any");
    if (ranks == 0 || ranks > 0x7FFFFFFF) lines.refuse(table_lines::quoted(fields[7]), "a number of ranks, or -1 for any");
    std::int64_t const operations = fields.size() > 8 ? nccl_number(lines, fields[8], "pipeline operations, or -1") : -1;
    std::int64_t const registered = fields.size() > 9 ? nccl_number(lines, fields[9], "0, 1 or -1 for any") : -1;

    std::uint32_t const line = lines.number();
    if (on_nodes != -1 && on_nodes != nodes)
        return rows.leave_out(line, "it is for " + std::to_string(on_nodes) + " nodes");
    if (operations > 1) return rows.leave_out(line, "it is for " + std::to_string(operations) + " operations at once");
    if (registered == 1) return rows.leave_out(line, "it is for registered buffers");
    for (nccl_algorithm const& known : nccl_algorithms)
        if (known.operation == *operation && known.theirs == fields[3])
            return rows.add({*operation, "*", ranks == -1 ? 1 : static_cast<rank_id>(ranks),
                             ranks == -1 ? selection_row::any_ranks : static_cast<rank_id>(ranks), *from, *to,
                             algorithm_named(known.ours), line});
    rows.leave_out(line, std::string{fields[3]} + " of " + std::string{fields[0]} + " has no counterpart");
}

}  // namespace chorus::detail
