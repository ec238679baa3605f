// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/types.hpp"
#include "chorus/topo/graph.hpp"
#include "chorus/topo/weights.hpp"

#include <string>
#include <string_view>
#include <variant>

namespace chorus::topo {

/// One of the weightings of weights.hpp, for choices made at run time; metropolis, unless another is given.
class any_weighting {
 public:
    static constexpr std::string_view name = "any_weighting";

    any_weighting() = default;
    any_weighting(metropolis w) : chosen_{w} {}
    any_weighting(max_degree w) : chosen_{w} {}
    any_weighting(uniform w) : chosen_{w} {}
    any_weighting(out_degree w) : chosen_{w} {}

    /// The name of the weighting inside; `weighting_named` reads it.
    std::string_view kind() const {
        return std::visit([](auto const& w) { return w.name; }, chosen_);
    }

    template <graph G>
    mixing_row row(G const& g, step_id step, rank_id rank, rank_id size) const {
        return std::visit([&](auto const& w) { return w.row(g, step, rank, size); }, chosen_);
    }

    friend bool operator==(any_weighting const&, any_weighting const&) = default;

 private:
    std::variant<metropolis, max_degree, uniform, out_degree> chosen_;
};
static_assert(weighting<any_weighting>);

/// The weighting of this name. Throws `invalid_argument` for others, and says which exist.
inline any_weighting weighting_named(std::string_view text) {
    for (any_weighting const& each : {any_weighting{metropolis{}}, {max_degree{}}, {uniform{}}, {out_degree{}}})
        if (each.kind() == text) return each;
    detail::expects(false, [&] {
        return "there is no weighting \"" + std::string{text} + "\"; there are metropolis, max_degree, uniform, out_degree";
    });
    return {};
}

}  // namespace chorus::topo
