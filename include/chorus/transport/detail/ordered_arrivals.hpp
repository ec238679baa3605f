// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/types.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

// Restores the order of messages that a library delivers in some other order, but wholly.

namespace chorus::detail {

/// In front of every message, 4 bytes: its sender (19 bits), whether it is a note between the ends and not the user's (1 bit), and its number among
/// those of its sender to this receiver, modulo 4096. So few, because 28 bytes is what UCX moves within one cache line.
class arrival_prefix {
 public:
    static constexpr rank_id most_ranks = 1u << 19;
    static constexpr std::uint32_t numbers = 1u << 12;

    arrival_prefix() = default;
    arrival_prefix(rank_id sender, bool is_note, std::uint32_t number) noexcept
        : word_{sender << 13 | (is_note ? numbers : 0u) | number % numbers} {}

    rank_id sender() const noexcept { return word_ >> 13; }
    bool is_note() const noexcept { return (word_ & numbers) != 0; }
    std::uint32_t number() const noexcept { return word_ % numbers; }

 private:
    std::uint32_t word_ = 0;
};
static_assert(sizeof(arrival_prefix) == 4);

/// A message with its prefix, in the library's memory or copied out of it.
struct arrival {
    arrival_prefix prefix;
    bool is_copy = false;
    void* data = nullptr;
    std::size_t bytes = 0;

    arrival() = default;
    arrival(arrival_prefix of, void* at, std::size_t length, bool copied) noexcept : prefix{of}, is_copy{copied}, data{at}, bytes{length} {}

    /// Of a message that is at least as long as a prefix.
    static arrival of(void* data, std::size_t bytes, bool is_copy = false) noexcept {
        arrival_prefix prefix;
        std::memcpy(&prefix, data, sizeof prefix);
        return {prefix, data, bytes, is_copy};
    }

    std::span<std::byte const> body() const noexcept {
        return std::span{static_cast<std::byte const*>(data), bytes}.subspan(sizeof(arrival_prefix));
    }
};

/// Copies of messages that may not stay where they came. Those up to a cell's size cost no allocation once as many were kept before.
class arrival_copies {
 public:
    void* keep(void const* data, std::size_t bytes) {
        void* const place = bytes > sizeof(cell) ? ::operator new(bytes) : take_cell();
        copy(static_cast<std::byte*>(place), static_cast<std::byte const*>(data), bytes);
        return place;
    }
    void give_back(void* place, std::size_t bytes) noexcept {
        if (bytes > sizeof(cell)) ::operator delete(place);
        else free_.push_back(static_cast<cell*>(place));
    }

 private:
    struct cell {
        alignas(64) std::byte bytes[128];
    };

    /// What is written in pieces and read at once as a whole has to go through the cache, behind whatever waits for another core; so short
    /// messages, which are read at once, are written as they are read: the prefix, then words of 8 bytes.
    static void copy(std::byte* to, std::byte const* from, std::size_t bytes) noexcept {
        if (bytes < 4 || bytes > 36) {
            std::memcpy(to, from, bytes);
            return;
        }
        std::memcpy(to, from, 4);
        std::size_t at = 4;
        if (at + 8 <= bytes) std::memcpy(to + at, from + at, 8), at += 8;
        if (at + 8 <= bytes) std::memcpy(to + at, from + at, 8), at += 8;
        if (at + 8 <= bytes) std::memcpy(to + at, from + at, 8), at += 8;
        if (at + 8 <= bytes) std::memcpy(to + at, from + at, 8), at += 8;
        for (; at < bytes; ++at) to[at] = from[at];
    }

    void* take_cell() {
        if (free_.empty()) {
            cells_.push_back(std::make_unique<cell>());
            free_.reserve(cells_.size());
            return cells_.back().get();
        }
        cell* const place = free_.back();
        free_.pop_back();
        return place;
    }

    std::vector<std::unique_ptr<cell>> cells_;
    std::vector<cell*> free_;
};

/// Messages of all senders, each sender's in its order, until they are released.
class ordered_arrivals {
 public:
    explicit ordered_arrivals(rank_id ranks) : senders_(ranks) {}

    /// `came.prefix.sender()` is below the number of ranks. Calls `deliver(arrival)` for it and for what waited for it; or keeps it.
    template <class Deliver>
    void take(arrival const& came, Deliver const& deliver) {
        sender& from = senders_[came.prefix.sender()];
        if (came.prefix.number() != from.next) return from.early.push_back(came);
        pass(from, came, deliver);
        for (std::size_t i = 0; i < from.early.size();) {
            if (from.early[i].prefix.number() != from.next) {
                ++i;
                continue;
            }
            arrival const waited = from.early[i];
            from.early.erase(from.early.begin() + static_cast<std::ptrdiff_t>(i));
            pass(from, waited, deliver);
            i = 0;
        }
    }

    void append(arrival const& came) {
        if (first_ > 1024) {  // never empty for long: what was released must not pile up
            queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(first_));
            first_ = 0;
        }
        queue_.emplace_back(came.prefix, came.data, came.bytes, came.is_copy);  // field by field: see arrival_copies
        ++senders_[came.prefix.sender()].waiting;
    }

    bool empty() const noexcept { return first_ == queue_.size(); }
    arrival const& front() const noexcept { return queue_[first_]; }

    void pop() noexcept {
        --senders_[front().prefix.sender()].waiting;
        if (++first_ < queue_.size()) return;
        queue_.clear();
        first_ = 0;
    }

    /// Messages of this sender in the queue.
    std::size_t waiting_of(rank_id peer) const noexcept { return senders_[peer].waiting; }

    /// Whatever is kept, in no order.
    template <class Visit>
    void drain(Visit const& visit) {
        for (; !empty(); pop()) visit(front());
        for (sender& from : senders_)
            for (arrival const& early : std::exchange(from.early, {})) visit(early);
    }

 private:
    struct sender {
        std::uint32_t next = 0;      // number of the next message in order
        std::size_t waiting = 0;
        std::vector<arrival> early;  // their predecessors have not come
    };

    template <class Deliver>
    static void pass(sender& from, arrival const& came, Deliver const& deliver) {
        from.next = (from.next + 1) % arrival_prefix::numbers;
        deliver(came);
    }

    std::vector<sender> senders_;
    std::vector<arrival> queue_;
    std::size_t first_ = 0;  // in the queue, not released
};

}  // namespace chorus::detail
