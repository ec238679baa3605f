// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/collective/compression.hpp"

#include "chorus/collective/all_gather.hpp"
#include "chorus/collective/all_reduce.hpp"
#include "chorus/collective/all_to_all.hpp"
#include "chorus/collective/broadcast.hpp"
#include "chorus/collective/gather.hpp"
#include "chorus/collective/reduce.hpp"
#include "chorus/collective/reduce_scatter.hpp"
#include "chorus/collective/scatter.hpp"
#include "chorus/compress/block_integer.hpp"
#include "chorus/compress/error_feedback.hpp"
#include "chorus/compress/half_cast.hpp"
#include "chorus/compress/random_k.hpp"
#include "chorus/compress/top_k.hpp"
#include "chorus/compress/uncompressed.hpp"
#include "chorus/schedule/algorithms.hpp"
#include "chorus/transport/shared_memory.hpp"
#include "chorus/transport/thread.hpp"
#include "suites/expected_error.hpp"
#include "suites/transport_suite.hpp"
#include "suites/turn_taking.hpp"
#include "suites/watchdog.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

using chorus::collective;
using chorus::compression;
using chorus::errc;
using chorus::group;
using chorus::rank_id;

namespace {

/// What 3 bits can hold, times a scale: far from the input, so that every place where a value was not what its message says shows.
struct coarse {
    static constexpr std::string_view name = "coarse";
    std::size_t max_wire_bytes(std::size_t count) const { return count; }
    std::size_t encode(std::span<float const> dense, std::span<std::byte> wire) {
        for (std::size_t i = 0; i < dense.size(); ++i) wire[i] = static_cast<std::byte>(static_cast<std::uint8_t>(dense[i] / 4.0f));
        return dense.size();
    }
    void decode(std::span<std::byte const> wire, std::span<float> out) const {
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = 4.0f * static_cast<float>(wire[i]);
    }
    void decode_add(std::span<std::byte const> wire, std::span<float> out) const {
        for (std::size_t i = 0; i < out.size(); ++i) out[i] += 4.0f * static_cast<float>(wire[i]);
    }
    chorus::compression_promise promise(std::size_t) const { return {}; }
};
static_assert(chorus::compressor<coarse>);

auto const simulated = [](rank_id p) { return suites::simulated_fleet{p}; };
auto const threads = [](rank_id p) { return chorus::thread_fleet{p}; };

std::vector<float> values_of(rank_id rank, std::size_t count) {
    std::vector<float> v(count);
    for (std::size_t i = 0; i < count; ++i) v[i] = static_cast<float>((rank + 1) * (i % 7) % 5);
    return v;
}

std::vector<float> sum_of_all(rank_id ranks, std::size_t count) {
    std::vector<float> total(count, 0.0f);
    for (rank_id r = 0; r < ranks; ++r) {
        auto const v = values_of(r, count);
        for (std::size_t i = 0; i < count; ++i) total[i] += v[i];
    }
    return total;
}

/// The algorithms that offer an operation.
std::vector<chorus::any_algorithm> offering(collective what) {
    std::vector<chorus::any_algorithm> found;
    for (std::string_view name : chorus::known_algorithms())
        if (auto const algorithm = chorus::algorithm_named(name); algorithm.supports(what)) found.push_back(algorithm);
    found.push_back(chorus::ring{.segments = 3});
    if (!found.back().supports(what)) found.pop_back();
    return found;
}

/// Several ranks add up the same elements and encode what they found.
bool is_refused(collective what, chorus::any_algorithm const& algorithm, rank_id p) {
    return what == collective::all_reduce && algorithm.adds_up_everywhere() && algorithm.make(what, 0, p).rounds() > 1;
}

/// Calls law(algorithm, p) for every algorithm and group size.
template <class Law>
void for_all(collective what, Law const& law) {
    suites::watchdog const guard{120};
    for (auto const& algorithm : offering(what))
        for (rank_id p : {1u, 2u, 3u, 4u, 5u, 7u, 8u, 12u})
            if (!is_refused(what, algorithm, p)) law(algorithm, p);
}

}  // namespace

