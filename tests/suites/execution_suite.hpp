// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/schedule/algorithms.hpp"
#include "chorus/transport/run_all.hpp"
#include "chorus/transport/self.hpp"
#include "chorus/transport/simulated.hpp"
#include "chorus/transport/thread.hpp"
#include "suites/execution_trial.hpp"
#include "suites/failure_list.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

// Every algorithm performs a collective as the oracle says, on simulated ranks in one thread and on threads.
namespace suites {

/// To be called when the ranks have ended.
inline void expect_none(failure_list const& failures) {
    for (std::string const& wrong : failures.texts()) FAIL_CHECK(wrong);
    CHECK(failures.texts().empty());
}

inline std::string name_of(chosen const& by) { return by ? by->describe() : "automatic"; }

/// Every listed algorithm that offers the collective, some with parameters, and `automatic`.
inline std::vector<chosen> algorithms_for(chorus::collective what) {
    std::vector<chosen> all{std::nullopt};
    std::vector<std::string> names{"ring(segments=4)", "chain(segments=3)", "double_binary_tree(segments=3)",
                                   "hierarchical(inside=ring, between=recursive_doubling, width=2)"};
    for (std::string_view name : chorus::known_algorithms()) names.emplace_back(name);
    for (std::string const& name : names)
        if (auto algorithm = chorus::algorithm_named(name); algorithm.supports(what))
            all.emplace_back(std::move(algorithm));
    return all;
}

inline std::vector<placement> placements_of(chorus::collective what) {
    using enum chorus::collective;
    if (what == broadcast || what == all_to_all) return {placement::apart};
    if (what == reduce_scatter) return {placement::apart, placement::in_place, placement::own_block};
    return {placement::apart, placement::in_place};
}

/// `total` elements as the collective counts them: one vector, or near-equal blocks. all_to_all: equal blocks, each of
/// `total` elements where these are few, so that algorithms which do not take uneven ones are not left out.
inline std::vector<std::uint64_t> counts_of(chorus::collective what, chorus::rank_id size, std::uint64_t total) {
    if (!has_block_per_rank(what)) return {total};
    if (what == chorus::collective::all_to_all)
        return std::vector<std::uint64_t>(size, total > 4 * size ? total / size : total);
    std::vector<std::uint64_t> counts;
    chorus::blocks const cut = chorus::blocks::near_equal(total, size);
    for (chorus::rank_id b = 0; b < size; ++b) counts.push_back(cut.length(b));
    return counts;
}

inline std::vector<chorus::rank_id> some_roots(chorus::collective what, chorus::rank_id size) {
    if (!has_root(what)) return {0};
    if (size > 5) return {size - 2};
    std::vector<chorus::rank_id> roots;
    for (chorus::rank_id r = 0; r < size; ++r) roots.push_back(r);
    return roots;
}

/// Drives the plans of all ranks in one thread until they are done.
template <class Plans> chorus::progress drive(Plans const& plans, std::uint64_t seed = 0) {
    struct turn {
        chorus::plan* work;
        chorus::progress operator()() const { return work->advance(); }
    };
    std::vector<turn> turns;
    for (chorus::plan* work : plans) turns.push_back({work});
    return chorus::run_all(std::span<turn>{turns}, {.seed = seed, .idle_rounds = 2000});
}

/// A simulated endpoint that can do no more than every transport can: it does not reduce.
class plain_transport {
 public:
    using ticket = chorus::simulated_transport::ticket;

    explicit plain_transport(chorus::simulated_transport& net) : net_{&net} {}

    chorus::rank_id rank() const noexcept { return net_->rank(); }
    chorus::rank_id size() const noexcept { return net_->size(); }
    ticket post_send(chorus::rank_id peer, chorus::message_tag tag, std::span<std::byte const> out) {
        return net_->post_send(peer, tag, out);
    }
    ticket post_recv(chorus::rank_id peer, chorus::message_tag tag, std::span<std::byte> in) {
        return net_->post_recv(peer, tag, in);
    }
    chorus::progress poll(ticket& pending) noexcept { return net_->poll(pending); }

