// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/byte_buffer.hpp"
#include "chorus/transport/transport.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

// What travels in the short messages of a network, and what a rank keeps of messages under way.

namespace chorus::detail {

enum class network_kind : std::uint8_t {
    eager,      ///< the message itself
    offer,      ///< a long message waits at the sender; payload: its length (8 bytes)
    grant,      ///< the receiver of an offer is ready: send the bulk
    ask_view,   ///< payload: the asker's operation_record; `number` comes back
    view,       ///< payload: operation_record
    abort,      ///< payload: abort_notice and its text
    farewell,   ///< nothing will follow from this rank
    join,       ///< recovery: this rank has given up what was under way; payload: ranks it holds for lost, a bit each
    survivors   ///< recovery: who goes on; payload: a bit each
};

/// In front of every short message.
struct network_header {
    std::uint64_t stream = 0;
    std::uint32_t fingerprint = 0;
    std::uint16_t number = 0;  ///< of the bulk transfer, of the question
    network_kind kind = network_kind::eager;
    std::uint8_t epoch = 0;    ///< recoveries before it
};
static_assert(sizeof(network_header) == 16 && std::is_trivially_copyable_v<network_header>);

struct abort_notice {
    rank_id blamed = nobody;
    std::uint32_t code = 0;
};

template <class T>
std::span<std::byte const> bytes_of_object(T const& object) noexcept {
    static_assert(std::is_trivially_copyable_v<T>);
    return std::as_bytes(std::span{&object, 1});
}

/// False, and `object` unchanged, if there are not enough bytes.
template <class T>
bool read_object(std::span<std::byte const>& from, T& object) noexcept {
    if (from.size() < sizeof(T)) return false;
    std::memcpy(&object, from.data(), sizeof(T));
    from = from.subspan(sizeof(T));
    return true;
}

enum class network_stage : std::uint8_t {
    complete,  ///< also: not in use
    queued,    ///< send: no place in the library, or an earlier one waits for that
    offered,   ///< send: waits for the receiver
    posted,    ///< receive: not matched yet
    moving,    ///< the library moves the bytes
    broken     ///< the library gave up
};

/// One pending send or receive. Owned by the endpoint's pool.
template <class Transfer>
struct network_request {
    network_request* next = nullptr;
    network_stage stage = network_stage::complete;
    rank_id peer = 0;
    message_tag tag{};
    std::byte const* source = nullptr;  ///< of a send
    std::byte* target = nullptr;        ///< of a receive
    std::size_t bytes = 0;
    std::uint16_t number = 0;           ///< of an offer
    Transfer transfer{};

    bool is_idle() const noexcept { return stage == network_stage::complete; }
    void reset() noexcept { *this = network_request{}; }
};

/// A message that came before its receive; the bytes of an eager one are kept. Its memory is used again.
struct early_message {
    early_message* next = nullptr;
    message_tag tag{};
    network_header header;
    std::size_t bytes = 0;
    bool is_used = false;
    byte_buffer payload;

    bool is_idle() const noexcept { return !is_used; }
    void reset() noexcept {
        next = nullptr;
        is_used = false;
    }
};

/// A set of ranks as it travels: a bit each.
class rank_bits {
 public:
    rank_bits() = default;
    explicit rank_bits(rank_id ranks) : bytes_((ranks + 7) / 8) {}

    bool has(rank_id r) const noexcept { return (bytes_[r / 8] >> (r % 8) & std::byte{1}) != std::byte{0}; }
    void add(rank_id r) noexcept { bytes_[r / 8] |= std::byte{1} << (r % 8); }
    std::span<std::byte const> bytes() const noexcept { return bytes_; }

    /// What `bytes` say besides; false if their number is wrong.
    bool unite(std::span<std::byte const> bytes) noexcept {
        if (bytes.size() != bytes_.size()) return false;
        for (std::size_t i = 0; i < bytes.size(); ++i) bytes_[i] |= bytes[i];
        return true;
    }

 private:
    std::vector<std::byte> bytes_;
};

}  // namespace chorus::detail
