// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <cstdint>

namespace chorus {

/// Number of a rank in a group or a transport, 0 … size - 1. Block numbers use the same type.
using rank_id = std::uint32_t;

/// No rank: what `error::peer()` says when nobody in particular is to blame.
inline constexpr rank_id nobody = 0xFFFFFFFFu;

/// Number of a training step.
using step_id = std::uint64_t;

/// What a message is matched by, besides the peer: messages of one (peer, stream) arrive in the order sent.
/// `fingerprint` is not matched but compared: two ends of a stream that differ in it disagree about the operation.
struct message_tag {
    std::uint64_t stream = 0;
    std::uint32_t fingerprint = 0;

    friend constexpr bool operator==(message_tag, message_tag) = default;
};

/// What a call that never blocks came to.
enum class progress : std::uint8_t {
    idle,   ///< nothing could be done now
    moved,  ///< something was done, more is to do
    done,   ///< complete; stays so
    failed  ///< will never complete; the reason is asked for separately
};

}  // namespace chorus
