// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/config.hpp"
#include "chorus/base/error.hpp"
#include "chorus/schedule/algorithms.hpp"
#include "chorus/schedule/detail/selection_rows.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <istream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

// Texts of tables, line by line. Every refusal names the line, what was found and what was expected.

namespace chorus::detail {

inline std::string table_version() { return "chorus-table 1"; }

/// What may be shown of a text that anybody may have written: without control characters, and not too long.
inline std::string printable(std::string_view text, std::size_t longest = 60) {
    std::string shown{text.substr(0, longest)};
    for (char& c : shown)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
    return text.size() > longest ? shown + "..." : shown;
}

/// A whole number; nothing if it is none or does not fit.
template <class Number>
std::optional<Number> whole_number(std::string_view text) {
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

/// Reads a text line by line, whatever it holds: a line is at most 4096 characters, there are at most a million.
class table_lines {
 public:
    static constexpr std::size_t longest_line = 4096;
    static constexpr std::uint32_t most_lines = 1000000;

    table_lines(std::istream& text, std::string source) : text_{text}, source_{std::move(source)} {}

    /// Goes to the next line; false at the end.
    bool next() {
        line_.clear();
        char c = 0;
        bool any = false;
        while (text_.get(c)) {
            if (!any) ++number_;
            any = true;
            if (c == '\n') break;
            line_ += c;
            if (line_.size() > longest_line)
                refuse("a line that begins " + quoted(line_), "at most " + std::to_string(longest_line) + " characters");
        }
        if (number_ > most_lines) refuse("one line more", "at most " + std::to_string(most_lines) + " lines");
        std::size_t const hash = (std::min)(line_.find('#'), line_.size());
        comment_ = std::string{trimmed(std::string_view{line_}.substr((std::min)(hash + 1, line_.size())))};
        rest_ = trimmed(std::string_view{line_}.substr(0, hash));
        return any;
    }

    std::string_view rest() const noexcept { return rest_; }
    std::string const& comment() const noexcept { return comment_; }
    std::uint32_t number() const noexcept { return number_; }
    std::string const& source() const noexcept { return source_; }

    /// The next word of the line. Refuses if there is none.
    std::string_view word(char const* expected) {
        std::string_view const found = rest_.substr(0, (std::min)(rest_.find_first_of(" \t"), rest_.size()));
        if (found.empty()) refuse("the end of the line", expected);
        rest_ = trimmed(rest_.substr(found.size()));
        return found;
    }

    /// What is left of the line up to `end`, which is taken off; the whole rest without one.
    std::string_view part(char end) {
        std::size_t const length = (std::min)(rest_.find(end), rest_.size());
        std::string_view const found = trimmed(rest_.substr(0, length));
        has_more_ = length < rest_.size();
        rest_ = trimmed(rest_.substr((std::min)(length + 1, rest_.size())));
        return found;
    }
    /// Whether the last `part` met its end: another must follow, even if it is empty.
    bool has_more() const noexcept { return has_more_; }

    static std::string quoted(std::string_view text) { return '"' + printable(text) + '"'; }

    [[noreturn]] void refuse(std::string const& found, std::string const& expected) const {
        raise(errc::invalid_argument, here() + "found " + found + ", expected " + expected);
    }

    /// Does what may be refused for a reason of its own, and adds the line to that.
    template <class Work>
    auto attempt(Work const& work) const {
#if CHORUS_HAS_EXCEPTIONS
        try {
            return work();
        } catch (error const& refused) {
            if (refused.message().starts_with(here())) throw;
            raise(errc::invalid_argument, here() + printable(refused.message(), 1000));
        }
#else
        return work();
#endif
    }

 private:
    std::string here() const { return source_ + " line " + std::to_string(number_) + ": "; }

    std::istream& text_;
    std::string source_;
    std::string line_;
    std::string comment_;
    std::string_view rest_;
    std::uint32_t number_ = 0;
    bool has_more_ = false;
};

inline void read_version(table_lines& lines) {
    if (lines.rest() == table_version()) return;
    bool const is_other = lines.rest().starts_with("chorus-table ");
    lines.refuse(table_lines::quoted(lines.rest()),
                 '"' + table_version() + (is_other ? "\": this is another version" : "\" on the first line"));
}

inline collective read_collective(table_lines& lines) {
    std::string_view const found = lines.word("a collective");
    if (auto const operation = collective_named(found)) return *operation;
    std::string names;
    for (collective operation : all_collectives)
        names += (names.empty() ? "" : ", ") + std::string{to_string(operation)};
    lines.refuse(table_lines::quoted(found), "a collective: " + names);
}

inline std::string read_transport(table_lines& lines, bool may_be_any) {
    std::string_view const found = lines.word("a transport");
    bool const is_word = found.size() <= 32 && found.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") ==
                                                   std::string_view::npos;
    if (!is_word && !(may_be_any && found == "*"))
        lines.refuse(table_lines::quoted(found), may_be_any ? "a transport such as shm, or *" : "a transport such as shm");
    return std::string{found};
}

template <class Number>
Number read_number(table_lines& lines, char const* expected) {
    std::string_view const found = lines.word(expected);
    std::optional<Number> const value = whole_number<Number>(found);
    if (!value) lines.refuse(table_lines::quoted(found), expected);
    return *value;
}

/// "7", "7..9", "7..*" or "*".
template <class Number>
std::pair<Number, Number> read_range(table_lines& lines, Number least, char const* expected) {
    Number const most = (std::numeric_limits<Number>::max)();
    std::string_view const found = lines.word(expected);
    if (found == "*") return {least, most};
    std::size_t const dots = found.find("..");
    auto const from = whole_number<Number>(found.substr(0, dots));
    if (from && dots == std::string_view::npos) return {*from, *from};
    if (from && dots != std::string_view::npos) {
        std::string_view const upper = found.substr(dots + 2);
        if (upper == "*") return {*from, most};
        if (auto const to = whole_number<Number>(upper)) return {*from, *to};
    }
    lines.refuse(table_lines::quoted(found), expected);
}

/// An algorithm by its text. Parameters above 4096 would make schedules of gigabytes, hierarchies of hierarchies of
/// hierarchies take for ever.
inline any_algorithm read_algorithm(table_lines const& lines, std::string_view text) {
    if (text.empty()) lines.refuse("the end of the line", "an algorithm");
    if (std::count(text.begin(), text.end(), '(') > 6)
        lines.refuse(table_lines::quoted(text), "at most 6 algorithms with parameters");
    for (std::size_t i = 0; i < text.size();) {
        std::size_t const end = (std::min)(text.find_first_not_of("0123456789", i), text.size());
        if (end - i > 4 || (end - i == 4 && text.substr(i, 4) > "4096"))
            lines.refuse(table_lines::quoted(text.substr(i, end - i)), "a parameter of at most 4096");
        i = (std::max)(end, i + 1);
    }
    return lines.attempt([&] { return algorithm_named(text); });
}

inline selection_row read_row(table_lines& lines) {
    collective const operation = read_collective(lines);
    std::string transport = read_transport(lines, true);
    auto const ranks = read_range<rank_id>(lines, 1, "ranks such as 4, 2..8, 2..* or *");
    auto const bytes = read_range<std::uint64_t>(lines, 0, "bytes such as 8, 0..4096, 4097..* or *");
    any_algorithm algorithm = read_algorithm(lines, lines.rest());
    return {operation,    std::move(transport), ranks.first,     ranks.second, bytes.first,
            bytes.second, std::move(algorithm), lines.number()};
}

inline double read_microseconds(table_lines& lines) {
    std::string_view const found = lines.word("microseconds");
    double value = 0;
    auto const [end, problem] = std::from_chars(found.data(), found.data() + found.size(), value);
    bool const is_number = problem == std::errc{} && end == found.data() + found.size() && std::isfinite(value);
    if (!is_number || value <= 0) lines.refuse(table_lines::quoted(found), "microseconds above 0");
    return 1e-6 * value;
}

inline measured_point read_point(table_lines& lines) {
    lines.word("measured");
    measured_point point;
    point.operation = read_collective(lines);
    point.transport = read_transport(lines, false);
    point.ranks = read_number<rank_id>(lines, "a number of ranks");
    point.bytes = read_number<std::uint64_t>(lines, "a number of bytes");
    point.line = lines.number();
    do {
        double const seconds = read_microseconds(lines);
        point.times.push_back({read_algorithm(lines, lines.part('|')), seconds});
    } while (lines.has_more());
    return point;
}

/// Opens a file and hands it on. Throws `system_failed`.
template <class Read>
auto load_text(std::string const& path, char const* what, Read const& read) {
    std::ifstream file{path};
    if (!file) raise(errc::system_failed, std::string{"cannot read the "} + what + " \"" + path + '"');
    auto result = read(static_cast<std::istream&>(file));
    if (file.bad()) raise(errc::system_failed, std::string{"reading the "} + what + " \"" + path + "\" failed");
    return result;
}

}  // namespace chorus::detail
