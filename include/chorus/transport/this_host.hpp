// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/transport/detail/host_identity.hpp"

#include <cstdint>

namespace chorus {

/// A number that processes of one host have in common and those of different hosts do not, for `discover_layout`. Two
/// containers that cannot see one another's processes are two hosts. Local | some system calls | 64 bits of a hash.
inline std::uint64_t this_host() { return detail::host_identity(); }

}  // namespace chorus
