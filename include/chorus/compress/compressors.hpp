// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/compress/any_compressor.hpp"
#include "chorus/compress/bfloat16_cast.hpp"
#include "chorus/compress/block_integer.hpp"
#include "chorus/compress/block_sparse.hpp"
#include "chorus/compress/detail/named_compressor.hpp"
#include "chorus/compress/float8_e4m3_cast.hpp"
#include "chorus/compress/float8_e5m2_cast.hpp"
#include "chorus/compress/gaussian_top_k.hpp"
#include "chorus/compress/half_cast.hpp"
#include "chorus/compress/low_rank.hpp"
#include "chorus/compress/natural.hpp"
#include "chorus/compress/qsgd.hpp"
#include "chorus/compress/random_k.hpp"
#include "chorus/compress/sampled_top_k.hpp"
#include "chorus/compress/sign_bit.hpp"
#include "chorus/compress/signum.hpp"
#include "chorus/compress/ternary.hpp"
#include "chorus/compress/threshold.hpp"
#include "chorus/compress/top_k.hpp"
#include "chorus/compress/two_centroids.hpp"
#include "chorus/compress/uncompressed.hpp"
#include "chorus/detail/named_list.hpp"

#include <string_view>
#include <tuple>
#include <vector>

namespace chorus {

/// Every compressor of this folder. An entry here is what makes one selectable by name and a row of the benchmarks; using
/// it by type needs none.
using compressors = std::tuple<bfloat16_cast, block_integer, block_sparse, float8_e4m3_cast, float8_e5m2_cast,
                               gaussian_top_k, half_cast, low_rank, natural, qsgd, random_k, sampled_top_k, sign_bit, signum,
                               ternary, threshold, top_k, two_centroids, uncompressed>;

/// The names that `compressor_named` knows, in the order of the list; those built around another are not among them.
inline std::vector<std::string_view> known_compressors() {
    return detail::names_in<compressors>();
}

/// The compressor that a text describes: "top_k", "block_integer(bits=4, block=128)", "error_feedback(top_k(ratio=0.01))",
/// "clipping(momentum_correction(top_k, momentum=0.8), norm=1)". What is left out has its default. A compressor around
/// another names that one first, then its own options: error_feedback decay and against (own, averaged);
/// momentum_correction momentum, is_nesterov, masks_factors; clipping element, norm; minimum_size smallest; warm_up
/// first_ratio, factor, steps_per_stage. Throws `invalid_argument` for unknown names and parameters, and says which exist.
inline any_compressor compressor_named(std::string_view text) {
    return detail::named_from_list<compressors>::make(detail::parse_text(text, true));
}

}  // namespace chorus
