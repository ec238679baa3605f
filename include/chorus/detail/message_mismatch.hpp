// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/error.hpp"
#include "chorus/base/types.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace chorus::detail {

/// One end's view of a message: what `message_tag` and the buffer say.
struct message_shape {
    std::size_t bytes = 0;
    std::uint32_t fingerprint = 0;

    friend constexpr bool operator==(message_shape, message_shape) = default;
};

/// Two ends of one message that disagree. Plain data, so that a `poll` that must not throw can keep it;
/// the text is composed when somebody asks.
struct message_mismatch {
    rank_id sender = nobody;
    rank_id receiver = nobody;
    std::uint64_t stream = 0;
    message_shape sent;
    message_shape expected;

    error to_error() const {
        std::string text = "rank " + std::to_string(receiver) + " expected " + std::to_string(expected.bytes) +
                           " bytes from rank " + std::to_string(sender) + " on stream " + std::to_string(stream) +
                           ", which sent " + std::to_string(sent.bytes) + " bytes";
        if (expected.fingerprint != sent.fingerprint)
            text += " (fingerprints: expected " + std::to_string(expected.fingerprint) + ", sent " +
                    std::to_string(sent.fingerprint) + "; the ranks are in different operations)";
        return error{errc::mismatch, text, sender};
    }
};

}  // namespace chorus::detail
