// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/transport/transport.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace chorus {

/// One post on a recorded transport.
struct transport_event {
    enum class kind : std::uint8_t { send, recv, recv_reduce };

    kind what = kind::send;
    rank_id peer = nobody;
    std::uint64_t stream = 0;
    std::size_t bytes = 0;

    friend constexpr bool operator==(transport_event const&, transport_event const&) = default;
};

/// Counts what goes through another transport, which must outlive it, and has the refinements that one has.
///
/// Matching, threads, copies, limits and lost peers: as the inner transport. Counted are posts, whether they complete
/// or not. Allocates only for the list of events, which stops growing at `keep_events`.
template <transport Transport>
class recording_transport {
 public:
    using ticket = typename Transport::ticket;

    explicit recording_transport(Transport& inner, std::size_t keep_events = 65536)
        : inner_{&inner}, keep_events_{keep_events}, sent_(inner.size()), received_(inner.size()) {}

    rank_id rank() const noexcept { return inner_->rank(); }
    rank_id size() const noexcept { return inner_->size(); }
    std::string_view kind() const noexcept { return kind_of(*inner_); }
    rank_id cores() const noexcept
        requires core_counting_transport<Transport>
    {
        return inner_->cores();
    }
    Transport& inner() noexcept { return *inner_; }

    ticket post_send(rank_id peer, message_tag tag, std::span<std::byte const> out) {
        ticket posted = inner_->post_send(peer, tag, out);
        record(sent_[peer], {transport_event::kind::send, peer, tag.stream, out.size()});
        return posted;
    }

    ticket post_recv(rank_id peer, message_tag tag, std::span<std::byte> in) {
        ticket posted = inner_->post_recv(peer, tag, in);
        record(received_[peer], {transport_event::kind::recv, peer, tag.stream, in.size()});
        return posted;
    }

    ticket post_recv_reduce(rank_id peer, message_tag tag, reduce_target const& into)
        requires reducing_transport<Transport>
    {
        ticket posted = inner_->post_recv_reduce(peer, tag, into);
        record(received_[peer], {transport_event::kind::recv_reduce, peer, tag.stream, into.bytes});
        return posted;
    }

    std::size_t largest_reduced_element() const noexcept
        requires requires(Transport const& net) { net.largest_reduced_element(); }
    {
        return inner_->largest_reduced_element();
    }

    progress poll(ticket& pending) noexcept { return inner_->poll(pending); }

    void cancel(ticket& pending) noexcept requires cancelling_transport<Transport> { inner_->cancel(pending); }

    void abort(errc code, rank_id blamed, std::string_view why) noexcept requires aborting_transport<Transport> {
        inner_->abort(code, blamed, why);
    }
    bool is_aborted() noexcept requires aborting_transport<Transport> { return inner_->is_aborted(); }

    error failure() const requires explaining_transport<Transport> { return std::as_const(*inner_).failure(); }

    void rest(std::uint32_t idle_polls) noexcept requires resting_transport<Transport> { inner_->rest(idle_polls); }

    bool try_enter() noexcept requires guarded_transport<Transport> { return inner_->try_enter(); }
    void leave() noexcept requires guarded_transport<Transport> { inner_->leave(); }

    void announce(operation_record const& mine) noexcept requires announcing_transport<Transport> {
        inner_->announce(mine);
    }
    operation_record view_of(rank_id peer) const requires announcing_transport<Transport> {
        return std::as_const(*inner_).view_of(peer);
    }
    void show(operation_record const& mine) noexcept requires following_transport<Transport> { inner_->show(mine); }
    void show_end(operation_record const& mine) noexcept requires following_transport<Transport> {
        inner_->show_end(mine);
    }
    void ask_views() noexcept requires surveying_transport<Transport> { inner_->ask_views(); }
    bool has_view_of(rank_id peer) noexcept requires surveying_transport<Transport> {
        return inner_->has_view_of(peer);
    }
    bool has_lost(rank_id peer) noexcept requires surveying_transport<Transport> { return inner_->has_lost(peer); }

    std::uint64_t count_plan(std::uint64_t context) requires counting_transport<Transport> {
        return inner_->count_plan(context);
    }

    /// Sends posted, to everybody or to one.
    std::uint64_t messages() const noexcept { return sum(sent_).messages; }
    std::uint64_t messages(rank_id peer) const { return sent_.at(peer).messages; }
    std::uint64_t sent_bytes() const noexcept { return sum(sent_).bytes; }
    std::uint64_t sent_bytes(rank_id peer) const { return sent_.at(peer).bytes; }
    /// Of receives posted, from everybody or from one.
    std::uint64_t received_bytes() const noexcept { return sum(received_).bytes; }
    std::uint64_t received_bytes(rank_id peer) const { return received_.at(peer).bytes; }

    /// The first `keep_events` posts since construction or `clear`, in order.
    std::vector<transport_event> const& events() const noexcept { return events_; }
    /// How many posts there were beyond those.
    std::uint64_t events_left_out() const noexcept { return left_out_; }

    void clear() noexcept {
        for (traffic& one : sent_) one = {};
        for (traffic& one : received_) one = {};
        events_.clear();
        left_out_ = 0;
    }

 private:
    struct traffic {
        std::uint64_t messages = 0;
        std::uint64_t bytes = 0;
    };

    void record(traffic& with_peer, transport_event const& event) {
        ++with_peer.messages;
        with_peer.bytes += event.bytes;
        if (events_.size() < keep_events_) events_.push_back(event);
        else ++left_out_;
    }

    static traffic sum(std::vector<traffic> const& peers) noexcept {
        traffic all;
        for (traffic const& one : peers) {
            all.messages += one.messages;
            all.bytes += one.bytes;
        }
        return all;
    }

    Transport* inner_;
    std::size_t keep_events_;
    std::vector<traffic> sent_;
    std::vector<traffic> received_;
    std::vector<transport_event> events_;
    std::uint64_t left_out_ = 0;
};

}  // namespace chorus