 private:
    chorus::simulated_transport* net_;
};
static_assert(chorus::transport<plain_transport> && !chorus::reducing_transport<plain_transport>);

/// All iterations of one call on simulated ranks; says what is wrong.
template <chorus::collective What, class T, class Op, class Transport>
std::string simulate(oracle<T, Op> const& known, call_shape const& shape, chosen const& by,
                     chorus::simulated_options const& options) {
    using rank_trial = trial<What, T, Op, Transport>;
    chorus::simulated_network network{shape.size, options};
    std::list<Transport> endpoints;
    std::vector<std::unique_ptr<rank_trial>> ranks;
    std::vector<chorus::plan*> plans;
    for (chorus::rank_id r = 0; r < shape.size; ++r) {
        chorus::group<Transport> const members{endpoints.emplace_back(network.endpoint(r))};
        ranks.push_back(std::make_unique<rank_trial>(members, known, shape, by));
        plans.push_back(&ranks.back()->plan());
    }
    for (std::size_t iteration = 0; iteration < known.iterations(); ++iteration) {
        for (auto& rank : ranks) rank->fill(iteration);
        for (chorus::plan* work : plans) work->start();
        if (drive(plans, options.seed) != chorus::progress::done) return "does not end: " + plans.front()->describe();
        for (auto& rank : ranks)
            if (std::string const wrong = rank->check(iteration); !wrong.empty()) return wrong;
    }
    return {};
}

template <chorus::collective What, class T, class Op, class Transport>
void check_simulated(oracle<T, Op> const& known, call_shape const& shape, chosen const& by,
                     chorus::simulated_options const& options) {
    std::string wrong;
    try {
        wrong = simulate<What, T, Op, Transport>(known, shape, by, options);
    } catch (chorus::error const& refused) { wrong = refused.what(); }
    INFO(std::string{to_string(What)}, " by ", name_of(by), " p=", shape.size, " elements=", shape.total(),
         " root=", shape.root, " placement=", static_cast<int>(shape.where), " rendezvous=", options.rendezvous,
         " seed=", options.seed);
    CHECK_MESSAGE(wrong.empty(), wrong);
}

/// Messages are delayed and reordered, eager and rendezvous in turn, other seeds each time.
inline chorus::simulated_options next_options(std::uint64_t& turn) {
    ++turn;
    return {.seed = turn,
            .delay = static_cast<std::uint32_t>(turn / 2 % 3) * 4,
            .reorder = turn % 3 != 0,
            .rendezvous = turn % 2 != 0};
}

/// Every algorithm, root and placement, on `total` elements; uneven where they do not divide, unless the algorithm
/// does not take that.
template <chorus::collective What, class T, class Op, class Transport = chorus::simulated_transport>
void check_counts(chorus::rank_id size, std::vector<std::uint64_t> const& counts, std::vector<chosen> const& algorithms,
                  std::uint64_t& turn) {
    call_shape shape{.size = size, .counts = counts};
    oracle<T, Op> const known{size, static_cast<std::size_t>(shape.total()), 2};
    for (chosen const& by : algorithms) {
        if (!shape.is_even() && What == chorus::collective::all_to_all && by && !by->takes_uneven()) continue;
        if (chorus::has_reduction(What) && !chorus::is_commutative<Op> && by && !by->keeps_order()) continue;
        for (chorus::rank_id root : some_roots(What, size))
            for (placement where : placements_of(What)) {
                shape.root = root;
                shape.where = where;
                check_simulated<What, T, Op, Transport>(known, shape, by, next_options(turn));
            }
    }
}

/// Those around which blocks become empty, equal or uneven, and two large ones.
inline std::vector<std::uint64_t> edge_counts(chorus::rank_id p) {
    std::uint64_t const n = p;
    return {0, 1, n - 1, n, n + 1, 2 * n, 3 * n + 1, 224, 1031};
}

/// The whole grid on simulated ranks: every size, algorithm, edge count and placement.
template <chorus::collective What, class T, class Op = chorus::sum, class Transport = chorus::simulated_transport>
void check_grid(std::vector<chorus::rank_id> const& sizes,
                std::vector<chosen> const& algorithms = algorithms_for(What)) {
    CHECK(algorithms.size() > 1);
    std::uint64_t turn = 0;
    for (chorus::rank_id p : sizes) {
        for (std::uint64_t total : edge_counts(p)) {
            if (p > 8 && total > 64 && (total + p) % 2 == 0) continue;
            check_counts<What, T, Op, Transport>(p, counts_of(What, p, total), algorithms, turn);
        }
    }
}

/// Transports that cannot reduce on arrival; what has to land elsewhere first is reduced from there.
template <chorus::collective What> void check_plain_transport() {
    check_grid<What, std::int32_t, chorus::sum, plain_transport>({1, 2, 3, 4, 5, 7, 8, 12});
}

/// One rank alone, without a fleet: every call is complete, its plan may be waited for again, moved and dropped.
template <chorus::collective What, class T, class Op = chorus::sum> void check_single_rank() {
    oracle<T, Op> const known{1, 7, 1};
    for (chosen const& by : algorithms_for(What))
        for (placement where : placements_of(What)) {
            INFO(name_of(by));
            chorus::self_transport net;
            call_shape const shape{.size = 1, .counts = {7}, .root = 0, .where = where};
            trial<What, T, Op, chorus::self_transport> rank{chorus::group{net}, known, shape, by};
            rank.fill(0);
            CHECK(rank.plan().advance() == chorus::progress::done);
            rank.plan().start();
            for (int turns = 0; turns < 100 && rank.plan().advance() != chorus::progress::done; ++turns) {}
            CHECK(rank.plan().advance() == chorus::progress::done);
            rank.plan().wait();
            rank.plan().wait();
            std::string const wrong = rank.check(0);
            CHECK_MESSAGE(wrong.empty(), wrong);
            chorus::plan moved = std::move(rank.plan());
            CHECK(moved.advance() == chorus::progress::done);
            moved.wait();
        }
}

/// An operation that is not known to commute is refused by exactly those algorithms that do not keep the order.
template <chorus::collective What> void check_order_is_demanded() {
    oracle<triangle, matrix_product> const known{1, 5, 1};
    std::size_t refused = 0;
    for (chosen const& by : algorithms_for(What)) {
        if (!by || by->keeps_order()) continue;
        INFO(by->describe());
        chorus::simulated_network network{3};
        chorus::group<chorus::simulated_transport> const members{network.endpoint(1)};
        call_shape const shape{.size = 3, .counts = counts_of(What, 3, 5)};
        try {
            trial<What, triangle, matrix_product, chorus::simulated_transport> const rank{members, known, shape, by};
            FAIL_CHECK("accepted");
        } catch (chorus::error const& refusal) {
            CHECK(refusal.code() == chorus::errc::unsupported);
            ++refused;
        }
    }
    CHECK(refused > 0);
}

inline std::vector<chorus::rank_id> sizes_up_to(chorus::rank_id most) {
    std::vector<chorus::rank_id> sizes;
    for (chorus::rank_id p = 1; p <= most; ++p) sizes.push_back(p);
    return sizes;
}

/// Uneven counts: an empty block, nothing but empty blocks, one block, and random ones with zeros.
template <chorus::collective What, class T, class Op = chorus::sum>
void check_uneven(std::vector<chosen> const& algorithms = algorithms_for(What)) {
    std::uint64_t turn = 0;
    check_counts<What, T, Op>(3, {0, 5, 0}, algorithms, turn);
    check_counts<What, T, Op>(3, {0, 0, 0}, algorithms, turn);
    check_counts<What, T, Op>(3, {0, 0, 1}, algorithms, turn);
    for (chorus::rank_id p : {2u, 4u, 5u, 7u, 8u, 11u})
        for (std::uint64_t seed : {1u, 2u}) {
            chorus::counter_random const random{seed, p};
            std::vector<std::uint64_t> counts;
            for (chorus::rank_id b = 0; b < p; ++b)
                counts.push_back(random.below(2 * b, 3) == 0 ? 0 : random.below(2 * b + 1, 40));
            check_counts<What, T, Op>(p, counts, algorithms, turn);
        }
}

/// What one rank of any transport does: every algorithm, placement and count, one after the other; all ranks the same.
template <chorus::collective What, class T, class Op = chorus::sum>
class exercise {
 public:
    exercise(chorus::rank_id size, std::vector<std::uint64_t> const& totals) : size_{size} {
        for (std::uint64_t total : totals) add(counts_of(What, size, total));
    }

