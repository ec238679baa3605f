// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "call_memory.hpp"

#include <chorus/base/random.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

namespace bench {

/// The memory of one rank for a collective of float, filled as gradients are: most elements small, few large. The same
/// numbers in every call. Results are compared by their error, which for what a compressor loses is not zero.
class gradients final : public call_memory {
 public:
    /// `bound`: the most by which a result may be off, as a part of the sum over ranks of the norms of what they put in.
    gradients(call_shape const& shape, chorus::rank_id me, double bound = std::numeric_limits<double>::infinity())
        : call_memory{shape, me}, bound_{bound}, contribution_(input_.size() / sizeof(float)) {
        for (std::size_t i = 0; i < contribution_.size(); ++i) contribution_[i] = value(me, input_at_ + i);
    }

    /// Up to 4: sums over 100 ranks fit in the smallest floats, and what is below their normal numbers hardly counts.
    static float value(chorus::rank_id rank, std::uint64_t place) {
        double const u = 2 * chorus::counter_random{rank + 1}.unit(place) - 1;
        return static_cast<float>(u * u * u * 4);
    }

    void fill(std::uint64_t) override {
        float const foreign = 1e6f;
        for (std::size_t i = 0; i < output_.size(); i += sizeof foreign) std::memcpy(output_.data() + i, &foreign, sizeof foreign);
        if (!contribution_.empty()) std::memcpy(input_.data(), contribution_.data(), input_.size());
    }

    /// All elements if the error is above the bound or none at all, else none.
    std::uint64_t count_wrong(std::uint64_t, wrong_element const& = {}) override {
        std::span<float const> const found = result();
        if (found.empty()) return 0;
        if (expected_.empty()) find_expected();
        double off = 0;
        for (std::size_t i = 0; i < found.size(); ++i) {
            double const difference = static_cast<double>(found[i]) - static_cast<double>(expected_[i]);
            off += difference * difference;
        }
        error_ = expected_norm_ > 0 ? std::sqrt(off) / expected_norm_ : off;
        return std::sqrt(off) <= bound_ * put_in_norm_ && std::isfinite(off) ? 0 : found.size();
    }

    /// Of the last result that was looked at: the Euclidean norm of what is off, as a part of that of what is right. 0 where there is no result.
    double error() const noexcept { return error_; }

    /// The same for equal bits, and hardly for others.
    std::uint64_t digest() const {
        std::uint64_t sum = 0;
        for (float x : result()) {
            std::uint32_t bits = 0;
            std::memcpy(&bits, &x, sizeof bits);
            sum = chorus::counter_random::mix(sum ^ bits);
        }
        return sum;
    }

 private:
    std::span<float const> result() const { return {reinterpret_cast<float const*>(output_.data()), output_.size() / sizeof(float)}; }

    void find_expected() {
        expected_.resize(output_.size() / sizeof(float));
        double right = 0, put_in = 0;
        for_results([&](result_piece const& p) {
            bool const is_one = p.from != chorus::nobody;
            for (std::uint64_t i = 0; i < p.count; ++i) {
                double sum = 0;
                for (chorus::rank_id r = is_one ? p.from : 0; r < (is_one ? p.from + 1 : p.reduced); ++r) {
                    double const x = value(r, p.at + i);
                    sum += x;
                    put_in += x * x;
                }
                if (!is_one && shape_.op == operation::mean) sum /= p.reduced;
                expected_[p.first + i] = static_cast<float>(sum);
                right += sum * sum;
            }
        });
        expected_norm_ = std::sqrt(right);
        put_in_norm_ = std::sqrt(put_in * shape_.ranks);  // no less than the sum of the ranks' norms
    }

    double bound_;
    std::vector<float> contribution_;
    std::vector<float> expected_;
    double expected_norm_ = 0;
    double put_in_norm_ = 0;
    double error_ = 0;
};

}  // namespace bench
