// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/byte_buffer.hpp"
#include "chorus/collective/group.hpp"
#include "chorus/gossip/detail/arrivals.hpp"
#include "chorus/gossip/stepper.hpp"
#include "chorus/topo/graph.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace chorus::gossip::detail {

/// In front of every message, so that one of another step is known for what it is.
struct message_head {
    std::uint64_t step = 0;
    std::uint64_t bytes = 0;  // of the payload; messages have one length, whatever they carry
    rank_id sender = 0;       // in the group
    std::uint32_t unused = 0;

    static message_head of(std::span<std::byte const> message) noexcept {
        message_head head;
        std::memcpy(&head, message.data(), sizeof head);
        return head;
    }
};
static_assert(sizeof(message_head) % 8 == 0);

/// Messages of equal length between a rank and its neighbours, step by step, without a plan: the loss of a neighbour need not be the loss of the group.
///
/// One stream from each rank to each other, in order. A message that is not taken in time stays with its sender, who sends that neighbour no other
/// until it is; whoever waits no longer for one drops it when it comes. Peers are numbered as in the group. Where the transport tells who is lost
/// (`has_lost`) and `skips`, what is under way with a lost one is cancelled before the transport takes offence at it.
template <transport Transport>
class exchange {
 public:
    exchange(group<Transport> const& members, std::uint64_t stream, std::size_t payload_bytes, bool skips, mixing_counts& counts)
        : net_{&members.net()}, group_{members.state()}, tag_{stream, static_cast<std::uint32_t>(stream >> 32)},
          message_bytes_{sizeof(message_head) + payload_bytes}, skips_{skips}, counts_{&counts}, in_(members.size()), out_(members.size()) {}

    exchange(exchange const&) = delete;
    exchange& operator=(exchange const&) = delete;
    ~exchange() { cancel_all(); }

    /// take(payload) is called for what comes after its step, which is dropped otherwise.
    void take_late(std::function<void(std::span<std::byte const>)> take) { take_late_ = std::move(take); }

    /// Room for what these rows need, so that steps do not allocate.
    void reserve(topo::mixing_row const& row) {
        for (rank_id p : row.from) in_[p].memory.grow(message_bytes_);
        came_.from.reserve(row.from.size());
        came_.weights.reserve(row.from.size());
        came_.payloads.reserve(row.from.size());
        states_.reserve(row.from.size());
        if (snapshots_.empty()) snapshots_.emplace_back().memory.grow(message_bytes_);
    }

    /// Where the payload of the next step is written; nobody reads it any more.
    std::span<std::byte> blank() {
        poll_sends();
        std::size_t free = 0;
        while (free < snapshots_.size() && snapshots_[free].readers > 0) ++free;
        if (free == snapshots_.size()) snapshots_.emplace_back();
        now_ = free;
        snapshots_[now_].memory.grow(message_bytes_);
        return snapshots_[now_].memory.span().subspan(sizeof(message_head), message_bytes_ - sizeof(message_head));
    }

    /// Posts everything; the row must live until the step is over.
    void post(step_id step, topo::mixing_row const& row, std::size_t used) {
        step_ = step;
        row_ = &row;
        gives_up_sends_ = false;
        came_.unsent = 0;
        message_head const head{step, used, group_->me, 0};
        std::memcpy(snapshots_[now_].memory.data(), &head, sizeof head);
        for (rank_id p : row.to) send(p, used);
        states_.assign(row.from.size(), state::awaited);
        for (rank_id p : row.from) listen(p);
    }

    /// Goes on as far as it goes without blocking. `done`: all came, or were left out, and all of this step's messages are out.
    progress advance() {
        bool moved = poll_sends();
        bool open = false;
        for (std::size_t k = 0; k < states_.size() && !failure_; ++k) {
            if (states_[k] != state::awaited) continue;
            moved = hear(k) || moved;
            open = open || states_[k] == state::awaited;
        }
        if (failure_) return progress::failed;
        if (!open && !awaits_readers()) return progress::done;
        return moved ? progress::moved : progress::idle;
    }

    /// Cancels what is under way with ranks that are lost; true if there was any.
    bool drop_lost() {
        bool dropped = false;
        if constexpr (requires { net_->has_lost(rank_id{}); }) {
            for (rank_id p = 0; p < in_.size(); ++p)
                if (!in_[p].is_lost && (in_[p].is_posted || out_[p].is_posted) && net_->has_lost(group_->members[p])) dropped = lose(p) || dropped;
        }
        return dropped;
    }

