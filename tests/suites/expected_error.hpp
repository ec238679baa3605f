// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/error.hpp"

#include <exception>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace suites {

/// The error that the call throws, if it does.
template <class Call>
std::optional<chorus::error> error_of(Call const& call) {
    try {
        call();
    } catch (chorus::error const& thrown) {
        return thrown;
    }
    return std::nullopt;
}

/// What is wrong with the error that the call throws, if anything: it must have the code and all the words.
template <class Call>
std::string unlike(chorus::errc code, std::initializer_list<std::string_view> words, Call const& call) {
    auto const thrown = error_of(call);
    if (!thrown) return "threw nothing, expected " + std::string{to_string(code)};
    if (thrown->code() != code) return "expected " + std::string{to_string(code)} + ", got " + thrown->what();
    for (std::string_view word : words)
        if (thrown->message().find(word) == std::string_view::npos)
            return "\"" + std::string{word} + "\" is not in: " + thrown->what();
    return {};
}

/// The same, noted on the rank that called.
template <class Rank, class Call>
void expect_error(Rank& rank, chorus::errc code, std::initializer_list<std::string_view> words, Call const& call) {
    std::string const wrong = unlike(code, words, call);
    if (!wrong.empty()) rank.check(false, wrong);
}

}  // namespace suites
