// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/random.hpp"
#include "chorus/compress/any_compressor.hpp"
#include "chorus/schedule/any_algorithm.hpp"

#include <cstdint>
#include <optional>
#include <string>

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

/// Throws `invalid_argument`, naming what is allowed.
settings settings_of_environment();

}  // namespace preload
