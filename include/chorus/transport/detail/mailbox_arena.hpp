// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/transport/transport.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

// The memory that the ranks of one host share: plain lock-free words at fixed offsets, so that it serves threads (heap) and
// processes (a mapping, at different addresses) alike. All-zero memory is a valid, empty arena but for the header.

namespace chorus::detail {

inline constexpr std::size_t cache_line = 64;
inline constexpr std::uint32_t lane_slots = 8;
inline constexpr std::size_t inline_bytes = 40;

enum class message_kind : std::uint8_t {
    inlined,  ///< payload in the envelope
    eager,    ///< payload in one chunk of the sender
    offered   ///< payload in the sender's own memory; the receiver pulls it or asks for a stream
};

/// One message announced from one rank to another: one cache line, payload of tiny messages included.
struct alignas(cache_line) envelope {
    std::atomic<std::uint32_t> turn;  ///< message number + 1 (modulo 2^32) once complete; written last
    std::uint32_t fingerprint;
    std::uint64_t stream;
    std::uint64_t bytes_and_kind;     ///< kind in the top byte
    std::byte payload[inline_bytes];

    std::uint64_t bytes() const noexcept { return bytes_and_kind & 0x00FF'FFFF'FFFF'FFFFu; }
    message_kind kind() const noexcept { return static_cast<message_kind>(bytes_and_kind >> 56); }
};
static_assert(sizeof(envelope) == cache_line);

/// All messages from one rank to another, in order.
struct alignas(cache_line) lane {
    std::array<envelope, lane_slots> slots;
    alignas(cache_line) std::atomic<std::uint32_t> consumed;  ///< by the receiver; published now and then
};

enum offer_state : std::uint32_t {
    offer_vacant = 0,
    offer_open,       ///< sender: the bytes lie at `address`, unchanged until taken
    offer_reading,    ///< receiver: reading them at this moment
    offer_granted,    ///< receiver: cannot reach the memory, please stream in pieces of `piece_bytes`
    offer_streaming,  ///< sender: the pieces come through `chunks`
    offer_taken,      ///< receiver: all has arrived; the slot may be used anew
    offer_withdrawn,  ///< sender: will not come
    offer_refused     ///< receiver: length or fingerprint was wrong
};

inline constexpr std::uint32_t stream_chunks = 8;

struct alignas(cache_line) offer_slot {
    std::atomic<std::uint32_t> state;
    std::uint32_t chunk_count;
    std::uint64_t piece_bytes;
    std::array<std::uint32_t, stream_chunks> chunks;
};

struct alignas(cache_line) chunk_flag {
    std::atomic<std::uint32_t> full;  ///< set by the sender, cleared by the receiver
};

enum presence_state : std::uint32_t { presence_absent = 0, presence_coming, presence_here, presence_left };

inline constexpr std::size_t record_words = sizeof(operation_record) / sizeof(std::uint64_t);
static_assert(sizeof(operation_record) % sizeof(std::uint64_t) == 0);

/// What a rank shows to all others.
struct alignas(cache_line) member {
    std::atomic<std::uint32_t> sleeping;  ///< written by the rank itself: ring the bell after every event
    std::atomic<std::uint32_t> bell;      ///< counts rings
    alignas(cache_line) std::atomic<std::uint32_t> presence;
    std::atomic<std::uint32_t> process;   ///< process id, 0 for threads
    std::atomic<std::uint64_t> probe;     ///< address, in that process, of a word that holds `mailbox_arena::magic`
    std::atomic<std::uint32_t> recovery;  ///< the stage of recovery that the rank has reached; see arena_recovery
    std::atomic<std::uint32_t> survives;  ///< the last recovery that it is to survive, valid once that is decided
    std::atomic<std::uint32_t> record_version;  ///< odd while the record is being written
    alignas(cache_line) std::array<std::atomic<std::uint64_t>, record_words> record;
};

enum abort_stage : std::uint32_t { abort_none = 0, abort_being_written, abort_readable };

inline constexpr std::size_t abort_text_bytes = 480;

struct alignas(cache_line) arena_header {
    std::uint64_t magic;
    std::uint32_t ranks;
    std::uint32_t chunks_per_rank;
    std::uint64_t chunk_bytes;
    std::uint32_t offers_per_rank;
    std::atomic<std::uint32_t> attached;  ///< ranks that have mapped it so far
    std::uint32_t cores;                  ///< of the host, as who made the arena sees it; 0: not known
    alignas(cache_line) std::atomic<std::uint32_t> abort_word;  ///< recoveries so far × 4 + abort_stage
    std::uint32_t abort_code;
    rank_id abort_blamed;
    rank_id abort_by;
    std::array<char, abort_text_bytes> abort_text;
    alignas(cache_line) std::atomic<std::uint32_t> decided;  ///< recoveries whose survivors are known

