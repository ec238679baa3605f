// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/sync/merge.hpp"
#include "chorus/sync/outer_optimiser.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace chorus {

namespace detail {

template <class Optimiser> constexpr auto outer_step_name() {
    constexpr std::string_view front = "outer_step{", inner = Optimiser::name;
    std::array<char, front.size() + inner.size() + 1> text{};
    std::copy(inner.begin(), inner.end(), std::copy(front.begin(), front.end(), text.begin()));
    text.back() = '}';
    return text;
}

}  // namespace detail

/// Local optimisers make some steps each, then an outer one makes a step of the model that all last had in common: z = outer(z, gradient z - a), w = z.
///
/// state z and the moments of the outer optimiser; z is at first this rank's values: begin with equal ones on all ranks | for groups of always the same ranks |
/// late: w = z + (w - s); one exchange of a tensor at a time
/// sends_change: w - z travels instead of w, which is what a lossy compressor should get; equal but for rounding
/// Douillard et al., "DiLoCo", arXiv 2311.08105. With outer_sgd{1} it is local SGD to the bit.
template <class Optimiser = outer_nesterov>
struct outer_step {
    static constexpr auto name_text = detail::outer_step_name<Optimiser>();
    static constexpr std::string_view name{name_text.data(), name_text.size()};
    static constexpr std::size_t kept_copies = 1 + Optimiser::moments;
    static constexpr bool sends_first = false;
    static constexpr bool reads_sent = true;
    static constexpr bool keeps_synced = true;

    Optimiser outer{};
    bool sends_change = false;

    template <class T> void begin(std::span<T const> first, std::span<T> kept) const { std::copy(first.begin(), first.end(), kept.begin()); }

    template <class T> void compose(std::span<T const> current, std::span<T const> kept, std::span<T> message) const {
        if (!sends_change) std::copy(current.begin(), current.end(), message.begin());
        else
            for (std::size_t i = 0; i < current.size(); ++i) message[i] = current[i] - kept[i];
    }

    template <class T> void merge(arrival<T> const& a) const {
        std::size_t const count = a.current.size();
        auto const optimiser = outer.prepared(T{}, a.round);
        std::span<T> const moments = a.kept.subspan(count);
        bool const is_late = a.is_late();
        for (std::size_t i = 0; i < count; ++i) {
            T const z = a.kept[i];
            T const moved = optimiser.step(z, sends_change ? z + a.arrived[i] : a.arrived[i], moments, i);
            a.kept[i] = moved;
            a.current[i] = is_late ? moved + (a.current[i] - a.sent[i]) : moved;
        }
    }

    friend bool operator==(outer_step const&, outer_step const&) = default;
};
template <class Optimiser> outer_step(Optimiser) -> outer_step<Optimiser>;
template <class Optimiser> outer_step(Optimiser, bool) -> outer_step<Optimiser>;

static_assert(merge_rule<outer_step<>, float> && beginning_merge<outer_step<>, float> && composing_merge<outer_step<>, double>);

}  // namespace chorus
