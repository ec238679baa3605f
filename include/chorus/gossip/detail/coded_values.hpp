// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/compress/any_compressor.hpp"
#include "chorus/data/element.hpp"
#include "chorus/gossip/detail/arrivals.hpp"
#include "chorus/gossip/detail/neighbourhood.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace chorus::gossip::detail {

/// What methods have in common whose messages are vectors of float, as many as there are values, through a compressor.
template <class Element>
class coded_values {
 public:
    /// The ranks' compressors make random choices of their own, lest their errors add up.
    coded_values(std::span<Element> values, any_compressor compressor, rank_id rank, bool keeps_progress)
        : values_{values}, compressor_{std::move(compressor)}, keeps_progress_{keeps_progress}, message_(values.size()) {
        digest_.add(element_name<Element>());
        digest_.add(compressor_.describe());
        digest_.add(values.size());
        compressor_.choose_apart(rank);
        if (!keeps_progress_) snapshot_.resize(values.size());
    }

    std::span<Element const> values() const noexcept { return values_; }
    std::size_t payload_bytes() const { return compressor_.max_wire_bytes(values_.size()); }
    std::uint64_t digest() const noexcept { return digest_.value(); }

 protected:
    /// Sends the vector of at(i). What was encoded is `sent()` until the next step.
    template <class At>
    std::size_t encode(std::span<std::byte> payload, At const& at) {
        for (std::size_t i = 0; i < message_.size(); ++i) message_[i] = static_cast<float>(at(i));
        std::size_t const used = compressor_.encode(message_, payload);
        sent_ = payload.first(used);
        if (!keeps_progress_) std::copy(values_.begin(), values_.end(), snapshot_.begin());
        return used;
    }

    /// Adds to what the value is now, or was when the step began.
    void add(std::size_t i, double change) noexcept { values_[i] = narrow<Element>(wide(keeps_progress_ ? values_[i] : snapshot_[i]) + change); }

    std::span<Element> mutable_values() noexcept { return values_; }
    any_compressor const& compressor() const noexcept { return compressor_; }
    std::span<std::byte const> sent() const noexcept { return sent_; }
    bool keeps_progress() const noexcept { return keeps_progress_; }
    void distinguish(std::uint64_t value) noexcept { digest_.add(value); }

    /// For methods that make up for what a message left out in a way of their own.
    static void expect_no_residual(std::string_view kind, std::string_view method) {
        expects(!kind.starts_with("error_feedback") && !kind.starts_with("momentum_correction"), [&] {
            return std::string{method} + " was given " + std::string{kind} + ", which keeps what a message left out, as the method itself does: expected the compressor inside";
        });
    }
    static void expect_step(double step, std::string_view method) {
        expects(step > 0.0 && step <= 1.0, [&] { return std::string{method} + " was given a consensus step of " + std::to_string(step) + ", expected above 0 to 1"; });
    }

 private:
    std::span<Element> values_;
    any_compressor compressor_;
    bool keeps_progress_;
    std::vector<float> message_;
    std::vector<Element> snapshot_;
    std::span<std::byte const> sent_;
    class digest digest_;
};

}  // namespace chorus::gossip::detail
