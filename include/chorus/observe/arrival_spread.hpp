// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/collective/all_gather.hpp"
#include "chorus/collective/gather.hpp"
#include "chorus/collective/observer.hpp"
#include "chorus/observe/arrival_report.hpp"
#include "chorus/observe/clock_offset.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace chorus {

/// Notes when this rank enters each operation, so that the ranks can find out together who keeps the others waiting.
///
/// One object per rank, used by one thread at a time | 56 bytes per operation, allocated when it is made, nothing while it observes | 27 ns per
/// operation, one look at the clock among them (Intel Xeon, g++ 12 -O3) | when it is full the oldest arrivals make place for new ones.
class arrival_spread final : public observer {
 public:
    explicit arrival_spread(std::size_t most_operations = 1024)
        : ring_((std::max)(most_operations, std::size_t{1})) {}

    void started(operation_record const& record, rank_id, rank_id size) noexcept override {
        ring_[made_++ % ring_.size()] = {record.stream, detail::steady_nanoseconds(), record.count, record.sequence,
                                         record.run, size, record.operation};
    }
    void ended(operation_record const&, operation_state, std::uint64_t) noexcept override {}

    std::size_t size() const noexcept { return static_cast<std::size_t>((std::min<std::uint64_t>)(made_, ring_.size())); }
    std::uint64_t overwritten() const noexcept { return made_ - size(); }
    void clear() noexcept { made_ = 0; }

    /// What all ranks of `members` noted, brought together on its rank 0; elsewhere the report is empty. Ranks are those of `members`. Whoever comes last
    /// is blamed if the next to last was there more than `threshold` before, or more than the clocks are uncertain by, if that is longer.
    ///
    /// collective, between operations | blocks | rank 0 needs some 120 bytes per operation and rank meanwhile | the clocks are compared now, by
    /// measure_clock_offset: between hosts whose clocks drift apart collect every few seconds, then clear | not observed | throws what a gather throws
    template <transport Transport>
    arrival_report collect(group<Transport> const& members, std::chrono::nanoseconds threshold = std::chrono::microseconds{100}) const {
        clock_offset const offset = measure_clock_offset(members);
        std::vector<detail::noted_arrival> const mine = in_order(offset.to_first);
        group<Transport> const quiet = detail::unobserved(members);
        std::array<std::uint64_t, 3> const told{mine.size(), overwritten(), static_cast<std::uint64_t>(offset.error.count())};
        std::vector<std::uint64_t> all_told(told.size() * members.size());
        all_gather(quiet, told, all_told);
        std::vector<std::uint64_t> counts;
        std::uint64_t total = 0;
        detail::arrival_totals totals{.threshold = threshold};
        for (std::size_t i = 0; i < all_told.size(); i += told.size()) {
            counts.push_back(all_told[i]);
            total += all_told[i];
            totals.overwritten += all_told[i + 1];
            totals.clock_error = (std::max)(totals.clock_error, std::chrono::nanoseconds{all_told[i + 2]});
        }
        std::vector<detail::noted_arrival> all(members.rank() == 0 ? total : 0);
        gather_v(quiet, mine, all, counts, 0);
        return members.rank() == 0 ? detail::report_arrivals(all, counts, totals) : arrival_report{};
    }

 private:
    std::vector<detail::noted_arrival> in_order(std::chrono::nanoseconds to_first) const {
        std::vector<detail::noted_arrival> all;
        all.reserve(size());
        for (std::uint64_t i = overwritten(); i < made_; ++i) {
            all.push_back(ring_[i % ring_.size()]);
            all.back().at += to_first.count();
        }
        return all;
    }

    std::vector<detail::noted_arrival> ring_;
    std::uint64_t made_ = 0;
};

}  // namespace chorus
