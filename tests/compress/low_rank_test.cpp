// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/compress/low_rank.hpp"

#include "chorus/compress/error_feedback.hpp"
#include "suites/compressor_suite.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

using chorus::errc;
using chorus::low_rank;
using chorus::low_rank_shape;
using suites::floats;

namespace {

floats sent_by(auto& c, floats const& x) {
    auto const wire = suites::encoded(c, x);
    return suites::decoded(c, wire, x.size());
}

/// A matrix of exactly this rank, if the sides are as long.
floats of_rank(std::size_t rows, std::size_t columns, std::size_t rank, std::uint64_t seed) {
    floats x(rows * columns);
    for (std::size_t j = 0; j < rank; ++j) {
        floats const p = suites::drawn(rows, 2 * (seed + j)), q = suites::drawn(columns, 2 * (seed + j) + 1);
        for (std::size_t i = 0; i < x.size(); ++i) x[i] += p[i / columns] * q[i % columns];
    }
    return x;
}

/// 2^-i on the diagonal: the best of rank r has an error of the rest.
floats falling_diagonal(std::size_t side) {
    floats x(side * side);
    for (std::size_t i = 0; i < side; ++i) x[i * side + i] = std::ldexp(1.0f, -static_cast<int>(i));
    return x;
}

double relative_error(floats const& x, floats const& y) { return std::sqrt(suites::squared_distance(x, y) / suites::squared_norm(x)); }

bool all_finite(floats const& x) {
    return std::all_of(x.begin(), x.end(), [](float v) { return std::isfinite(v); });
}

/// The largest difference of the columns' products from 1 and 0, columns of zeros apart.
double off_orthonormal(floats const& columns, std::uint32_t rank, std::size_t length) {
    double worst = 0;
    for (std::uint32_t i = 0; i < rank; ++i)
        for (std::uint32_t j = 0; j <= i; ++j) {
            double product = 0;
            for (std::size_t k = 0; k < length; ++k)
                product += static_cast<double>(columns[i * length + k]) * static_cast<double>(columns[j * length + k]);
            if (i == j && product == 0) continue;
            worst = (std::max)(worst, std::abs(product - (i == j ? 1 : 0)));
        }
    return worst;
}

/// Ranks that average P, then Q, in one thread.
struct two_rounds {
    std::vector<low_rank> ranks;

    std::vector<floats> step(std::vector<floats> const& gradients) {
        low_rank_shape const s = ranks[0].shape(gradients[0].size());
        std::vector<floats> lefts(ranks.size(), floats(s.left_count())), rights(ranks.size(), floats(s.right_count()));
        for (std::size_t p = 0; p < ranks.size(); ++p) ranks[p].project(gradients[p], lefts[p]);
        sum_up(lefts);
        for (std::size_t p = 0; p < ranks.size(); ++p) {
            low_rank::orthogonalise(lefts[p], s);
            ranks[p].back_project(gradients[p], lefts[p], rights[p]);
        }
        sum_up(rights);
        std::vector<floats> results(ranks.size(), floats(gradients[0].size()));
        for (std::size_t p = 0; p < ranks.size(); ++p) {
            for (float& value : rights[p]) value /= static_cast<float>(ranks.size());
            ranks[p].keep(rights[p], s);
            low_rank::reconstruct(lefts[p], rights[p], s, results[p]);
        }
        return results;
    }

    static void sum_up(std::vector<floats>& each) {
        floats total(each[0].size());
        for (floats const& one : each)
            for (std::size_t i = 0; i < total.size(); ++i) total[i] += one[i];
        std::fill(each.begin(), each.end(), total);
    }
};

}  // namespace

TEST_CASE("low_rank: all laws of a compressor") {
    suites::compressor_suite(low_rank{.rank = 2, .seed = 5}, {.suffering = 0, .is_large_tried = false});
    suites::compressor_suite(low_rank{.rank = 3, .columns = 31, .iterations = 2}, {.suffering = 0, .is_large_tried = false});
}