    /// One more call, with these counts; see call_shape.
    void add(std::vector<std::uint64_t> counts) {
        shapes_.push_back({.size = size_, .counts = std::move(counts)});
        known_.push_back(std::make_unique<oracle<T, Op>>(size_, static_cast<std::size_t>(shapes_.back().total()), 2));
    }

    /// Returns how many results were compared.
    template <class Transport>
    std::size_t perform(Transport& net, std::vector<chosen> const& algorithms, failure_list& failures) const {
        auto const members = chorus::group{net}.within(std::chrono::seconds{20});
        std::uint32_t turn = 0;
        std::size_t compared = 0;
        for (std::size_t n = 0; n < shapes_.size(); ++n)
            for (chosen const& by : algorithms) {
                if (!fits(shapes_[n], by)) continue;
                for (placement where : placements_of(What)) {
                    call_shape shape = shapes_[n];
                    shape.where = where;
                    shape.root = turn++ % size_;
                    trial<What, T, Op, Transport> rank{members, *known_[n], shape, by};
                    for (std::size_t iteration = 0; iteration < known_[n]->iterations(); ++iteration, ++compared) {
                        rank.fill(iteration);
                        rank.plan().run();
                        if (std::string const wrong = rank.check(iteration); !wrong.empty()) failures.add(wrong);
                    }
                }
            }
        return compared;
    }

 private:
    static bool fits(call_shape const& shape, chosen const& by) {
        if (!by) return true;
        if (!shape.is_even() && What == chorus::collective::all_to_all && !by->takes_uneven()) return false;
        return !chorus::has_reduction(What) || chorus::is_commutative<Op> || by->keeps_order();
    }

    chorus::rank_id size_;
    std::vector<call_shape> shapes_;
    std::vector<std::unique_ptr<oracle<T, Op>>> known_;
};

/// On threads, with counts on both sides of the limits of inline, copied and offered messages.
template <chorus::collective What, class T, class Op = chorus::sum>
void check_threads(std::vector<std::uint64_t> const& totals = {10, 11, 513, 2061, 70000},
                   std::vector<chosen> const& algorithms = algorithms_for(What),
                   std::vector<chorus::rank_id> const& sizes = {2, 3, 4}) {
    for (chorus::rank_id p : sizes) {
        failure_list failures;
        exercise<What, T, Op> const work{p, totals};
        chorus::thread_fleet{p}.run([&](chorus::thread_transport& net) { work.perform(net, algorithms, failures); });
        INFO("threads p=", p);
        expect_none(failures);
    }
}

}  // namespace suites
