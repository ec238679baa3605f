// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/random.hpp"
#include "chorus/base/time_limit.hpp"
#include "chorus/detail/first_error.hpp"
#include "chorus/topo/layout.hpp"
#include "chorus/transport/detail/bounce_pool.hpp"
#include "chorus/transport/detail/endpoint_state.hpp"
#include "chorus/transport/detail/joined_side.hpp"
#include "chorus/transport/detail/relax.hpp"
#include "chorus/transport/transport.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace chorus {

/// A transport made of two: messages between ranks of one host go by `Inside`, whose ranks are the local ranks of the
/// layout, all others by `Between`, whose ranks are all ranks, numbered as here. Both must outlive it.
///
/// Matching, copies, limits, lost peers: as the one that carries the message; streams are renumbered, so groups made on the
/// two themselves are independent of those made on this one, but are not helped along by waiting for these. One thread;
/// `abort` from any if both allow that. Reduces if either does: what the other cannot is received into scratch and combined
/// when done, one more copy; the scratch is kept. Nothing but that scratch is allocated here. Operations must have ended or been
/// cancelled before it goes away.
///
/// A failed operation, or an abort of either of the two, fails this transport and is carried over to the other one, by every
/// rank that polls or rests, whatever it waits for. Ranks are named as here; where `Inside` composed the text, it says which
/// ranks its numbers mean. In `Inside` itself a blamed rank r of an abort that came through here is numbered local ranks + r.
template <transport Inside, transport Between>
class hierarchical_transport : public detail::endpoint_state {
 public:
    /// The name in tables of algorithms.
    static constexpr std::string_view kind() noexcept { return "hierarchical"; }

    /// What was posted and is not done, of one of the two transports.
    class ticket {
     public:
        ticket() = default;

     private:
        friend class hierarchical_transport;
        std::variant<typename Inside::ticket, typename Between::ticket> inner_;
        detail::bounced_reduction* bounce_ = nullptr;
        bool is_open_ = false;
    };

    hierarchical_transport(Inside& inside, Between& between, topo::layout const& places)
        : places_{checked(inside, between, places)}, me_{between.rank()}, inside_{inside}, between_{between} {
        auto const neighbours = places_.ranks_of(places_.host_of(me_));
        world_of_.assign(neighbours.begin(), neighbours.end());
        local_of_.assign(places_.size(), nobody);
        for (rank_id const r : neighbours) local_of_[r] = places_.local_rank(r);
    }

    rank_id rank() const noexcept { return me_; }
    rank_id size() const noexcept { return places_.size(); }
    topo::layout const& places() const noexcept { return places_; }
    Inside& inside() noexcept { return inside_.net(); }
    Between& between() noexcept { return between_.net(); }

    /// Payload of the sends that this rank posted to ranks of its own host, itself among them, and to all others.
    std::uint64_t bytes_inside() const noexcept { return bytes_inside_; }
    std::uint64_t bytes_between() const noexcept { return bytes_between_; }

    ticket post_send(rank_id peer, message_tag tag, std::span<std::byte const> out) {
        ticket posted = post(peer, "post_send", [&](auto& side, rank_id to) {
            return side.net().post_send(to, renumbered(tag), out);
        });
        (is_neighbour(peer) ? bytes_inside_ : bytes_between_) += out.size();
        return posted;
    }

    ticket post_recv(rank_id peer, message_tag tag, std::span<std::byte> in) {
        return post(peer, "post_recv", [&](auto& side, rank_id from) {
            return side.net().post_recv(from, renumbered(tag), in);
        });
    }

    ticket post_recv_reduce(rank_id peer, message_tag tag, reduce_target const& into)
        requires reducing_transport<Inside> || reducing_transport<Between>
    {
        detail::bounced_reduction* bounce = nullptr;
        ticket posted = post(peer, "post_recv_reduce", [&](auto& side, rank_id from) {
            return side.post_recv_reduce(from, renumbered(tag), into, bounces_, bounce);
        });
        posted.bounce_ = bounce;
        return posted;
    }

