// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/config.hpp"
#include "chorus/base/types.hpp"
#include "chorus/collective/all_reduce.hpp"
#include "chorus/collective/compression.hpp"
#include "chorus/collective/group.hpp"
#include "chorus/compress/any_compressor.hpp"
#include "chorus/compress/compressor.hpp"
#include "chorus/compress/uncompressed.hpp"
#include "chorus/data/reduction.hpp"
#include "chorus/sync/consensus.hpp"
#include "chorus/sync/detail/attendance.hpp"
#include "chorus/sync/detail/meetings.hpp"
#include "chorus/sync/detail/sync_exchange.hpp"
#include "chorus/sync/detail/sync_image.hpp"
#include "chorus/sync/detail/tensor_buckets.hpp"
#include "chorus/sync/merge.hpp"
#include "chorus/sync/policy.hpp"
#include "chorus/sync/sync_options.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace chorus::detail {

/// None for `uncompressed`.
template <compressor Compressor>
std::optional<any_compressor> erased_compressor(Compressor carried_by) {
    if constexpr (std::same_as<Compressor, uncompressed>) return std::nullopt;
    else return any_compressor{std::move(carried_by)};
}

/// What becomes of a bucket within one step.
enum class bucket_stage : char { filling, ready, sent, merged };

/// The steps of a synchroniser. Between `open` and `close` each bucket goes its way: filled; the older average merged, where that comes first; sent; an average merged.
template <transport Transport, sync_policy Policy, class Merge, class T>
class sync_engine {
    static_assert(merge_rule<Merge, T>, "chorus: this merge is not defined for this element type");
    friend class sync_image<sync_engine>;

 public:
    using element_type = T;
    using merge_type = Merge;

    sync_engine(group<Transport> world, std::vector<std::span<T>> tensors, Policy policy, Merge merge, synchroniser_options const& options,
                std::optional<any_compressor> carried_by)
        : tensors_{std::move(tensors)}, merge_{std::move(merge)}, options_{options}, carried_by_{std::move(carried_by)}, counts_{counts_of(tensors_)},
          buckets_{counts_, options.bucket_bytes / sizeof(T), taking_merge<Merge> && !composing_merge<Merge, T> && options.delay == 0},
          meetings_{std::move(world), std::move(policy), (std::max)(step_id{64}, options.delay)},
          exchanges_(static_cast<std::size_t>(options.delay) + 1), slots_(exchanges_.size() - (Merge::sends_first || options.delay == 0 ? 0 : 1)),
          kept_(tensors_.size()), stages_(buckets_.size()), missing_(buckets_.size()) {
        if (options.joins) attendance_ = std::make_unique<attendance<Transport>>(this->world(), options.deadline);
        for (auto& e : exchanges_) e.is_sent.resize(buckets_.size());
        for (std::size_t i = 0; i < tensors_.size(); ++i) {
            kept_[i].resize(Merge::kept_copies * counts_[i]);
            if constexpr (beginning_merge<Merge, T>) merge_.begin(std::span<T const>{tensors_[i]}, std::span<T>{kept_[i]});
        }
        is_in_order_ = options.algorithm && options.algorithm->name() == native::name;
    }

    sync_engine(sync_engine&&) = default;
    sync_engine& operator=(sync_engine&&) = delete;

    /// What is under way is waited for, lest others that still need it be given up; unless this rank has failed.
    ~sync_engine() {
        if (failure_ || is_open_ || std::uncaught_exceptions() > 0) return;
        CHORUS_TRY { await_all(); }
        CHORUS_CATCH_ALL { return; }
    }

    group<Transport> const& world() const noexcept { return meetings_.world(); }
    std::span<T> tensor(std::size_t i) const { return tensors_.at(i); }
    std::span<T const> kept(std::size_t i) const { return kept_.at(i); }
    bool is_open() const noexcept { return is_open_; }
    synchroniser_options const& options() const noexcept { return options_; }
    sync_report const& report() const noexcept { return report_; }
    sync_totals totals() const noexcept {
        sync_totals all = totals_;
        all.groups = meetings_.all().size();
        return all;
    }
    std::string here() const { return "synchroniser on rank " + std::to_string(world().rank()) + ", step " + std::to_string(totals_.steps) + ": "; }

