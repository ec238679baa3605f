// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

// Apart from the rest because it knows nothing of MPI, and is compiled once for all MPI libraries: compressors by name take long.

#include "settings.hpp"

#include "chorus/compress/compressors.hpp"
#include "chorus/schedule/algorithms.hpp"

#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace preload {
namespace {

std::string_view variable(char const* name) {
    char const* const value = std::getenv(name);
    return value == nullptr ? std::string_view{} : value;
}

/// `invalid_argument`, naming the variable and its value in front of what is allowed.
[[noreturn]] void refuse(char const* name, std::string_view value, std::string_view allowed) {
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

}  // namespace

settings settings_of_environment() {
    settings read;
    std::string_view const off = variable("CHORUS_OFF");
    if (!off.empty() && off != "0" && off != "1") refuse("CHORUS_OFF", off, "allowed are 0 and 1");
    read.is_off = off == "1";

    read.is_native = variable("CHORUS_ALGORITHM") == "native";
    read.algorithm = read_variable("CHORUS_ALGORITHM", ", automatic", [&](std::string_view text) {
        std::optional<chorus::any_algorithm> found;
        if (!text.empty() && text != "automatic" && !read.is_native) found = chorus::algorithm_named(text);
        return found;
    });
    read.carry = read_variable("CHORUS_CARRY", "", [](std::string_view text) {
        std::optional<chorus::any_compressor> found;
        if (!text.empty()) found = chorus::compressor_named(text);
        return found;
    });
    std::string_view const transport = variable("CHORUS_TRANSPORT");
    if (!transport.empty() && transport != "automatic" && transport != "shm" && transport != "mpi")
        refuse("CHORUS_TRANSPORT", transport, "allowed are automatic, shm and mpi");
    read.allows_shared_memory = transport != "mpi";
    read.needs_shared_memory = transport == "shm";
    read.trace = variable("CHORUS_TRACE");
    return read;
}

}  // namespace preload