    /// The longest element that either of the two reduces on arrival, in bytes.
    std::size_t largest_reduced_element() const noexcept {
        return (std::min)(inside_.largest_reduced_element(), between_.largest_reduced_element());
    }

    progress poll(ticket& pending) noexcept {
        if (!pending.is_open_) return progress::done;
        progress const now = on_side_of(pending, [](auto& side, auto& inner) { return side.net().poll(inner); });
        if (now == progress::done) {
            close(pending);
            if (pending.bounce_ != nullptr) bounces_.finish(*std::exchange(pending.bounce_, nullptr));
            return now;
        }
        if (now == progress::failed) carry_over(pending.inner_.index() == 0);
        else if (now == progress::idle && (++idle_polls_ & 63u) == 0) look_at_both();
        return reason_.is_set() ? progress::failed : now;
    }

    void cancel(ticket& pending) noexcept
        requires cancelling_transport<Inside> && cancelling_transport<Between>
    {
        if (!pending.is_open_) return;
        on_side_of(pending, [](auto& side, auto& inner) { side.net().cancel(inner); });
        close(pending);
        if (pending.bounce_ != nullptr) bounces_.give_back(*pending.bounce_);
        pending = ticket{};
    }

    /// Reaches the ranks that either of the two reaches; the others learn of it from their neighbours.
    void abort(errc code, rank_id blamed, std::string_view why) noexcept {
        if (is_aborted()) return carry_over(!between_.is_aborted());
        CHORUS_TRY { spread(error{code, std::string{why}, blamed}, "rank " + std::to_string(me_) + " reports: "); }
        CHORUS_CATCH_ALL { spread_bare(code, blamed); }
    }
    bool is_aborted() const noexcept { return reason_.is_set() || between_.is_aborted() || inside_.is_aborted(); }

    /// The first reason that this rank came to know.
    error failure() const {
        if (reason_.is_set()) return reason_.get();
        if (between_.is_aborted()) return between_.failure();
        return inside_.is_aborted() ? in_world_ranks(inside_.failure()) : error{errc::aborted, "no reason was given"};
    }

    /// Recovers inside the host, then, with three times the limit, for hosts take turns of different length, between hosts.
    std::vector<rank_id> recover(time_limit limit = std::chrono::seconds{10})
        requires recovering_transport<Inside> && recovering_transport<Between>
    {
        abort(errc::aborted, me_, "rank " + std::to_string(me_) + " recovers");
        inside_.recover(limit);
        std::vector<rank_id> alive = between_.recover(limit.is_for_ever() ? limit : time_limit{3 * limit.length()});
        for (rank_id const r : world_of_)  // what is asked of the lost is refused between hosts, where all know them
            if (!std::binary_search(alive.begin(), alive.end(), r)) local_of_[r] = nobody;
        reason_.clear();
        is_carried_ = false;
        return alive;
    }
    std::uint64_t recoveries() const noexcept
        requires recovering_transport<Inside> && recovering_transport<Between>
    {
        return std::as_const(between_.net()).recoveries();
    }

    /// Rests in the one of the two on which something is under way; where that is both, sleeps 0.2 ms at a time.
    void rest(std::uint32_t idle_polls) noexcept {
        look_at_both();
        bool const awaits_inside = inside_.open() > 0;
        bool const awaits_between = between_.open() > 0;
        if (awaits_inside && !awaits_between) return inside_.rest(idle_polls);
        if (awaits_between && !awaits_inside) return between_.rest(idle_polls);
        if (idle_polls < 1024 || idle_polls % 8 != 0) return detail::rest_unaided(idle_polls);
        if (idle_polls % 16 != 0) inside_.rest(idle_polls);  // for what only resting does: looking for lost peers
        else between_.rest(idle_polls);
    }

