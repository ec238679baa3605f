// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include <chorus/topo/graphs.hpp>
#include <chorus/topo/mixing.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using namespace chorus;

namespace {

constexpr double wanted = 1e-3;

struct row {
    std::size_t sends = 0;   // messages of the busiest rank at one step
    double per_step = 1;     // what a step leaves of the distance from the mean
    step_id steps = 0;       // until `wanted` of it is left
};

row measured(topo::any_graph const& g, rank_id size) {
    step_id const steps = g.period(size) > 0 ? g.period(size) : 64;  // as many where there is no period
    row found;
    for (step_id step = 0; step < steps; ++step)
        for (rank_id rank = 0; rank < size; ++rank)
            found.sends = (std::max)(found.sends, g.at(step, rank, size).to.size());
    topo::mixing_speed speed = topo::mixing_speed_of_graph(g, size, topo::metropolis{}, steps);
    if (speed.contraction < 1e-13) speed.contraction = 0;  // rounding
    found.per_step = speed.per_step();
    if (g.period(size) == 0 && found.per_step > 0) speed = {1, found.per_step};  // steps go on: need not be whole periods
    found.steps = speed.rounds_to(wanted).value_or(0);
    return found;
}

}  // namespace

// How fast gossip over each graph brings ranks to their mean, by arithmetic: the table of docs/design/gossip.md.
// Arguments: numbers of ranks.
int main(int argc, char** argv) {
    std::vector<rank_id> sizes;
    for (int i = 1; i < argc; ++i) sizes.push_back(static_cast<rank_id>(std::atoi(argv[i])));
    if (sizes.empty()) sizes = {16, 17, 64};

    std::printf("| graph |");
    for (rank_id const size : sizes) std::printf(" p = %u: sends | leaves | steps |", size);
    std::printf("\n| --- |");
    for (std::size_t i = 0; i < sizes.size(); ++i) std::printf(" --- | --- | --- |");
    std::printf("\n");
    for (char const* text : {"ring_graph(is_directed=true)", "ring_graph", "grid_graph", "torus", "star", "hypercube_graph",
                             "exponential", "expander", "inner_outer", "random_matching", "one_peer_hypercube",
                             "one_peer_exponential", "full"}) {
        std::printf("| `%s` |", text);
        for (rank_id const size : sizes) {
            row const found = measured(topo::graph_named(text), size);
            if (found.steps == 0) return std::puts("never agrees"), 1;
            std::printf(" %zu | %.4f | %llu |", found.sends, found.per_step, static_cast<unsigned long long>(found.steps));
        }
        std::printf("\n");
    }
    bool const is_exact = topo::contraction(topo::mixing_product(
                              [](step_id t) { return topo::graph_matrix(topo::one_peer_exponential{}, topo::metropolis{}, t, 16); },
                              16, 4)) == 0.0;
    return is_exact ? 0 : 1;
}
