// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/transport/detail/mailbox_arena.hpp"
#include "chorus/transport/detail/request_pool.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace chorus::detail {

enum class request_stage : std::uint8_t {
    complete,       ///< also: not in use
    queued,         ///< send: no room in the lane yet
    offered,        ///< send: waits for the receiver
    streaming_out,  ///< send: copies pieces into chunks
    posted,         ///< receive: not matched yet
    pulling,        ///< receive: reads the sender's memory
    draining        ///< receive: takes pieces out of chunks
};

/// One pending send or receive. Owned by the endpoint's pool.
struct request {
    request* next = nullptr;
    request_stage stage = request_stage::complete;
    rank_id peer = 0;
    message_tag tag;
    std::byte const* source = nullptr;
    reduce_target target;             // a plain receive has no reduction
    std::uint64_t bytes = 0;
    std::uint64_t moved = 0;
    std::uint64_t piece_bytes = 0;
    std::uint64_t address = 0;        // in the sender's memory
    std::uint32_t piece = 0;
    std::uint32_t offer = 0;

    bool is_idle() const noexcept { return stage == request_stage::complete; }
    void reset() noexcept { *this = request{}; }
};

using request_list = list_of<request>;
using request_pool = pool_of<request>;

struct offered_memory {
    std::uint64_t address;
    std::uint32_t slot;
};

/// A copy of an envelope that was taken off its lane.
struct announcement {
    explicit announcement(envelope const& from) noexcept
        : stream{from.stream}, bytes{from.bytes()}, fingerprint{from.fingerprint}, kind{from.kind()} {
        std::memcpy(payload.data(), from.payload, inline_bytes);
    }

    std::uint64_t stream;
    std::uint64_t bytes;
    std::uint32_t fingerprint;
    message_kind kind;
    alignas(8) std::array<std::byte, inline_bytes> payload;
};

}  // namespace chorus::detail
