// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/detail/message_mismatch.hpp"
#include "chorus/transport/transport.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace chorus {

/// One rank talking to itself; the smallest model of `transport`, and the base case of tests.
///
/// Matching: the n-th receive on a stream takes the n-th message sent on it, whichever is posted first.
/// One thread. Copies: one at `post_send`, which is complete at once, one at the receive's `poll`. A dropped receive
/// never touches its buffer. Largest message: memory. No peer can be lost.
class self_transport {
 public:
    /// The name in tables of algorithms.
    static constexpr std::string_view kind() noexcept { return "self"; }

    /// What was posted: done at once, but for a receive that waits for its message.
    struct ticket {
        progress state = progress::done;
        message_tag tag;
        std::uint64_t number = 0;
        std::span<std::byte> in;
    };

    rank_id rank() const noexcept { return 0; }
    rank_id size() const noexcept { return 1; }

    ticket post_send(rank_id peer, message_tag tag, std::span<std::byte const> out) {
        queue& messages = queue_of(peer, tag);
        messages.waiting.emplace(messages.sent, message{{out.begin(), out.end()}, tag.fingerprint});
        ++messages.sent;
        return {};
    }

    ticket post_recv(rank_id peer, message_tag tag, std::span<std::byte> in) {
        return {progress::idle, tag, queue_of(peer, tag).received++, in};
    }

    progress poll(ticket& pending) noexcept {
        if (pending.state != progress::idle) return pending.state;
        auto const messages = queues_.find(pending.tag.stream);
        if (messages == queues_.end()) return progress::idle;
        auto const arrived = messages->second.waiting.find(pending.number);
        if (arrived == messages->second.waiting.end()) return progress::idle;
        pending.state = take(arrived->second, pending);
        messages->second.waiting.erase(arrived);
        if (messages->second.is_spent()) queues_.erase(messages);
        return pending.state;
    }

    /// A cancelled receive still uses up its message.
    void cancel(ticket& pending) noexcept {
        pending.in = {};
        pending.state = progress::done;
    }

    /// Why the last receive that failed did so.
    error failure() const { return mismatch_.to_error(); }

 private:
    struct message {
        std::vector<std::byte> bytes;
        std::uint32_t fingerprint;
    };

    struct queue {
        std::map<std::uint64_t, message> waiting;
        std::uint64_t sent = 0;
        std::uint64_t received = 0;

        bool is_spent() const noexcept { return waiting.empty() && sent == received; }
    };

    queue& queue_of(rank_id peer, message_tag tag) {
        detail::expects(peer == 0, [&] { return "rank " + std::to_string(peer) + " of a transport with one rank"; });
        return queues_[tag.stream];
    }

    progress take(message const& arrived, ticket const& pending) noexcept {
        detail::message_shape const sent{arrived.bytes.size(), arrived.fingerprint};
        detail::message_shape const expected{pending.in.size(), pending.tag.fingerprint};
        if (sent != expected) {
            mismatch_ = {0, 0, pending.tag.stream, sent, expected};
            return progress::failed;
        }
        std::copy(arrived.bytes.begin(), arrived.bytes.end(), pending.in.begin());
        return progress::done;
    }

    std::unordered_map<std::uint64_t, queue> queues_;
    detail::message_mismatch mismatch_;
};
static_assert(explaining_transport<self_transport> && cancelling_transport<self_transport>);

}  // namespace chorus