    /// Begins a step, none of whose tensors is ready.
    void open() {
        rethrow_failure();
        expects(!is_open_, [&] { return here() + "begun while it is open; finish it first"; });
        step_ = totals_.steps;
        is_late_ = options_.delay > 0 && step_ >= options_.warm_up;
        due_ = is_late_ && step_ >= options_.delay ? under_way(step_ - options_.delay) : nullptr;
        issued_ = nullptr;
        report_ = {.step = step_};
        std::fill(stages_.begin(), stages_.end(), bucket_stage::filling);
        for (std::size_t b = 0; b < buckets_.size(); ++b) missing_[b] = buckets_[b].tensors;
        is_ready_.assign(tensors_.size(), 0);
        meeting_ = meetings_.at(step_);
        is_settled_ = attendance_ == nullptr;
        is_open_ = true;
        if (is_settled_) settle();
        else attendance_->start(!is_joined_);
    }

    /// The tensor holds this step's values and is left alone until the step is closed.
    void ready(std::size_t i) {
        expects(i < tensors_.size(), [&] { return here() + "tensor " + std::to_string(i) + " is not below their number " + std::to_string(tensors_.size()); });
        expects(is_ready_[i] == 0, [&] { return here() + "tensor " + std::to_string(i) + " is ready a second time"; });
        is_ready_[i] = 1;
        std::size_t const b = buckets_.bucket_of(i);
        if (--missing_[b] == 0) stages_[b] = bucket_stage::ready;
    }
    void all_ready() {
        for (std::size_t i = 0; i < tensors_.size(); ++i)
            if (is_ready_[i] == 0) ready(i);
    }

    progress advance() noexcept {
        if (failure_) return progress::failed;
        CHORUS_TRY {
            if (!is_open_) return help_along();
            bool const moved = turn();
            return is_merged() ? progress::done : moved ? progress::moved : progress::idle;
        }
        CHORUS_CATCH_ALL { failure_ = std::current_exception(); }
        return progress::failed;
    }

    /// Blocks until the step is over; all its tensors are ready. False: nobody makes steps any more, and nothing was done.
    bool close() {
        rethrow_failure();
        CHORUS_TRY {
            while (turn(), !is_merged()) awaited().wait();
            return end_step();
        }
        CHORUS_CATCH_ALL { failure_ = std::current_exception(); }
        rethrow_failure();
        return false;
    }

    void join() noexcept { is_joined_ = true; }

    /// Merges what is under way, in the order it was sent.
    void drain() {
        expect_between_steps("drained");
        for (step_id s = totals_.steps - (std::min)(totals_.steps, options_.delay); s < totals_.steps; ++s)
            if (sync_exchange<Transport>* const e = under_way(s)) {
                for (std::size_t b = 0; b < buckets_.size(); ++b) {
                    if (e->plans != nullptr) e->plans->plans[b].wait();
                    merge(*e, b);
                }
                e->is_under_way = false;
                ++totals_.merges;
            }
    }

    std::vector<std::byte> save() {
        expect_between_steps("saved");
        return sync_image{*this}.saved();
    }
    /// What `go_on_with` takes, in two calls, so that several are restored together or none.
    state_read<T> read(std::span<std::byte const> saved) {
        expect_between_steps("restored");
        return sync_image{*this}.read(saved);
    }
    void go_on_with(state_read<T> state) { sync_image{*this}.go_on_with(std::move(state)); }

    void agree() {
        drain();
        consensus(world(), tensors_, {.deadline = options_.deadline});
    }

    /// Waits for what is under way; it is merged later.
    void await_all() {
        for (auto& e : exchanges_)
            if (e.is_under_way && e.plans != nullptr)
                for (plan& p : e.plans->plans) p.wait();
    }