TEST_CASE("a vector is a matrix, nearly square or with rows as asked for, and sent as it is where factors are no shorter") {
    low_rank c{.rank = 2};
    CHECK(c.shape(0) == low_rank_shape{0, 0, 0});
    CHECK(c.shape(1) == low_rank_shape{1, 1, 1});
    CHECK(c.shape(10) == low_rank_shape{3, 4, 2});
    CHECK(c.shape(1000000) == low_rank_shape{1000, 1000, 2});
    CHECK(c.shape(1000001) == low_rank_shape{1000, 1001, 2});
    low_rank wide{.rank = 4, .columns = 50};
    CHECK(wide.shape(201) == low_rank_shape{5, 50, 4});
    CHECK(wide.shape(30) == low_rank_shape{1, 30, 1});
    for (std::size_t count = 0; count < 300; ++count) {
        low_rank_shape const s = c.shape(count);
        CHECK((s.rows * s.columns >= count && (count == 0 || (s.rows - 1) * s.columns < count)));
        bool const is_plain = !c.is_worthwhile(count);
        CHECK(suites::encoded(c, suites::drawn(count, 1)).size() == 16 + 4 * (is_plain ? count : 2 * (s.rows + s.columns)));
        if (is_plain) CHECK(sent_by(c, suites::drawn(count, 1)) == suites::drawn(count, 1));
    }
    for (low_rank const& wrong : {low_rank{.rank = 0}, low_rank{.rank = 256}, low_rank{.iterations = 0}})
        CHECK(suites::unlike(errc::invalid_argument, {"low_rank", "expected 1 to 255"}, [&] { wrong.max_wire_bytes(9); }) == "");
}

TEST_CASE("a matrix of no higher rank arrives whole") {
    for (std::uint32_t rank : {1u, 2u, 4u})
        for (std::size_t rows : {std::size_t{30}, std::size_t{57}})
            for (std::size_t actual = 1; actual <= rank; ++actual) {
                low_rank c{.rank = rank, .columns = 41, .seed = rank};
                floats const x = of_rank(rows, 41, actual, 10 * actual);
                CHECK_MESSAGE(relative_error(x, sent_by(c, x)) < 1e-5, "rank ", actual, " in ", rank);
                CHECK(relative_error(x, sent_by(c, x)) < 1e-5);
            }
}

TEST_CASE("zeros, equal rows and other matrices of lower rank give no NaN, and what vanished is found again") {
    low_rank c{.rank = 4, .columns = 40};
    floats const zeros(1600), equal(1600, 3.0f), full = of_rank(40, 40, 4, 3);
    for (int again = 0; again < 2; ++again) {
        CHECK(sent_by(c, zeros) == zeros);
        CHECK(relative_error(equal, sent_by(c, equal)) < 1e-6);
        CHECK(relative_error(full, sent_by(c, full)) < 1e-5);
    }
    floats one_row(1600), other_row(1600);
    std::fill_n(one_row.begin(), 40, 1.0f);
    for (std::size_t k = 0; k < 40; ++k) other_row[40 + k] = k % 2 == 0 ? 1.0f : -1.0f;  // has nothing along the row above
    low_rank single{.rank = 1, .columns = 40};
    sent_by(single, one_row);
    sent_by(single, other_row);
    CHECK(relative_error(other_row, sent_by(single, other_row)) < 1e-6);
}

TEST_CASE("the error is never larger than the matrix, and in the mean over seeds a share of rank / side is kept") {
    for (std::uint32_t rank : {1u, 3u}) {
        for (bool is_identity : {true, false}) {
            floats x = is_identity ? floats(400) : suites::drawn(400, 8);
            if (is_identity)
                for (std::size_t i = 0; i < 20; ++i) x[21 * i] = 1;
            suites::sample_mean kept;
            for (std::uint64_t seed = 0; seed < 200; ++seed) {
                low_rank c{.rank = rank, .seed = seed};
                double const lost = suites::squared_distance(x, sent_by(c, x)) / suites::squared_norm(x);
                CHECK(lost <= 1 + 1e-6);
                kept.add(1 - lost);
            }
            CHECK(kept.mean() >= rank / 20.0 - 6 * kept.error() - 1e-6);
        }
    }
}

