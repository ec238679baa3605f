// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/random.hpp"
#include "chorus/detail/first_error.hpp"
#include "chorus/detail/message_mismatch.hpp"
#include "chorus/transport/run_all.hpp"
#include "chorus/transport/transport.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace chorus {

/// Time is counted in ticks: one for every poll of something pending, separately on each rank.
struct simulated_options {
    std::uint64_t seed = 1;
    std::uint32_t delay = 0;      ///< a message arrives 0 … delay ticks of its receiver after it was sent
    bool reorder = true;          ///< messages of different sources or streams may overtake one another
    double loss = 0;              ///< share of the messages that never arrive, in [0, 1]
    bool rendezvous = false;      ///< sends complete only when received and lend the caller's buffer; else they copy
    std::size_t keep_trace = 0;   ///< how many deliveries `trace()` keeps
};

/// A message that reached its receiver, at that receiver's tick.
struct simulated_delivery {
    rank_id source = nobody;
    rank_id destination = nobody;
    std::uint64_t stream = 0;
    std::size_t bytes = 0;
    std::uint64_t tick = 0;

    friend constexpr bool operator==(simulated_delivery const&, simulated_delivery const&) = default;
};

class simulated_network;

/// Endpoint of a `simulated_network`.
class simulated_transport {
 public:
    /// The name in tables of algorithms.
    static constexpr std::string_view kind() noexcept { return "simulated"; }

    class ticket;

    rank_id rank() const noexcept { return rank_; }
    rank_id size() const noexcept;

    ticket post_send(rank_id peer, message_tag tag, std::span<std::byte const> out);
    ticket post_recv(rank_id peer, message_tag tag, std::span<std::byte> in);
    /// The message is combined in two parts, cut at a random whole element.
    ticket post_recv_reduce(rank_id peer, message_tag tag, reduce_target const& into);
    progress poll(ticket& pending) noexcept;
    /// A cancelled receive still uses up its message; a cancelled rendezvous send never arrives.
    void cancel(ticket& pending) noexcept;

    void abort(errc code, rank_id blamed, std::string_view why) noexcept;
    bool is_aborted() const noexcept;
    /// Why the last poll that failed on this rank did so.
    error failure() const;

    void announce(operation_record const& record) noexcept;
    operation_record view_of(rank_id peer) const noexcept;
    void show(operation_record const& record) noexcept { announce(record); }
    void show_end(operation_record const& record) noexcept;
    void ask_views() noexcept {}
    bool has_view_of(rank_id) const noexcept { return true; }
    bool has_lost(rank_id peer) const noexcept;

 private:
    friend class simulated_network;
    simulated_transport(simulated_network& network, rank_id rank) noexcept : network_{&network}, rank_{rank} {}

    simulated_network* network_;
    rank_id rank_;
};

/// A network of `ranks` endpoints in one thread: the order of arrival, delays and losses are drawn from the seed, so
/// the same seed and the same order of calls give the same run.
///
/// Matching: the n-th receive on a (source, destination, stream) takes the n-th message sent on it; a message that is
/// lost leaves its receive idle for ever. One thread, except `abort`. Copies: two (rendezvous: one). A dropped receive
/// never touches its buffer. A crashed rank: what it sent before still arrives (rendezvous: is gone), every other
/// receive from it fails with `peer_lost`; sends to it complete (rendezvous: fail with `peer_lost`); its own posts go
/// nowhere and its own polls fail. Tickets may outlive neither the network nor their completion's buffers.
class simulated_network {
 public:
    explicit simulated_network(rank_id ranks, simulated_options const& options = {})
        : options_{options}, random_{options.seed} {
        detail::expects(ranks > 0, [] { return "a network needs at least one rank"; });
        endpoints_.reserve(ranks);
        for (rank_id r = 0; r < ranks; ++r) endpoints_.push_back(simulated_transport{*this, r});
        states_.resize(ranks);
    }
    simulated_network(simulated_network const&) = delete;
    simulated_network& operator=(simulated_network const&) = delete;

    rank_id size() const noexcept { return static_cast<rank_id>(endpoints_.size()); }
    simulated_transport& endpoint(rank_id r) { return endpoints_.at(r); }

    /// The rank stops now.
    void crash(rank_id r) { states_.at(r).is_crashed = true; }
    /// The rank stops as soon as it has made `posts` more posts, the last of which still counts.
    void crash_after(rank_id r, std::uint64_t posts) {
        if (posts == 0) crash(r);
        else states_.at(r).posts_left = posts;
    }
    bool is_crashed(rank_id r) const { return states_.at(r).is_crashed; }