 private:
    static std::vector<std::size_t> counts_of(std::vector<std::span<T>> const& tensors) {
        std::vector<std::size_t> counts;
        for (std::span<T> const& t : tensors) counts.push_back(t.size());
        return counts;
    }

    void rethrow_failure() const {
        if (failure_) std::rethrow_exception(failure_);
    }
    void expect_between_steps(std::string_view what) const {
        rethrow_failure();
        expects(!is_open_, [&] { return here() + std::string{what} + " while it is open; finish it first"; });
    }

    // ---- who, with which weight ----

    sync_exchange<Transport>* under_way(step_id step) noexcept {
        auto& e = exchanges_[static_cast<std::size_t>(step % exchanges_.size())];
        return e.is_under_way && e.step == step ? &e : nullptr;
    }

    /// Now that it is known who is there: prepares this step's exchange, if there is one.
    void settle() {
        is_settled_ = true;
        if (attendance_ && !attendance_->is_anybody_there()) due_ = nullptr;
        else if (meeting_ != nullptr) issue();
    }

    void issue() {
        membership const& who = meeting_->who;
        auto const place = static_cast<std::size_t>(meeting_->members.rank());
        rank_id const size = meeting_->members.size(), there = attendance_ ? attendance_->count(who.members) : size;
        if (there == 0) return;
        bool const is_weighted = !who.weights.empty() || there != size;
        share_ = who.weights.empty() ? 1.0 / size : who.weights[place];
        if (there != size) share_ *= is_joined_ ? 0.0 : 1.0 / share_of_active(who);
        issued_ = &exchanges_[static_cast<std::size_t>(step_ % exchanges_.size())];
        std::size_t const slot = static_cast<std::size_t>(step_ % slots_.size());
        *issued_ = {step_, size, &plans_for(slot, is_weighted), slot, false, std::move(issued_->is_sent)};
        std::fill(issued_->is_sent.begin(), issued_->is_sent.end(), 0);
        is_scaled_ = is_weighted;
        report_.members = size;
    }

    /// What the weights of those who are still active sum up to, or 1 if they are divided as if all were.
    double share_of_active(membership const& who) const {
        if (options_.divisor == join_divisor::all) return 1.0;
        double total = 0;
        for (std::size_t k = 0; k < who.members.size(); ++k)
            if (attendance_->is_there(who.members[k])) total += who.weights.empty() ? 1.0 / static_cast<double>(who.members.size()) : who.weights[k];
        return total;
    }

    plan_set& plans_for(std::size_t slot, bool is_weighted) {
        if (plan_set* const known = meeting_->find(slot, is_weighted)) return *known;
        return make_plans(*meeting_, slot, is_weighted);
    }

    plan_set& make_plans(meeting<Transport>& with, std::size_t slot, bool is_weighted) {
        slots_[slot].message.resize(buckets_.memory());
        auto made = std::make_unique<plan_set>(plan_set{slot, is_weighted, {}, {}});
        for (std::size_t b = 0; b < buckets_.size(); ++b) {
            plan_options how{.deadline = options_.deadline};
            if (carried_by_) how.carried_by = made->carried.emplace_back(*carried_by_);
            made->plans.push_back(is_weighted ? plan_of(with.members, message(slot, b), sum{}, how) : plan_of(with.members, message(slot, b), mean{}, how));
        }
        return *with.sets.emplace_back(std::move(made));
    }

    template <class Op>
    plan plan_of(group<Transport> const& members, std::span<T> what, Op op, plan_options const& how) const {
        if (options_.algorithm) return plan_all_reduce(members, what, op, *options_.algorithm, how);
        return plan_all_reduce(members, what, op, automatic{}, how);
    }

    // ---- where ----

