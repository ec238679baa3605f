// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/schedule/algorithms.hpp"
#include "chorus/schedule/any_algorithm.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace chorus {

/// One line of a table of algorithms: which to take for a collective, a range of sizes and a range of bytes, ends
/// included.
struct choice_rule {
    collective operation = collective::all_reduce;
    rank_id size_min = 0;
    rank_id size_max = (std::numeric_limits<rank_id>::max)();
    std::uint64_t bytes_min = 0;
    std::uint64_t bytes_max = (std::numeric_limits<std::uint64_t>::max)();
    any_algorithm algorithm;
    std::uint32_t line = 0;   ///< in the table it was read from; 0: none

    bool covers(collective asked, rank_id size, std::uint64_t bytes) const {
        return asked == operation && size >= size_min && size <= size_max && bytes >= bytes_min && bytes <= bytes_max;
    }
    friend bool operator==(choice_rule const&, choice_rule const&) = default;
};

/// The line, as `automatic::load` reads it.
inline std::string to_string(choice_rule const& rule) {
    auto upper = [](std::uint64_t value, std::uint64_t none) { return value == none ? "*" : std::to_string(value); };
    return std::string{to_string(rule.operation)} + ' ' + std::to_string(rule.size_min) + ' ' +
           upper(rule.size_max, (std::numeric_limits<rank_id>::max)()) + ' ' + std::to_string(rule.bytes_min) + ' ' +
           upper(rule.bytes_max, (std::numeric_limits<std::uint64_t>::max)()) + ' ' + rule.algorithm.describe();
}

namespace detail {

inline std::string microseconds(double seconds) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3g us", 1e6 * seconds);
    return text;
}

/// Takes the first word off `rest`; empty at the end.
inline std::string_view next_word(std::string_view& rest) {
    rest = trimmed(rest);
    std::string_view const word = rest.substr(0, (std::min)(rest.find_first_of(" \t"), rest.size()));
    rest.remove_prefix(word.size());
    return word;
}

template <class Number>
std::optional<Number> number_or_star(std::string_view text) {
    if (text == "*") return (std::numeric_limits<Number>::max)();
    Number value = 0;
    auto const [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

inline std::optional<collective> collective_named(std::string_view text) {
    for (collective operation : all_collectives)
        if (to_string(operation) == text) return operation;
    return std::nullopt;
}

/// Nothing for empty lines and comments. Throws `invalid_argument` that names the line.
inline std::optional<choice_rule> parse_choice_rule(std::string_view text, std::string const& source,
                                                    std::uint32_t line) {
    text = trimmed(text.substr(0, text.find('#')));
    if (text.empty()) return std::nullopt;
    auto refuse = [&](std::string const& why) {
        raise(errc::invalid_argument, source + " line " + std::to_string(line) + ": " + why);
    };
    std::string_view rest = text;
    std::string const operation_text{next_word(rest)};
    std::optional<collective> const operation = collective_named(operation_text);
    if (!operation) refuse("\"" + operation_text + "\" is no collective");
    auto const size_min = number_or_star<rank_id>(next_word(rest));
    auto const size_max = number_or_star<rank_id>(next_word(rest));
    auto const bytes_min = number_or_star<std::uint64_t>(next_word(rest));
    auto const bytes_max = number_or_star<std::uint64_t>(next_word(rest));
    rest = trimmed(rest);
    if (!size_min || !size_max || !bytes_min || !bytes_max || rest.empty())
        refuse("needs: collective size_min size_max bytes_min bytes_max algorithm");
    if (*size_min > *size_max || *bytes_min > *bytes_max) refuse("a range ends before it begins");
    std::optional<any_algorithm> algorithm;
    CHORUS_TRY { algorithm = algorithm_named(rest); }
    CHORUS_CATCH_ALL { refuse("cannot make out the algorithm \"" + std::string{rest} + '"'); }
    if (!algorithm->supports(*operation)) refuse(algorithm->describe() + " does not offer " + operation_text);
    return choice_rule{*operation, *size_min, *size_max, *bytes_min, *bytes_max, *algorithm, line};
}

}  // namespace detail
}  // namespace chorus
