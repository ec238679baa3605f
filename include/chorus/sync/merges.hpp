// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/detail/named_list.hpp"
#include "chorus/detail/named_parameters.hpp"
#include "chorus/detail/parsed_text.hpp"
#include "chorus/sync/elastic.hpp"
#include "chorus/sync/half_way.hpp"
#include "chorus/sync/keep_progress.hpp"
#include "chorus/sync/outer_optimiser.hpp"
#include "chorus/sync/outer_step.hpp"
#include "chorus/sync/stale_gradient.hpp"
#include "chorus/sync/take_arrived.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace chorus {

/// Every merge of this folder, the outer step with one of its optimisers. An entry here is what makes one selectable by name; using it by type needs none.
using merges = std::tuple<elastic, half_way, keep_progress, outer_step<>, stale_gradient, take_arrived>;

using outer_optimisers = std::tuple<outer_adam, outer_momentum, outer_nesterov, outer_sgd>;

namespace detail {

template <class M> constexpr std::string_view merge_name = M::name;
template <class Optimiser> constexpr std::string_view merge_name<outer_step<Optimiser>> = "outer_step";

/// visit(name, member) for each parameter of a merge or of an outer optimiser: one line for every name there is.
struct with_merge_parameters {
    template <class M, class Visit>
    void operator()(M& m, Visit const& visit) const {
        if constexpr (requires { m.rate; }) visit("rate", m.rate);
        if constexpr (requires { m.momentum; }) visit("momentum", m.momentum);
        if constexpr (requires { m.share; }) visit("share", m.share);
        if constexpr (requires { m.second; }) visit("first", m.first), visit("second", m.second), visit("epsilon", m.epsilon);
        if constexpr (requires { m.sends_change; }) visit("sends_change", m.sends_change);
    }
};

template <class Thing> std::string described_parts(Thing const& thing) {
    std::string const changed = changed_parameters(thing, Thing{}, with_merge_parameters{});
    return changed.empty() ? changed : changed + ')';
}

template <class M> std::string described_merge(M const& m) { return std::string{M::name} + described_parts(m); }
template <class Optimiser> std::string described_merge(outer_step<Optimiser> const& m) {
    std::string const inner = described_merge(m.outer);
    std::string text = inner == outer_nesterov::name ? std::string{} : '(' + inner;
    if (m.sends_change) add_parameter(text, "sends_change", "true");
    return std::string{merge_name<outer_step<Optimiser>>} + (text.empty() ? "" : text + ')');
}

template <class List> std::vector<std::string_view> merge_names() {
    return std::apply([](auto const&... each) { return std::vector{merge_name<std::remove_cvref_t<decltype(each)>>...}; }, List{});
}

/// The one of the list whose name was asked for, with its parameters set by `set`. Throws `invalid_argument` if none is.
template <class Result, class List, class Set> Result one_of(parsed_text const& asked, std::string_view kind, Set const& set) {
    std::optional<Result> found;
    auto const make = [&](auto one) {
        if (asked.name == merge_name<decltype(one)>) found = set(std::move(one));
    };
    std::apply([&](auto const&... each) { (make(each), ...); }, List{});
    expects(found.has_value(), [&] { return none_named(kind, asked.name, merge_names<List>()); });
    return *std::move(found);
}

}  // namespace detail

/// The names that `merge_named` knows, in the order of the list.
inline std::vector<std::string_view> known_merges() {
    return detail::merge_names<merges>();
}

/// Any of the listed merges, for choices made at run time; `take_arrived`, unless another is given. A synchroniser has its merge as a type, so that merging is one
/// loop without calls: `visit` hands it over as what it is.
///
///     chorus::merge_named(text).visit([&](auto const& merge) { … chorus::synchroniser{world, weights, policy, chorus::uncompressed{}, merge} … });
class any_merge {
    using alternatives = std::variant<take_arrived, elastic, half_way, keep_progress, outer_step<outer_adam>, outer_step<outer_momentum>,
                                      outer_step<outer_nesterov>, outer_step<outer_sgd>, stale_gradient>;

 public:
    static constexpr std::string_view name = "any_merge";

    any_merge() = default;
    template <class M>
        requires(!std::is_same_v<std::remove_cvref_t<M>, any_merge>) && std::is_constructible_v<alternatives, M>
    any_merge(M&& m) : chosen_{std::forward<M>(m)} {}

    /// The name with the parameters that differ from their defaults, "outer_step(outer_sgd(rate=0.5))"; `merge_named` reads it.
    std::string describe() const {
        return std::visit([](auto const& m) { return detail::described_merge(m); }, chosen_);
    }

    template <class Visit> decltype(auto) visit(Visit&& visitor) const { return std::visit(std::forward<Visit>(visitor), chosen_); }

    friend bool operator==(any_merge const&, any_merge const&) = default;

 private:
    alternatives chosen_;
};

namespace detail {

inline any_merge outer_step_from(parsed_text const& asked) {
    parsed_text own{asked.name, {}}, inner{std::string{outer_nesterov::name}, {}};
    for (auto const& [key, text] : asked.parameters) {
        if (key.empty()) inner = parse_text(text);
        else own.parameters.emplace_back(key, text);
    }
    expects(asked.parameters.size() <= own.parameters.size() + 1, [] { return "outer_step has one optimiser: outer_step(outer_sgd(rate=0.5))"; });
    return one_of<any_merge, outer_optimisers>(inner, "outer optimiser", [&]<class Optimiser>(Optimiser optimiser) {
        set_parameters(optimiser, inner, with_merge_parameters{});
        outer_step<Optimiser> made{optimiser};
        set_parameters(made, own, with_merge_parameters{});
        return any_merge{made};
    });
}

}  // namespace detail

/// The merge that a text describes: "take_arrived", "half_way(share=0.25)", "elastic(rate=0.5)", "outer_step(outer_nesterov(rate=0.7, momentum=0.9))",
/// "outer_step(outer_adam, sends_change=true)". What is left out has its default. Throws `invalid_argument` for unknown names and parameters, and says which exist.
inline any_merge merge_named(std::string_view text) {
    detail::parsed_text const asked = detail::parse_text(text, true);
    return detail::one_of<any_merge, merges>(asked, "merge", [&]<class M>(M m) {
        if constexpr (std::is_same_v<M, outer_step<>>) return detail::outer_step_from(asked);
        else {
            detail::expect_all_named(asked);
            detail::set_parameters(m, asked, detail::with_merge_parameters{});
            return any_merge{m};
        }
    });
}

}  // namespace chorus