TEST_CASE("carried uncompressed or by a cast that holds the values, every all-reduce is the sum, in place and not") {
    for_all(collective::all_reduce, [](chorus::any_algorithm const& algorithm, rank_id p) {
        for (std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{p}, std::size_t{3 * p + 1}})
            suites::hold("sum", simulated, p, [&](auto& rank) {
                group world{rank.net()};
                auto const mine = values_of(rank.me(), count);
                auto in_place = mine;
                std::vector<float> apart(count, -1.0f);
                chorus::all_reduce(world, in_place, chorus::sum{}, algorithm, {.carried_by = compression{chorus::uncompressed{}}});
                chorus::all_reduce(world, mine, apart, chorus::sum{}, algorithm, {.carried_by = compression{chorus::half_cast{}}});
                rank.check(in_place == sum_of_all(p, count), algorithm.describe() + ": in place");
                rank.check(apart == sum_of_all(p, count), algorithm.describe() + ": apart");
                rank.check(mine == values_of(rank.me(), count), algorithm.describe() + ": the input was changed");
            });
    });
}

TEST_CASE("however much is lost, all ranks have the same bits, by every algorithm") {
    for_all(collective::all_reduce, [](chorus::any_algorithm const& algorithm, rank_id p) {
        if (p == 1) return;
        std::vector<std::vector<float>> results(p);
        suites::hold("agreement", simulated, p, [&](auto& rank) {
            group world{rank.net()};
            auto v = values_of(rank.me(), 41);
            chorus::all_reduce(world, v, chorus::sum{}, algorithm, {.carried_by = compression{coarse{}}});
            compression const random{chorus::block_integer{.bits = 4, .rounding = chorus::rounding::stochastic}};
            compression const keeping{chorus::error_feedback{chorus::top_k{0.2}}};
            compression const rounding{chorus::block_integer{.bits = 4}};  // sums of what it gives it rounds again
            for (compression const& how : {random, keeping, rounding}) {
                auto w = values_of(rank.me(), 41);
                auto plan = chorus::plan_all_reduce(world, w, chorus::sum{}, algorithm, {.carried_by = how});
                for (int run = 0; run < 2; ++run) plan.run();
                v.insert(v.end(), w.begin(), w.end());
            }
            results[rank.me()] = v;
        });
        for (rank_id r = 1; r < p; ++r) {
            INFO(algorithm.describe(), " of ", p);
            CHECK(results[r] == results[0]);
        }
    });
}

TEST_CASE("where several ranks would add up and encode the same elements, it is refused, and automatic takes another way") {
    for (rank_id p : {3u, 4u, 6u})
        suites::hold("refused", simulated, p, [](auto& rank) {
            group world{rank.net()};
            auto v = values_of(rank.me(), 512);
            auto const plan = chorus::plan_all_reduce(world, v, chorus::sum{}, chorus::automatic{}, {.carried_by = compression{coarse{}}});
            rank.check(plan.describe().find(" by recursive_doubling") == std::string::npos, plan.describe());
            auto const call = [&] { chorus::all_reduce(world, v, chorus::sum{}, chorus::recursive_doubling{}, {.carried_by = compression{coarse{}}}); };
            suites::expect_error(rank, errc::unsupported, {"bits of its own", "recursive_doubling"}, call);
        });
}

