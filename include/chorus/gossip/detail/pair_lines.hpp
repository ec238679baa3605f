// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/collective/group.hpp"
#include "chorus/transport/transport.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace chorus::gossip::detail {

enum class notice_kind : std::uint32_t { ask = 1, answer, busy, finished, left };

struct notice {
    notice_kind kind = notice_kind::ask;
    rank_id sender = 0;  // in the group
    std::uint64_t unused = 0;
};
static_assert(sizeof(notice) == 16);

/// What the ranks say to one another in notices of 16 bytes: one stream from each rank to each other, in order, one notice at a time listened for. Peers are numbered as in
/// the group. Whoever is lost is cut off, before the transport takes offence at it where it tells who is lost.
template <transport Transport>
class pair_lines {
 public:
    using ticket = typename Transport::ticket;
    /// Of each at most one is on its way to a peer.
    enum slot : std::size_t { question, reply, end };

    pair_lines(group<Transport> const& members, std::uint64_t stream)
        : net_{&members.net()}, group_{members.state()}, tag_{stream, static_cast<std::uint32_t>(stream >> 32)}, lines_(members.size()) {}

    pair_lines(pair_lines const&) = delete;
    pair_lines& operator=(pair_lines const&) = delete;

    void listen(rank_id p) {
        line& to = lines_[p];
        if (to.is_lost || to.is_posted) return;
        to.ticket_in = net_->post_recv(group_->members[p], tag_, std::as_writable_bytes(std::span{&to.in, 1}));
        to.is_posted = true;
    }

    /// What p said, once; then it is to be listened to anew.
    std::optional<notice_kind> hear(rank_id p) {
        line& from = lines_[p];
        if (!from.is_posted || look(from.ticket_in, p) != progress::done || !from.is_posted) return std::nullopt;
        from.is_posted = false;
        if (from.in.sender != p || from.in.kind < notice_kind::ask || from.in.kind > notice_kind::left) {
            failure_ = error{errc::corrupt, "rank " + std::to_string(group_->members[p]) + " sent what is no notice of a pair", group_->members[p]};
            return std::nullopt;
        }
        return from.in.kind;
    }

    void say(rank_id p, slot which, notice_kind kind) {
        outgoing& out = lines_[p].out[which];
        out.what = {kind, group_->me, 0};
        out.pending = net_->post_send(group_->members[p], tag_, std::as_bytes(std::span{&out.what, 1}));
        out.is_posted = true;
    }
    bool is_out(rank_id p, slot which) const noexcept { return !lines_[p].out[which].is_posted; }

    bool poll_sends() {
        bool moved = false;
        for (rank_id p = 0; p < lines_.size(); ++p)
            for (outgoing& out : lines_[p].out)
                if (out.is_posted && look(out.pending, p) == progress::done) {
                    out.is_posted = false;
                    moved = true;
                }
        return moved;
    }
    bool has_sends() const noexcept {
        for (line const& to : lines_)
            for (outgoing const& out : to.out)
                if (out.is_posted) return true;
        return false;
    }

    /// Polls something under way with p. Where that has failed p is lost, or all is.
    progress look(ticket& pending, rank_id p) {
        progress const now = net_->poll(pending);
        if (now == progress::failed) fail_with(p);
        return now;
    }

    bool is_lost(rank_id p) const noexcept { return lines_[p].is_lost; }
    void cut_off(rank_id p) noexcept {
        line& gone = lines_[p];
        gone.is_lost = true;
        if (std::exchange(gone.is_posted, false)) cancel(gone.ticket_in);
        for (outgoing& out : gone.out)
            if (std::exchange(out.is_posted, false)) cancel(out.pending);
    }
    void cancel(ticket& pending) noexcept {
        if constexpr (cancelling_transport<Transport>) net_->cancel(pending);
    }

    /// Cuts off who is lost at the second look: what it sent before has been read then.
    void look_for_lost() noexcept {
        if constexpr (requires { net_->has_lost(rank_id{}); }) {
            for (rank_id p = 0; p < lines_.size(); ++p) {
                line& with = lines_[p];
                if (with.is_lost || !has_open(with) || !net_->has_lost(group_->members[p])) continue;
                if (std::exchange(with.is_suspected, true)) cut_off(p);
            }
        }
    }

    std::optional<error> const& failure() const noexcept { return failure_; }
    void fail(error why) { failure_ = std::move(why); }

 private:
    struct outgoing {
        notice what;
        ticket pending{};
        bool is_posted = false;
    };
    struct line {
        notice in;
        ticket ticket_in{};
        bool is_posted = false;
        bool is_suspected = false;
        bool is_lost = false;
        std::array<outgoing, 3> out;
    };

    static bool has_open(line const& with) noexcept { return with.is_posted || with.out[question].is_posted || with.out[reply].is_posted || with.out[end].is_posted; }

    void fail_with(rank_id p) {
        bool is_ours = false;
        if constexpr (aborting_transport<Transport>) is_ours = net_->is_aborted();
        if constexpr (explaining_transport<Transport>) is_ours = is_ours || net_->failure().code() != errc::peer_lost;
        if (!is_ours) return cut_off(p);
        if (failure_) return;
        if constexpr (explaining_transport<Transport>) failure_ = net_->failure();
        else failure_ = error{errc::aborted, "the transport failed", group_->members[p]};
    }

    Transport* net_;
    std::shared_ptr<chorus::detail::group_state> group_;
    message_tag tag_;
    std::vector<line> lines_;
    std::optional<error> failure_;
};

}  // namespace chorus::gossip::detail
