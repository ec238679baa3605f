// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/types.hpp"
#include "chorus/collective/group.hpp"
#include "chorus/compress/compressor.hpp"
#include "chorus/compress/uncompressed.hpp"
#include "chorus/sync/detail/sync_engine.hpp"
#include "chorus/sync/merge.hpp"
#include "chorus/sync/policy.hpp"
#include "chorus/sync/sync_options.hpp"
#include "chorus/sync/take_arrived.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace chorus {

/// Keeps replicas in step: at each step the values of some tensors are averaged within this step's group. Four choices, each a value:
///
/// who        a policy: groups are arithmetic, never messages
/// carried    `uncompressed`, or a compressor for the messages (float only); a residual for each group, slot and bucket
/// merged     what becomes of this rank's values when an average arrives
/// delay      steps between sending and merging; what was sent is a snapshot, so local updates may go on
///
///     chorus::synchroniser sync{world, weights, chorus::local_steps{.period = 8}, chorus::uncompressed{}, chorus::keep_progress{}, {.delay = 4}};
///     for (…) { /* local update of weights */ sync.step(); }
///     sync.drain();
///
/// What is averaged is whatever the spans hold: gradients, parameters, statistics, moments. They stay the caller's and at their place.
///
/// collective | all ranks of the group construct it, with equal counts, policy, compressor, merge and options, in the same order as their other plans, and make the same
/// number of steps (see `join`) | a mean has equal bits on all members; weighted ones are scaled by each member and added | tensors up to `bucket_bytes` travel together | plans of a group are made when
/// it first meets, and kept; after the first period nothing is allocated, or, with a delay, after the first period of steps that is a multiple of the slots (delay, and one more
/// where the merge sends first) too | memory: a message of all tensors per slot, and a snapshot where the merge reads one; none for take_arrived without delay and tensors that
/// travel alone | one thread at a time | Throws what plans throw; afterwards tensors are unspecified and every further call throws the same.
/// Destroying it waits for what is under way.
template <transport Transport, sync_policy Policy, class Merge = take_arrived, class T = float>
class synchroniser {
    using tensor_list = std::vector<std::span<T>>;

 public:
    synchroniser(group<Transport> world, tensor_list tensors, Policy policy)
        : synchroniser(std::move(world), std::move(tensors), std::move(policy), synchroniser_options{}) {}

    synchroniser(group<Transport> world, tensor_list tensors, Policy policy, synchroniser_options const& options)
        : engine_{std::move(world), std::move(tensors), std::move(policy), Merge{}, options, std::nullopt} {}

    template <compressor Compressor>
    synchroniser(group<Transport> world, tensor_list tensors, Policy policy, Compressor carried_by)
        : synchroniser(std::move(world), std::move(tensors), std::move(policy), std::move(carried_by), Merge{}) {}

    template <compressor Compressor>
    synchroniser(group<Transport> world, tensor_list tensors, Policy policy, Compressor carried_by, Merge merge, synchroniser_options const& options = {})
        : engine_{std::move(world), std::move(tensors), std::move(policy), std::move(merge), options, detail::erased_compressor(std::move(carried_by))} {}

    /// A whole step, after the local update (or, for gradients, before it): all tensors are sent as they stand, and averages merged.
    sync_report step() {
        if (!engine_.is_open()) engine_.open();
        return finish();
    }

    /// Tensor i holds this step's values and is not touched until `finish`: its bucket begins its exchange when all of it is ready. In any order, also another one on each
    /// rank. The first one begins the step. Where a merge comes before sending, an older average is merged as soon as it is there.
    void ready(std::size_t i) {
        if (!engine_.is_open()) engine_.open();
        engine_.ready(i);
        engine_.advance();
    }

    /// As `ready`, for a tensor that this rank has no value for, as a gradient that was not computed: it becomes zeros, which is what it adds to a mean that is
    /// divided by all members as ever, and holds the average afterwards, as on every rank.
    void absent(std::size_t i) {
        std::span<T> const none = engine_.tensor(i);
        std::fill(none.begin(), none.end(), T{});
        ready(i);
    }

    /// Does what can be done now without blocking: `done` when everything that is ready is over and nothing is missing. Between two steps it moves what is under way, which
    /// a later step merges: `done` when all of it has arrived. A `progress_thread` may do so while the next step is computed.
    progress advance() noexcept { return engine_.advance(); }

    /// Ends the step: tensors not mentioned are ready now. Blocks until this step's averages are merged; a delayed exchange is left under way.
    sync_report finish() {
        if (!engine_.is_open()) engine_.open();
        engine_.all_ready();
        detail::expects(engine_.close(), [&] { return engine_.here() + "a step was made after join"; });
        return engine_.report();
    }

    /// This rank has no more steps of its own: takes part in those of the others until all have joined; returns how many that were. Meanwhile it sends nothing of its own, with
    /// weight 0, and its tensors follow what arrives. Where all of a group have joined nothing is exchanged. Needs `options.joins`; drains at the end.
    std::uint64_t join() {
        detail::expects(engine_.options().joins, [&] { return engine_.here() + "join was called, which the option joins must announce on all ranks"; });
        engine_.join();
        std::uint64_t steps = 0;
        for (;; ++steps) {
            engine_.open();
            engine_.all_ready();
            if (!engine_.close()) break;
        }
        drain();
        return steps;
    }

    /// Merges what is still under way, in the order it was sent. For the end of training, or before the tensors are read by others.
    void drain() { engine_.drain(); }

    /// For the end of training: drains, then every rank's tensors become the plain mean over all ranks, with the same bits (see consensus.hpp). What merges keep stays as it is.
    void consensus() { engine_.agree(); }

    /// What it must remember from one step to the next, the tensors' own values aside: what merges keep, averages under way, residuals of compressors, counters. Each rank saves between
    /// the same two steps; waits for what is under way, and later steps are as if it had not been saved.
    std::vector<std::byte> save() { return engine_.save(); }

    /// Goes on where `save` was called, to the bit, with the tensors' values of then: on the same rank of as many, made with the same model, policy, merge, options and compressor. The rates
    /// of a merge may be others. Raises `corrupt`, which says what differs, and nothing has changed. All ranks
    /// of a group restore, all in new synchronisers or all in the ones that they had.
    void restore(std::span<std::byte const> saved) { engine_.go_on_with(engine_.read(saved)); }

    /// The model that all members had in common last, of a merge that keeps it.
    std::span<T const> last_synced(std::size_t i) const requires anchored_merge<Merge> { return engine_.kept(i).first(engine_.tensor(i).size()); }

    sync_report const& report() const noexcept { return engine_.report(); }
    sync_totals totals() const noexcept { return engine_.totals(); }

 private:
    detail::sync_engine<Transport, Policy, Merge, T> engine_;
};

}  // namespace chorus