TEST_CASE("all-gather, broadcast, reduce-scatter and all-to-all compress what they send") {
    for_all(collective::all_gather, [](chorus::any_algorithm const& algorithm, rank_id p) {
        suites::hold("all_gather", simulated, p, [&](auto& rank) {
            group world{rank.net()};
            std::vector<float> all(3 * p);
            chorus::all_gather(world, values_of(rank.me(), 3), all, algorithm, {.carried_by = compression{chorus::half_cast{}}});
            for (rank_id r = 0; r < p; ++r)
                rank.check(std::vector<float>(all.begin() + 3 * r, all.begin() + 3 * r + 3) == values_of(r, 3), algorithm.describe());
        });
    });
    for_all(collective::broadcast, [](chorus::any_algorithm const& algorithm, rank_id p) {
        suites::hold("broadcast", simulated, p, [&](auto& rank) {
            group world{rank.net()};
            auto v = values_of(rank.me(), 19);
            chorus::broadcast(world, v, p - 1, algorithm, {.carried_by = compression{coarse{}}});
            auto expected = values_of(p - 1, 19);
            if (p > 1)
                for (float& x : expected) x = x < 4.0f ? 0.0f : 4.0f;
            rank.check(v == expected, algorithm.describe());
        });
    });
    for_all(collective::reduce_scatter, [](chorus::any_algorithm const& algorithm, rank_id p) {
        suites::hold("reduce_scatter", simulated, p, [&](auto& rank) {
            group world{rank.net()};
            auto const mine = values_of(rank.me(), 2 * p);
            std::vector<float> block(2);
            auto const wrong = suites::error_of([&] {
                chorus::reduce_scatter(world, mine, block, chorus::sum{}, algorithm, {.carried_by = compression{chorus::half_cast{}}});
            });
            auto const total = sum_of_all(p, 2 * p);
            if (wrong) rank.check(wrong->code() == errc::unsupported || wrong->code() == errc::aborted, wrong->what());
            else rank.check(block == std::vector<float>{total[2 * rank.me()], total[2 * rank.me() + 1]}, algorithm.describe());
            rank.check(mine == values_of(rank.me(), 2 * p), algorithm.describe() + ": the input was changed");
        }, suites::ending::may_abort);
    });
    for_all(collective::all_to_all, [](chorus::any_algorithm const& algorithm, rank_id p) {
        suites::hold("all_to_all", simulated, p, [&](auto& rank) {
            group world{rank.net()};
            std::vector<float> mine(p), theirs(p);
            for (rank_id r = 0; r < p; ++r) mine[r] = static_cast<float>(100 * rank.me() + r);
            chorus::all_to_all(world, mine, theirs, algorithm, {.carried_by = compression{chorus::half_cast{}}});
            for (rank_id r = 0; r < p; ++r) rank.check(theirs[r] == static_cast<float>(100 * r + rank.me()), algorithm.describe());
        });
    });
}

TEST_CASE("so do reduce, gather and scatter") {
    for_all(collective::reduce, [](chorus::any_algorithm const& algorithm, rank_id p) {
        suites::hold("reduce", simulated, p, [&](auto& rank) {
            group world{rank.net()};
            auto const mine = values_of(rank.me(), 17);
            std::vector<float> total(rank.me() == p / 2 ? 17 : 0);
            chorus::reduce(world, mine, total, p / 2, chorus::sum{}, algorithm, {.carried_by = compression{chorus::half_cast{}}});
            if (rank.me() == p / 2) rank.check(total == sum_of_all(p, 17), algorithm.describe());
            rank.check(mine == values_of(rank.me(), 17), algorithm.describe() + ": the input was changed");
        });
    });
    for_all(collective::gather, [](chorus::any_algorithm const& algorithm, rank_id p) {
        suites::hold("gather", simulated, p, [&](auto& rank) {
            group world{rank.net()};
            std::vector<float> all(rank.me() == 0 ? p : 0);
            chorus::gather(world, values_of(rank.me(), 1), all, 0, algorithm, {.carried_by = compression{chorus::half_cast{}}});
            if (rank.me() == 0)
                for (rank_id r = 0; r < p; ++r) rank.check(all[r] == values_of(r, 1)[0], algorithm.describe());
        });
    });
    for_all(collective::scatter, [](chorus::any_algorithm const& algorithm, rank_id p) {
        suites::hold("scatter", simulated, p, [&](auto& rank) {
            group world{rank.net()};
            auto const all = rank.me() == 0 ? values_of(3, 2 * p) : std::vector<float>{};
            std::vector<float> block(2);
            chorus::scatter(world, all, block, 0, algorithm, {.carried_by = compression{chorus::half_cast{}}});
            auto const expected = values_of(3, 2 * p);
            rank.check(block == std::vector<float>{expected[2 * rank.me()], expected[2 * rank.me() + 1]}, algorithm.describe());
        });
    });
}

TEST_CASE("bytes on the wire are those of the formula") {
    for (rank_id p : {2u, 3u, 5u, 8u})
        suites::hold("bytes", simulated, p, [&](auto& rank) {
            group world{rank.net()};
            constexpr std::size_t per_block = 100;
            std::vector<float> v(per_block * p, 1.0f);
            auto plan = chorus::plan_all_reduce(world, v, chorus::sum{}, chorus::ring{}, {.carried_by = compression{chorus::half_cast{}}});
            std::uint64_t const block = 8 + chorus::half_cast{}.max_wire_bytes(per_block);
            rank.check(plan.bytes_sent() == 2 * (p - 1) * block, std::to_string(plan.bytes_sent()));
        });
}

