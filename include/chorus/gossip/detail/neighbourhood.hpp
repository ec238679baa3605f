// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/random.hpp"
#include "chorus/base/types.hpp"
#include "chorus/data/element.hpp"
#include "chorus/topo/graph.hpp"
#include "chorus/topo/weights.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace chorus::gossip::detail {

using chorus::detail::expects;

/// What must be true of the weights: `doubly`, rows and columns sum to 1; `symmetric`, both ranks of an edge take as much of each other, too.
enum class weight_law : std::uint8_t { rows_sum_to_one, columns_sum_to_one, doubly, symmetric };

/// A number that changes with everything that is put in, in order.
class digest {
 public:
    void add(std::uint64_t value) noexcept { hash_ = counter_random::mix(hash_ ^ (value + 0x9E3779B97F4A7C15u)); }
    void add(std::string_view text) noexcept {
        for (char c : text) add(static_cast<unsigned char>(c));
        add(text.size());
    }
    void add(std::vector<rank_id> const& ranks) noexcept {
        for (rank_id r : ranks) add(r);
        add(ranks.size());
    }
    std::uint64_t value() const noexcept { return hash_; }

 private:
    std::uint64_t hash_ = 0x452821E638D01377u;
};

/// Of a method that has no parameters but its element.
template <class Element>
std::uint64_t digest_of() {
    digest all;
    all.add(element_name<Element>());
    return all.value();
}

/// One rank's mixing rows: those of a whole period kept, or each made when it is asked for.
class neighbourhood {
 public:
    static constexpr step_id longest_kept = 4096;   // steps of a period
    static constexpr step_id most_compared = 16;    // steps at which the lists of all ranks are looked at

    template <topo::graph Graph, topo::weighting Weighting>
    neighbourhood(Graph const& graph, Weighting const& weighting, rank_id rank, rank_id size, weight_law law)
        : period_{graph.period(size)}, name_{std::string{Graph::name} + " with " + std::string{Weighting::name}} {
        make_ = [graph, weighting, rank, size, law](step_id step) {
            if (step < most_compared) topo::expect_mirrored(graph, step, size);
            topo::mixing_row row = weighting.row(graph, step, rank, size);
            expect_sound(row, name_of<Graph, Weighting>(), law, step, rank, size);
            if (step < most_compared && (law == weight_law::doubly || law == weight_law::symmetric))
                expect_column(row, [&](rank_id peer) { return weighting.row(graph, step, peer, size); }, name_of<Graph, Weighting>(), law, step, rank, size);
            return row;
        };
        digest seen;
        seen.add(name_);
        seen.add(period_);
        for (step_id step = 0; step < (period_ == 0 ? most_compared : (std::min)(period_, most_compared)); ++step)
            for (rank_id r = 0; r < size; ++r) seen.add(graph.at(step, r, size).to);
        digest_ = seen.value();
        if (period_ == 0 || period_ > longest_kept) return;
        for (step_id step = 0; step < period_; ++step) rows_.push_back(make_(step));
    }

    /// Good until the next call. Allocates where rows are not kept.
    topo::mixing_row const& at(step_id step) {
        if (!rows_.empty()) return rows_[static_cast<std::size_t>(step % period_)];
        return last_ = make_(step);
    }
    std::vector<topo::mixing_row> const& kept() const noexcept { return rows_; }

    bool is_static() const noexcept { return period_ == 1; }
    std::string const& name() const noexcept { return name_; }

    /// Equal on ranks that were given the same graph and weighting.
    std::uint64_t digest_of_all() const noexcept { return digest_; }

 private:
    template <class Graph, class Weighting>
    static std::string name_of() {
        return std::string{Graph::name} + " with " + std::string{Weighting::name};
    }

    static void expect_sound(topo::mixing_row const& row, std::string const& name, weight_law law, step_id step, rank_id rank, rank_id size) {
        topo::detail::expect_list(row.from, name, step, rank, size);
        topo::detail::expect_list(row.to, name, step, rank, size);
        double sum = row.own;
        for (double const weight : row.weights) sum += weight;
        bool const sums_to_one = std::abs(sum - 1.0) <= 1e-9;
        expects(row.weights.size() == row.from.size() && std::isfinite(sum) && (sums_to_one || law == weight_law::columns_sum_to_one), [&] {
            return topo::detail::who(name, step, rank, size) + ": " + std::to_string(row.from.size()) + " neighbours and " +
                   std::to_string(row.weights.size()) + " weights, which sum to " + std::to_string(sum) + " with its own, not to 1";
        });
    }

    /// Asks for the rows of those who hear from this rank.
    template <class RowOf>
    static void expect_column(topo::mixing_row const& row, RowOf const& row_of, std::string const& name, weight_law law, step_id step, rank_id rank, rank_id size) {
        double sum = row.own;
        bool is_symmetric = row.to == row.from;
        for (std::size_t k = 0; k < row.to.size(); ++k) {
            topo::mixing_row const theirs = row_of(row.to[k]);
            auto const place = static_cast<std::size_t>(std::lower_bound(theirs.from.begin(), theirs.from.end(), rank) - theirs.from.begin());
            double const taken = place < theirs.weights.size() ? theirs.weights[place] : 0.0;
            sum += taken;
            is_symmetric = is_symmetric && std::abs(taken - row.weights[k]) <= 1e-9;
        }
        expects(std::abs(sum - 1.0) <= 1e-9, [&] {
            return topo::detail::who(name, step, rank, size) + ": what others take of it sums to " + std::to_string(sum) + " with its own, not to 1, so the mean would not be kept";
        });
        expects(is_symmetric || law != weight_law::symmetric, [&] {
            return topo::detail::who(name, step, rank, size) + ": takes of another not what that one takes of it; weights must be symmetric here";
        });
    }

    step_id period_;
    std::string name_;
    std::function<topo::mixing_row(step_id)> make_;
    std::vector<topo::mixing_row> rows_;
    topo::mixing_row last_;
    std::uint64_t digest_ = 0;
};

}  // namespace chorus::gossip::detail
