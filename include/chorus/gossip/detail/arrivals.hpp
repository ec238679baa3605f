// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/types.hpp"
#include "chorus/data/element.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace chorus::gossip::detail {

/// What came in one step: those who were left out are not listed, and their weight is in `own`.
struct arrivals {
    double own = 1.0;
    std::size_t unsent = 0;     // neighbours that this step's message was not sent to
    std::vector<rank_id> from;  ///< ascending
    std::vector<double> weights;
    std::vector<std::span<std::byte const>> payloads;
};

/// The elements from byte `offset` of a payload on. Payloads are aligned to 8 bytes.
template <class Element>
Element const* elements_of(std::span<std::byte const> payload, std::size_t offset = 0) noexcept {
    return reinterpret_cast<Element const*>(payload.data() + offset);
}

template <class Element>
Element* elements_of(std::span<std::byte> payload, std::size_t offset = 0) noexcept {
    return reinterpret_cast<Element*>(payload.data() + offset);
}

template <class Element>
double wide(Element value) noexcept {
    return static_cast<double>(static_cast<wide_t<Element>>(value));
}
template <class Element>
Element narrow(double value) noexcept {
    return static_cast<Element>(static_cast<wide_t<Element>>(value));
}

/// Calls take(i, own * mine[i] + sum of weights[k] * what k sent) for every element, added in double, ascending by rank. The elements of a payload begin
/// at byte `offset`.
template <class Element, class Take>
void mix_each(std::span<Element const> mine, arrivals const& came, std::size_t offset, Take const& take) {
    std::array<double, 256> sums;
    for (std::size_t begin = 0; begin < mine.size(); begin += sums.size()) {
        std::size_t const count = (std::min)(sums.size(), mine.size() - begin);
        for (std::size_t i = 0; i < count; ++i) sums[i] = came.own * wide(mine[begin + i]);
        for (std::size_t k = 0; k < came.payloads.size(); ++k) {
            Element const* const sent = elements_of<Element>(came.payloads[k], offset) + begin;
            double const weight = came.weights[k];
            for (std::size_t i = 0; i < count; ++i) sums[i] += weight * wide(sent[i]);
        }
        for (std::size_t i = 0; i < count; ++i) take(begin + i, sums[i]);
    }
}

}  // namespace chorus::gossip::detail