    std::uint32_t recoveries() const noexcept { return abort_word.load(std::memory_order_acquire) / 4; }
    std::uint32_t stage() const noexcept { return abort_word.load(std::memory_order_acquire) % 4; }
};

struct mailbox_shape {
    rank_id ranks = 1;
    std::uint32_t chunks_per_rank = 16;
    std::uint32_t offers_per_rank = 1024;  ///< sends above the eager limit that one rank may have pending
    std::uint64_t chunk_bytes = 32 * 1024;
};

/// Addresses inside an arena. A value; owns nothing.
class mailbox_arena {
 public:
    static constexpr std::uint64_t magic = 0x63686f7275733031u;  // "chorus01"

    static std::size_t bytes_needed(mailbox_shape const& shape) noexcept { return layout{shape}.end; }

    mailbox_arena() = default;
    mailbox_arena(std::byte* base, mailbox_shape const& shape) noexcept
        : base_{base}, shape_{shape}, at_{layout{shape}} {}

    /// Writes the header into zeroed memory.
    void initialise() const noexcept {
        header().ranks = shape_.ranks;
        header().chunks_per_rank = shape_.chunks_per_rank;
        header().chunk_bytes = shape_.chunk_bytes;
        header().offers_per_rank = shape_.offers_per_rank;
        header().cores = std::thread::hardware_concurrency();
        header().magic = magic;
    }

    mailbox_shape const& shape() const noexcept { return shape_; }
    arena_header& header() const noexcept { return *as<arena_header>(0); }
    member& member_of(rank_id r) const noexcept { return as<member>(at_.members)[r]; }
    lane& lane_between(rank_id source, rank_id destination) const noexcept {
        return as<lane>(at_.lanes)[std::size_t{source} * shape_.ranks + destination];
    }
    offer_slot& offer(rank_id source, std::uint32_t slot) const noexcept {
        return as<offer_slot>(at_.offers)[std::size_t{source} * shape_.offers_per_rank + slot];
    }
    chunk_flag& chunk_state(rank_id source, std::uint32_t chunk) const noexcept {
        return as<chunk_flag>(at_.chunk_flags)[std::size_t{source} * shape_.chunks_per_rank + chunk];
    }
    std::byte* chunk(rank_id source, std::uint32_t chunk) const noexcept {
        return base_ + at_.chunks + (std::size_t{source} * shape_.chunks_per_rank + chunk) * shape_.chunk_bytes;
    }

 private:
    struct layout {
        explicit layout(mailbox_shape const& shape) noexcept {
            std::size_t const p = shape.ranks;
            members = place(sizeof(arena_header), alignof(member));
            lanes = members + p * sizeof(member);
            offers = lanes + p * p * sizeof(lane);
            chunk_flags = offers + p * shape.offers_per_rank * sizeof(offer_slot);
            chunks = place(chunk_flags + p * shape.chunks_per_rank * sizeof(chunk_flag), 4096);
            end = place(chunks + p * shape.chunks_per_rank * shape.chunk_bytes, 4096);
        }
        layout() = default;
        static std::size_t place(std::size_t at, std::size_t alignment) noexcept {
            return (at + alignment - 1) / alignment * alignment;
        }
        std::size_t members = 0, lanes = 0, offers = 0, chunk_flags = 0, chunks = 0, end = 0;
    };