    bool try_enter() noexcept {
        if (!endpoint_state::try_enter()) return false;
        if (inside_.try_enter()) {
            if (between_.try_enter()) return true;
            inside_.leave();
        }
        endpoint_state::leave();
        return false;
    }
    void leave() noexcept {
        between_.leave();
        inside_.leave();
        endpoint_state::leave();
    }

    void announce(operation_record const& record) noexcept
        requires announcing_transport<Inside> || announcing_transport<Between>
    {
        operation_record const shown = renumbered(record);
        inside_.announce(shown);
        between_.announce(shown);
    }
    void show(operation_record const& record) noexcept
        requires announcing_transport<Inside> || announcing_transport<Between>
    {
        operation_record const shown = renumbered(record);
        inside_.show(shown);
        between_.show(shown);
    }
    void show_end(operation_record const& record) noexcept
        requires announcing_transport<Inside> || announcing_transport<Between>
    {
        operation_record const shown = renumbered(record);
        inside_.show_end(shown);
        between_.show_end(shown);
    }
    void ask_views() noexcept
        requires surveying_transport<Inside> || surveying_transport<Between>
    {
        inside_.ask_views();
        between_.ask_views();
    }
    bool has_view_of(rank_id peer) noexcept
        requires surveying_transport<Inside> || surveying_transport<Between>
    {
        return is_neighbour(peer) ? inside_.has_view_of(local_of_[peer]) : between_.has_view_of(peer);
    }
    bool has_lost(rank_id peer) noexcept
        requires surveying_transport<Inside> || surveying_transport<Between>
    {
        return is_neighbour(peer) ? inside_.has_lost(local_of_[peer]) : between_.has_lost(peer);
    }
    operation_record view_of(rank_id peer) const
        requires announcing_transport<Inside> || announcing_transport<Between>
    {
        if constexpr (announcing_transport<Inside>)
            if (is_neighbour(peer)) return inside_.view_of(local_of_[peer]);
        return between_.view_of(peer);
    }

 private:
    static constexpr std::uint64_t own_streams = 0x6A09'E667'F3BC'C908u;
    static constexpr std::string_view across_hosts = "across hosts, ";  // what follows names ranks as here

    static topo::layout const& checked(Inside const& inside, Between const& between, topo::layout const& places) {
        rank_id const me = between.rank();
        auto const says = [&](std::string const& text) {
            return "hierarchical_transport on rank " + std::to_string(me) + ": " + text;
        };
        detail::expects(static_cast<void const*>(&inside) != static_cast<void const*>(&between),
                        [&] { return says("the transports inside a host and between hosts are one and the same"); });
        detail::expects(between.size() == places.size(), [&] {
            return says("the layout has " + std::to_string(places.size()) + " ranks, the transport between hosts " +
                        std::to_string(between.size()));
        });
        rank_id const host = places.host_of(me);
        detail::expects(inside.size() == places.ranks_of(host).size() && inside.rank() == places.local_rank(me), [&] {
            return says("it is rank " + std::to_string(inside.rank()) + " of " + std::to_string(inside.size()) +
                        " inside its host; by the layout it is " + std::to_string(places.local_rank(me)) + " of " +
                        std::to_string(places.ranks_of(host).size()) + " on host " + std::to_string(host));
        });
        return places;
    }

    static message_tag renumbered(message_tag tag) noexcept {
        tag.stream = counter_random::mix(tag.stream ^ own_streams);
        return tag;
    }

    static operation_record renumbered(operation_record record) noexcept {
        record.stream = renumbered(message_tag{.stream = record.stream}).stream;
        return record;
    }

    bool is_neighbour(rank_id peer) const noexcept { return local_of_[peer] != nobody; }

