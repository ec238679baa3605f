// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/schedule/detail/timeline_run.hpp"
#include "chorus/schedule/prove.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace chorus {

/// How long a collective takes, and why.
struct timeline_result {
    /// A stretch of the critical path, in seconds. Stretches follow one another without gaps, from 0 to the total.
    using stretch = detail::timeline_stretch;

    /// Something that time went to.
    struct share {
        std::string what;      ///< "link 3->4", "uplink of racks 0->1", "rank 7", "start of rank 7"
        double seconds = 0;
        double fraction = 0;   ///< of the total
    };

    double total = 0;                  ///< seconds until the last rank ends
    std::vector<double> finish;        ///< seconds until each rank ends
    std::vector<stretch> critical_path;

    /// Where the time of the critical path went, most first.
    std::vector<share> shares() const {
        std::vector<stretch> parts = critical_path;
        auto key = [](stretch const& s) { return std::tuple{s.spent, s.from, s.to}; };
        std::stable_sort(parts.begin(), parts.end(), [&](auto const& a, auto const& b) { return key(a) < key(b); });
        std::vector<share> all;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            if (i == 0 || key(parts[i]) != key(parts[i - 1])) all.push_back({to_string(parts[i])});
            all.back().seconds += parts[i].end - parts[i].begin;
        }
        for (share& s : all) s.fraction = s.seconds / total;
        std::stable_sort(all.begin(), all.end(), [](auto const& a, auto const& b) { return a.seconds > b.seconds; });
        return all;
    }
};

/// "0.00123 s: link 3->4 62 %, rank 7 30 %", the `most` largest shares.
inline std::string to_string(timeline_result const& result, std::size_t most = 5) {
    std::string text = std::to_string(result.total) + " s";
    char const* separator = ": ";
    for (timeline_result::share const& s : result.shares()) {
        if (most-- == 0) break;
        int const percent = static_cast<int>(100 * s.fraction + 0.5);
        text += separator + s.what + ' ' + (percent > 0 ? std::to_string(percent) : "<1") + " %";
        separator = ", ";
    }
    return text;
}

/// Predicts the time that these schedules of all ranks take on a network; ranks[me] is that of rank me. `bytes` is
/// what all blocks of the caller's vector hold together; blocks count as equal. Deterministic: no random numbers, no
/// clock.
///
/// A round is under way as `schedule` says; a message moves once both its ends are under way. A rank's way out and
/// way in carry one message at a time, and so do a rack's way up and way down, in the order in which messages become
/// ready: where messages queue, a better network may change the order and cost some per cent. Reductions of one rank
/// take their time one after another; copies take none. Some seconds for millions of messages. Throws
/// `invalid_argument` if a message has no other end or the schedules never end (`prove` says more).
inline timeline_result simulate(std::span<schedule const> ranks, double bytes, network const& net) {
    detail::timeline_run run{ranks, bytes, net};
    run.perform();
    timeline_result result;
    result.finish = run.finish();
    for (double seconds : result.finish) result.total = (std::max)(result.total, seconds);
    result.critical_path = run.critical_path();
    return result;
}

/// The same for `size` ranks, make(me) being the schedule of rank me.
template <std::invocable<rank_id> MakeSchedule>
timeline_result simulate(MakeSchedule const& make, rank_id size, double bytes, network const& net) {
    return simulate(schedules_of(size, make), bytes, net);
}

}  // namespace chorus
