// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/error.hpp"
#include "chorus/schedule/algorithms.hpp"
#include "chorus/schedule/any_algorithm.hpp"
#include "chorus/schedule/cost.hpp"
#include "chorus/schedule/native.hpp"
#include "chorus/schedule/selection_table.hpp"
#include "chorus/schedule/shared_cores.hpp"

#include <algorithm>
#include <cstdint>
#include <istream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace chorus {

/// An algorithm, and why it was chosen: the table's row or the cost model, its time and that of the next best.
struct choice {
    any_algorithm algorithm;
    std::string why;                 ///< one line
    std::optional<selection_row> row{};  ///< that decided; none: the cost model did
    bool is_measured = false;        ///< the times are; else the cost model expects them
    std::vector<timed_algorithm> times{};   ///< of all that can do what is asked and were looked at, fastest first
};

/// Chooses an algorithm for a collective: by the row of the table that answers, else by expected time.
///
/// A pure function of its arguments and members: all ranks that ask the same get the same, with the same table and
/// link. Candidates of the cost model are the listed algorithms with their default parameters, hierarchies apart, and
/// for an all-reduce between hosts a ring of two segments; a table may name any. The expected time never falls as the bytes grow. Takes as long as making two schedules of every
/// candidate, or those of all ranks where they take turns on cores, for once per question and group.
struct automatic {
    static constexpr std::string_view name = "automatic";

    /// Ranks of one host that share memory and have a core each, long messages: read by the receiver from the sender's memory.
    link_model link{.latency = 5e-7, .per_byte = 6e-11, .per_reduced_byte = 1e-11};
    double handshake = 5e-6;         ///< seconds, per round, that these messages take before and after
    double per_copied_byte = 2.3e-10;  ///< seconds, of short messages, which are copied twice
    double per_message = 1.5e-7;     ///< seconds to post one more message in a round
    shared_core_model in_turns{};    ///< ranks that outnumber the cores of their host
    link_model network{.latency = 1e-5, .per_byte = 1e-9, .per_reduced_byte = 1e-10};  ///< transports "ucx" and "mpi"; one more message costs a latency
    std::shared_ptr<selection_table const> table{};  ///< null: none

    /// With the table of this file, which `chorus-bench tune` writes. Throws as `selection_table::load`.
    static automatic load(std::string const& path) { return with(selection_table::load(path)); }

    static automatic with(selection_table table) {
        automatic result;
        result.table = std::make_shared<selection_table const>(std::move(table));
        return result;
    }

    /// Throws `unsupported` if nothing listed can do what is asked.
    choice choose(algorithm_query const& asked) const {
        selection_row const* const row = table ? table->find(asked) : nullptr;
        if (row == nullptr) return by_model(asked);
        choice chosen{row->algorithm, table->source, *row};
        chosen.times = table->times_of(asked);
        chosen.is_measured = detail::time_in(chosen.times, row->algorithm).has_value();
        if (!chosen.is_measured) {
            chosen.times = expected_times(asked);
            bool const is_costed = row->algorithm.name() != native::name && !detail::time_in(chosen.times, row->algorithm);
            if (is_costed) add_expected(chosen.times, row->algorithm, asked);
        }
        if (row->line > 0) chosen.why += " line " + std::to_string(row->line);
        chosen.why += ": " + to_string(*row) + (chosen.is_measured ? "; measured " : "; the cost model expects ") +
                      detail::compared(chosen.algorithm, chosen.times);
        return chosen;
    }

    choice choose(collective operation, rank_id size, std::uint64_t bytes, bool needs_order, bool uneven,
                  std::string_view transport = {}) const {
        return choose({operation, size, bytes, transport, needs_order, uneven, 0});
    }

    /// Seconds that the cost model expects. Each rank has a core: the cost's, and the handling of each message beyond one
    /// per round. Ranks take turns on `cores`: the work of all of them.
    double expected_seconds(any_algorithm const& algorithm, collective operation, rank_id size, std::uint64_t bytes,
                            rank_id cores = 0, std::string_view transport = {}) const {
        if (cores > 0 && cores < size) return seconds(in_turns, algorithm, operation, size, static_cast<double>(bytes), cores);
        if (is_network(transport)) return expected_between_hosts(algorithm, operation, size, bytes);
        return expected(algorithm.cost_of(operation, size, static_cast<double>(bytes)), messages(algorithm, operation, size));
    }