    /// The next message from `source` to `destination` is lost.
    void lose_next(rank_id source, rank_id destination) {
        detail::expects(source < size() && destination < size(), [] { return "no such rank"; });
        doomed_.emplace_back(source, destination);
    }

    std::uint64_t messages() const noexcept { return messages_; }
    std::vector<simulated_delivery> const& trace() const noexcept { return trace_; }

 private:
    friend class simulated_transport;

    struct stream_key {
        rank_id source;
        rank_id destination;
        std::uint64_t stream;

        friend constexpr bool operator==(stream_key const&, stream_key const&) = default;
    };

    struct key_hash {
        std::size_t operator()(stream_key const& key) const noexcept {
            std::uint64_t const ranks = (std::uint64_t{key.source} << 32) | key.destination;
            return static_cast<std::size_t>(counter_random::mix(counter_random::mix(ranks + 1) ^ key.stream));
        }
    };

    struct message {
        std::vector<std::byte> copy;
        std::span<std::byte const> bytes;  // of `copy`, or lent by the sender
        std::uint32_t fingerprint = 0;
        std::uint64_t ready_at = 0;
        bool is_lost = false;
        bool is_taken = false;  // rendezvous: waits for the sender's poll
    };

    // Lives while anything on it is pending, so that tickets may point to it.
    struct stream_state {
        stream_key key;
        std::map<std::uint64_t, message> waiting;
        std::uint64_t sent = 0;
        std::uint64_t received = 0;
        std::uint64_t last_ready_at = 0;
    };

    struct rank_state {
        std::uint64_t ticks = 0;
        std::uint64_t last_ready_at = 0;
        std::uint64_t posts_left = (std::numeric_limits<std::uint64_t>::max)();
        bool is_crashed = false;
        bool was_mismatch = false;
        rank_id lost_peer = nobody;
        detail::message_mismatch mismatch;
        operation_record record;
    };

    stream_state& stream_of(rank_id source, rank_id destination, std::uint64_t stream);
    simulated_transport::ticket send(rank_id source, rank_id destination, message_tag tag,
                                     std::span<std::byte const> out);
    simulated_transport::ticket receive(rank_id source, rank_id destination, message_tag tag,
                                        reduce_target const& into);
    bool count_post(rank_id r);
    bool is_doomed(rank_id source, rank_id destination);
    std::uint64_t arrival(stream_state& queue);
    progress poll_send(simulated_transport::ticket& pending) noexcept;
    progress poll_receive(simulated_transport::ticket& pending) noexcept;
    void cancel(simulated_transport::ticket const& pending) noexcept;
    bool deliver(message const& arrived, simulated_transport::ticket const& pending) noexcept;
    bool lose_peer(rank_id r, rank_id peer) noexcept;
    void forget(stream_state& queue, std::uint64_t number) noexcept;
    error failure_of(rank_id r) const;

    simulated_options options_;
    counter_random random_;
    std::vector<simulated_transport> endpoints_;
    std::vector<rank_state> states_;
    std::unordered_map<stream_key, stream_state, key_hash> streams_;
    std::vector<std::pair<rank_id, rank_id>> doomed_;
    std::vector<simulated_delivery> trace_;
    std::uint64_t messages_ = 0;
    detail::first_error abort_;
};

/// What was posted and is not done: a number that the network knows.
class simulated_transport::ticket {
 public:
    ticket() = default;

 private:
    friend class simulated_transport;
    friend class simulated_network;

    reduce_target into_;  // without a reduction: a plain receive
    simulated_network::stream_state* queue_ = nullptr;
    std::uint64_t number_ = 0;
    std::uint32_t fingerprint_ = 0;
    bool is_send_ = false;
    progress state_ = progress::done;
};

inline simulated_network::stream_state& simulated_network::stream_of(rank_id source, rank_id destination,
                                                                     std::uint64_t stream) {
    rank_id const worst = (std::max)(source, destination);
    detail::expects(worst < size(),
                    [&] { return "rank " + std::to_string(worst) + " of a network of " + std::to_string(size()); });
    stream_key const key{source, destination, stream};
    auto const place = streams_.try_emplace(key).first;
    place->second.key = key;
    return place->second;
}

/// False if the rank has crashed: the post goes nowhere.
inline bool simulated_network::count_post(rank_id r) {
    rank_state& state = states_[r];
    if (state.is_crashed) return false;
    if (--state.posts_left == 0) state.is_crashed = true;
    return true;
}

