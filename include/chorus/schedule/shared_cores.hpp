// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/schedule/any_algorithm.hpp"
#include "chorus/schedule/schedule.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace chorus {

/// What ranks of one host cost each other where they take turns on fewer cores. In seconds.
///
/// A round lasts until each core has been through its ranks once and has done the work of all of them; what a core does
/// not do itself, it waits for. Messages cost what they cost who receives them, for that one copies.
struct shared_core_model {
    double per_turn = 5e-7;             ///< a core goes from one rank to the next
    double per_message = 1.2e-7;        ///< to announce and to notice one
    double per_chunk = 1.1e-7;          ///< more, where it does not fit into its announcement
    double per_copied_byte = 1.6e-10;   ///< through a chunk: copied twice
    double handshake = 4e-7;            ///< of a message that is read from the sender's memory: one copy
    double per_byte = 4e-11;            ///< of that copy
    double per_reduced_byte = 6.5e-11;
    double announced_bytes = 40;
    double unevenness = 0.6;            ///< share of the busiest core's work that decides; the rest: the mean of all cores

    /// One message. Twice the bytes take at least as long, and at most twice as long.
    constexpr double message(double bytes) const {
        double const moved = (std::min)(bytes * per_copied_byte, handshake + bytes * per_byte);
        return per_message + moved + (bytes > announced_bytes ? per_chunk : 0);
    }

    friend constexpr bool operator==(shared_core_model const&, shared_core_model const&) = default;
};

namespace detail {

/// Work of the ranks that share each core, round by round.
class core_rounds {
 public:
    core_rounds(shared_core_model const& model, double bytes, rank_id cores) : model_{model}, bytes_{bytes}, cores_{cores} {}

    void add(schedule const& plan, rank_id core) {
        double const block = bytes_ / plan.blocks();
        if (work_.size() < std::size_t{plan.rounds()} * cores_) {
            work_.resize(std::size_t{plan.rounds()} * cores_);
            has_messages_.resize(plan.rounds());
        }
        for (std::uint32_t round = 0; round < plan.rounds(); ++round)
            for (std::uint32_t i = plan.round_begin(round); i < plan.round_begin(round + 1); ++i) {
                step const& s = plan.steps()[i];
                work_[std::size_t{round} * cores_ + core] += seconds_of(plan, s, block);
                if (!is_local(s.kind)) has_messages_[round] = true;
            }
    }

    /// Each rank that was added stands for so many.
    double result(double ranks_per_core, double stand_for) const {
        double sum = 0;
        for (std::size_t round = 0; round < has_messages_.size(); ++round) {
            auto const first = work_.begin() + static_cast<std::ptrdiff_t>(round * cores_);
            auto const last = first + static_cast<std::ptrdiff_t>(cores_);
            double const mean = std::accumulate(first, last, 0.0) / cores_;
            sum += stand_for * (model_.unevenness * *std::max_element(first, last) + (1 - model_.unevenness) * mean);
            if (has_messages_[round]) sum += ranks_per_core * model_.per_turn;
        }
        return sum;
    }

 private:
    static double blocks_of(schedule const& plan, block_range range) {
        if (range.where != space::scratch) return range.count;
        double sum = 0;
        for (rank_id slot = range.first; slot < range.end(); ++slot) sum += plan.slots()[slot].count;
        return sum;
    }

    double seconds_of(schedule const& plan, step const& s, double block) const {
        double const bytes = block * blocks_of(plan, s.local);
        switch (s.kind) {
            case step_kind::send: return 0;
            case step_kind::recv: return model_.message(bytes);
            case step_kind::recv_reduce: return model_.message(bytes) + bytes * model_.per_reduced_byte;
            case step_kind::copy: return bytes * model_.per_reduced_byte;
            case step_kind::reduce: return bytes * model_.per_reduced_byte;
            case step_kind::fold: return block * blocks_of(plan, s.other) * model_.per_reduced_byte;
        }
        return 0;
    }

    shared_core_model model_;
    double bytes_;
    rank_id cores_;
    std::vector<double> work_;        // round * cores + core
    std::vector<bool> has_messages_;  // round
};

}  // namespace detail

/// Seconds for a collective of `bytes` (of the caller's whole vector, as for `cost`) on `ranks` ranks, rank r on core
/// r modulo `cores`, root 0. Takes as long as making the schedules of all ranks, of 64 of them where there are more.
inline double seconds(shared_core_model const& model, any_algorithm const& algorithm, collective operation, rank_id ranks,
                      double bytes, rank_id cores) {
    constexpr rank_id most = 64;
    rank_id const seen = (std::min)(ranks, most);
    detail::core_rounds rounds{model, bytes, cores};
    for (std::uint64_t i = 0; i < seen; ++i)
        rounds.add(algorithm.make(operation, static_cast<rank_id>(i * ranks / seen), ranks), static_cast<rank_id>(i % cores));
    return rounds.result(double(ranks) / cores, double(ranks) / seen);
}

}  // namespace chorus
