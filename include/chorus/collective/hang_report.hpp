// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/types.hpp"
#include "chorus/transport/transport.hpp"

#include <algorithm>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace chorus {

/// For how long others are asked what they do before a report is made without their answers.
inline constexpr std::chrono::milliseconds view_grace{200};

/// What is known of one member of a group when an operation has not come to its end in time.
struct rank_view {
    rank_id rank = nobody;     ///< on the transport
    bool has_answered = true;  ///< `record` is as of now
    bool is_lost = false;
    operation_record record;
};

/// Why an operation hangs, in words, and whom to look at first.
struct hang_report {
    std::string text;
    rank_id culprit = nobody;  ///< on the transport
};

namespace detail {

/// Where a rank stands, seen from one that waits; also the order in which ranks are named: laggards first. Who failed in the same operation has
/// waited, too, and run into its own deadline.
enum class standing { lost, silent, never_called, outside, behind, elsewhere, same, ahead, failed };

struct hang_status {
    standing where = standing::same;
    std::uint32_t round = 0;  ///< of those in the same operation: who is furthest back is named first
    std::string text;         ///< what follows the ranks

    friend auto operator<=>(hang_status const&, hang_status const&) = default;
};

/// "ranks 3-6, 9", eight runs at most, from ascending numbers.
inline std::string runs_of_ranks(std::span<rank_id const> ranks) {
    std::string text;
    std::size_t runs = 0;
    for (std::size_t begin = 0; begin < ranks.size(); ++runs) {
        if (runs == 8) return text + ", … (" + std::to_string(ranks.size()) + " of them)";
        std::size_t end = begin + 1;
        while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
        text += (begin == 0 ? "" : ", ") + std::to_string(ranks[begin]);
        if (end - begin == 2) text += ", " + std::to_string(ranks[end - 1]);
        if (end - begin > 2) text += "-" + std::to_string(ranks[end - 1]);
        begin = end;
    }
    return text;
}

/// Composes a hang_report. Time and memory: O(p log p) for p members.
class hang_reporter {
 public:
    hang_reporter(std::span<rank_view const> members, rank_id me) : members_{members}, mine_{members[me].record}, me_{me} {
        for (rank_id r = 0; r < members.size(); ++r) numbers_.emplace_back(members[r].rank, r);
        std::sort(numbers_.begin(), numbers_.end());
        for (rank_id r = 0; r < members.size(); ++r) groups_[status_of(members[r])].push_back(r);
    }

    hang_report report() const {
        std::vector<entry const*> const order = in_order();
        return {said_of(order) + circle(), culprit(order)};
    }

 private:
    using entry = std::pair<hang_status const, std::vector<rank_id>>;
    static constexpr std::size_t most_statuses = 8;

    bool is_of_this_run(operation_record const& other) const noexcept { return other.stream == mine_.stream && other.run == mine_.run; }
    bool is_same_run(operation_record const& other) const noexcept {
        return is_of_this_run(other) && other.state == operation_state::running;
    }
    bool has_failed_in_this(operation_record const& other) const noexcept {
        return is_of_this_run(other) && other.state == operation_state::failed;
    }

    hang_status status_of(rank_view const& view) const {
        operation_record const& r = view.record;
        if (view.is_lost && has_failed_in_this(r)) return {standing::failed, 0, "failed in it and left"};
        if (view.is_lost) return {standing::lost, 0, "ended or left, last in " + at_last(r)};
        if (!view.has_answered)
            return {standing::silent, 0, "did not answer within " + std::to_string(view_grace.count()) +
                                             " ms: stopped, busy outside chorus, or unreachable"};
        if (r.state == operation_state::nothing) return {standing::never_called, 0, "never called anything"};
        if (is_same_run(r)) return {standing::same, r.round, "in it, " + waits(r)};
        if (r.stream == mine_.stream) return in_the_plan(r);
        return in_another(r);
    }

    hang_status in_the_plan(operation_record const& r) const {
        std::string const run = "run " + std::to_string(r.run) + " of it";
        if (has_failed_in_this(r)) return {standing::failed, 0, "failed in it"};
        if (r.run < mine_.run) {
            if (r.state == operation_state::running) return {standing::behind, 0, "still in " + run + ", " + waits(r)};
            return {standing::outside, 0, "did not enter run " + std::to_string(mine_.run) + " of it (last: run " +
                                              std::to_string(r.run) + ", " + ending(r) + ')'};
        }
        if (r.run == mine_.run) return {standing::ahead, 0, "already through with it"};
        return {standing::ahead, 0, "already in " + run};
    }

    hang_status in_another(operation_record const& r) const {
        bool const is_related = r.group == mine_.group;
        bool const is_running = r.state == operation_state::running;
        bool const is_later = is_related && r.sequence > mine_.sequence;
        if (is_later) {
            bool const is_failed = r.state == operation_state::failed;
            return {standing::ahead, 0, (is_running ? "in a later one, " : is_failed ? "failed in a later one, " : "past a later one, ") + describe(r)};
        }
        if (!is_running) return {standing::outside, 0, "did not enter it (last: " + at_last(r) + ", " + ending(r) + ')'};
        if (is_related) return {standing::behind, 0, "in an earlier one, " + at_last(r) + ", " + waits(r)};
        return {standing::elsewhere, 0, "in one of another group, " + at_last(r) + ", " + waits(r)};
    }

