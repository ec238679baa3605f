// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/topo/weights.hpp"

#include <cmath>

#include <doctest/doctest.h>

using namespace chorus;
using topo::mixing_row;
using topo::neighbours;

namespace {

/// Rank 0 and all others, both ways.
struct hub {
    static constexpr std::string_view name = "hub";
    neighbours at(step_id, rank_id rank, rank_id size) const {
        std::vector<rank_id> all;
        for (rank_id peer = 1; peer < size && rank == 0; ++peer) all.push_back(peer);
        if (rank > 0) all.push_back(0);
        return {all, all};
    }
    step_id period(rank_id) const { return 1; }
};

/// Each rank sends to all higher ones and to rank 0.
struct upwards {
    static constexpr std::string_view name = "upwards";
    neighbours at(step_id, rank_id rank, rank_id size) const {
        neighbours met;
        if (rank > 0) met.to.push_back(0);
        for (rank_id peer = rank + 1; peer < size; ++peer) met.to.push_back(peer);
        for (rank_id peer = 0; peer < size; ++peer)
            if (peer < rank || (rank == 0 && peer > 0)) met.from.push_back(peer);
        return met;
    }
    step_id period(rank_id) const { return 1; }
};

struct one_way_ring {
    static constexpr std::string_view name = "one_way_ring";
    neighbours at(step_id, rank_id rank, rank_id size) const {
        if (size == 1) return {};
        return {{(rank + 1) % size}, {(rank + size - 1) % size}};
    }
    step_id period(rank_id) const { return 1; }
};

struct sums {
    std::vector<double> rows, columns;
};

template <class Weights, class Graph>
sums sums_of(Weights const& weights, Graph const& g, rank_id size) {
    sums result{std::vector<double>(size), std::vector<double>(size)};
    for (rank_id rank = 0; rank < size; ++rank) {
        mixing_row const row = weights.row(g, 0, rank, size);
        REQUIRE(neighbours{row.to, row.from} == g.at(0, rank, size));
        REQUIRE(row.weights.size() == row.from.size());
        CHECK(row.own > 0);
        result.rows[rank] += row.own;
        result.columns[rank] += row.own;
        for (std::size_t k = 0; k < row.from.size(); ++k) {
            CHECK(row.weights[k] > 0);
            result.rows[rank] += row.weights[k];
            result.columns[row.from[k]] += row.weights[k];
        }
    }
    return result;
}

bool are_ones(std::vector<double> const& sums) {
    for (double const sum : sums)
        if (std::abs(sum - 1) > 1e-14 * static_cast<double>(sums.size())) return false;
    return true;
}

}  // namespace

TEST_CASE("rows and columns sum to 1 wherever a weighting promises it, and only there") {
    for (rank_id size = 1; size <= 17; ++size) {
        CAPTURE(size);
        auto check = [&](auto const& weights, auto const& g, bool rows, bool columns) {
            CAPTURE(weights.name);
            CAPTURE(g.name);
            sums const found = sums_of(weights, g, size);
            CHECK(are_ones(found.rows) == rows);
            CHECK(are_ones(found.columns) == columns);
        };
        bool const is_regular = size <= 2;  // what hub and upwards still are
        check(topo::metropolis{}, hub{}, true, true);
        check(topo::max_degree{}, hub{}, true, true);
        check(topo::uniform{}, hub{}, true, is_regular);
        check(topo::out_degree{}, hub{}, is_regular, true);
        check(topo::uniform{}, upwards{}, true, is_regular);
        check(topo::out_degree{}, upwards{}, is_regular, true);
        check(topo::metropolis{}, one_way_ring{}, true, true);
        check(topo::max_degree{}, one_way_ring{}, true, true);
        check(topo::uniform{}, one_way_ring{}, true, true);
        check(topo::out_degree{}, one_way_ring{}, true, true);
    }
}

TEST_CASE("weights are the formulas' ones") {
    CHECK(topo::metropolis{}.row(hub{}, 0, 1, 5) == mixing_row{1 - 1.0 / 5, {0}, {1.0 / 5}, {0}});
    CHECK(topo::uniform{}.row(hub{}, 0, 1, 5) == mixing_row{0.5, {0}, {0.5}, {0}});
    CHECK(topo::max_degree{}.row(hub{}, 0, 1, 5) == mixing_row{1 - 1.0 / 5, {0}, {1.0 / 5}, {0}});
    CHECK(topo::out_degree{}.row(hub{}, 0, 1, 5) == mixing_row{0.5, {0}, {1.0 / 5}, {0}});
    CHECK(topo::out_degree{}.row(upwards{}, 0, 3, 4) == mixing_row{0.5, {0, 1, 2}, {1.0 / 4, 1.0 / 4, 1.0 / 3}, {0}});
}

TEST_CASE("GOS-1: a single rank keeps its value") {
    auto check = [](auto const& weights) { CHECK(weights.row(one_way_ring{}, 0, 0, 1) == mixing_row{}); };
    check(topo::metropolis{});
    check(topo::max_degree{});
    check(topo::uniform{});
    check(topo::out_degree{});
}

TEST_CASE("lazy weights are half of the others', and each rank keeps the rest: the same sums") {
    for (rank_id size = 1; size <= 17; ++size)
        for (rank_id rank = 0; rank < size; ++rank) {
            mixing_row const whole = topo::metropolis{}.row(hub{}, 0, rank, size);
            mixing_row const half = topo::lazy<topo::metropolis>{}.row(hub{}, 0, rank, size);
            CHECK(half.from == whole.from);
            CHECK(half.to == whole.to);
            CHECK(half.own == 0.5 + whole.own / 2);
            for (std::size_t k = 0; k < whole.weights.size(); ++k) CHECK(half.weights[k] == whole.weights[k] / 2);
        }
}
