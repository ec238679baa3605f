// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/detail/named_list.hpp"
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
#include "chorus/schedule/native.hpp"
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
#include <type_traits>
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

/// A part of a hierarchy that is chosen by name. What it has as an inner part decides how the hierarchy works, and so
/// is in the type: there are few such types, however many algorithms there are.
template <bool Reduces, bool Broadcasts, bool Scatters, bool Gathers>
struct named_part {
    static constexpr std::string_view name = "named_part";
    static constexpr bool keeps_order = false;  // not known here; `named_hierarchy` does
    any_algorithm inner;

    std::string describe() const { return inner.describe(); }

    schedule all_reduce(rank_id me, rank_id size) const { return inner.make(collective::all_reduce, me, size); }
    cost all_reduce_cost(rank_id size, double bytes) const {
        return inner.cost_of(collective::all_reduce, size, bytes);
    }

    schedule reduce(rank_id me, rank_id size, rank_id root) const requires Reduces {
        return inner.make(collective::reduce, me, size, root);
    }
    cost reduce_cost(rank_id size, double bytes) const { return inner.cost_of(collective::reduce, size, bytes); }

    schedule broadcast(rank_id me, rank_id size, rank_id root) const requires Broadcasts {
        return inner.make(collective::broadcast, me, size, root);
    }
    cost broadcast_cost(rank_id size, double bytes) const { return inner.cost_of(collective::broadcast, size, bytes); }

    schedule reduce_scatter(rank_id me, rank_id size) const requires Scatters {
        return inner.make(collective::reduce_scatter, me, size);
    }
    cost reduce_scatter_cost(rank_id size, double bytes) const {
        return inner.cost_of(collective::reduce_scatter, size, bytes);
    }

    schedule all_gather(rank_id me, rank_id size) const requires Gathers {
        return inner.make(collective::all_gather, me, size);
    }
    cost all_gather_cost(rank_id size, double bytes) const {
        return inner.cost_of(collective::all_gather, size, bytes);
    }

    friend bool operator==(named_part const&, named_part const&) = default;
};

/// A hierarchy of parts chosen by name.
template <class Inside>
struct named_hierarchy {
    static constexpr std::string_view name = "hierarchical";
    static constexpr bool keeps_order = false;
    hierarchical<Inside, named_part<false, false, false, false>> parts;

    bool keeps_order_now() const { return parts.inside.inner.keeps_order() && parts.between.inner.keeps_order(); }
    bool adds_up_everywhere_now() const { return parts.inside.inner.adds_up_everywhere() || parts.between.inner.adds_up_everywhere(); }
    std::string describe() const { return described(parts); }
    schedule all_reduce(rank_id me, rank_id size) const { return parts.all_reduce(me, size); }
    cost all_reduce_cost(rank_id size, double bytes) const { return parts.all_reduce_cost(size, bytes); }

    friend bool operator==(named_hierarchy const&, named_hierarchy const&) = default;
};

template <class Inside>
any_algorithm hierarchy_within(any_algorithm const& inside, any_algorithm const& between,
                               parsed_algorithm const& asked) {
    named_hierarchy<Inside> result{{.inside = {inside}, .between = {between}, .width = 4, .groups = {}}};
    set_parameters(result.parts, asked, with_algorithm_numbers{}, {"inside", "between"});
    expects(result.parts.width > 0, [] { return "hierarchical(width=0): a group needs at least one rank"; });
    return result;
}

inline any_algorithm hierarchy_from(parsed_algorithm const& asked) {
    any_algorithm inside{direct{}};
    any_algorithm between{recursive_doubling{}};
    for (auto const& [name, value] : asked.parameters) {
        if (name == "inside") inside = named_from(parse_algorithm(value));
        if (name == "between") between = named_from(parse_algorithm(value));
    }
    bool const reduces = inside.supports(collective::reduce);
    bool const scatters = inside.supports(collective::reduce_scatter);
    bool const gathers = inside.supports(collective::all_gather);
    expects(reduces || scatters || inside.supports(collective::all_reduce),
            [&] { return inside.describe() + " cannot work inside groups: it does not reduce"; });
    expects(between.supports(collective::all_reduce),
            [&] { return between.describe() + " cannot work between groups: it offers no all_reduce"; });
    auto within = [&](auto part) { return hierarchy_within<typename decltype(part)::type>(inside, between, asked); };
    if (scatters && gathers && reduces) return within(std::type_identity<named_part<true, true, true, true>>{});
    if (scatters && gathers) return within(std::type_identity<named_part<false, false, true, true>>{});
    if (reduces && inside.supports(collective::broadcast))
        return within(std::type_identity<named_part<true, true, false, false>>{});
    if (reduces) return within(std::type_identity<named_part<true, false, false, false>>{});
    if (scatters) return within(std::type_identity<named_part<false, false, true, false>>{});
    if (gathers) return within(std::type_identity<named_part<false, false, false, true>>{});
    return within(std::type_identity<named_part<false, false, false, false>>{});
}

}  // namespace detail

/// The names of the list, in its order; `algorithm_named` knows these and "native".
inline std::vector<std::string_view> known_algorithms() {
    return detail::names_in<algorithms>();
}

inline any_algorithm detail::named_from(parsed_algorithm const& asked) {
    std::optional<any_algorithm> found;
    if (asked.name == native::name) {
        expects(asked.parameters.empty(), [] { return "native has no parameters"; });
        return native{};
    }
    any_listed([&]<class A>(A a) {
        if (asked.name != A::name) return false;
        if constexpr (is_hierarchical<A>) {
            found = hierarchy_from(asked);
        } else {
            set_parameters(a, asked, with_algorithm_numbers{});
            found = a;
        }
        return true;
    });
    expects(found.has_value(), [&] {
        auto names = known_algorithms();
        names.push_back(native::name);
        return none_named("algorithm", asked.name, names);
    });
    return *found;
}

/// The algorithm that a text describes: "ring", "ring(segments=4)", "hierarchical(inside=all_pairs, between=ring,
/// width=4)". What is left out has its default; a hierarchy's are inside=direct, between=recursive_doubling, width=4.
/// Throws `invalid_argument` for unknown names and parameters, and says which exist.
inline any_algorithm algorithm_named(std::string_view text) {
    return detail::named_from(detail::parse_algorithm(text));
}

}  // namespace chorus
