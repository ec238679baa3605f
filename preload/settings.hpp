// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/random.hpp"
#include "chorus/compress/compressors.hpp"
#include "chorus/schedule/algorithms.hpp"

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace preload {

/// What the environment asks for. Equal on all ranks, `trace` apart.
struct settings {
    bool is_off = false;                                 ///< CHORUS_OFF
    bool is_native = false;                              ///< CHORUS_ALGORITHM=native: all calls are MPI's own
    std::optional<chorus::any_algorithm> algorithm{};    ///< CHORUS_ALGORITHM; none: chosen automatically
    std::optional<chorus::any_compressor> carry{};       ///< CHORUS_CARRY; none: numbers travel as they are
    bool allows_shared_memory = true;                    ///< CHORUS_TRANSPORT
    bool needs_shared_memory = false;
    std::string trace{};                                 ///< CHORUS_TRACE: a file's name, to which the rank is appended

    /// Equal for equal settings.
    std::uint64_t digest() const {
        std::uint64_t hash = is_off ? 1 : is_native ? 2 : allows_shared_memory ? needs_shared_memory ? 3 : 4 : 5;
        auto const add = [&](std::string const& text) {
            for (char c : text + '\n') hash = chorus::counter_random::mix(hash ^ static_cast<unsigned char>(c));
        };
        add(algorithm ? algorithm->describe() : "automatic");
        add(carry ? carry->describe() : "nothing");
        return hash;
    }
};

namespace detail {

inline std::string_view variable(char const* name) {
    char const* const value = std::getenv(name);
    return value == nullptr ? std::string_view{} : value;
}

/// `invalid_argument`, naming the variable and its value in front of what is allowed.
[[noreturn]] inline void refuse(char const* name, std::string_view value, std::string_view allowed) {
    std::string text = name;
    text += '=';
    text += value;
    text += ": ";
    text += allowed;
    chorus::detail::raise(chorus::errc::invalid_argument, text);
}

template <class Read>
auto read_variable(char const* name, std::string_view also, Read const& read) {
    std::string_view const value = variable(name);
    try {
        return read(value);
    } catch (chorus::error const& wrong) {
        std::string allowed{wrong.message()};
        refuse(name, value, allowed.append(also));
    }
}

}  // namespace detail

/// Throws `invalid_argument`, naming what is allowed.
inline settings settings_of_environment() {
    settings read;
    std::string_view const off = detail::variable("CHORUS_OFF");
    if (!off.empty() && off != "0" && off != "1") detail::refuse("CHORUS_OFF", off, "allowed are 0 and 1");
    read.is_off = off == "1";

    read.is_native = detail::variable("CHORUS_ALGORITHM") == "native";
    read.algorithm = detail::read_variable("CHORUS_ALGORITHM", ", automatic", [&](std::string_view text) {
        std::optional<chorus::any_algorithm> found;
        if (!text.empty() && text != "automatic" && !read.is_native) found = chorus::algorithm_named(text);
        return found;
    });
    read.carry = detail::read_variable("CHORUS_CARRY", "", [](std::string_view text) {
        std::optional<chorus::any_compressor> found;
        if (!text.empty()) found = chorus::compressor_named(text);
        return found;
    });
    std::string_view const transport = detail::variable("CHORUS_TRANSPORT");
    if (!transport.empty() && transport != "automatic" && transport != "shm" && transport != "mpi")
        detail::refuse("CHORUS_TRANSPORT", transport, "allowed are automatic, shm and mpi");
    read.allows_shared_memory = transport != "mpi";
    read.needs_shared_memory = transport == "shm";
    read.trace = detail::variable("CHORUS_TRACE");
    return read;
}

}  // namespace preload
