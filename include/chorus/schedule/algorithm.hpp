// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/collective_kind.hpp"
#include "chorus/schedule/cost.hpp"
#include "chorus/schedule/schedule.hpp"

#include <concepts>
#include <cstdint>
#include <string_view>

namespace chorus {

// An algorithm is an aggregate with a name, and for each collective it knows a pure function of (rank, size[, root]) to a
// schedule and one of (size, bytes) to its cost. The rank's own input, where a schedule's data starts out and where the result must be:
//
// collective      blocks       data before the first write            data afterwards
// all_reduce      any number   own vector                             the reduction, all blocks
// reduce_scatter  size         own vector, block b for rank b         block me: the reduction (others unspecified)
// all_gather      size         block me: own; others unspecified      all blocks
// broadcast       any number   root: the vector; others unspecified   the vector
// reduce          any number   own vector                             root: the reduction (others unspecified)
// gather          size         block me: own                          root: all blocks (others unspecified)
// scatter         size         root: all blocks; others unspecified   block me (others unspecified)
// all_to_all      size         input block p: for rank p              data block p: from rank p
// scan            any number   own vector                             reduction over ranks 0 … me
// exclusive_scan  any number   own vector                             reduction over ranks 0 … me - 1 (rank 0: unspecified)
// barrier         1, empty     -                                      nobody leaves before everybody entered
//
// `keeps_order` (a static constexpr bool, per algorithm) says that every reduction combines runs of neighbouring ranks in rank order, so that an operation
// needs to be associative only; where it is false the operation must be commutative as well.

template <class A> concept named_algorithm =
    std::copyable<A> && std::equality_comparable<A> && requires {
        { A::name } -> std::convertible_to<std::string_view>;
    };

template <class A> concept reducing_algorithm = named_algorithm<A> && requires {
    { A::keeps_order } -> std::convertible_to<bool>;
};

template <class A> concept all_reduce_algorithm =
    reducing_algorithm<A> && requires(A const& a, rank_id me, rank_id size, double bytes) {
        { a.all_reduce(me, size) } -> std::same_as<schedule>;
        { a.all_reduce_cost(size, bytes) } -> std::same_as<cost>;
    };

template <class A> concept reduce_scatter_algorithm =
    reducing_algorithm<A> && requires(A const& a, rank_id me, rank_id size, double bytes) {
        { a.reduce_scatter(me, size) } -> std::same_as<schedule>;
        { a.reduce_scatter_cost(size, bytes) } -> std::same_as<cost>;
    };

template <class A> concept all_gather_algorithm =
    named_algorithm<A> && requires(A const& a, rank_id me, rank_id size, double bytes) {
        { a.all_gather(me, size) } -> std::same_as<schedule>;
        { a.all_gather_cost(size, bytes) } -> std::same_as<cost>;
    };

template <class A> concept broadcast_algorithm =
    named_algorithm<A> && requires(A const& a, rank_id me, rank_id size, rank_id root, double bytes) {
        { a.broadcast(me, size, root) } -> std::same_as<schedule>;
        { a.broadcast_cost(size, bytes) } -> std::same_as<cost>;
    };

template <class A> concept reduce_algorithm =
    reducing_algorithm<A> && requires(A const& a, rank_id me, rank_id size, rank_id root, double bytes) {
        { a.reduce(me, size, root) } -> std::same_as<schedule>;
        { a.reduce_cost(size, bytes) } -> std::same_as<cost>;
    };

template <class A> concept gather_algorithm =
    named_algorithm<A> && requires(A const& a, rank_id me, rank_id size, rank_id root, double bytes) {
        { a.gather(me, size, root) } -> std::same_as<schedule>;
        { a.gather_cost(size, bytes) } -> std::same_as<cost>;
    };

template <class A> concept scatter_algorithm =
    named_algorithm<A> && requires(A const& a, rank_id me, rank_id size, rank_id root, double bytes) {
        { a.scatter(me, size, root) } -> std::same_as<schedule>;
        { a.scatter_cost(size, bytes) } -> std::same_as<cost>;
    };

/// `takes_uneven` says whether the blocks may differ in length and between ranks (all_to_all_v).
template <class A> concept all_to_all_algorithm =
    named_algorithm<A> && requires(A const& a, rank_id me, rank_id size, double bytes) {
        { a.all_to_all(me, size) } -> std::same_as<schedule>;
        { a.all_to_all_cost(size, bytes) } -> std::same_as<cost>;
        { A::takes_uneven } -> std::convertible_to<bool>;
    };

template <class A> concept scan_algorithm =
    reducing_algorithm<A> && requires(A const& a, rank_id me, rank_id size, double bytes) {
        { a.scan(me, size) } -> std::same_as<schedule>;
        { a.exclusive_scan(me, size) } -> std::same_as<schedule>;
        { a.scan_cost(size, bytes) } -> std::same_as<cost>;
        { a.exclusive_scan_cost(size, bytes) } -> std::same_as<cost>;
    };

template <class A> concept barrier_algorithm =
    named_algorithm<A> && requires(A const& a, rank_id me, rank_id size) {
        { a.barrier(me, size) } -> std::same_as<schedule>;
        { a.barrier_cost(size) } -> std::same_as<cost>;
    };

}  // namespace chorus
