// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/compress/bfloat16_cast.hpp"
#include "chorus/compress/block_integer.hpp"
#include "chorus/compress/float8_e4m3_cast.hpp"
#include "chorus/compress/float8_e5m2_cast.hpp"
#include "chorus/compress/half_cast.hpp"
#include "chorus/compress/natural.hpp"
#include "chorus/compress/qsgd.hpp"
#include "chorus/compress/sign_bit.hpp"
#include "chorus/compress/signum.hpp"
#include "chorus/compress/ternary.hpp"
#include "chorus/compress/top_k.hpp"
#include "chorus/compress/two_centroids.hpp"
#include "chorus/compress/uncompressed.hpp"

#include <tuple>

namespace chorus {

/// Every compressor of this folder. An entry here is what makes one selectable by name and a row of the benchmarks; using
/// it by type needs none.
using compressors = std::tuple<bfloat16_cast, block_integer, float8_e4m3_cast, float8_e5m2_cast, half_cast, natural,
                               qsgd, sign_bit, signum, ternary, top_k, two_centroids, uncompressed>;

}  // namespace chorus
