// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/schedule/schedule.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace chorus::detail {

inline std::string text_of(block_range range) {
    static constexpr char const* spaces[] = {"data", "input", "scratch"};
    std::string text = spaces[static_cast<int>(range.where)];
    text += '[' + std::to_string(range.first);
    if (range.count != 1) text += ".." + std::to_string(range.end()) + ')';
    else text += ']';
    return text;
}

/// The round that a step belongs to.
inline std::uint32_t round_of(schedule const& plan, std::uint32_t step_index) {
    std::uint32_t low = 0;
    std::uint32_t high = plan.rounds();
    while (high - low > 1) {
        std::uint32_t const middle = low + (high - low) / 2;
        (plan.round_begin(middle) <= step_index ? low : high) = middle;
    }
    return low;
}

/// "rank 2, round 0, step 1 (send data[3] to 4)"; steps are numbered within their round.
inline std::string place_of(schedule const& plan, rank_id rank, std::uint32_t step_index) {
    static constexpr char const* kinds[] = {"send", "recv", "recv_reduce", "copy", "reduce", "fold"};
    step const& s = plan.steps()[step_index];
    std::uint32_t const round = round_of(plan, step_index);
    std::string text = "rank " + std::to_string(rank) + ", round " + std::to_string(round) + ", step " +
                       std::to_string(step_index - plan.round_begin(round)) + " (";
    text += std::string{kinds[static_cast<int>(s.kind)]} + ' ' + text_of(s.local);
    if (is_local(s.kind)) text += " with " + text_of(s.other);
    else text += (s.kind == step_kind::send ? " to " : " from ") + std::to_string(s.peer);
    return text + ')';
}

/// One end of a message.
struct message_end {
    rank_id rank = nobody;
    std::uint32_t step = 0;   ///< index in the rank's steps
    std::uint32_t round = 0;
};

/// Which send meets which receive: the i-th send from a to b meets the i-th receive of b from a, in the order listed.
class message_pairs {
 public:
    /// The empty string, or which message has no other end. Peers must be ranks.
    std::string match(std::span<schedule const> plans) {
        std::vector<listed> sends;
        std::vector<listed> receives;
        partners_.assign(plans.size(), {});
        for (rank_id me = 0; me < plans.size(); ++me) {
            partners_[me].resize(plans[me].steps().size());
            list(plans[me], me, sends, receives);
        }
        auto by_link = [](listed const& a, listed const& b) { return a.link < b.link; };
        std::stable_sort(sends.begin(), sends.end(), by_link);
        std::stable_sort(receives.begin(), receives.end(), by_link);
        for (std::size_t i = 0; i < sends.size() || i < receives.size(); ++i) {
            bool const no_send = i >= sends.size() || (i < receives.size() && receives[i].link < sends[i].link);
            bool const no_receive = i >= receives.size() || (i < sends.size() && sends[i].link < receives[i].link);
            if (no_send) return place(plans, receives[i].end) + ": no send meets this receive";
            if (no_receive) return place(plans, sends[i].end) + ": no receive takes this message";
            partners_[sends[i].end.rank][sends[i].end.step] = receives[i].end;
            partners_[receives[i].end.rank][receives[i].end.step] = sends[i].end;
        }
        return {};
    }

    /// The other end of the message that this step sends or receives.
    message_end partner(rank_id rank, std::uint32_t step_index) const { return partners_[rank][step_index]; }

 private:
    struct listed {
        std::uint64_t link = 0;
        message_end end;
    };

    static void list(schedule const& plan, rank_id me, std::vector<listed>& sends, std::vector<listed>& receives) {
        for (std::uint32_t r = 0; r < plan.rounds(); ++r)
            for (std::uint32_t i = plan.round_begin(r); i < plan.round_begin(r + 1); ++i) {
                step const& s = plan.steps()[i];
                if (is_local(s.kind)) continue;
                bool const out = s.kind == step_kind::send;
                std::uint64_t const from = out ? me : s.peer;
                std::uint64_t const to = out ? s.peer : me;
                (out ? sends : receives).push_back({from << 32 | to, {me, i, r}});
            }
    }

    static std::string place(std::span<schedule const> plans, message_end const& end) {
        return place_of(plans[end.rank], end.rank, end.step);
    }

    std::vector<std::vector<message_end>> partners_;
};

}  // namespace chorus::detail
