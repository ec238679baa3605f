// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/types.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace chorus {

/// One tensor of one rank at the moment an average arrives; every span but `kept` has the tensor's count of elements.
template <class T> struct arrival {
    std::span<T> current;        ///< this rank's values as they stand: what a merge changes
    std::span<T const> arrived;  ///< the members' average of what they sent
    std::span<T const> sent;     ///< this rank's values when they were sent; `current` itself if that was just now
    std::span<T> kept;           ///< the merge's own state, `kept_copies` times the count
    rank_id members = 1;         ///< how many averaged
    std::uint64_t round = 0;     ///< averages of this tensor merged before this one

    /// Whether local updates may have been made since it was sent.
    bool is_late() const noexcept { return sent.data() != current.data(); }
};

/// What becomes of a rank's values when an average arrives: a value without state of its own; what it must remember of a tensor lies in `kept`.
///
/// kept_copies   arrays of the tensor's length that it remembers, zeros at first; `begin` may fill them from the first values
/// sends_first   of a delayed exchange at each step: whether this step's values are sent before the older average is merged into them (as gradients are)
/// reads_sent    whether `merge` reads `sent`; else no snapshot is kept
/// merge         one pass over memory; allocates nothing
template <class M, class T> concept merge_rule = std::copyable<M> && requires(M const& rule, arrival<T> const& a) {
    { M::name } -> std::convertible_to<std::string_view>;
    { M::kept_copies } -> std::convertible_to<std::size_t>;
    { M::sends_first } -> std::convertible_to<bool>;
    { M::reads_sent } -> std::convertible_to<bool>;
    rule.merge(a);
};

/// Fills its state from the first values.
template <class M, class T> concept beginning_merge = merge_rule<M, T> && requires(M const& rule, std::span<T const> first, std::span<T> kept) {
    rule.begin(first, kept);
};

/// Makes what is sent out of the values, which otherwise are sent themselves; `message` may be no part of `current`.
template <class M, class T> concept composing_merge =
    merge_rule<M, T> && requires(M const& rule, std::span<T const> current, std::span<T const> kept, std::span<T> message) {
        rule.compose(current, kept, message);
    };

/// Says what stands for an average while the first ones are still under way; otherwise values stay as they are.
template <class M, class T> concept awaiting_merge = merge_rule<M, T> && requires(M const& rule, std::span<T> current) { rule.await(current); };

/// Corrects what was sent later and is still under way: the average that just arrived has moved those values too. Without it several exchanges
/// of one tensor at once are allowed only where `sends_first`.
template <class M, class T> concept following_merge = merge_rule<M, T> && requires(M const& rule, arrival<T> const& a, std::span<T> later) {
    rule.follow(a, later);
};

/// Remembers a model that all members share since they last averaged; the first of its kept copies.
template <class M> concept anchored_merge = requires { requires M::keeps_synced; };

/// `merge` is copying: with no delay the average may be made in the values' own memory.
template <class M> concept taking_merge = requires { requires M::takes_as_is; };

}  // namespace chorus