inline bool simulated_network::is_doomed(rank_id source, rank_id destination) {
    auto const found = std::find(doomed_.begin(), doomed_.end(), std::pair{source, destination});
    if (found == doomed_.end()) return random_.unit(2 * messages_) < options_.loss;
    doomed_.erase(found);
    return true;
}

/// The tick of the receiver at which the message may be taken: never before an earlier one of its stream.
inline std::uint64_t simulated_network::arrival(stream_state& queue) {
    rank_state& receiver = states_[queue.key.destination];
    std::uint64_t const drawn = receiver.ticks + random_.below(2 * messages_ + 1, std::uint64_t{options_.delay} + 1);
    std::uint64_t const tick = (std::max)(drawn, options_.reorder ? queue.last_ready_at : receiver.last_ready_at);
    queue.last_ready_at = tick;
    receiver.last_ready_at = (std::max)(receiver.last_ready_at, tick);
    return tick;
}

inline simulated_transport::ticket simulated_network::send(rank_id source, rank_id destination, message_tag tag,
                                                           std::span<std::byte const> out) {
    stream_state& queue = stream_of(source, destination, tag.stream);
    simulated_transport::ticket pending;
    pending.is_send_ = true;
    pending.state_ = progress::idle;
    if (!count_post(source)) return pending;
    message posted;
    if (!options_.rendezvous) posted.copy.assign(out.begin(), out.end());
    posted.bytes = out;
    posted.fingerprint = tag.fingerprint;
    posted.is_lost = is_doomed(source, destination);
    posted.ready_at = arrival(queue);
    ++messages_;
    message& kept = queue.waiting.emplace(queue.sent, std::move(posted)).first->second;
    if (!options_.rendezvous) kept.bytes = kept.copy;
    else pending.queue_ = &queue;
    pending.number_ = queue.sent++;
    return pending;
}

inline simulated_transport::ticket simulated_network::receive(rank_id source, rank_id destination, message_tag tag,
                                                              reduce_target const& into) {
    stream_state& queue = stream_of(source, destination, tag.stream);
    simulated_transport::ticket pending;
    pending.into_ = into;
    pending.queue_ = &queue;
    pending.fingerprint_ = tag.fingerprint;
    pending.state_ = progress::idle;
    if (count_post(destination)) pending.number_ = queue.received++;
    else pending.queue_ = nullptr;  // not counted, so the stream may be gone when it is cancelled
    return pending;
}

inline progress simulated_network::poll_send(simulated_transport::ticket& pending) noexcept {
    if (pending.queue_ == nullptr) return progress::done;
    auto const posted = pending.queue_->waiting.find(pending.number_);
    if (posted->second.is_taken) {
        forget(*pending.queue_, pending.number_);
        return progress::done;
    }
    stream_key const& key = pending.queue_->key;
    return lose_peer(key.source, key.destination) ? progress::failed : progress::idle;
}

inline progress simulated_network::poll_receive(simulated_transport::ticket& pending) noexcept {
    stream_state& queue = *pending.queue_;
    auto const [source, destination, stream] = queue.key;
    auto const found = queue.waiting.find(pending.number_);
    bool const is_gone = found == queue.waiting.end() || found->second.is_lost ||
                         (options_.rendezvous && states_[source].is_crashed);
    if (is_gone) return lose_peer(destination, source) ? progress::failed : progress::idle;
    message& arrived = found->second;
    if (arrived.ready_at > states_[destination].ticks) return progress::idle;
    bool const fits = deliver(arrived, pending);
    if (trace_.size() < options_.keep_trace)
        trace_.push_back({source, destination, stream, arrived.bytes.size(), states_[destination].ticks});
    if (options_.rendezvous) arrived.is_taken = true;
    else forget(queue, pending.number_);
    return fits ? progress::done : progress::failed;
}

inline void simulated_network::cancel(simulated_transport::ticket const& pending) noexcept {
    if (pending.queue_ == nullptr) return;
    stream_state& queue = *pending.queue_;
    auto const found = queue.waiting.find(pending.number_);
    if (found == queue.waiting.end()) return;
    if (pending.is_send_ && !found->second.is_taken) {
        found->second.is_lost = true;
        found->second.bytes = {};
    } else if (!pending.is_send_ && options_.rendezvous) {
        found->second.is_taken = true;
    } else {
        forget(queue, pending.number_);
    }
}