    /// The same link and the very same table.
    bool is_same(automatic const& other) const noexcept { return has_link_of(other) && table == other.table; }

    friend bool operator==(automatic const& a, automatic const& b) {
        return a.has_link_of(b) && (a.table == b.table || (a.table && b.table && *a.table == *b.table));
    }

 private:
    bool has_link_of(automatic const& other) const noexcept {
        return link.latency == other.link.latency && link.per_byte == other.link.per_byte &&
               link.per_reduced_byte == other.link.per_reduced_byte && per_message == other.per_message &&
               network.latency == other.network.latency && network.per_byte == other.network.per_byte &&
               network.per_reduced_byte == other.network.per_reduced_byte && handshake == other.handshake && per_copied_byte == other.per_copied_byte && in_turns == other.in_turns;
    }

    static bool is_network(std::string_view transport) noexcept { return transport == "ucx" || transport == "mpi"; }

    /// What several rounds in flight reduce, they reduce while others are on their way.
    double expected_between_hosts(any_algorithm const& algorithm, collective operation, rank_id size, std::uint64_t bytes) const {
        cost c = algorithm.cost_of(operation, size, static_cast<double>(bytes));
        double const more = (std::max)(messages(algorithm, operation, size) - c.rounds, 0.0);
        if (algorithm.make(operation, 0, size).in_flight() > 1) c.bytes_reduced = 0;
        return seconds(c, network) + more * network.latency;
    }

    static double messages(any_algorithm const& algorithm, collective operation, rank_id size) {
        return (std::max)(messages(algorithm.make(operation, 0, size)), messages(algorithm.make(operation, size / 2, size)));
    }
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
        double const copied = c.bytes_sent * (per_copied_byte - link.per_byte);
        return seconds(c, link) + (std::min)(copied, c.rounds * handshake) + more * per_message +
               c.scratch_bytes * link.per_reduced_byte;
    }

    /// Keeps the fastest first, and of equals the one that came first.
    void add_expected(std::vector<timed_algorithm>& times, any_algorithm const& algorithm, algorithm_query const& asked) const {
        double const time = expected_seconds(algorithm, asked.operation, asked.ranks, asked.bytes, asked.cores, asked.transport);
        auto const place = std::upper_bound(times.begin(), times.end(), time,
                                            [](double value, timed_algorithm const& other) { return value < other.seconds; });
        times.insert(place, {algorithm, time});
    }

    std::vector<timed_algorithm> expected_times(algorithm_query const& asked) const {
        std::vector<timed_algorithm> times;
        detail::any_listed([&]<class A>(A const& candidate) {
            if constexpr (!detail::is_hierarchical<A>) {
                bool const in_order = !asked.needs_order || !has_reduction(asked.operation) || detail::keeps_order_of<A>();
                bool const any_length =
                    !asked.uneven || asked.operation != collective::all_to_all || detail::takes_uneven_of<A>();
                // Halves of a reduce between two ranks go there and back where one message would do.
                bool const is_detour = asked.operation == collective::reduce && asked.ranks == 2 &&
                                       (std::is_same_v<A, rabenseifner> || std::is_same_v<A, scatter_all_gather>);
                if (detail::offers<A>(asked.operation) && in_order && any_length && !is_detour)
                    add_expected(times, candidate, asked);
            }
            return false;
        });
        bool const may_overlap = is_network(asked.transport) && asked.operation == collective::all_reduce && !asked.needs_order;
        if (may_overlap) add_expected(times, ring{.segments = 2}, asked);  // one half is reduced while the other is under way
        return times;
    }

    choice by_model(algorithm_query const& asked) const {
        std::vector<timed_algorithm> times = expected_times(asked);
        if (times.empty())
            detail::raise(errc::unsupported, "no listed algorithm offers " + std::string{to_string(asked.operation)} +
                                                 (asked.needs_order ? " in the order of ranks" : "") +
                                                 (asked.uneven ? " with uneven blocks" : ""));
        choice chosen{times.front().algorithm, {}};
        chosen.times = std::move(times);
        chosen.why = "cost model for " + std::to_string(asked.bytes) + " bytes on " + std::to_string(asked.ranks) +
                     " ranks" + (asked.cores > 0 ? " on " + std::to_string(asked.cores) + " cores: " : ": ") + detail::compared(chosen.algorithm, chosen.times);
        return chosen;
    }
};

}  // namespace chorus