TEST_CASE("from matrix to matrix the error falls to that of the best one of this rank; iterations are steps") {
    floats const x = falling_diagonal(24);
    low_rank warm{.rank = 2, .seed = 3}, at_once{.rank = 2, .iterations = 5, .seed = 3};
    double const best = std::sqrt(1.0 / 16 * 4 / 3), first = std::sqrt(suites::squared_distance(x, sent_by(warm, x)));
    CHECK(first > 1.05 * best);
    for (int step = 1; step < 4; ++step) sent_by(warm, x);
    CHECK(suites::encoded(warm, x) == suites::encoded(at_once, x));
    for (int step = 0; step < 20; ++step) sent_by(warm, x);
    double const last = std::sqrt(suites::squared_distance(x, sent_by(warm, x)));
    CHECK(last == doctest::Approx(best).epsilon(1e-4));
}

TEST_CASE("columns are made orthonormal, of any size, and dependent ones zero") {
    for (float size : {1.0f, 1e-44f, 1e-30f, 1e30f}) {
        floats columns = suites::drawn(6 * 50, 4);
        for (float& value : columns) value *= size;
        for (std::size_t k = 0; k < 50; ++k) {
            columns[2 * 50 + k] = columns[k] + columns[50 + k] / 8192;  // nearly dependent
            columns[3 * 50 + k] = columns[k] * 2;
            columns[4 * 50 + k] = 0;
        }
        low_rank::orthogonalise(columns, {50, 50, 6});
        INFO("of size ", size);
        CHECK(all_finite(columns));
        CHECK(off_orthonormal(columns, 6, 50) < 1e-6);
        auto const is_zero = [&](std::size_t j) { return std::all_of(&columns[50 * j], &columns[50 * j] + 50, [](float v) { return v == 0; }); };
        CHECK((!is_zero(0) && !is_zero(1) && is_zero(3) && is_zero(4) && !is_zero(5)));
    }
}

TEST_CASE("ranks that average P and then Q all end with the same, which approximates the mean") {
    two_rounds all{std::vector<low_rank>(4, low_rank{.rank = 2, .seed = 9})};
    low_rank of_mean{.rank = 2, .seed = 9};
    for (std::uint64_t step = 0; step < 6; ++step) {
        std::vector<floats> gradients;
        floats mean(900);
        for (std::uint64_t p = 0; p < 4; ++p) {
            gradients.push_back(suites::drawn(900, 4 * step + p));
            for (std::size_t i = 0; i < 900; ++i) mean[i] += gradients.back()[i] / 4;
        }
        auto const results = all.step(gradients);
        for (std::size_t p = 1; p < 4; ++p) CHECK(suites::same_bits(results[p], results[0]));
        floats const expected = sent_by(of_mean, mean);
        CHECK(relative_error(expected, results[0]) < 1e-3);  // directions drift apart by rounding
        suites::message_bytes first(all.ranks[0].state_bytes()), second(all.ranks[1].state_bytes());
        all.ranks[0].save_state(first);
        all.ranks[1].save_state(second);
        CHECK(first == second);
    }
}

TEST_CASE("in two rounds residuals are kept against the mean, and conserved over all ranks") {
    constexpr std::size_t ranks = 2, count = 400;
    two_rounds all{std::vector<low_rank>(ranks, low_rank{.rank = 2})};
    std::vector<chorus::error_feedback<low_rank>> feedback(
        ranks, chorus::error_feedback{low_rank{}, {.against = chorus::approximation::averaged}});
    floats came(count), arrived(count);
    for (std::uint64_t step = 0; step < 60; ++step) {
        std::vector<floats> corrected;
        for (std::uint64_t p = 0; p < ranks; ++p) {
            floats const gradient = suites::drawn(count, p);
            auto const x = feedback[p].correct(gradient);
            corrected.emplace_back(x.begin(), x.end());
            for (std::size_t i = 0; i < count; ++i) came[i] += gradient[i];
        }
        auto const results = all.step(corrected);
        for (std::size_t p = 0; p < ranks; ++p) feedback[p].settle(results[p]);
        for (std::size_t i = 0; i < count; ++i) arrived[i] += ranks * results[0][i];
    }
    floats both = arrived;
    for (auto const& each : feedback)
        for (std::size_t i = 0; i < count; ++i) both[i] += each.residual()[i];
    CHECK(relative_error(came, both) < 1e-5);
    CHECK(relative_error(came, arrived) < 0.3);
    CHECK(relative_error(came, arrived) > 1e-3);
}