    static char const* ending(operation_record const& r) noexcept {
        return r.state == operation_state::failed ? "failed" : "done";
    }
    static std::string at_last(operation_record const& r) {
        return r.run > 1 ? describe(r) + ", run " + std::to_string(r.run) : describe(r);
    }
    std::string waits(operation_record const& r) const {
        std::string text = "round " + std::to_string(r.round) + " of " + std::to_string(r.rounds);
        if (r.awaited != nobody) text += ", waiting for rank " + named(r.awaited);
        return text;
    }

    /// The number in the group, where it is another one.
    rank_id number_of(rank_id world) const {
        auto const found = std::lower_bound(numbers_.begin(), numbers_.end(), std::pair{world, rank_id{0}});
        return found != numbers_.end() && found->first == world ? found->second : nobody;
    }
    std::string named(rank_id world) const {
        rank_id const number = number_of(world);
        std::string const text = std::to_string(world);
        return number == nobody || number == world ? text : text + " (" + std::to_string(number) + " in the group)";
    }
    std::string named(std::vector<rank_id> const& numbers) const {
        std::vector<rank_id> ranks;
        for (rank_id r : numbers) ranks.push_back(members_[r].rank);
        bool const is_renumbered = ranks != numbers;
        std::sort(ranks.begin(), ranks.end());
        std::string const text = (ranks.size() == 1 ? "rank " : "ranks ") + runs_of_ranks(ranks);
        return is_renumbered ? text + " (" + runs_of_ranks(numbers) + " in the group)" : text;
    }

    /// Laggards, then those in the same operation and those ahead, the fewer first; within a standing, too.
    std::vector<entry const*> in_order() const {
        std::map<standing, std::size_t> ranks_in;
        for (entry const& one : groups_) ranks_in[one.first.where] += one.second.size();
        bool const is_ahead_first = ranks_in[standing::ahead] <= ranks_in[standing::same];
        auto const place = [&](standing s) {
            bool const moves = s == standing::ahead && is_ahead_first;
            return moves ? 2 * static_cast<int>(standing::same) - 1 : 2 * static_cast<int>(s);
        };
        std::vector<entry const*> order;
        for (entry const& one : groups_) order.push_back(&one);
        std::stable_sort(order.begin(), order.end(), [&](entry const* a, entry const* b) {
            if (a->first.where != b->first.where) return place(a->first.where) < place(b->first.where);
            if (a->first.round != b->first.round) return a->first.round < b->first.round;
            return a->second.size() < b->second.size();
        });
        return order;
    }

    std::string said_of(std::vector<entry const*> const& order) const {
        std::string text;
        std::size_t left_out = 0;
        for (std::size_t i = 0; i < order.size(); ++i) {
            if (i < most_statuses) text += (i == 0 ? "" : "; ") + named(order[i]->second) + ": " + order[i]->first.text;
            else left_out += order[i]->second.size();
        }
        if (left_out > 0) text += "; and " + std::to_string(left_out) + " more";
        return text;
    }

    /// The first one named; where all are in the operation, and equally far or this rank is the last, the one that it awaits.
    rank_id culprit(std::vector<entry const*> const& order) const {
        auto const& [first, numbers] = *order.front();
        hang_status const& last = order.back()->first;
        bool const are_all_in = first.where == standing::same && last.where != standing::ahead;
        bool const is_open = first.round == last.round || numbers.front() == me_;
        if (are_all_in && is_open && mine_.awaited != nobody) return mine_.awaited;
        return members_[numbers.front()].rank;
    }

    /// Follows the waits from this rank on, through ranks in the same operation, until they end or come back.
    std::string circle() const {
        std::vector<rank_id> path;
        std::vector<bool> seen(members_.size(), false);
        rank_id at = me_;
        while (at != nobody && is_followed(at) && !seen[at]) {
            seen[at] = true;
            path.push_back(at);
            at = number_of(members_[at].record.awaited);
        }
        if (at == nobody || !seen[at] || members_[at].record.awaited == members_[at].rank) return {};
        auto const begin = std::find(path.begin(), path.end(), at);
        std::string text = "; they wait in a circle: rank ";
        for (auto i = begin; i != path.end(); ++i) {
            if (i - begin == 8) return text + "… (" + std::to_string(path.end() - begin) + " ranks)";
            text += std::to_string(members_[*i].rank) + " for ";
        }
        return text + std::to_string(members_[at].rank);
    }
    bool is_followed(rank_id r) const {
        return !members_[r].is_lost && members_[r].has_answered && is_same_run(members_[r].record);
    }

    std::span<rank_view const> members_;
    operation_record const& mine_;
    rank_id me_;
    std::vector<std::pair<rank_id, rank_id>> numbers_;  // world rank, group rank; ascending
    std::map<hang_status, std::vector<rank_id>> groups_;
};

}  // namespace detail

/// Explains to `members[me]`, which waits in the operation that its record shows, who keeps it waiting: who ended, did not answer, never called anything,
/// did not enter the operation, is behind in it, in another one or ahead, and who waits for whom. Ranks that stand alike are named together, laggards
/// first, fewer before more; ranks are named as on the transport, group ranks (the place in `members`) added where they differ.
///
/// local, pure | O(p log p) | eight statuses at most are told; the text stays below 4 KiB for any number of ranks
inline hang_report explain_hang(std::span<rank_view const> members, rank_id me) {
    return detail::hang_reporter{members, me}.report();
}

}  // namespace chorus
