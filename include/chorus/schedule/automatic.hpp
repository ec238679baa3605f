// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/error.hpp"
#include "chorus/schedule/algorithms.hpp"
#include "chorus/schedule/any_algorithm.hpp"
#include "chorus/schedule/cost.hpp"
#include "chorus/schedule/detail/choice_table.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace chorus {

/// An algorithm, and why it was chosen: the table line, or the expected time and that of the next best.
struct choice {
    any_algorithm algorithm;
    std::string why;
};

/// Chooses an algorithm for a collective: by the first line of the table that fits, else by expected time.
///
/// A pure function of its arguments and members: all ranks that ask the same get the same, with the same table and
/// link. Candidates are the listed algorithms with their default parameters, hierarchies apart; a table may name any.
/// The expected time never falls as the bytes grow. Takes as long as making two schedules of every candidate, for
/// once per plan.
struct automatic {
    static constexpr std::string_view name = "automatic";

    /// Ranks of one host that share memory.
    link_model link{.latency = 1.5e-6, .per_byte = 1.1e-10, .per_reduced_byte = 5e-11};
    double per_message = 1.5e-7;     ///< seconds to post one more message in a round
    std::vector<choice_rule> table{};

    /// Reads a table. Each line is
    ///
    ///     collective  size_min size_max  bytes_min bytes_max  algorithm     # comment
    ///
    /// with ranges that include both ends, * for no upper end, and an algorithm as `algorithm_named` takes it.
    /// Throws `system_failed` if the file cannot be read, `invalid_argument` naming the line if one is malformed.
    static automatic load(std::string const& path) {
        std::ifstream file{path};
        if (!file) detail::raise(errc::system_failed, "cannot read the table of algorithms \"" + path + '"');
        return read(file, path);
    }

    /// The same from an open stream; `source` is what errors call it.
    static automatic read(std::istream& lines, std::string const& source = "table") {
        automatic result;
        std::string text;
        for (std::uint32_t line = 1; std::getline(lines, text); ++line)
            if (auto const rule = detail::parse_choice_rule(text, source, line)) result.table.push_back(*rule);
        return result;
    }

    /// `bytes` is the caller's whole vector on one rank, as for cost functions. `needs_order`: the operation does not
    /// commute; `uneven`: blocks of an all-to-all differ. Throws `unsupported` if nothing listed can do it.
    choice choose(collective operation, rank_id size, std::uint64_t bytes, bool needs_order, bool uneven) const {
        for (choice_rule const& rule : table) {
            bool const fits = rule.covers(operation, size, bytes) && rule.algorithm.supports(operation);
            bool const in_order = !needs_order || !has_reduction(operation) || rule.algorithm.keeps_order();
            bool const any_length = !uneven || operation != collective::all_to_all || rule.algorithm.takes_uneven();
            if (fits && in_order && any_length)
                return {rule.algorithm, "table line " + std::to_string(rule.line) + ": " + to_string(rule)};
        }
        return cheapest(operation, size, bytes, needs_order, uneven);
    }

    /// Seconds that the cost model expects: the cost's, and the handling of each message beyond one per round.
    double expected_seconds(any_algorithm const& algorithm, collective operation, rank_id size,
                            std::uint64_t bytes) const {
        return expected(algorithm.cost_of(operation, size, static_cast<double>(bytes)),
                        (std::max)(messages(algorithm.make(operation, 0, size)),
                                   messages(algorithm.make(operation, size / 2, size))));
    }

    friend bool operator==(automatic const& a, automatic const& b) {
        return a.link.latency == b.link.latency && a.link.per_byte == b.link.per_byte &&
               a.link.per_reduced_byte == b.link.per_reduced_byte && a.per_message == b.per_message &&
               a.table == b.table;
    }

 private:
    static double messages(schedule const& plan) {
        double sent = 0;
        double received = 0;
        for (step const& s : plan.steps())
            if (!is_local(s.kind)) (s.kind == step_kind::send ? sent : received) += 1;
        return (std::max)(sent, received);
    }

    /// What lands in scratch is written once more than what is combined in place.
    double expected(cost const& c, double handled) const {
        double const more = (std::max)(handled - c.rounds, 0.0);
        return seconds(c, link) + more * per_message + c.scratch_bytes * link.per_reduced_byte;
    }

    choice cheapest(collective operation, rank_id size, std::uint64_t bytes, bool needs_order, bool uneven) const {
        std::optional<any_algorithm> best;
        std::string_view second;
        double best_seconds = 0;
        double second_seconds = 0;
        detail::any_listed([&]<class A>(A const& candidate) {
            if constexpr (!detail::is_hierarchical<A>) {
                bool const in_order = !needs_order || !has_reduction(operation) || detail::keeps_order_of<A>();
                bool const any_length = !uneven || operation != collective::all_to_all || detail::takes_uneven_of<A>();
                if (!detail::offers<A>(operation) || !in_order || !any_length) return false;
                any_algorithm const erased{candidate};
                double const time = expected_seconds(erased, operation, size, bytes);
                if (!best || time < best_seconds) {
                    if (best) second = best->name();
                    second_seconds = best_seconds;
                    best = erased;
                    best_seconds = time;
                } else if (second.empty() || time < second_seconds) {
                    second = erased.name();
                    second_seconds = time;
                }
            }
            return false;
        });
        if (!best)
            detail::raise(errc::unsupported, "no listed algorithm offers " + std::string{to_string(operation)} +
                                                 (needs_order ? " in the order of ranks" : "") +
                                                 (uneven ? " with uneven blocks" : ""));
        std::string why = "cost model: " + detail::microseconds(best_seconds) + " for " + std::to_string(bytes) +
                          " bytes on " + std::to_string(size) + " ranks";
        if (!second.empty()) why += ", next " + std::string{second} + " " + detail::microseconds(second_seconds);
        return {*best, std::move(why)};
    }
};

}  // namespace chorus