TEST_CASE("mean is the mean; other operations and elements are refused") {
    suites::hold("mean", simulated, 4, [](auto& rank) {
        group world{rank.net()};
        std::vector<float> v(10, static_cast<float>(4 * rank.me()));
        chorus::all_reduce(world, v, chorus::mean{}, chorus::ring{}, {.carried_by = compression{chorus::half_cast{}}});
        rank.check(v == std::vector<float>(10, 6.0f), "the mean");
    });
    suites::hold("maximum", simulated, 2, [](auto& rank) {
        group world{rank.net()};
        std::vector<float> v(3);
        suites::expect_error(rank, errc::unsupported, {"float maximum cannot be compressed by half_cast", "sum, mean"}, [&] {
            chorus::all_reduce(world, v, chorus::maximum{}, chorus::ring{}, {.carried_by = compression{chorus::half_cast{}}});
        });
    }, suites::ending::may_abort);
    suites::hold("double", simulated, 2, [](auto& rank) {
        group world{rank.net()};
        std::vector<double> v(3);
        suites::expect_error(rank, errc::unsupported, {"double sum cannot be compressed"}, [&] {
            chorus::all_reduce(world, v, chorus::sum{}, chorus::ring{}, {.carried_by = compression{chorus::half_cast{}}});
        });
    }, suites::ending::may_abort);
}

TEST_CASE("ranks with different compressors are told so") {
    suites::hold("mismatch", threads, 3, [](auto& rank) {
        auto const world = group{rank.net()}.within(std::chrono::seconds{5});
        std::vector<float> v(30, 1.0f);
        compression const how = rank.me() == 1 ? compression{coarse{}} : compression{chorus::half_cast{}};
        auto const wrong = suites::error_of([&] { chorus::all_reduce(world, v, chorus::sum{}, chorus::ring{}, {.carried_by = how}); });
        rank.check(wrong && (wrong->code() == errc::mismatch || wrong->code() == errc::aborted), wrong ? wrong->what() : "no error");
    }, suites::ending::may_abort);
}

TEST_CASE("NAN-4: a compressor that refuses on one rank ends the operation on all") {
    suites::hold("refused", threads, 3, [](auto& rank) {
        auto const world = group{rank.net()}.within(std::chrono::seconds{5});
        std::vector<float> v(30, 1.0f);
        if (rank.me() == 1) v[7] = std::numeric_limits<float>::quiet_NaN();
        auto const wrong = suites::error_of([&] {
            chorus::all_reduce(world, v, chorus::sum{}, chorus::ring{},
                               {.carried_by = compression{chorus::half_cast{.on_nonfinite = chorus::nonfinite::refuse}}});
        });
        rank.check(wrong && wrong->code() != errc::timed_out, wrong ? wrong->what() : "no error");
        if (rank.me() == 1) rank.check(wrong && wrong->code() == errc::invalid_argument, "not told what was wrong");
    }, suites::ending::may_abort);
}

TEST_CASE("what is kept between runs belongs to one plan at a time") {
    suites::hold("one plan", simulated, 2, [](auto& rank) {
        group world{rank.net()};
        std::vector<float> v(8, 1.0f);
        compression const how{chorus::uncompressed{}};
        {
            auto first = chorus::plan_all_reduce(world, v, chorus::sum{}, chorus::ring{}, {.carried_by = how});
            suites::expect_error(rank, errc::invalid_argument, {"compression by uncompressed belongs to another plan"},
                                 [&] { how.codec()->take(); });
        }
        auto second = chorus::plan_all_reduce(world, v, chorus::sum{}, chorus::ring{}, {.carried_by = how});
        second.run();
        rank.check(v == std::vector<float>(8, 2.0f), "the sum");
    });
}

TEST_CASE("over every kind of transport, plans run again and again") {
    auto const law = [](auto& rank) {
        group world{rank.net()};
        std::vector<float> v(1000);
        auto plan = chorus::plan_all_reduce(world, v, chorus::sum{}, chorus::rabenseifner{}, {.carried_by = compression{chorus::half_cast{}}});
        for (int run = 0; run < 20; ++run) {
            auto const mine = values_of(rank.me(), 1000);
            std::copy(mine.begin(), mine.end(), v.begin());
            plan.run();
            rank.check(v == sum_of_all(3, 1000), "run " + std::to_string(run));
        }
    };
    suites::watchdog const guard{60};
    suites::hold("threads", threads, 3, law);
    suites::hold("processes", [](rank_id p) { return chorus::process_fleet{p}; }, 3, law);
}

