// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/detail/under_way.hpp"
#include "chorus/transport/transport.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

namespace chorus::detail {

/// What an endpoint keeps about its rank's operations, whatever moves its bytes.
class endpoint_state {
 public:
    /// One thread at a time: a second one is told so instead of corrupting the queues.
    bool try_enter() noexcept { return !busy_.exchange(true, std::memory_order_acquire); }
    void leave() noexcept { busy_.store(false, std::memory_order_release); }

    /// Some 64 bytes are kept per context.
    std::uint64_t count_plan(std::uint64_t context) { return ++plans_of_[context]; }

    std::shared_ptr<under_way_list> const& under_way() const noexcept { return under_way_; }

 protected:
    endpoint_state() = default;
    ~endpoint_state() = default;

    void remember(operation_record const& record) noexcept {
        operation_record const& last = recent_[(recent_next_ - 1) % recent_.size()];
        if (last.stream == record.stream && last.fingerprint == record.fingerprint) return;  // the same plan once more
        recent_[recent_next_++ % recent_.size()] = record;
    }

    /// The own recent operation of this stream, or nullptr. A stream belongs to one plan, so a message on it must have that one's fingerprint.
    operation_record const* recent_on(std::uint64_t stream) const noexcept {
        for (operation_record const& known : recent_)
            if (known.stream == stream && known.ordinal != 0) return &known;
        return nullptr;
    }

 private:
    std::atomic<bool> busy_{false};
    std::unordered_map<std::uint64_t, std::uint64_t> plans_of_;  // context -> plans made
    std::shared_ptr<under_way_list> under_way_ = std::make_shared<under_way_list>();
    std::array<operation_record, 64> recent_{};
    std::uint32_t recent_next_ = 0;
};

/// Of one operation, or where the peer's view of it is not to be had any more, what it runs now.
inline std::string both_views(rank_id me, operation_record const& mine, rank_id peer, operation_record const& theirs) {
    std::string const here = "; rank " + std::to_string(me) + " runs " + describe(mine) + ", rank " + std::to_string(peer);
    bool const has_gone_on = mine.stream != theirs.stream || (mine.ordinal != 0 && mine.ordinal != theirs.ordinal);
    bool const is_elsewhere = has_gone_on && theirs.sequence > mine.sequence;
    return here + (is_elsewhere ? " ran something else then and now runs " : " runs ") + describe(theirs);
}

inline std::string lost_text(rank_id peer, char const* how, rank_id me, operation_record const& mine) {
    return "rank " + std::to_string(peer) + " is gone (" + how + ") while rank " + std::to_string(me) +
           " waited for it in " + describe(mine);
}

/// Two ends of one message that disagree.
inline std::string refusal_text(rank_id me, std::uint64_t expected, rank_id peer, std::uint64_t sent) {
    std::string text = "rank " + std::to_string(me) + " expected " + std::to_string(expected) + " bytes from rank " +
                       std::to_string(peer) + " and was sent " + std::to_string(sent);
    return sent == expected ? text + " of another operation" : text;
}

inline void check_peer(rank_id peer, rank_id me, rank_id size, char const* call) {
    if (peer >= size)
        raise(errc::invalid_argument, std::string{call} + " on rank " + std::to_string(me) + ": peer " +
                                          std::to_string(peer) + " is not below " + std::to_string(size));
}

}  // namespace chorus::detail
