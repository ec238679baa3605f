// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/error.hpp"

#include <string>

namespace chorus::detail {

/// Arguments are checked when a plan is made, never in its running: throws `invalid_argument` unless `holds`.
/// `message` is a callable, so that the text is only composed when it is needed.
template <class Message>
constexpr void expects(bool holds, Message const& message) {
    if (!holds) raise(errc::invalid_argument, std::string{message()});
}

}  // namespace chorus::detail
