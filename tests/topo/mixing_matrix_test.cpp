// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/topo/mixing_matrix.hpp"

#include "suites/expected_error.hpp"

#include <cmath>
#include <limits>

#include <doctest/doctest.h>

using namespace chorus;
using topo::mixing_matrix;
using topo::stochastic;

namespace {

struct shares {
    std::vector<rank_id> members;
    std::vector<double> weights;
};

mixing_matrix of_rows(std::vector<std::vector<double>> const& rows) {
    mixing_matrix result{static_cast<rank_id>(rows.size())};
    for (rank_id i = 0; i < result.size(); ++i)
        for (rank_id j = 0; j < result.size(); ++j) result.row(i)[j] = rows[i][j];
    return result;
}

}  // namespace

TEST_CASE("a product does first what stands right; the identity does nothing") {
    mixing_matrix const a = of_rows({{1, 2}, {0, 3}}), b = of_rows({{0, 1}, {1, 0}});
    CHECK(a * b == of_rows({{2, 1}, {3, 0}}));
    CHECK(b * a == of_rows({{0, 3}, {1, 2}}));
    CHECK(a * mixing_matrix{2} == a);
    CHECK(mixing_matrix{2} * a == a);
    CHECK(a.transposed() == of_rows({{1, 0}, {2, 3}}));
    std::vector<double> const x{5, 7};
    CHECK((a * b).applied(x) == a.applied(b.applied(x)));
}

TEST_CASE("groups are blocks of the matrix, with equal shares or their own") {
    auto pairs = [](step_id step, rank_id rank) {
        if (rank == 4) return shares{{4}, {}};
        if (step == 0) return shares{{rank & ~1u, rank | 1u}, {}};
        return shares{{rank % 2, rank % 2 + 2}, {0.25, 0.75}};
    };
    CHECK(topo::partition_matrix(pairs, 0, 5) == of_rows({{.5, .5, 0, 0, 0},
                                                          {.5, .5, 0, 0, 0},
                                                          {0, 0, .5, .5, 0},
                                                          {0, 0, .5, .5, 0},
                                                          {0, 0, 0, 0, 1}}));
    mixing_matrix const weighted = topo::partition_matrix(pairs, 1, 5);
    CHECK(weighted.row(2)[0] == 0.25);
    CHECK(weighted.row(2)[2] == 0.75);
    CHECK(topo::stochastic_flaw(weighted, stochastic::rows) == "");
    CHECK(topo::stochastic_flaw(weighted, stochastic::columns) == "column 0 sums to 0.500000, not to 1");
}

TEST_CASE("members that do not exist and weights that do not fit are refused") {
    CHECK(suites::unlike(errc::invalid_argument, {"rank 0 at step 3", "averages with rank 7 of 4"}, [] {
              topo::partition_matrix([](step_id, rank_id) { return shares{{0, 7}, {}}; }, 3, 4);
          }) == "");
    CHECK(suites::unlike(errc::invalid_argument, {"rank 0 at step 3", "2 members and 1 weights"}, [] {
              topo::partition_matrix([](step_id, rank_id) { return shares{{0, 1}, {1.0}}; }, 3, 4);
          }) == "");
}

TEST_CASE("what is not stochastic names the row or the column") {
    CHECK(topo::stochastic_flaw(mixing_matrix{1}, stochastic::both) == "");
    CHECK(topo::stochastic_flaw(mixing_matrix{3}, stochastic::both) == "");
    mixing_matrix const rows = of_rows({{.5, .5, 0}, {1, 0, 0}, {0, 1, 0}});
    CHECK(topo::stochastic_flaw(rows, stochastic::rows) == "");
    CHECK(topo::stochastic_flaw(rows, stochastic::both) == "column 0 sums to 1.500000, not to 1");
    CHECK(topo::stochastic_flaw(rows.transposed(), stochastic::columns) == "");
    CHECK(topo::stochastic_flaw(rows.transposed(), stochastic::rows) == "row 0 sums to 1.500000, not to 1");
    CHECK(topo::stochastic_flaw(of_rows({{1, 0}, {1.5, -.5}}), stochastic::rows) == "rank 1 takes -0.500000 of rank 1");
    double const nan = std::numeric_limits<double>::quiet_NaN();
    CHECK(topo::stochastic_flaw(of_rows({{nan, 1}, {0, 1}}), stochastic::rows).starts_with("rank 0 takes"));
    CHECK(suites::unlike(errc::invalid_argument, {"of 3 ranks", "column 0 sums"},
                         [&] { topo::expect_stochastic(rows, stochastic::both); }) == "");
}