    std::span<T> message(std::size_t slot, std::size_t b) noexcept {
        tensor_bucket const& of = buckets_[b];
        return of.is_direct ? tensors_[of.first] : part_of(slots_[slot].message, of.begin, of.count);
    }
    std::span<T> message_of(std::size_t slot, std::size_t i) noexcept {
        return message(slot, buckets_.bucket_of(i)).subspan(buckets_.offset_of(i), counts_[i]);
    }
    std::span<T> sent_of(std::size_t slot, std::size_t i) noexcept {
        return part_of(slots_[slot].sent, buckets_[buckets_.bucket_of(i)].begin + buckets_.offset_of(i), counts_[i]);
    }
    template <class Visit>
    void for_tensors(std::size_t b, Visit const& visit) {
        for (std::size_t i = buckets_[b].first; i < buckets_[b].first + buckets_[b].tensors; ++i) visit(i);
    }

    // ---- running ----

    /// Between two steps: what is under way moves on; the step that it is due in merges it.
    progress help_along() {
        progress all = progress::done;
        for (auto& e : exchanges_) {
            if (!e.is_under_way || e.plans == nullptr) continue;
            for (plan& p : e.plans->plans) {
                progress const now = p.advance();
                if (now == progress::failed) p.wait();  // throws what it met
                if (now == progress::moved || (now == progress::idle && all == progress::done)) all = now;
            }
        }
        return all;
    }

    bool turn() {
        bool moved = false;
        if (!is_settled_) {
            if (!has_arrived(attendance_->told())) return false;
            settle();
            moved = true;
        }
        for (std::size_t b = 0; b < buckets_.size(); ++b) moved |= turn_bucket(b);
        return moved;
    }
    bool is_merged() const noexcept {
        return is_settled_ && std::all_of(stages_.begin(), stages_.end(), [](bucket_stage s) { return s == bucket_stage::merged; });
    }

    static bool has_arrived(plan& p) {
        progress const now = p.advance();
        if (now == progress::failed) p.wait();  // throws what it met
        return now == progress::done;
    }
    static bool has_arrived(sync_exchange<Transport> const& e, std::size_t b) { return e.plans == nullptr || has_arrived(e.plans->plans[b]); }

    /// The average that a bucket merges before it is sent, or after.
    sync_exchange<Transport>* arriving_before() const noexcept { return !Merge::sends_first && is_late_ ? due_ : nullptr; }
    sync_exchange<Transport>* arriving_after() const noexcept { return !is_late_ ? issued_ : Merge::sends_first ? due_ : nullptr; }

    bool turn_bucket(std::size_t b) {
        bool const must_wait = is_in_order_ && b > 0 && stages_[b - 1] < bucket_stage::sent;
        bucket_stage const before = stages_[b];
        if (before == bucket_stage::ready && !must_wait) {
            if (auto* const e = arriving_before()) {
                if (!has_arrived(*e, b)) return false;
                merge(*e, b);
            }
            if (issued_ != nullptr) send(b);
            stages_[b] = bucket_stage::sent;
        }
        if (stages_[b] == bucket_stage::sent) {
            auto* const e = arriving_after();
            if (e != nullptr && !has_arrived(*e, b)) return before != stages_[b];
            if (e != nullptr) merge(*e, b);
            else if (issued_ != nullptr && due_ == nullptr) await(b);
            stages_[b] = bucket_stage::merged;
        }
        return before != stages_[b];
    }

    /// What the first bucket that is not merged waits for.
    plan& awaited() {
        if (!is_settled_) return attendance_->told();
        auto const b = static_cast<std::size_t>(std::find_if(stages_.begin(), stages_.end(), [](bucket_stage s) { return s != bucket_stage::merged; }) - stages_.begin());
        return (stages_[b] == bucket_stage::ready ? arriving_before() : arriving_after())->plans->plans[b];
    }

