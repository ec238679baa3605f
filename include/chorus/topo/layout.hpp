// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/types.hpp"

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace chorus::topo {

/// What tells hosts apart: numbers or names.
template <class T> concept host_label = std::integral<T> || std::convertible_to<T const&, std::string_view>;

/// Which rank sits on which host. Hosts are numbered 0, 1, … in the order in which their first ranks appear; every host
/// has at least one rank. Local | O(size) words | equal lists give equal layouts, whatever the labels are.
class layout {
 public:
    /// One label per rank, rank 0 first: equal labels, same host.
    template <std::ranges::input_range Labels>
        requires host_label<std::ranges::range_value_t<Labels>>
    explicit layout(Labels const& label_of_rank) {
        using label = std::ranges::range_value_t<Labels>;
        using key = std::conditional_t<std::integral<label>, std::uint64_t, std::string>;
        std::map<key, rank_id> known;
        for (auto const& one : label_of_rank)
            host_of_.push_back(known.try_emplace(static_cast<key>(one), static_cast<rank_id>(known.size())).first->second);
        arrange(static_cast<rank_id>(known.size()));
    }
    template <host_label Label>
    layout(std::initializer_list<Label> label_of_rank) : layout{std::span{label_of_rank.begin(), label_of_rank.size()}} {}

    /// Neighbours share a host: `width` ranks on each, fewer on the last where `width` does not divide `size`.
    static layout blocks(rank_id size, rank_id width) {
        chorus::detail::expects(width > 0, [] { return "layout::blocks: a host needs at least one rank, the width is 0"; });
        return of_rule(size, [&](rank_id r) { return r / width; });
    }

    /// Rank r on host r mod `hosts`.
    static layout round_robin(rank_id size, rank_id hosts) {
        chorus::detail::expects(hosts > 0 && hosts <= size, [&] {
            return "layout::round_robin: " + std::to_string(hosts) + " hosts for " + std::to_string(size) +
                   " ranks; there must be at least one host, and a rank for each";
        });
        return of_rule(size, [&](rank_id r) { return r % hosts; });
    }

    rank_id size() const noexcept { return static_cast<rank_id>(host_of_.size()); }
    rank_id hosts() const noexcept { return static_cast<rank_id>(starts_.size() - 1); }

    rank_id host_of(rank_id rank) const { return host_of_[checked(rank)]; }
    /// The rank's number among those of its host, in rank order.
    rank_id local_rank(rank_id rank) const { return local_of_[checked(rank)]; }

    /// Rising; valid as long as the layout.
    std::span<rank_id const> ranks_of(rank_id host) const {
        chorus::detail::expects(host < hosts(), [&] {
            return "layout: host " + std::to_string(host) + " is not below " + std::to_string(hosts());
        });
        return std::span{order_}.subspan(starts_[host], starts_[host + 1] - starts_[host]);
    }
    /// The host's lowest rank.
    rank_id leader_of(rank_id host) const { return ranks_of(host).front(); }

    /// Ranks per host; they add up to size().
    std::vector<rank_id> sizes() const {
        std::vector<rank_id> all(hosts());
        for (rank_id host = 0; host < hosts(); ++host) all[host] = starts_[host + 1] - starts_[host];
        return all;
    }

    /// All ranks, host by host, those of a host rising. With `world.subgroup(places.order())` and
    /// `hierarchical{…, .groups = places.sizes()}` two-level algorithms fit any placement.
    std::vector<rank_id> const& order() const noexcept { return order_; }

    /// Whether the ranks of every host are neighbours; then order() changes nothing.
    bool is_contiguous() const noexcept {
        for (rank_id r = 0; r < size(); ++r)
            if (order_[r] != r) return false;
        return true;
    }

    friend bool operator==(layout const&, layout const&) = default;

 private:
    layout() = default;

    template <class Rule>
    static layout of_rule(rank_id size, Rule const& host_of) {
        layout made;
        for (rank_id r = 0; r < size; ++r) made.host_of_.push_back(host_of(r));
        made.arrange(size == 0 ? 0 : *std::ranges::max_element(made.host_of_) + 1);
        return made;
    }

    void arrange(rank_id hosts) {
        chorus::detail::expects(!host_of_.empty(), [] { return "layout: there must be at least one rank"; });
        std::vector<std::vector<rank_id>> on(hosts);
        for (rank_id r = 0; r < size(); ++r) {
            local_of_.push_back(static_cast<rank_id>(on[host_of_[r]].size()));
            on[host_of_[r]].push_back(r);
        }
        starts_.push_back(0);
        for (auto const& ranks : on) {
            order_.insert(order_.end(), ranks.begin(), ranks.end());
            starts_.push_back(static_cast<rank_id>(order_.size()));
        }
    }

    rank_id checked(rank_id rank) const {
        chorus::detail::expects(rank < size(), [&] {
            return "layout: rank " + std::to_string(rank) + " is not below " + std::to_string(size());
        });
        return rank;
    }

    std::vector<rank_id> host_of_;   // rank -> host
    std::vector<rank_id> local_of_;  // rank -> number on its host
    std::vector<rank_id> order_;
    std::vector<rank_id> starts_;    // host -> its first place in order_; one more at the end
};

}  // namespace chorus::topo
