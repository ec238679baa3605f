// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

#include "list.hpp"

#include <chorus/schedule/algorithms.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string_view>

namespace bench {

void print_algorithms() {
    std::size_t width = 0;
    for (std::string_view name : chorus::known_algorithms())
        width = (std::max)(width, chorus::algorithm_named(name).describe().size());
    for (chorus::collective what : chorus::all_collectives) {
        fmt::print("\n{}\n  {:<{}} {:>5} {:>6} {:>8} {:>11} {:>11}  {}\n", chorus::to_string(what), "algorithm", width,
                   "ranks", "rounds", "sent/n", "reduced/n", "scratch/n",
                   chorus::has_reduction(what) ? "operation" : "");
        for (std::string_view name : chorus::known_algorithms()) {
            chorus::any_algorithm const algorithm = chorus::algorithm_named(name);
            if (!algorithm.supports(what)) continue;
            std::string shown = algorithm.describe();
            for (chorus::rank_id ranks : {8u, 64u}) {
                chorus::cost const c = algorithm.cost_of(what, ranks, 1.0);
                char const* const needs =
                    !chorus::has_reduction(what) ? "" : algorithm.keeps_order() ? "associative" : "commutative";
                fmt::print("  {:<{}} {:>5} {:>6g} {:>8.4g} {:>11.4g} {:>11.4g}  {}\n", shown, width, ranks, c.rounds,
                           c.bytes_sent, c.bytes_reduced, c.scratch_bytes, needs);
                shown.clear();
            }
        }
    }
}

void expect_offered(std::string const& algorithm, chorus::collective what) {
    if (algorithm == "automatic" || algorithm.starts_with("automatic(")) return;
    if (!chorus::algorithm_named(algorithm).supports(what))
        throw std::invalid_argument{algorithm + " does not offer " + std::string{chorus::to_string(what)}};
}

}  // namespace bench
