// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/topo/mixing.hpp"

#include "suites/expected_error.hpp"

#include <cmath>
#include <numbers>

#include <doctest/doctest.h>

using namespace chorus;
using topo::mixing_matrix;
using topo::mixing_speed;
using topo::neighbours;

namespace {

struct one_way_ring {
    static constexpr std::string_view name = "one_way_ring";
    neighbours at(step_id, rank_id rank, rank_id size) const {
        if (size == 1) return {};
        return {{(rank + 1) % size}, {(rank + size - 1) % size}};
    }
    step_id period(rank_id) const { return 1; }
};

struct group {
    std::vector<rank_id> members;
    std::vector<double> weights;
};

mixing_matrix mean_of(rank_id size) {
    mixing_matrix result{size};
    for (rank_id i = 0; i < size; ++i)
        for (double& value : result.row(i)) value = 1.0 / size;
    return result;
}

/// Pairs along one dimension of a square for each step: the exact mean after two steps of four ranks.
auto square_pairs(rank_id size) {
    return [size](step_id step) {
        auto pairs = [step](step_id, rank_id rank) {
            rank_id const other = rank ^ (step % 2 == 0 ? 1u : 2u);
            return group{{(std::min)(rank, other), (std::max)(rank, other)}, {}};
        };
        return topo::partition_matrix(pairs, step, size);
    };
}

}  // namespace

TEST_CASE("contraction: nothing mixed, all mixed, and what has a closed form") {
    CHECK(topo::contraction(mixing_matrix{1}) == 0.0);
    for (rank_id size = 2; size <= 17; ++size) {
        CAPTURE(size);
        CHECK(topo::contraction(mixing_matrix{size}) == doctest::Approx(1.0).epsilon(1e-12));
        CHECK(topo::contraction(mean_of(size)) < 1e-15);
        mixing_matrix const ring = topo::graph_matrix(one_way_ring{}, topo::uniform{}, 0, size);
        double const known = std::abs(std::cos(std::numbers::pi / size));
        CHECK(topo::contraction(ring) == doctest::Approx(known).epsilon(1e-9).scale(1));
        CHECK(topo::spectral_gap(ring) == doctest::Approx(1 - known).epsilon(1e-9).scale(1));
    }
}

TEST_CASE("contraction tells singular values apart that are nearly equal") {
    for (double const apart : {0.0, 1e-3, 1e-6, 1e-9}) {
        mixing_matrix w = mean_of(4);
        double const signs[2][4] = {{1, -1, 1, -1}, {1, 1, -1, -1}};
        double const sizes[2] = {0.5, 0.5 + apart};
        for (int k = 0; k < 2; ++k)
            for (rank_id i = 0; i < 4; ++i)
                for (rank_id j = 0; j < 4; ++j) w.row(i)[j] += sizes[k] * signs[k][i] * signs[k][j] / 4;
        CHECK(std::abs(topo::contraction(w) - (0.5 + apart)) <= 1e-8);
    }
}

TEST_CASE("partitions: the product over a period, and its speed") {
    auto const pairs = square_pairs(4);
    CHECK(topo::mixing_product(pairs, 4, 1) == pairs(0));
    CHECK(topo::mixing_product(pairs, 4, 1, 1) == pairs(1));
    CHECK(topo::mixing_product(pairs, 4, 2) == mean_of(4));
    CHECK(topo::mixing_speed_of(pairs, 2, 4) == mixing_speed{2, 0.0});
    CHECK(topo::mixing_speed_of(pairs, 2, 4).rounds_to(1e-9) == 2);
}

TEST_CASE("ranks that cannot reach each other are named, in both directions") {
    auto const pairs = square_pairs(8);
    CHECK(topo::find_unreachable(pairs, 2, 8) == topo::unreachable_rank{0, 4});
    CHECK(topo::find_unreachable(pairs, 1, 8) == topo::unreachable_rank{0, 2});
    CHECK(topo::find_unreachable(square_pairs(4), 2, 4) == std::nullopt);
    auto source = [](step_id) {  // ranks 1 and 2 hear from rank 0, which hears from nobody
        mixing_matrix w{3};
        for (rank_id i : {1u, 2u}) w.row(i)[0] = w.row(i)[i] = 0.5;
        return w;
    };
    CHECK(topo::find_unreachable(source, 1, 3) == topo::unreachable_rank{1, 0});
    CHECK(topo::find_unreachable([&](step_id step) { return source(step).transposed(); }, 1, 3) ==
          topo::unreachable_rank{0, 1});
    CHECK(suites::unlike(errc::invalid_argument, {"over 2 steps of 8 ranks", "rank 0 has comes to rank 4"},
                         [&] { topo::mixing_speed_of(pairs, 2, 8); }) == "");
    CHECK(suites::unlike(errc::invalid_argument, {"column 0 sums to 2.0"},
                         [&] { topo::mixing_speed_of(source, 1, 3); }) == "");
    CHECK(suites::unlike(errc::invalid_argument, {"at least one step"}, [&] { topo::mixing_speed_of(pairs, 0, 8); }) == "");
}

TEST_CASE("predicted rounds are enough, and one fewer are not") {
    for (rank_id size = 2; size <= 17; ++size) {
        mixing_speed const speed = topo::mixing_speed_of_graph(one_way_ring{}, size);
        for (double const epsilon : {0.5, 0.1, 1e-3}) {
            CAPTURE(size);
            CAPTURE(epsilon);
            step_id const rounds = speed.rounds_to(epsilon).value();
            auto const matrix = [&](step_id) { return topo::graph_matrix(one_way_ring{}, topo::metropolis{}, 0, size); };
            CHECK(topo::contraction(topo::mixing_product(matrix, size, rounds)) <= epsilon + 1e-12);
            if (rounds > 1) CHECK(topo::contraction(topo::mixing_product(matrix, size, rounds - 1)) > epsilon);
        }
    }
    CHECK(mixing_speed{3, 0.5}.rounds_to(0.125) == 9);
    CHECK(mixing_speed{3, 0.5}.rounds_to(0.126) == 9);
    CHECK(mixing_speed{3, 0.5}.rounds_to(0.124) == 12);
    CHECK(mixing_speed{3, 0.5}.rounds_to(1.0) == 0);
    CHECK(mixing_speed{3, 1.0}.rounds_to(0.1) == std::nullopt);
    CHECK(mixing_speed{3, 0.5}.rounds_to(0.0) == std::nullopt);
    CHECK(mixing_speed{3, 0.125}.per_step() == doctest::Approx(0.5));
}