    void send(std::size_t b) {
        if constexpr (!Merge::sends_first && !following_merge<Merge, T>) expect_alone();
        std::size_t const slot = issued_->slot;
        bool const keeps_sent = Merge::reads_sent && is_late_;
        if (keeps_sent) slots_[slot].sent.resize(buckets_.memory());
        for_tensors(b, [&](std::size_t i) {
            std::span<T> const own = tensors_[i], out = message_of(slot, i);
            if constexpr (composing_merge<Merge, T>) merge_.compose(std::span<T const>{own}, std::span<T const>{kept_[i]}, out);
            else if (out.data() != own.data()) std::copy(own.begin(), own.end(), out.begin());
            if (is_scaled_) scale(out);
            if (keeps_sent) std::copy(own.begin(), own.end(), sent_of(slot, i).begin());
        });
        issued_->plans->plans[b].start();
        issued_->is_sent[b] = 1;
        report_.bytes_sent += issued_->plans->plans[b].bytes_sent();
    }

    /// What has joined sends zeros even where it has a NaN.
    void scale(std::span<T> values) const noexcept {
        T const by = static_cast<T>(share_);
        for (T& x : values) x = share_ == 0.0 ? T{} : x * by;
    }

    void expect_alone() const {
        for (auto const& e : exchanges_)
            expects(!e.is_under_way || &e == due_, [&] {
                return here() + std::string{Merge::name} + " takes one exchange at a time, and that of step " + std::to_string(e.step) +
                       " is under way; average more seldom or with a shorter delay than " + std::to_string(options_.delay);
            });
    }

    void merge(sync_exchange<Transport> const& e, std::size_t b) {
        for_tensors(b, [&](std::size_t i) {
            std::span<T const> const sent = Merge::reads_sent && e.is_under_way ? std::span<T const>{sent_of(e.slot, i)} : std::span<T const>{tensors_[i]};
            chorus::arrival<T> const a{tensors_[i], message_of(e.slot, i), sent, kept_[i], e.members, totals_.merges};
            merge_.merge(a);
            if constexpr (following_merge<Merge, T>)
                for (auto const& later : exchanges_)
                    if (Merge::reads_sent && later.is_under_way && later.step > e.step) merge_.follow(a, sent_of(later.slot, i));
        });
    }
    void await([[maybe_unused]] std::size_t b) {
        if constexpr (awaiting_merge<Merge, T>) for_tensors(b, [&](std::size_t i) { merge_.await(tensors_[i]); });
    }

    /// False: nobody is there, so there was no step.
    bool end_step() {
        is_open_ = false;
        if (attendance_ && !attendance_->is_anybody_there()) return false;
        if (due_ != nullptr) due_->is_under_way = false;
        if (issued_ != nullptr) issued_->is_under_way = is_late_;
        report_.has_merged = is_late_ ? due_ != nullptr : issued_ != nullptr;
        totals_.merges += report_.has_merged ? 1 : 0;
        totals_.exchanges += issued_ != nullptr ? 1 : 0;
        totals_.bytes_sent += report_.bytes_sent;
        ++totals_.steps;
        return true;
    }

    std::vector<std::span<T>> tensors_;
    Merge merge_;
    synchroniser_options options_;
    std::optional<any_compressor> carried_by_;
    std::vector<std::size_t> counts_;
    tensor_buckets buckets_;
    meetings<Transport, Policy> meetings_;
    std::unique_ptr<attendance<Transport>> attendance_;
    std::vector<sync_exchange<Transport>> exchanges_;  // by step modulo their number
    std::vector<sync_slot<T>> slots_;                  // by step modulo their number
    std::vector<std::vector<T>> kept_;                 // by tensor
    bool is_in_order_ = false;
    bool is_joined_ = false;
    std::exception_ptr failure_;
    sync_totals totals_;
    sync_report report_;

    // of the open step
    step_id step_ = 0;
    bool is_open_ = false, is_late_ = false, is_settled_ = false, is_scaled_ = false;
    double share_ = 1;
    meeting<Transport>* meeting_ = nullptr;
    sync_exchange<Transport>*issued_ = nullptr, *due_ = nullptr;
    std::vector<bucket_stage> stages_;
    std::vector<std::size_t> missing_;  // tensors of the bucket that are not ready
    std::vector<char> is_ready_;
};

}  // namespace chorus::detail
