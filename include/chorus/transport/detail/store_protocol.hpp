// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/error.hpp"
#include "chorus/base/types.hpp"
#include "chorus/transport/detail/keyed_digest.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// What rank 0's store and the other ranks say to one another. Pure functions over bytes.
//
// A frame: 'C' 'H' 'R' 'S' | version, 2 bytes | kind, 2 bytes | payload length, 4 bytes | payload. Numbers are
// little-endian. Who may speak: rank 0 greets with a nonce; the other answers with `join`, an own nonce and a digest
// that only holders of the token can make of both; rank 0 proves the same in `accepted`. The token itself does not
// travel, and no answer serves twice. This is not encryption: whoever reads the network reads all values, and whoever
// can change packets on their way can change them. Greeting, join, accepted and refused are the same in all versions.

namespace chorus::detail {

inline constexpr std::uint16_t store_version = 1;

enum class frame_kind : std::uint16_t {
    greeting,      ///< nonce
    join,          ///< rank, size, nonce, proof
    accepted,      ///< proof
    refused,       ///< errc, rank to blame, text; the connection ends
    ready,         ///< all ranks have joined
    set,           ///< length of the key, key, value
    get,           ///< number of the question, key
    value,         ///< number of the question, value
    contribution,  ///< round of the exchange, bytes
    share,         ///< round, rank, what that rank contributed; one for each rank
    ask_absent,    ///< number of the question: whom does this rank wait for?
    absent,        ///< number of the question, up to 64 ranks
    failure,       ///< errc, rank to blame, text; nothing follows
    farewell       ///< this end closes in order
};
inline constexpr std::uint16_t frame_kinds = static_cast<std::uint16_t>(frame_kind::farewell) + 1;

inline constexpr std::size_t frame_header_bytes = 12;
inline constexpr std::size_t largest_key = 1024;
inline constexpr std::size_t largest_stranger_payload =
    1024;  ///< of a connection that has not proved that it knows the token
inline constexpr std::size_t largest_overhead =
    2 * largest_key;  ///< a payload is at most this much longer than the value it carries

using nonce = std::array<std::byte, 16>;

// Writing.

class frame_writer {
 public:
    explicit frame_writer(frame_kind kind, std::uint16_t version = store_version) {
        for (char c : {'C', 'H', 'R', 'S'}) bytes_.push_back(static_cast<std::byte>(c));
        put(version, 2).put(static_cast<std::uint16_t>(kind), 2).put(0, 4);
    }

    frame_writer& put(std::uint64_t number, int bytes) {
        for (int i = 0; i < bytes; ++i) bytes_.push_back(static_cast<std::byte>(number >> 8 * i));
        return *this;
    }
    frame_writer& put(std::span<std::byte const> bytes) {
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
        return *this;
    }
    frame_writer& put(std::string_view text) { return put(std::as_bytes(std::span{text.data(), text.size()})); }

    std::vector<std::byte> finish() {
        std::size_t const payload = bytes_.size() - frame_header_bytes;
        for (std::size_t i = 0; i < 4; ++i) bytes_[8 + i] = static_cast<std::byte>(payload >> 8 * i);
        return std::move(bytes_);
    }

 private:
    std::vector<std::byte> bytes_;
};

// Reading.

enum class frame_state : std::uint8_t {
    incomplete,  ///< so far it may become a frame
    complete,
    foreign,  ///< no frame, whatever follows
    oversize  ///< a frame, but longer than is allowed
};

struct frame_view {
    frame_state state = frame_state::incomplete;
    std::uint16_t version = 0;
    frame_kind kind{};
    std::span<std::byte const> payload{};
    std::size_t bytes = 0;  ///< header and payload
};

/// Takes numbers and bytes from the front of a payload. After a shortage everything reads as 0, and `is_whole` is
/// false.
class payload_reader {
 public:
    explicit payload_reader(std::span<std::byte const> from) : rest_{from} {}

    std::uint64_t number(std::size_t bytes) {
        std::uint64_t value = 0;
        auto const raw = take(bytes);
        for (std::size_t i = 0; i < raw.size(); ++i) value |= std::to_integer<std::uint64_t>(raw[i]) << 8 * i;
        return value;
    }

    std::span<std::byte const> take(std::size_t bytes) {
        if (bytes > rest_.size()) {
            is_short_ = true;
            rest_ = {};
            return {};
        }
        auto const taken = rest_.first(bytes);
        rest_ = rest_.subspan(bytes);
        return taken;
    }

    template <std::size_t N> void fill(std::array<std::byte, N>& into) {
        auto const raw = take(N);
        std::copy(raw.begin(), raw.end(), into.begin());
    }

    std::span<std::byte const> rest() { return take(rest_.size()); }
    std::string text() {
        auto const raw = rest();
        return {reinterpret_cast<char const*>(raw.data()), raw.size()};
    }

    bool is_short() const { return is_short_; }
    bool is_whole() const { return !is_short_ && rest_.empty(); }

