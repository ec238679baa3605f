// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/compress/any_compressor.hpp"
#include "chorus/gossip/detail/arrivals.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace chorus::gossip::detail {

/// What the neighbours know of this rank's values, and this rank of theirs: the sums of all messages decoded, the same bits wherever they are kept, as
/// long as no message is missed. 4 count bytes for each.
class estimates {
 public:
    estimates() = default;
    estimates(estimates&&) noexcept = default;
    estimates& operator=(estimates&&) noexcept = default;

    void begin(std::vector<rank_id> const& neighbours, std::size_t count) {
        own_.assign(count, 0.0F);
        others_.assign(neighbours.size(), own_);
        together_.payloads.clear();
        for (std::vector<float> const& one : others_) together_.payloads.push_back(std::as_bytes(std::span{one}));
    }

    /// The same values everywhere, as if they had been heard.
    template <class Element>
    void begin_with(std::span<Element const> values) noexcept {
        for (std::size_t i = 0; i < values.size(); ++i) own_[i] = static_cast<float>(wide(values[i]));
        for (std::vector<float>& one : others_) std::copy(own_.begin(), own_.end(), one.begin());
    }

    /// All neighbours are in `came`, in the order of `begin`.
    void add(any_compressor const& code, std::span<std::byte const> sent, arrivals const& came) {
        code.decode_add(sent, own_);
        for (std::size_t k = 0; k < others_.size(); ++k) code.decode_add(came.payloads[k], others_[k]);
        together_.own = came.own;
        together_.weights = came.weights;
    }

    float own(std::size_t i) const noexcept { return own_[i]; }

    /// take(i, what mixing makes of the estimates of all), by the weights of the last `add`.
    template <class Take>
    void mix(Take const& take) const {
        mix_each(std::span<float const>{own_}, together_, 0, take);
    }

 private:
    std::vector<float> own_;
    std::vector<std::vector<float>> others_;
    arrivals together_;
};

}  // namespace chorus::gossip::detail