    /// The rest is not waited for any longer.
    void leave_out_late() {
        for (std::size_t k = 0; k < states_.size(); ++k) {
            if (states_[k] != state::awaited) continue;
            incoming& from = in_[row_->from[k]];
            bool const may_be_dropped = !from.is_moving && !take_late_;  // a receive that is cancelled may use up its message
            if (cancelling_transport<Transport> && may_be_dropped) stop_listening(from);
            states_[k] = state::absent;
        }
        gives_up_sends_ = true;
    }

    /// What came, once a step is done. Good until the next `blank`.
    arrivals& came() {
        came_.own = row_->own;
        came_.from.clear();
        came_.weights.clear();
        came_.payloads.clear();
        for (std::size_t k = 0; k < states_.size(); ++k) {
            if (states_[k] == state::here) {
                came_.from.push_back(row_->from[k]);
                came_.weights.push_back(row_->weights[k]);
                came_.payloads.push_back(payload_of(in_[row_->from[k]]));
            } else {
                came_.own += row_->weights[k];
                ++counts_->skipped;
            }
        }
        return came_;
    }

    std::span<std::byte const> sent() const noexcept {
        return std::span{snapshots_[now_].memory.data(), message_bytes_}.subspan(sizeof(message_head));
    }

    bool has_open() const noexcept {
        for (rank_id p = 0; p < in_.size(); ++p)
            if (in_[p].is_posted || out_[p].is_posted) return true;
        return false;
    }

    void cancel_all() noexcept {
        for (incoming& from : in_) stop_listening(from);
        for (outgoing& to : out_) stop_sending(to);
    }

    std::optional<error> const& failure() const noexcept { return failure_; }
    void clear_failure() noexcept { failure_.reset(); }

    /// " it awaits rank 3 (to send), rank 4 (to take)"
    std::string awaited() const {
        std::string text;
        for (std::size_t k = 0; k < states_.size(); ++k)
            if (states_[k] == state::awaited) text += (text.empty() ? " it awaits rank " : ", rank ") + std::to_string(group_->members[row_->from[k]]) + " (to send)";
        for (rank_id p = 0; p < out_.size(); ++p)
            if (out_[p].is_posted) text += (text.empty() ? " it awaits rank " : ", rank ") + std::to_string(group_->members[p]) + " (to take)";
        return text;
    }
    rank_id first_awaited() const noexcept {
        for (std::size_t k = 0; k < states_.size(); ++k)
            if (states_[k] == state::awaited) return group_->members[row_->from[k]];
        for (rank_id p = 0; p < out_.size(); ++p)
            if (out_[p].is_posted) return group_->members[p];
        return nobody;
    }

    /// The transport's own reason where it has one.
    error why_failed(rank_id peer) const {
        if constexpr (explaining_transport<Transport>) return net_->failure();
        else return error{errc::peer_lost, "the transport failed", group_->members[peer]};
    }

 private:
    using ticket = typename Transport::ticket;

    enum class state : std::uint8_t { awaited, here, absent };

    struct incoming {
        ticket pending{};
        byte_buffer memory;
        bool is_posted = false;
        bool is_moving = false;  // its message has begun to come
        bool is_held = false;    // holds a message of a step to come
        bool is_suspected = false;
        bool is_lost = false;
    };
    struct outgoing {
        ticket pending{};
        bool is_posted = false;
        std::size_t snapshot = 0;
    };
    struct snapshot {
        byte_buffer memory;
        std::uint32_t readers = 0;
    };

    // ---- sending ----

    void send(rank_id p, std::size_t used) {
        outgoing& to = out_[p];
        if (in_[p].is_lost || to.is_posted) {
            ++came_.unsent;
            if (!in_[p].is_lost) ++counts_->unsent;
            return;
        }
        to.pending = net_->post_send(group_->members[p], tag_, {snapshots_[now_].memory.data(), message_bytes_});
        to.is_posted = true;
        to.snapshot = now_;
        ++snapshots_[now_].readers;
        ++counts_->messages;
        counts_->bytes_sent += used;
    }

    bool poll_sends() {
        bool moved = false;
        for (rank_id p = 0; p < out_.size(); ++p) {
            if (!out_[p].is_posted) continue;
            progress const now = net_->poll(out_[p].pending);
            if (now == progress::done) release(out_[p]);
            else if (now == progress::failed) fail_with(p);
            moved = moved || now == progress::done || now == progress::moved;
        }
        return moved;
    }

    void release(outgoing& to) noexcept {
        to.is_posted = false;
        --snapshots_[to.snapshot].readers;
    }

    bool awaits_readers() const noexcept {
        if (!skips_) return snapshots_[now_].readers > 0;
        return snapshots_[now_].readers > 0 && !gives_up_sends_;
    }