/// False, with the reason kept, if the two ends disagree.
inline bool simulated_network::deliver(message const& arrived, simulated_transport::ticket const& pending) noexcept {
    reduce_target const& into = pending.into_;
    auto const [source, destination, stream] = pending.queue_->key;
    detail::message_shape const sent{arrived.bytes.size(), arrived.fingerprint};
    detail::message_shape const expected{into.bytes, pending.fingerprint_};
    if (sent != expected) {
        states_[destination].mismatch = {source, destination, stream, sent, expected};
        states_[destination].was_mismatch = true;
        return false;
    }
    if (into.reduction == nullptr) {
        std::copy(arrived.bytes.begin(), arrived.bytes.end(), into.out);
        return true;
    }
    std::size_t const element = into.reduction->element_bytes;
    std::uint64_t const cut = random_.below(pending.number_, into.bytes / element + 1);
    std::size_t const first = element * static_cast<std::size_t>(cut);
    if (first > 0) into.combine(0, arrived.bytes.data(), first);
    if (first < into.bytes) into.combine(first, arrived.bytes.data() + first, into.bytes - first);
    return true;
}

/// True, with the reason kept, if what r waits for from `peer` can no longer come.
inline bool simulated_network::lose_peer(rank_id r, rank_id peer) noexcept {
    if (!states_[peer].is_crashed) return false;
    states_[r].was_mismatch = false;
    states_[r].lost_peer = peer;
    return true;
}

inline void simulated_network::forget(stream_state& queue, std::uint64_t number) noexcept {
    queue.waiting.erase(number);
    if (queue.waiting.empty() && queue.sent == queue.received) streams_.erase(queue.key);
}

inline error simulated_network::failure_of(rank_id r) const {
    rank_state const& state = states_[r];
    if (abort_.is_set()) return abort_.get();
    if (state.is_crashed) return error{errc::peer_lost, "rank " + std::to_string(r) + " itself has crashed", r};
    if (state.was_mismatch) return state.mismatch.to_error();
    return error{errc::peer_lost, "rank " + std::to_string(state.lost_peer) + " has crashed", state.lost_peer};
}

inline rank_id simulated_transport::size() const noexcept { return network_->size(); }

inline simulated_transport::ticket simulated_transport::post_send(rank_id peer, message_tag tag,
                                                                  std::span<std::byte const> out) {
    return network_->send(rank_, peer, tag, out);
}

inline simulated_transport::ticket simulated_transport::post_recv(rank_id peer, message_tag tag,
                                                                  std::span<std::byte> in) {
    return network_->receive(peer, rank_, tag, {.out = in.data(), .bytes = in.size()});
}

inline simulated_transport::ticket simulated_transport::post_recv_reduce(rank_id peer, message_tag tag,
                                                                         reduce_target const& into) {
    return network_->receive(peer, rank_, tag, into);
}

inline progress simulated_transport::poll(ticket& pending) noexcept {
    if (pending.state_ != progress::idle) return pending.state_;
    simulated_network::rank_state& mine = network_->states_[rank_];
    ++mine.ticks;
    if (network_->abort_.is_set() || mine.is_crashed) pending.state_ = progress::failed;
    else pending.state_ = pending.is_send_ ? network_->poll_send(pending) : network_->poll_receive(pending);
    return pending.state_;
}

inline void simulated_transport::cancel(ticket& pending) noexcept {
    if (pending.state_ == progress::idle) network_->cancel(pending);
    pending.state_ = progress::done;
}

inline void simulated_transport::abort(errc code, rank_id blamed, std::string_view why) noexcept {
    network_->abort_.set(code, blamed, why);
}

inline bool simulated_transport::is_aborted() const noexcept { return network_->abort_.is_set(); }

inline error simulated_transport::failure() const { return network_->failure_of(rank_); }

inline void simulated_transport::announce(operation_record const& record) noexcept {
    network_->states_[rank_].record = record;
}

inline operation_record simulated_transport::view_of(rank_id peer) const noexcept {
    return peer < size() ? network_->states_[peer].record : operation_record{};
}

inline void simulated_transport::show_end(operation_record const& record) noexcept {
    operation_record& shown = network_->states_[rank_].record;
    if (shown.stream == record.stream) shown.state = record.state;
}

inline bool simulated_transport::has_lost(rank_id peer) const noexcept {
    return peer < size() && network_->states_[peer].is_crashed;
}

static_assert(reducing_transport<simulated_transport> && aborting_transport<simulated_transport> &&
              explaining_transport<simulated_transport> && announcing_transport<simulated_transport> &&
              cancelling_transport<simulated_transport> && following_transport<simulated_transport> &&
              surveying_transport<simulated_transport>);
static_assert(sizeof(simulated_transport::ticket) <= 64);

}  // namespace chorus
