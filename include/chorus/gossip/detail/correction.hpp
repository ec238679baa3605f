// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/data/element.hpp"
#include "chorus/gossip/detail/arrivals.hpp"

#include <cstddef>
#include <vector>

namespace chorus::gossip::detail {

/// What a method adds to this rank's values before they are mixed: the sum of all that mixing has changed so far. Where columns sum to 1, corrections sum to 0
/// over all ranks; they come to rest where each is what makes its rank agree with the others.
///
/// y = values + correction is mixed to W y, and the correction grows by W y - y
template <class Element>
class correction {
 public:
    explicit correction(std::size_t count) : kept_(count) {}

    Element applied(std::size_t i, Element value) const noexcept { return static_cast<Element>(static_cast<wide_t<Element>>(value) + kept_[i]); }
    void grow(std::size_t i, double mixed, Element sent) noexcept { kept_[i] += static_cast<wide_t<Element>>(mixed - wide(sent)); }

 private:
    std::vector<wide_t<Element>> kept_;
};

}  // namespace chorus::gossip::detail
