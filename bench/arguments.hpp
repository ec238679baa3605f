// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <charconv>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// Whether an option is followed by a value: always, or only if it is glued to the letter or follows after "=".
enum class takes : std::uint8_t { nothing, value, perhaps_value };

/// An option: a letter ('\0': none) and a long name.
struct option_name {
    char letter;
    std::string_view text;
    takes with = takes::nothing;
};

/// A whole number in [least, most]. Throws std::invalid_argument.
inline std::uint64_t parse_number(std::string_view text, std::string_view what, std::uint64_t least, std::uint64_t most) {
    std::uint64_t value = 0;
    auto const [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc{} || end != text.data() + text.size() || value < least || value > most)
        throw std::invalid_argument{"'" + std::string{text} + "' is not " + std::string{what} + ", a number from " +
                                    std::to_string(least) + " to " + std::to_string(most)};
    return value;
}

/// A number that is not negative. Throws std::invalid_argument.
inline double parse_real(std::string const& text, std::string_view what) {
    std::size_t used = 0;
    double value = -1;
    try {
        value = std::stod(text, &used);
    } catch (std::exception const&) {
        used = 0;
    }
    if (used != text.size() || text.empty() || !(value >= 0))
        throw std::invalid_argument{"'" + text + "' is not a number of " + std::string{what}};
    return value;
}

using option_taker = std::function<void(option_name const& option, std::string const& value)>;

namespace detail {

class argument_parser {
 public:
    argument_parser(std::vector<std::string> const& arguments, std::span<option_name const> known, option_taker const& take)
        : arguments_{arguments}, known_{known}, take_{take} {}

    std::vector<std::string> parse() {
        std::vector<std::string> others;
        bool only_others = false;
        for (at_ = 0; at_ < arguments_.size(); ++at_) {
            std::string const& text = arguments_[at_];
            if (only_others || text.size() < 2 || text[0] != '-') others.push_back(text);
            else if (text == "--") only_others = true;
            else if (text[1] == '-') take_long(text.substr(2));
            else take_letters(text);
        }
        return others;
    }

 private:
    void take_long(std::string const& text) {
        auto const equals = text.find('=');
        std::string const name = text.substr(0, equals);
        for (option_name const& each : known_) {
            if (each.text != name) continue;
            if (equals != std::string::npos) {
                if (each.with == takes::nothing) throw std::invalid_argument{"--" + name + " takes no value"};
                return take_(each, text.substr(equals + 1));
            }
            return take_(each, each.with == takes::value ? next("--" + name) : "");
        }
        throw std::invalid_argument{"unknown option --" + name};
    }

    void take_letters(std::string const& text) {
        for (std::size_t i = 1; i < text.size(); ++i) {
            option_name const* found = nullptr;
            for (option_name const& each : known_)
                if (each.letter == text[i]) found = &each;
            std::string const name = std::string{"-"} + text[i];
            if (found == nullptr || text[i] == '\0') throw std::invalid_argument{"unknown option " + name};
            if (found->with == takes::nothing) {
                take_(*found, "");
                continue;
            }
            std::string const glued = text.substr(i + 1);
            return take_(*found, !glued.empty() || found->with == takes::perhaps_value ? glued : next(name));
        }
    }

    std::string next(std::string const& name) {
        if (at_ + 1 == arguments_.size()) throw std::invalid_argument{name + " needs a value"};
        return arguments_[++at_];
    }

    std::vector<std::string> const& arguments_;
    std::span<option_name const> known_;
    option_taker const& take_;
    std::size_t at_ = 0;
};

}  // namespace detail

/// Reads a command line as getopt_long does, with options before, between and after other words, which are returned:
/// -x 5, -x5, -fc, --name 5, --name=5; "--" ends the options. Throws std::invalid_argument.
inline std::vector<std::string> parse_arguments(std::vector<std::string> const& arguments, std::span<option_name const> known,
                                                option_taker const& take) {
    return detail::argument_parser{arguments, known, take}.parse();
}

}  // namespace bench
