// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/transport/detail/mailbox_arena.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

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
};

/// First in, first out; intrusive, so it allocates nothing. A request is in one list at most.
class request_list {
 public:
    bool empty() const noexcept { return first_ == nullptr; }
    request& front() noexcept { return *first_; }

    void push_back(request& r) noexcept {
        r.next = nullptr;
        (last_ == nullptr ? first_ : last_->next) = &r;
        last_ = &r;
    }
    void push_front(request& r) noexcept {
        r.next = first_;
        first_ = &r;
        if (last_ == nullptr) last_ = &r;
    }
    void pop_front() noexcept {
        first_ = first_->next;
        if (first_ == nullptr) last_ = nullptr;
    }

    /// Removes and returns the earliest one of this stream, or nullptr.
    request* take_first(std::uint64_t stream) noexcept {
        request* before = nullptr;
        for (request* r = first_; r != nullptr; before = r, r = r->next) {
            if (r->tag.stream != stream) continue;
            unlink(before, *r);
            return r;
        }
        return nullptr;
    }
    void remove(request& wanted) noexcept {
        request* before = nullptr;
        for (request* r = first_; r != nullptr; before = r, r = r->next)
            if (r == &wanted) return unlink(before, *r);
    }

 private:
    void unlink(request* before, request& r) noexcept {
        (before == nullptr ? first_ : before->next) = r.next;
        if (last_ == &r) last_ = before;
        r.next = nullptr;
    }

    request* first_ = nullptr;
    request* last_ = nullptr;
};

/// Requests are reused; memory is taken only when more are pending than ever before.
class request_pool {
 public:
    request_pool() { add(); }

    request& take() {
        if (free_ == nullptr) add();
        request& r = *free_;
        free_ = r.next;
        r = request{};
        return r;
    }
    void give_back(request& r) noexcept {
        r.stage = request_stage::complete;
        r.next = free_;
        free_ = &r;
    }

    template <class Visit>
    void each(Visit&& visit) const {
        for (auto const& some : all_)
            for (request const& r : *some)
                if (r.stage != request_stage::complete) visit(r);
    }

 private:
    using some_requests = std::array<request, 64>;

    void add() {
        all_.push_back(std::make_unique<some_requests>());
        for (request& r : *all_.back()) give_back(r);
    }

    std::vector<std::unique_ptr<some_requests>> all_;
    request* free_ = nullptr;
};

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