    template <class T>
    T* as(std::size_t offset) const noexcept {
        return std::launder(reinterpret_cast<T*>(base_ + offset));
    }

    std::byte* base_ = nullptr;
    mailbox_shape shape_;
    layout at_;
};

/// The first failure since `recoveries` is written once and read by all; false if there was one, or a recovery since.
inline bool write_abort(arena_header& header, errc code, rank_id blamed, rank_id by, std::string_view why,
                        std::uint32_t recoveries) noexcept {
    std::uint32_t none = 4 * recoveries + abort_none;
    if (!header.abort_word.compare_exchange_strong(none, 4 * recoveries + abort_being_written)) return false;
    header.abort_code = static_cast<std::uint32_t>(code);
    header.abort_blamed = blamed;
    header.abort_by = by;
    std::size_t const length = (std::min)(why.size(), abort_text_bytes - 1);
    std::memcpy(header.abort_text.data(), why.data(), length);
    header.abort_text[length] = '\0';
    header.abort_word.store(4 * recoveries + abort_readable, std::memory_order_release);
    return true;
}

inline error read_abort(arena_header const& header, rank_id reader) {
    if (header.stage() != abort_readable) return error{errc::aborted, "no reason was given"};
    std::string text{header.abort_text.data()};
    rank_id const by = header.abort_by;
    if (by != nobody && by != reader) text = "rank " + std::to_string(by) + " reports: " + text;
    return error{static_cast<errc>(header.abort_code), text, header.abort_blamed};
}

inline void write_record(member& shown, operation_record const& record) noexcept {
    auto const words = std::bit_cast<std::array<std::uint64_t, record_words>>(record);
    std::uint32_t const version = shown.record_version.load(std::memory_order_relaxed);
    shown.record_version.store(version + 1, std::memory_order_relaxed);
    for (std::size_t i = 0; i < record_words; ++i) shown.record[i].store(words[i], std::memory_order_release);
    shown.record_version.store(version + 2, std::memory_order_release);
}

/// Two neighbouring members of a record as one word. They are read one by one: a load of both at once would wait until the stores that have just written
/// them have left the store buffer (4 ns).
template <class First, class Second>
std::uint64_t record_word(First const volatile& first, Second const volatile& second) noexcept {
    struct halves {
        First first;
        Second second;
    };
    return std::bit_cast<std::uint64_t>(halves{first, second});
}
inline constexpr std::size_t stream_word = offsetof(operation_record, stream) / sizeof(std::uint64_t);
inline constexpr std::size_t run_word = offsetof(operation_record, run) / sizeof(std::uint64_t);
inline constexpr std::size_t round_word = offsetof(operation_record, round) / sizeof(std::uint64_t);
static_assert(offsetof(operation_record, state) == 8 * run_word + 4 && offsetof(operation_record, awaited) == 8 * round_word + 4);

inline bool shows_stream(member const& shown, std::uint64_t stream) noexcept {
    return shown.record[stream_word].load(std::memory_order_relaxed) == stream;
}

/// Of the plan that is shown already: two stores, or one at the end of a run.
inline void write_record_round(member& shown, operation_record const& record) noexcept {
    shown.record[round_word].store(record_word(record.round, record.awaited), std::memory_order_release);
}
inline void write_record_run(member& shown, operation_record const& record) noexcept {
    shown.record[run_word].store(record_word(record.run, record.state), std::memory_order_release);
}

/// May mix two records if the rank moves on at this moment; good enough for a report.
inline operation_record read_record(member const& shown) noexcept {
    std::array<std::uint64_t, record_words> words;
    for (std::size_t i = 0; i < record_words; ++i) words[i] = shown.record[i].load(std::memory_order_acquire);
    return std::bit_cast<operation_record>(words);
}

/// Nothing if the rank moves on at this moment.
inline std::optional<operation_record> read_whole_record(member const& shown) noexcept {
    std::uint32_t const before = shown.record_version.load(std::memory_order_acquire);
    operation_record const record = read_record(shown);
    if (before % 2 != 0 || shown.record_version.load(std::memory_order_relaxed) != before) return std::nullopt;
    return record;
}

}  // namespace chorus::detail
