// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/compress/uncompressed.hpp"

#include <tuple>

namespace chorus {

/// Every compressor of this folder. An entry here is what makes one selectable by name and a row of the benchmarks; using
/// it by type needs none.
using compressors = std::tuple<uncompressed>;

}  // namespace chorus