 private:
    std::span<std::byte const> rest_;
    bool is_short_ = false;
};

/// Looks at the front of what has come. What cannot become a frame any more is said at its first wrong byte. Allocates
/// nothing.
inline frame_view parse_frame(std::span<std::byte const> input, std::size_t largest_payload) noexcept {
    constexpr std::array<char, 4> magic{'C', 'H', 'R', 'S'};
    frame_view seen;
    for (std::size_t i = 0; i < (std::min)(input.size(), magic.size()); ++i)
        if (input[i] != static_cast<std::byte>(magic[i])) seen.state = frame_state::foreign;
    if (seen.state == frame_state::foreign || input.size() < frame_header_bytes) return seen;
    payload_reader header{input.subspan(magic.size(), frame_header_bytes - magic.size())};
    seen.version = static_cast<std::uint16_t>(header.number(2));
    std::uint64_t const kind = header.number(2);
    std::uint64_t const payload = header.number(4);
    seen.kind = static_cast<frame_kind>(kind);
    if (kind >= frame_kinds) seen.state = frame_state::foreign;
    else if (payload > largest_payload) seen.state = frame_state::oversize;
    else if (input.size() - frame_header_bytes >= payload) {
        seen.state = frame_state::complete;
        seen.payload = input.subspan(frame_header_bytes, static_cast<std::size_t>(payload));
        seen.bytes = frame_header_bytes + seen.payload.size();
    }
    return seen;
}

// The payloads that have a shape. Nothing: it is not of that shape.

struct join_request {
    rank_id rank = 0;
    rank_id size = 0;
    nonce own{};
    digest proof{};
};

inline std::optional<join_request> read_join(std::span<std::byte const> payload) {
    payload_reader from{payload};
    join_request asked;
    asked.rank = static_cast<rank_id>(from.number(4));
    asked.size = static_cast<rank_id>(from.number(4));
    from.fill(asked.own);
    from.fill(asked.proof);
    return from.is_whole() ? std::optional{asked} : std::nullopt;
}

struct key_and_value {
    std::string key;
    std::span<std::byte const> value;
};

inline std::optional<key_and_value> read_set(std::span<std::byte const> payload) {
    payload_reader from{payload};
    auto const length = static_cast<std::size_t>(from.number(2));
    auto const key = from.take(length);
    if (from.is_short() || length > largest_key) return std::nullopt;
    return key_and_value{{reinterpret_cast<char const*>(key.data()), key.size()}, from.rest()};
}

/// `get`, `value`, `contribution`: a number, then bytes.
struct numbered_bytes {
    std::uint64_t number = 0;
    std::span<std::byte const> bytes;
};

inline std::optional<numbered_bytes> read_numbered(std::span<std::byte const> payload) {
    payload_reader from{payload};
    std::uint64_t const number = from.number(8);
    if (from.is_short()) return std::nullopt;
    return numbered_bytes{number, from.rest()};
}

struct share_of_rank {
    std::uint64_t round = 0;
    rank_id rank = 0;
    std::span<std::byte const> bytes;
};

inline std::optional<share_of_rank> read_share(std::span<std::byte const> payload) {
    payload_reader from{payload};
    std::uint64_t const round = from.number(8);
    auto const rank = static_cast<rank_id>(from.number(4));
    if (from.is_short()) return std::nullopt;
    return share_of_rank{round, rank, from.rest()};
}

inline std::vector<std::byte> failure_frame(frame_kind kind, error const& why) {
    return frame_writer{kind}
        .put(static_cast<std::uint64_t>(why.code()), 1)
        .put(why.peer(), 4)
        .put(why.message().substr(0, 900))
        .finish();
}

/// Of `failure` and `refused`. A code that this version does not know reads as `aborted`.
inline std::optional<error> read_failure(std::span<std::byte const> payload) {
    payload_reader from{payload};
    std::uint64_t const code = from.number(1);
    auto const blamed = static_cast<rank_id>(from.number(4));
    if (from.is_short()) return std::nullopt;
    errc const known = code <= static_cast<std::uint64_t>(errc::corrupt) ? static_cast<errc>(code) : errc::aborted;
    return error{known, from.text(), blamed};
}

/// What a rank (`role` "join") or rank 0 (`role` "accept") makes of the token and both nonces.
inline digest proof_of(std::string_view token, std::string_view role, join_request const& asked, nonce const& greeted,
                       std::uint16_t version) {
    auto const said = frame_writer{frame_kind::join, version}
                          .put(role)
                          .put(greeted)
                          .put(asked.own)
                          .put(asked.rank, 4)
                          .put(asked.size, 4)
                          .finish();
    return keyed_digest(token, said);
}

inline std::vector<std::byte> join_frame(std::string_view token, join_request asked, nonce const& greeted,
                                         std::uint16_t version = store_version) {
    asked.proof = proof_of(token, "join", asked, greeted, version);
    return frame_writer{frame_kind::join, version}
        .put(asked.rank, 4)
        .put(asked.size, 4)
        .put(asked.own)
        .put(asked.proof)
        .finish();
}

}  // namespace chorus::detail