    // ---- hearing ----

    void listen(rank_id p) {
        incoming& from = in_[p];
        if (from.is_posted || from.is_held || from.is_lost) return;
        from.memory.grow(message_bytes_);
        from.pending = net_->post_recv(group_->members[p], tag_, from.memory.span().first(message_bytes_));
        from.is_posted = true;
        from.is_moving = false;
    }

    static std::span<std::byte const> payload_of(incoming& from) noexcept {
        auto const message = from.memory.span();
        return message.subspan(sizeof(message_head), static_cast<std::size_t>(message_head::of(message).bytes));
    }

    /// True if something came of it.
    bool hear(std::size_t k) {
        rank_id const p = row_->from[k];
        incoming& from = in_[p];
        if (from.is_lost) {
            states_[k] = state::absent;
            return true;
        }
        bool moved = false;
        for (;;) {
            if (from.is_held) {
                if (!judge(k)) return true;
                listen(p);
            }
            progress const now = net_->poll(from.pending);
            if (now == progress::failed) {
                fail_with(p);
                return true;
            }
            if (now != progress::done) {
                from.is_moving = from.is_moving || now == progress::moved;
                return moved || now == progress::moved;
            }
            from.is_posted = false;
            from.is_held = true;
            moved = true;
        }
    }

    /// What is to be thought of the message that k's neighbour sent; true: nothing, it is one of the past.
    bool judge(std::size_t k) {
        rank_id const p = row_->from[k];
        incoming& from = in_[p];
        message_head const head = message_head::of(from.memory.span());
        bool const is_sound = head.sender == p && head.bytes <= message_bytes_ - sizeof(message_head);
        if (!is_sound) {
            failure_ = error{errc::corrupt, "rank " + std::to_string(group_->members[p]) + " sent what is no message of this method", group_->members[p]};
        } else if (head.step > step_ && !skips_) {
            failure_ = error{errc::mismatch, "rank " + std::to_string(group_->members[p]) + " sent step " + std::to_string(head.step) + " where step " +
                                                 std::to_string(step_) + " was awaited: they disagree about the steps or about who sends to whom", group_->members[p]};
        } else if (head.step > step_) {
            states_[k] = state::absent;
            return false;
        }
        from.is_held = false;
        if (failure_) return false;
        if (head.step < step_) {
            if (take_late_) take_late_(payload_of(from));
            ++(take_late_ ? counts_->late : counts_->stale);
            return true;
        }
        states_[k] = state::here;
        return false;
    }

    // ---- losing ----

    void fail_with(rank_id p) {
        bool is_aborted = false;
        if constexpr (aborting_transport<Transport>) is_aborted = net_->is_aborted();
        bool is_mismatch = false;
        if constexpr (explaining_transport<Transport>) is_mismatch = net_->failure().code() != errc::peer_lost;
        if (!skips_ || is_aborted || is_mismatch) {
            if (!failure_) failure_ = why_failed(p);
            return;
        }
        cut_off(p);
    }

    /// What it sent before it was lost counts: false if that is still to be looked at.
    bool lose(rank_id p) {
        if (in_[p].is_posted && !in_[p].is_suspected) {
            in_[p].is_suspected = true;
            return false;
        }
        cut_off(p);
        return true;
    }

    void cut_off(rank_id p) noexcept {
        in_[p].is_lost = true;
        if (out_[p].is_posted && out_[p].snapshot == now_) ++came_.unsent;
        stop_listening(in_[p]);
        stop_sending(out_[p]);
    }

    void stop_listening(incoming& from) noexcept {
        if (!std::exchange(from.is_posted, false)) return;
        if constexpr (cancelling_transport<Transport>) net_->cancel(from.pending);
    }
    void stop_sending(outgoing& to) noexcept {
        if (!to.is_posted) return;
        if constexpr (cancelling_transport<Transport>) net_->cancel(to.pending);
        release(to);
    }

    Transport* net_;
    std::shared_ptr<chorus::detail::group_state> group_;
    message_tag tag_;
    std::size_t message_bytes_;
    bool skips_;
    mixing_counts* counts_;
    std::vector<incoming> in_;
    std::vector<outgoing> out_;
    std::deque<snapshot> snapshots_;
    std::size_t now_ = 0;  // the snapshot of this step
    std::vector<state> states_;
    topo::mixing_row const* row_ = nullptr;
    step_id step_ = 0;
    bool gives_up_sends_ = false;
    std::function<void(std::span<std::byte const>)> take_late_;
    arrivals came_;
    std::optional<error> failure_;
};

}  // namespace chorus::gossip::detail
