// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/data/element.hpp"
#include "chorus/sync/detail/saved_traits.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace chorus {

/// Which of the recorded weights count how much.
struct weight_average_options {
    std::uint32_t last = 0;  ///< so many of the newest; 0: all
    double decay = 1;        ///< each counts so much less than the next one, in (0, 1]; 1: all alike
};

/// The average over time of one rank's tensors: {} of all that was recorded (SWA), {.last = n} of the newest n, {.decay = 0.99} fading (an exponential moving average, whose
/// first value is the first record itself).
///
///     chorus::weight_average average{weights};
///     for (…) { /* train */ if (is_recorded) average.record(); }
///     average.store();                          // the tensors become their average over time
///     chorus::consensus(world, weights);        // and that, the mean over the ranks: both are linear, so this is the mean of everything
///
/// local | the tensors stay the caller's | summed in double, so that recorded whole numbers stay exact | memory: 8 bytes per element, and for `last` that many copies |
/// `record` allocates nothing once `last` copies are there | throws `invalid_argument` for a decay out of range and for an average of nothing
/// Izmailov et al., "Averaging weights leads to wider optima and better generalization", UAI 2018.
template <class T>
class weight_average {
 public:
    explicit weight_average(std::vector<std::span<T>> tensors, weight_average_options const& options = {}) : tensors_{std::move(tensors)}, options_{options} {
        detail::expects(options.decay > 0 && options.decay <= 1, [&] { return "weight_average: a decay of " + std::to_string(options.decay) + ", expected above 0 and at most 1"; });
        for (std::span<T> const t : tensors_) counts_.push_back(t.size()), count_ += t.size();
        sums_.resize(count_);
    }

    /// The tensors as they stand count from now on.
    void record() {
        if (options_.last == 0) add(tensors_);
        else keep();
        ++records_;
    }

    /// How many were recorded, those included that no longer count.
    std::uint64_t records() const noexcept { return records_; }

    /// Writes the average to the tensors. Recording may go on afterwards.
    void store() {
        detail::expects(records_ > 0, [] { return "weight_average: asked for before anything was recorded"; });
        if (options_.last != 0) add_kept();
        std::size_t at = 0;
        for (std::span<T> const tensor : tensors_)
            for (T& x : tensor) x = static_cast<T>(static_cast<wide_t<T>>(sums_[at++] / weight_));
    }

    /// Forgets all records.
    void reset() {
        records_ = 0;
        weight_ = 0;
        std::fill(sums_.begin(), sums_.end(), 0.0);
        kept_.clear();
    }

    std::vector<std::byte> save() const {
        auto out = detail::state_with(name, version, traits());
        out.number(records_);
        if (options_.last == 0) {
            out.values(std::span{&weight_, 1});
            out.values(std::span<double const>{sums_});
        }
        for (std::vector<T> const& k : kept_) out.values(std::span<T const>{k});
        return std::move(out).finished();
    }

    /// What `save` gave for a model of the same tensors and with equal options. Raises `corrupt` for anything else, changing nothing.
    void restore(std::span<std::byte const> saved) {
        detail::state_reader in{saved, name, "something else"};
        detail::expect_traits(in, version, traits());
        std::uint64_t const records = in.number();
        double weight = 0;
        std::vector<double> sums(count_);
        std::vector<std::vector<T>> kept;
        if (options_.last == 0) {
            weight = in.template values<double>(1)[0];
            sums = in.template values<double>(count_);
        }
        for (std::uint64_t k = 0; k < (std::min)(records, std::uint64_t{options_.last}); ++k) kept.push_back(in.template values<T>(count_));
        in.finish();
        records_ = records;
        weight_ = weight;
        sums_.swap(sums);
        kept_.swap(kept);
    }

 private:
    static constexpr std::string_view name = "weight_average";
    static constexpr std::uint64_t version = 1;

    std::vector<detail::saved_trait> traits() const {
        std::string which = std::to_string(options_.last);
        which += " with a decay of " + std::to_string(options_.decay);
        return {detail::element_trait<T>(), detail::model_trait(counts_), {"window", which}};
    }

    template <class Parts>
    void add(Parts const& parts) noexcept {
        std::size_t at = 0;
        for (auto const& part : parts)
            for (T const& x : part) {
                sums_[at] = options_.decay * sums_[at] + static_cast<double>(static_cast<wide_t<T>>(x));
                ++at;
            }
        weight_ = options_.decay * weight_ + 1;
    }

    void keep() {
        auto const slot = static_cast<std::size_t>(records_ % options_.last);
        if (slot == kept_.size()) kept_.emplace_back(count_);
        std::size_t at = 0;
        for (std::span<T> const tensor : tensors_) {
            std::copy(tensor.begin(), tensor.end(), kept_[slot].begin() + static_cast<std::ptrdiff_t>(at));
            at += tensor.size();
        }
    }

    /// From the oldest to the newest, wherever they lie: the order is that of an average of all.
    void add_kept() noexcept {
        std::fill(sums_.begin(), sums_.end(), 0.0);
        weight_ = 0;
        for (std::uint64_t k = records_ - kept_.size(); k < records_; ++k) add(std::span{&kept_[static_cast<std::size_t>(k % options_.last)], 1});
    }

    std::vector<std::span<T>> tensors_;
    weight_average_options options_;
    std::vector<std::size_t> counts_;
    std::size_t count_ = 0;
    std::uint64_t records_ = 0;
    double weight_ = 0;
    std::vector<double> sums_;
    std::vector<std::vector<T>> kept_;  // record k in place k mod last
};

}  // namespace chorus