    template <class Post>
    ticket post(rank_id peer, char const* call, Post const& post_on) {
        detail::check_peer(peer, me_, size(), call);
        ticket posted;
        if (is_neighbour(peer)) {
            posted.inner_.template emplace<0>(post_on(inside_, local_of_[peer]));
            inside_.count_open();
        } else {
            posted.inner_.template emplace<1>(post_on(between_, peer));
            between_.count_open();
        }
        posted.is_open_ = true;
        return posted;
    }

    template <class Call>
    auto on_side_of(ticket& pending, Call const& call) noexcept {
        if (auto* const inner = std::get_if<0>(&pending.inner_)) return call(inside_, *inner);
        return call(between_, *std::get_if<1>(&pending.inner_));
    }

    void close(ticket& pending) noexcept {
        pending.is_open_ = false;
        on_side_of(pending, [](auto& side, auto&) { side.count_closed(); });
    }

    // ---- failing ----

    /// Makes progress on both, and sees what failed on either.
    void look_at_both() noexcept {
        bool const between = between_.has_failed();
        if (inside_.has_failed() || between) carry_over(!between);
    }

    void carry_over(bool from_inside) noexcept {
        if (is_carried_.exchange(true)) return;
        CHORUS_TRY {
            if (reason_.is_set()) spread(reason_.get(), {});
            else if (from_inside && !between_.is_aborted()) spread(in_world_ranks(inside_.failure()), {});
            else spread(between_.failure(), {});
        }
        CHORUS_CATCH_ALL { spread_bare(errc::aborted, nobody); }
    }

    /// Both keep the first reason they get, so nothing is told twice.
    void spread(error const& why, std::string const& reporter) {
        std::string const text{why.message()};
        std::string const text_inside = std::string{across_hosts} + reporter + text;
        reason_.set(why.code(), why.peer(), text);
        between_.abort(why.code(), why.peer(), text);
        inside_.abort(why.code(), named_inside(why.peer()), text_inside);
    }
    void spread_bare(errc code, rank_id blamed) noexcept {
        reason_.set(code, blamed, "no memory for the reason");
        between_.abort(code, blamed, "no memory for the reason");
        inside_.abort(code, named_inside(blamed), across_hosts);
    }

    rank_id local_ranks() const noexcept { return static_cast<rank_id>(world_of_.size()); }
    rank_id named_inside(rank_id world) const noexcept { return world < size() ? local_ranks() + world : nobody; }
    rank_id named_here(rank_id inside) const noexcept {
        if (inside < local_ranks()) return world_of_[inside];
        return inside - local_ranks() < size() ? inside - local_ranks() : nobody;
    }

    error in_world_ranks(error const& told_inside) const {
        std::string text{told_inside.message()};
        std::size_t const at = text.find(across_hosts);
        if (at != std::string::npos) text.erase(0, at + across_hosts.size());
        else text += names_inside();
        return error{told_inside.code(), text, named_here(told_inside.peer())};
    }

    std::string names_inside() const {
        if (places_.is_contiguous() && world_of_.front() == 0) return {};
        std::string text = "; inside host " + std::to_string(places_.host_of(me_)) + " rank 0 is rank " +
                           std::to_string(world_of_.front());
        for (rank_id local = 1; local < local_ranks() && local < 16; ++local)
            text += ", " + std::to_string(local) + " is " + std::to_string(world_of_[local]);
        return text + (local_ranks() > 16 ? ", …" : "");
    }

    topo::layout places_;
    rank_id me_;
    std::vector<rank_id> world_of_;  // local rank -> rank
    std::vector<rank_id> local_of_;  // rank -> local rank, or nobody on other hosts
    detail::bounce_pool bounces_;
    detail::joined_side<Inside> inside_;
    detail::joined_side<Between> between_;
    detail::first_error reason_;
    std::atomic<bool> is_carried_{false};
    std::uint64_t bytes_inside_ = 0;
    std::uint64_t bytes_between_ = 0;
    std::uint32_t idle_polls_ = 0;
};

}  // namespace chorus
