// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/chorus.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <vector>

// A collective as MPI asks for it, types erased, and the plan that does it.

namespace preload {

using chorus::collective;
using chorus::rank_id;

/// What all members of a communicator know alike of one call, by the rules of MPI: plans are found again by it. Types of the data that is only moved are not
/// among it, since ranks may describe the same bytes differently; nor are buffers.
struct call_key {
    collective what = collective::barrier;
    rank_id root = chorus::nobody;
    std::uint64_t count = 0;                       ///< reductions: elements; else bytes; of a block where every rank has one
    chorus::reducer const* reduction = nullptr;
    std::vector<std::uint64_t> counts{};           ///< where blocks differ and all ranks know: elements or bytes of each
    std::uint32_t lane = 0;                        ///< plans of one kind that may be under way at once differ in it

    friend bool operator==(call_key const&, call_key const&) = default;
};

struct call : call_key {
    bool knows_own_alone = false;                  ///< the counts below are this rank's own affair, and the plan serves once
    std::vector<std::uint64_t> sent_counts{};      ///< all_to_all of blocks that differ
    std::byte const* in = nullptr;
    std::byte* out = nullptr;
    bool in_place = false;                         ///< `in` lies in `out` where its elements belong
    std::uint64_t in_place_at = 0;                 ///< bytes into `out`
    std::uint64_t in_bytes = 0;

    bool has_blocks_that_differ() const noexcept { return !counts.empty(); }
    std::uint64_t element_bytes() const noexcept { return reduction != nullptr ? reduction->element_bytes : 1; }

    /// Of the whole vector, as far as this rank knows.
    std::uint64_t bytes(rank_id ranks) const noexcept {
        std::uint64_t all = 0;
        for (std::uint64_t each : counts) all += each;
        if (!has_blocks_that_differ()) all = chorus::has_block_per_rank(what) ? count * ranks : count;
        return all * element_bytes();
    }
};

/// The algorithm asked for if it offers the collective, else the one that is expected to be fastest.
template <chorus::transport Net>
chorus::any_algorithm algorithm_for(chorus::group<Net> const& members, call const& asked, std::optional<chorus::any_algorithm> const& wanted) {
    bool const is_exchange = asked.what == collective::all_to_all;
    bool const is_uneven = is_exchange && asked.knows_own_alone;
    if (asked.knows_own_alone && !is_exchange) return chorus::direct{};  // the one in which a rank sees none but its own block
    if (wanted && wanted->supports(asked.what) && (!is_uneven || wanted->takes_uneven())) return *wanted;
    rank_id const ranks = members.size();
    std::uint64_t const bytes = is_uneven ? std::uint64_t{ranks} * 4096 : asked.bytes(ranks);
    return chorus::detail::choose_automatically(chorus::automatic{}, *members.state(),
                                                {asked.what, ranks, bytes, chorus::kind_of(members.net()), false, is_uneven,
                                                 chorus::shared_cores(members.net(), ranks)})
        .algorithm;
}

namespace detail {

using bytes_in = std::span<std::byte const>;
using bytes_out = std::span<std::byte>;

inline std::vector<std::uint64_t> block_counts(call const& asked, rank_id ranks) {
    return asked.has_blocks_that_differ() ? asked.counts : std::vector<std::uint64_t>(ranks, asked.count);
}

/// As the public calls make it, but for the element's type, which is known at run time.
template <chorus::transport Net>
chorus::plan plan_reduction(chorus::group<Net> const& members, call const& asked, chorus::any_algorithm const& algorithm,
                            chorus::plan_options const& options) {
    return chorus::detail::compose_plan(members, asked.what, [&](auto& composed) {
        auto& operation = composed.asked();
        chorus::reducer const& by = *asked.reduction;
        operation.count = asked.bytes(members.size()) / by.element_bytes;
        operation.element_bytes = by.element_bytes;
        operation.element = std::string{by.element};
        operation.element += ' ';
        operation.element += by.operation;
        operation.reduction = by;
        rank_id const me = members.rank();
        if (asked.what == collective::reduce_scatter) {
            operation.input = {asked.in, 0, members.size()};
            operation.output = {asked.out, me, 1};
            operation.result = {me, 1};
            composed.cut_by(chorus::blocks::of_counts(block_counts(asked, members.size())));
        } else {
            operation.input = {asked.in, 0, 1};
            if (asked.what == collective::reduce) composed.rooted_at(asked.root);
            if (asked.what != collective::reduce || me == asked.root) {
                operation.output = {asked.out, 0, 1};
                operation.result = {0, 1};
            }
            composed.cut_at_will(asked.count);
        }
        return composed.finish(algorithm, options);
    });
}

/// MPI tells the root alone how long all blocks are. Every message has the length that its two ends expect; no other rank has to know.
template <chorus::transport Net>
chorus::plan plan_by_root(chorus::group<Net> const& members, call const& asked, chorus::any_algorithm const& algorithm) {
    return chorus::detail::compose_plan(members, asked.what, [&](auto& composed) {
        rank_id const me = members.rank();
        bool const is_root = me == asked.root;
        auto& operation = composed.asked();
        composed.template of_elements<std::byte>(0);
        composed.rooted_at(asked.root);
        if (asked.what == collective::gather) {
            operation.input = {asked.in, me, 1};
            if (is_root) operation.output = {asked.out, 0, members.size()};
            if (is_root) operation.result = {0, members.size()};
        } else {
            if (is_root) operation.input = {asked.in, 0, members.size()};
            operation.output = {asked.out, me, 1};
            operation.result = {me, 1};
        }
        composed.cut_by(chorus::blocks::of_counts(asked.counts));
        return composed.finish(algorithm, {});
    });
}

}  // namespace detail

template <chorus::transport Net>
chorus::plan plan_for(chorus::group<Net> const& members, call const& asked, chorus::any_algorithm const& algorithm,
                      chorus::plan_options const& options) {
    rank_id const ranks = members.size();
    rank_id const me = members.rank();
    bool const is_root = me == asked.root;
    if (asked.reduction != nullptr) return detail::plan_reduction(members, asked, algorithm, options);
    if (asked.knows_own_alone && asked.what != collective::all_to_all) return detail::plan_by_root(members, asked, algorithm);
    auto const counts = detail::block_counts(asked, ranks);
    std::uint64_t const whole = asked.bytes(ranks);
    auto const in = [&](std::uint64_t bytes) { return detail::bytes_in{asked.in, bytes}; };
    auto const out = [&](std::uint64_t bytes) { return detail::bytes_out{asked.out, bytes}; };
    switch (asked.what) {
        case collective::broadcast: return chorus::plan_broadcast(members, out(whole), asked.root, algorithm);
        case collective::all_gather: return chorus::plan_all_gather_v(members, in(counts[me]), out(whole), counts, algorithm);
        case collective::gather:
            return chorus::plan_gather_v(members, in(counts[me]), out(is_root ? whole : 0), counts, asked.root, algorithm);
        case collective::scatter:
            return chorus::plan_scatter_v(members, in(is_root ? whole : 0), out(counts[me]), counts, asked.root, algorithm);
        case collective::all_to_all: {
            if (!asked.knows_own_alone) return chorus::plan_all_to_all(members, in(whole), out(whole), algorithm);
            chorus::blocks const sent = chorus::blocks::of_counts(asked.sent_counts);
            return chorus::plan_all_to_all_v(members, in(sent.count()), asked.sent_counts, out(whole), counts, algorithm);
        }
        default: return chorus::plan_barrier(members, algorithm);
    }
}

}  // namespace preload
