// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/error.hpp"
#include "chorus/base/random.hpp"
#include "chorus/compress/compressor.hpp"
#include "chorus/compress/detail/wire_words.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace chorus::detail {

// A saved state, little-endian:
//
// bytes 0-7    hash of the writer's name, the compressors inside it included
// bytes 8-15   checksum of all that follows
// then         numbers of 8 bytes, floats of 4, and what the compressor inside saved

inline constexpr std::size_t state_seal_bytes = 16;

/// Eight bytes at a time; the last ones are filled up with zeros, and the length counts.
inline std::uint64_t checksum(std::span<std::byte const> body) noexcept {
    std::uint64_t sum = counter_random::mix(body.size() + 1);
    while (!body.empty()) {
        std::size_t const many = body.size() < 8 ? body.size() : 8;
        std::uint64_t word = 0;
        std::memcpy(&word, body.data(), many);
        sum = counter_random::mix(sum ^ word) + 0x9E3779B97F4A7C15u;
        body = body.subspan(many);
    }
    return sum;
}

inline std::uint64_t name_hash(std::string_view name) noexcept { return checksum(std::as_bytes(std::span{name})); }

template <class C>
std::size_t inner_state_bytes(C const& inner) {
    if constexpr (stateful_compressor<C>) return inner.state_bytes();
    else return 0;
}

class state_writer {
 public:
    /// Writes exactly `bytes` to the front of `saved`; raises `invalid_argument` where it is shorter.
    state_writer(std::span<std::byte> saved, std::size_t bytes, std::string_view name) {
        expects(saved.size() >= bytes, [&] {
            return std::string{name} + " needs room for " + std::to_string(bytes) + " bytes of state and was given " +
                   std::to_string(saved.size());
        });
        all_ = saved.first(bytes);
        rest_ = all_.subspan(state_seal_bytes);
        store_word(all_.data(), name_hash(name));
    }

    void number(std::uint64_t value) {
        store_word(rest_.data(), value);
        rest_ = rest_.subspan(8);
    }
    void floats(std::span<float const> values) {
        store_words(rest_.data(), values.data(), values.size());
        rest_ = rest_.subspan(4 * values.size());
    }
    void bytes(std::span<std::byte const> values) {
        store_words(rest_.data(), values.data(), values.size());
        rest_ = rest_.subspan(values.size());
    }
    /// Room that another writes to before `finish`.
    std::span<std::byte> room(std::size_t bytes) {
        std::span<std::byte> const own = rest_.first(bytes);
        rest_ = rest_.subspan(bytes);
        return own;
    }
    /// Ends the state with that of the compressor inside, if it has one.
    template <class C> void finish_with(C const& inner) {
        if constexpr (stateful_compressor<C>) inner.save_state(rest_);
        finish();
    }
    void finish() { store_word(all_.data() + 8, checksum(all_.subspan(state_seal_bytes))); }

 private:
    std::span<std::byte> all_, rest_;
};

/// The same for a state whose length shows only at the end: of those that save into memory of their own.
class growing_state {
 public:
    explicit growing_state(std::string_view name) : all_(state_seal_bytes) { store_word(all_.data(), name_hash(name)); }

    void number(std::uint64_t value) {
        std::size_t const at = all_.size();
        all_.resize(at + 8);
        store_word(all_.data() + at, value);
    }
    template <class T> void values(std::span<T const> list) {
        static_assert(std::is_trivially_copyable_v<T>);
        auto const own = std::as_bytes(list);
        all_.insert(all_.end(), own.begin(), own.end());
    }
    /// Bytes of any number, with that in front: what `state_reader::part` reads.
    void part(std::span<std::byte const> own) {
        number(own.size());
        values(own);
    }
    void text(std::string_view characters) { part(std::as_bytes(std::span{characters})); }

    std::vector<std::byte> finished() && {
        store_word(all_.data() + 8, checksum(std::span<std::byte const>{all_}.subspan(state_seal_bytes)));
        return std::move(all_);
    }

 private:
    std::vector<std::byte> all_;
};

/// Raises `corrupt`, "… cannot restore this state: …", for bytes that no writer of this name wrote.
class state_reader {
 public:
    state_reader(std::span<std::byte const> saved, std::string_view name, std::string_view others = "another compressor") : name_{name} {
        expect(saved.size() >= state_seal_bytes, [] { return "it is too short"; });
        rest_ = saved.subspan(state_seal_bytes);
        expect(load_word<std::uint64_t>(saved.data()) == name_hash(name), [&] { return std::string{others} + " wrote it"; });
        expect(load_word<std::uint64_t>(saved.data(), 1) == checksum(rest_), [] { return "its checksum is wrong"; });
    }

    std::uint64_t number() {
        expect(rest_.size() >= 8, [] { return "it is too short"; });
        std::uint64_t const value = load_word<std::uint64_t>(rest_.data());
        rest_ = rest_.subspan(8);
        return value;
    }
    std::span<std::byte const> bytes(std::uint64_t many) {
        expect(many <= rest_.size(), [] { return "it is too short"; });
        auto const own = rest_.first(static_cast<std::size_t>(many));
        rest_ = rest_.subspan(own.size());
        return own;
    }
    /// The bytes of `count` floats.
    std::byte const* floats(std::uint64_t count) {
        expect(count <= rest_.size() / 4, [] { return "it is too short"; });
        return bytes(4 * count).data();
    }
    std::span<std::byte const> part() { return bytes(number()); }
    std::string text() {
        auto const own = part();
        std::string characters(own.size(), '\0');
        load_words(characters.data(), own.data(), own.size());
        return characters;
    }
    template <class T> std::vector<T> values(std::uint64_t count) {
        static_assert(std::is_trivially_copyable_v<T>);
        expect(count <= rest_.size() / sizeof(T), [] { return "it is too short"; });
        std::vector<T> list(static_cast<std::size_t>(count));
        load_words(list.data(), bytes(sizeof(T) * count).data(), list.size());
        return list;
    }
    /// All that is left goes to the compressor inside. Last, for it changes that.
    template <class C> void finish_with(C& inner) {
        if constexpr (stateful_compressor<C>) inner.restore_state(rest_);
        else finish();
    }
    void finish() const {
        expect(rest_.empty(), [] { return "it is too long"; });
    }

    template <class Why> void expect(bool is_so, Why const& why) const {
        if (!is_so) raise(errc::corrupt, std::string{name_} + " cannot restore this state: " + why());
    }

 private:
    std::string_view name_;
    std::span<std::byte const> rest_;
};

}  // namespace chorus::detail
