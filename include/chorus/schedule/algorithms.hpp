// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/schedule/all_pairs.hpp"
#include "chorus/schedule/any_algorithm.hpp"
#include "chorus/schedule/binomial_tree.hpp"
#include "chorus/schedule/bruck.hpp"
#include "chorus/schedule/chain.hpp"
#include "chorus/schedule/detail/parameters.hpp"
#include "chorus/schedule/direct.hpp"
#include "chorus/schedule/dissemination.hpp"
#include "chorus/schedule/double_binary_tree.hpp"
#include "chorus/schedule/hierarchical.hpp"
#include "chorus/schedule/pairwise.hpp"
#include "chorus/schedule/rabenseifner.hpp"
#include "chorus/schedule/recursive_doubling.hpp"
#include "chorus/schedule/recursive_halving.hpp"
#include "chorus/schedule/ring.hpp"
#include "chorus/schedule/scatter_all_gather.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace chorus {

/// Every algorithm of this folder, hierarchical with one choice of parts. An entry here is what makes an algorithm
/// selectable by name, a candidate of `automatic` and a row of the benchmarks; using it by type needs none.
using algorithms = std::tuple<all_pairs, binomial_tree, bruck, chain, direct, dissemination, double_binary_tree,
                              hierarchical<direct, recursive_doubling>, pairwise, rabenseifner, recursive_doubling,
                              recursive_halving, ring, scatter_all_gather>;

namespace detail {

/// Calls visit(A{}) for each type of the list, until one returns true.
template <class Visit>
bool any_listed(Visit const& visit) {
    return std::apply([&](auto const&... each) { return (visit(each) || ...); }, algorithms{});
}

template <class A> inline constexpr bool is_hierarchical = false;
template <class Inside, class Between> inline constexpr bool is_hierarchical<hierarchical<Inside, Between>> = true;

inline any_algorithm named_from(parsed_algorithm const& asked);

/// The upper part of a hierarchy chosen by name: an all-reduce whose type is known only at run time.
template <bool KeepsOrder>
struct between_named {
    static constexpr std::string_view name = "between_named";
    static constexpr bool keeps_order = KeepsOrder;
    any_algorithm inner;

    std::string describe() const { return inner.describe(); }
    schedule all_reduce(rank_id me, rank_id size) const { return inner.make(collective::all_reduce, me, size); }
    cost all_reduce_cost(rank_id size, double bytes) const {
        return inner.cost_of(collective::all_reduce, size, bytes);
    }
    friend bool operator==(between_named const&, between_named const&) = default;
};

/// The number parameters that are left after `inside` and `between` are taken out.
template <class A>
void set_numbers(A& a, parsed_algorithm const& asked) {
    for (auto const& [name, value] : asked.parameters) {
        if (is_hierarchical<A> && (name == "inside" || name == "between")) continue;
        expects(set_number(a, name, value), [&, &key = name] {
            std::string known = number_names<A>();
            if (is_hierarchical<A>) known = "inside, between, " + known;
            return asked.name + " has no parameter " + key + "; it has " + (known.empty() ? "none" : known);
        });
    }
}

template <class Inside, class Between>
any_algorithm hierarchy_of(Inside const& inside, Between const& between, parsed_algorithm const& asked) {
    hierarchical<Inside, Between> result{.inside = inside, .between = between, .width = 4, .groups = {}};
    set_numbers(result, asked);
    expects(result.width > 0, [] { return "hierarchical(width=0): a group needs at least one rank"; });
    return result;
}

template <class Inside>
any_algorithm hierarchy_within(Inside const& inside, parsed_algorithm const& asked) {
    any_algorithm between{recursive_doubling{}};
    for (auto const& [name, value] : asked.parameters)
        if (name == "between") between = named_from(parse_algorithm(value));
    expects(between.supports(collective::all_reduce),
            [&] { return between.describe() + " offers no all_reduce to work between groups"; });
    if (between.keeps_order()) return hierarchy_of(inside, between_named<true>{between}, asked);
    return hierarchy_of(inside, between_named<false>{between}, asked);
}

template <class A>
concept works_inside = reducing_algorithm<A> && !is_hierarchical<A> &&
                       (reduce_algorithm<A> || reduce_scatter_algorithm<A> || all_reduce_algorithm<A>);

inline any_algorithm hierarchy_from(parsed_algorithm const& asked) {
    parsed_algorithm inside{"direct", {}};
    for (auto const& [name, value] : asked.parameters)
        if (name == "inside") inside = parse_algorithm(value);
    std::optional<any_algorithm> found;
    any_listed([&]<class A>(A inner) {
        if constexpr (works_inside<A>) {
            if (inside.name != A::name) return false;
            set_numbers(inner, inside);
            found = hierarchy_within(inner, asked);
            return true;
        } else {
            return false;
        }
    });
    expects(found.has_value(),
            [&] { return '"' + inside.name + "\" cannot work inside groups: it is no algorithm that reduces"; });
    return *found;
}

}  // namespace detail

/// The names that `algorithm_named` knows, in the order of the list.
inline std::vector<std::string_view> known_algorithms() {
    std::vector<std::string_view> names;
    detail::any_listed([&]<class A>(A const&) {
        names.push_back(A::name);
        return false;
    });
    return names;
}

inline any_algorithm detail::named_from(parsed_algorithm const& asked) {
    std::optional<any_algorithm> found;
    any_listed([&]<class A>(A a) {
        if (asked.name != A::name) return false;
        if constexpr (is_hierarchical<A>) {
            found = hierarchy_from(asked);
        } else {
            set_numbers(a, asked);
            found = a;
        }
        return true;
    });
    expects(found.has_value(), [&] {
        std::string names;
        for (std::string_view name : known_algorithms()) names += (names.empty() ? "" : ", ") + std::string{name};
        return "there is no algorithm \"" + asked.name + "\"; there are " + names;
    });
    return *found;
}

/// The algorithm that a text describes: "ring", "ring(segments=4)", "hierarchical(inside=all_pairs, between=ring, width=4)".
/// What is left out has its default; a hierarchy's are inside=direct, between=recursive_doubling, width=4.
/// Throws `invalid_argument` for unknown names and parameters, and says which exist.
inline any_algorithm algorithm_named(std::string_view text) { return detail::named_from(detail::parse_algorithm(text)); }

}  // namespace chorus
