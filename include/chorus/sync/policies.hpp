// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/detail/named_list.hpp"
#include "chorus/detail/named_parameters.hpp"
#include "chorus/detail/parsed_text.hpp"
#include "chorus/sync/any_policy.hpp"
#include "chorus/sync/detail/policy_text.hpp"
#include "chorus/sync/divide_and_shuffle.hpp"
#include "chorus/sync/every_step.hpp"
#include "chorus/sync/given_partitions.hpp"
#include "chorus/sync/grid_groups.hpp"
#include "chorus/sync/growing_steps.hpp"
#include "chorus/sync/local_steps.hpp"
#include "chorus/sync/pairs_hypercube.hpp"
#include "chorus/sync/rack_delegates.hpp"
#include "chorus/sync/spaced.hpp"
#include "chorus/sync/uneven_steps.hpp"

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace chorus {

/// Every policy of this folder, spaced around one of them. An entry here is what makes one selectable by name; using it by
/// type needs none.
using policies = std::tuple<divide_and_shuffle, every_step, given_partitions, grid_groups, growing_steps, local_steps,
                            pairs_hypercube, rack_delegates, spaced<every_step>, uneven_steps>;

/// The names that `policy_named` knows, in the order of the list.
inline std::vector<std::string_view> known_policies() {
    return detail::names_in<policies>();
}

namespace detail {

inline any_policy policy_from(parsed_text const& asked);

/// The values without a name, which only some policies take.
inline std::vector<std::string_view> unnamed_values(parsed_text const& asked) {
    std::vector<std::string_view> values;
    for (auto const& [name, text] : asked.parameters)
        if (name.empty()) values.push_back(text);
    return values;
}

inline any_policy spaced_from(parsed_text const& asked) {
    auto const around = unnamed_values(asked);
    expects(around.size() == 1, [&] {
        return "spaced is built around one policy, not " + std::to_string(around.size()) +
               ": spaced(divide_and_shuffle(groups=2), every=4)";
    });
    spaced<any_policy> made{.inner = policy_from(parse_text(around[0], true))};
    set_parameters(made, asked, with_policy_parameters{});
    return made;
}

inline any_policy partitions_from(parsed_text const& asked) {
    given_partitions made;
    for (auto const& [name, text] : asked.parameters) {
        expects(name.empty(), [&, &key = name] {
            return "given_partitions has no parameter " + key + "; it has the groups of each step: given_partitions(0+1/2+3, 0+3/1+2)";
        });
        made.steps.push_back(parse_partition(text));
    }
    return made;
}

/// A policy of the list, but for those that take values without a name.
template <class P>
any_policy plain_from(P p, parsed_text const& asked) {
    expect_all_named(asked);
    set_parameters(p, asked, with_policy_parameters{});
    return p;
}

inline any_policy policy_from(parsed_text const& asked) {
    std::optional<any_policy> found;
    auto const make = [&]<class P>(P const& p) {
        if (asked.name != P::name) return;
        if constexpr (std::same_as<P, spaced<every_step>>) found = spaced_from(asked);
        else if constexpr (std::same_as<P, given_partitions>) found = partitions_from(asked);
        else found = plain_from(p, asked);
    };
    std::apply([&](auto const&... each) { (make(each), ...); }, policies{});
    expects(found.has_value(), [&] { return none_named("policy", asked.name, known_policies()); });
    return *std::move(found);
}

}  // namespace detail

/// The policy that a text describes: "every_step", "local_steps(period=4)", "divide_and_shuffle(groups=2, seed=7)",
/// "spaced(grid_groups(width=4), every=8)", "rack_delegates(racks=0+0+1+1)" (the rack of each rank), "uneven_steps(steps=4+8+2)",
/// "given_partitions(0+1/2+3, 0+3/1+2)" (the groups of each step). What is left out has its default. Throws `invalid_argument`
/// for unknown names and parameters, and says which exist; what does not fit a number of ranks is told when the policy is asked.
inline any_policy policy_named(std::string_view text) {
    return detail::policy_from(detail::parse_text(text, true));
}

}  // namespace chorus
