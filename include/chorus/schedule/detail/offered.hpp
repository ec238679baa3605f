// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/error.hpp"
#include "chorus/schedule/algorithm.hpp"

#include <string>

namespace chorus::detail {

// An algorithm's collectives, reached by a value instead of by a member's name.

template <class A>
constexpr bool offers(collective operation) noexcept {
    switch (operation) {
        case collective::all_reduce: return all_reduce_algorithm<A>;
        case collective::reduce_scatter: return reduce_scatter_algorithm<A>;
        case collective::all_gather: return all_gather_algorithm<A>;
        case collective::broadcast: return broadcast_algorithm<A>;
        case collective::reduce: return reduce_algorithm<A>;
        case collective::gather: return gather_algorithm<A>;
        case collective::scatter: return scatter_algorithm<A>;
        case collective::all_to_all: return all_to_all_algorithm<A>;
        case collective::scan: return scan_algorithm<A>;
        case collective::exclusive_scan: return scan_algorithm<A>;
        case collective::barrier: return barrier_algorithm<A>;
    }
    return false;
}

template <class A>
constexpr bool keeps_order_of() noexcept {
    if constexpr (reducing_algorithm<A>) return A::keeps_order;
    else return false;
}

template <class A>
constexpr bool takes_uneven_of() noexcept {
    if constexpr (all_to_all_algorithm<A>) return A::takes_uneven;
    else return false;
}

/// Whether in an all-reduce several ranks add up the same block, instead of one that hands on what it found: the same bits only if
/// what the ranks add is.
template <class A>
constexpr bool adds_up_everywhere_of() noexcept {
    if constexpr (requires { A::adds_up_everywhere; }) return A::adds_up_everywhere;
    else return false;
}

template <class A>
[[noreturn]] void refuse_collective(collective operation) {
    raise(errc::unsupported, std::string{A::name} + " does not offer " + std::string{to_string(operation)});
}

/// The schedule of rank `me`; `root` matters to collectives that have one. Throws `unsupported`.
template <class A>
schedule make_offered(A const& a, collective operation, rank_id me, rank_id size, rank_id root) {
    switch (operation) {
        case collective::all_reduce:
            if constexpr (all_reduce_algorithm<A>) return a.all_reduce(me, size);
            break;
        case collective::reduce_scatter:
            if constexpr (reduce_scatter_algorithm<A>) return a.reduce_scatter(me, size);
            break;
        case collective::all_gather:
            if constexpr (all_gather_algorithm<A>) return a.all_gather(me, size);
            break;
        case collective::broadcast:
            if constexpr (broadcast_algorithm<A>) return a.broadcast(me, size, root);
            break;
        case collective::reduce:
            if constexpr (reduce_algorithm<A>) return a.reduce(me, size, root);
            break;
        case collective::gather:
            if constexpr (gather_algorithm<A>) return a.gather(me, size, root);
            break;
        case collective::scatter:
            if constexpr (scatter_algorithm<A>) return a.scatter(me, size, root);
            break;
        case collective::all_to_all:
            if constexpr (all_to_all_algorithm<A>) return a.all_to_all(me, size);
            break;
        case collective::scan:
            if constexpr (scan_algorithm<A>) return a.scan(me, size);
            break;
        case collective::exclusive_scan:
            if constexpr (scan_algorithm<A>) return a.exclusive_scan(me, size);
            break;
        case collective::barrier:
            if constexpr (barrier_algorithm<A>) return a.barrier(me, size);
            break;
    }
    refuse_collective<A>(operation);
}

/// Its cost; for collectives with a root that of the worst root. Throws `unsupported`.
template <class A>
cost cost_offered(A const& a, collective operation, rank_id size, double bytes) {
    switch (operation) {
        case collective::all_reduce:
            if constexpr (all_reduce_algorithm<A>) return a.all_reduce_cost(size, bytes);
            break;
        case collective::reduce_scatter:
            if constexpr (reduce_scatter_algorithm<A>) return a.reduce_scatter_cost(size, bytes);
            break;
        case collective::all_gather:
            if constexpr (all_gather_algorithm<A>) return a.all_gather_cost(size, bytes);
            break;
        case collective::broadcast:
            if constexpr (broadcast_algorithm<A>) return a.broadcast_cost(size, bytes);
            break;
        case collective::reduce:
            if constexpr (reduce_algorithm<A>) return a.reduce_cost(size, bytes);
            break;
        case collective::gather:
            if constexpr (gather_algorithm<A>) return a.gather_cost(size, bytes);
            break;
        case collective::scatter:
            if constexpr (scatter_algorithm<A>) return a.scatter_cost(size, bytes);
            break;
        case collective::all_to_all:
            if constexpr (all_to_all_algorithm<A>) return a.all_to_all_cost(size, bytes);
            break;
        case collective::scan:
            if constexpr (scan_algorithm<A>) return a.scan_cost(size, bytes);
            break;
        case collective::exclusive_scan:
            if constexpr (scan_algorithm<A>) return a.exclusive_scan_cost(size, bytes);
            break;
        case collective::barrier:
            if constexpr (barrier_algorithm<A>) return a.barrier_cost(size);
            break;
    }
    refuse_collective<A>(operation);
}

}  // namespace chorus::detail