TEST_CASE("a NaN in one rank is one on all, for this step alone; what does not fit is refused") {
    two_rounds all{std::vector<low_rank>(2, low_rank{.rank = 2})};
    floats const good = of_rank(30, 30, 2, 1);
    floats bad = good;
    bad[100] = std::numeric_limits<float>::quiet_NaN();
    CHECK(relative_error(good, all.step({good, good})[0]) < 1e-5);
    for (floats const& result : all.step({good, bad})) CHECK(std::isnan(result[100]));
    for (floats const& result : all.step({good, good})) CHECK(relative_error(good, result) < 1e-5);

    low_rank& c = all.ranks[0];
    floats p(60), q(60), wrong(61);
    CHECK(suites::unlike(errc::invalid_argument, {"61 elements for P", "expected 60"}, [&] { c.project(good, wrong); }) == "");
    CHECK(suites::unlike(errc::invalid_argument, {"for P"}, [&] { low_rank::orthogonalise(wrong, c.shape(900)); }) == "");
    CHECK(suites::unlike(errc::invalid_argument, {"for Q"}, [&] { c.back_project(good, p, wrong); }) == "");
    CHECK(suites::unlike(errc::invalid_argument, {"for Q"}, [&] { c.keep(wrong, c.shape(900)); }) == "");
    CHECK(suites::unlike(errc::invalid_argument, {"for Q"}, [&] { low_rank::reconstruct(p, wrong, c.shape(900), bad); }) == "");
    c.on_nonfinite = chorus::nonfinite::refuse;
    CHECK(suites::unlike(errc::invalid_argument, {"element 100"}, [&] { c.project(bad, p); }) == "");
    c.on_nonfinite = chorus::nonfinite::sanitise;
    CHECK(suites::unlike(errc::invalid_argument, {"sanitise"}, [&] { c.project(good, p); }) == "");
}

TEST_CASE("EFB-7: Q is saved; another rank or seed is refused, another shape begins anew") {
    low_rank whole{.rank = 2, .seed = 4};
    for (std::uint64_t step = 0; step < 5; ++step) sent_by(whole, suites::drawn(500, step));
    suites::message_bytes saved(whole.state_bytes());
    whole.save_state(saved);
    low_rank restored{.rank = 2, .seed = 4};
    restored.restore_state(saved);
    low_rank cold{.rank = 2, .seed = 4};
    CHECK(suites::encoded(cold, suites::drawn(500, 5)) != suites::encoded(whole, suites::drawn(500, 5)));
    sent_by(restored, suites::drawn(500, 5));
    for (std::uint64_t step = 6; step < 9; ++step)
        CHECK(suites::encoded(restored, suites::drawn(500, step)) == suites::encoded(whole, suites::drawn(500, step)));
    for (low_rank other : {low_rank{.rank = 3, .seed = 4}, low_rank{.rank = 2, .seed = 5}, low_rank{.rank = 2, .columns = 9, .seed = 4}})
        CHECK(suites::unlike(errc::corrupt, {"low_rank", "are others"}, [&] { other.restore_state(saved); }) == "");
    for (std::size_t count : {std::size_t{900}, std::size_t{400}, std::size_t{3}, std::size_t{500}})
        CHECK(all_finite(sent_by(restored, suites::drawn(count, 1))));
}

TEST_CASE("with error feedback a constant gradient of full rank is sent whole in time") {
    chorus::error_feedback feedback{low_rank{.rank = 2}};
    floats const x = suites::drawn(400, 1);
    floats sent(400);
    constexpr int steps = 200;
    for (int step = 0; step < steps; ++step) {
        floats const one = sent_by(feedback, x);
        for (std::size_t i = 0; i < sent.size(); ++i) sent[i] += one[i] / steps;
    }
    CHECK(relative_error(x, sent) < 0.1);
    low_rank alone{.rank = 2};
    for (int step = 0; step < 50; ++step) sent_by(alone, x);
    CHECK(relative_error(x, sent_by(alone, x)) > 0.5);
}