TEST_CASE("CMP-2: ranks that round at random do so each in its own way; linear compressors choose alike") {
    suites::hold("apart", simulated, 3, [](auto& rank) {
        group world{rank.net()};
        std::vector<float> all(3 * 64);
        std::vector<float> const mine(64, 0.3f);
        chorus::block_integer const by{.bits = 2, .rounding = chorus::rounding::stochastic};
        auto v = mine;
        v[0] = 1.0f;
        chorus::all_gather(world, v, all, chorus::ring{}, {.carried_by = compression{by}});
        for (std::ptrdiff_t r = 1; r < 3; ++r)
            rank.check(!std::equal(all.begin(), all.begin() + 64, all.begin() + 64 * r), "ranks 0 and " + std::to_string(r) + " chose alike");
    });
    suites::hold("alike", simulated, 4, [](auto& rank) {
        group world{rank.net()};
        std::vector<float> v(40);
        auto plan = chorus::plan_all_reduce(world, v, chorus::sum{}, chorus::ring{}, {.carried_by = compression{chorus::random_k{0.5}}});
        for (int step = 0; step < 50; ++step) {
            std::fill(v.begin(), v.end(), 1.0f);
            plan.run();
            rank.check(std::count(v.begin(), v.end(), 4.0f) == 20 && std::count(v.begin(), v.end(), 0.0f) == 20, "step " + std::to_string(step));
        }
    });
}

TEST_CASE("EFB-1: with error feedback what is kept back stays bounded, at every hop of every algorithm") {
    for_all(collective::all_reduce, [](chorus::any_algorithm const& algorithm, rank_id p) {
        if (p != 3 && p != 4) return;
        suites::hold("residuals", simulated, p, [&](auto& rank) {
            group world{rank.net()};
            std::vector<float> const x{8, 4, 2, 1, 8, 4, 2, 1, 8, 4, 2, 1, 8, 4, 2, 1};
            auto v = x;
            std::vector<float> arrived(x.size(), 0.0f);
            compression const how{chorus::error_feedback{chorus::top_k::of(1)}};
            auto plan = chorus::plan_all_reduce(world, v, chorus::sum{}, algorithm, {.carried_by = how});
            float kept_back[2] = {0, 0};
            for (int step = 1; step <= 400; ++step) {
                std::copy(x.begin(), x.end(), v.begin());
                plan.run();
                for (std::size_t i = 0; i < x.size(); ++i) {
                    arrived[i] += v[i];
                    float& most = kept_back[step > 200];
                    most = (std::max)(most, std::abs(arrived[i] - static_cast<float>(step) * static_cast<float>(p) * x[i]));
                }
            }
            rank.check(kept_back[1] <= 1.5f * kept_back[0] + 1.0f, algorithm.describe() + ": " + std::to_string(kept_back[0]) + ", later " + std::to_string(kept_back[1]));
        });
    });
}

TEST_CASE("EFB-7: saved and restored residuals give the same bits as no break") {
    suites::hold("restored", simulated, 3, [](auto& rank) {
        group world{rank.net()};
        auto const fill = [&](std::vector<float>& v, int step) {
            for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>((i * 7 + static_cast<std::size_t>(step) * 3 + rank.me()) % 11);
        };
        std::vector<float> v(50), w(50);
        compression first{chorus::error_feedback{chorus::top_k{0.1}}}, second{chorus::error_feedback{chorus::top_k{0.1}}};
        auto whole = chorus::plan_all_reduce(world, v, chorus::sum{}, chorus::ring{}, {.carried_by = first});
        auto broken = chorus::plan_all_reduce(world, w, chorus::sum{}, chorus::ring{}, {.carried_by = second});
        for (int step = 0; step < 10; ++step) fill(v, step), whole.run();
        second.restore_state(first.save_state());
        for (int step = 10; step < 20; ++step) {
            fill(v, step), whole.run();
            fill(w, step), broken.run();
            rank.check(v == w, "step " + std::to_string(step));
        }
        auto saved = first.save_state();
        saved.resize(saved.size() - 1);
        suites::expect_error(rank, errc::corrupt, {}, [&] { second.restore_state(saved); });
        suites::expect_error(rank, errc::corrupt, {}, [&] { compression{chorus::half_cast{}}.restore_state(first.save_state()); });
    });
}
