// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "networks/conformance.hpp"

#include "chorus/collective/barrier.hpp"
#include "chorus/data/bfloat16.hpp"
#include "suites/execution_suite.hpp"
#include "suites/transport_suite.hpp"

#include <chrono>
#include <cstdint>
#include <iostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

using chorus::rank_id;

/// Small enough for exact sums of eight bits.
template <> inline chorus::bfloat16 suites::drawn<chorus::bfloat16>(std::uint64_t rank, std::uint64_t index, std::uint64_t iteration) {
    return chorus::bfloat16{static_cast<float>(drawn<int>(rank, index, iteration) % 8)};
}

namespace {

struct {
    rank_id rank = 0;
    rank_id size = 0;
    networks::transport_maker make;
    bool is_quick = false;
    std::size_t compared = 0;
} world;

/// The processes that there are, seen as a fleet: a new transport each time.
struct present_ranks {
    template <class Body>
    void run(Body const& body) const {
        chorus::any_transport net = world.make();
        body(net);
    }
};

/// A new transport per collective, so that a failure of one does not end the others.
template <chorus::collective What, class T, class Op = chorus::sum>
void check_present(std::vector<std::uint64_t> const& totals, std::vector<std::vector<std::uint64_t>> const& uneven = {}) {
    suites::failure_list failures;
    suites::exercise<What, T, Op> work{world.size, totals};
    for (std::vector<std::uint64_t> const& counts : uneven) work.add(counts);
    present_ranks{}.run([&](chorus::any_transport& net) {
        world.compared += work.perform(net, suites::algorithms_for(What), failures);
    });
    INFO("rank ", world.rank, " of ", world.size);
    suites::expect_none(failures);
}

std::vector<std::uint64_t> some_totals() {
    if (world.is_quick) return {11, 2061, 70000};
    return {0, 1, 10, 11, 513, 2061, 4096, 70000};
}

/// For every rank: empty blocks between full ones, one block alone, nothing at all, and blocks of all sizes.
std::vector<std::vector<std::uint64_t>> uneven_counts() {
    std::vector<std::vector<std::uint64_t>> all(4, std::vector<std::uint64_t>(world.size));
    for (rank_id r = 0; r < world.size; ++r) all[0][r] = r % 2 * 5;
    all[1][world.size - 1] = 1;
    for (rank_id r = 0; r < world.size; ++r) all[3][r] = chorus::counter_random{r}.below(0, 5000);
    return all;
}

template <chorus::collective What> using which = std::integral_constant<chorus::collective, What>;

}  // namespace

using enum chorus::collective;

TEST_CASE("laws") {
    auto const make = [](rank_id) { return present_ranks{}; };
    suites::check_transport(make, {world.size});
}

TEST_CASE_TEMPLATE("collectives: int32 sum", What, which<all_reduce>, which<reduce>, which<broadcast>,
                   which<reduce_scatter>, which<all_gather>, which<gather>, which<scatter>, which<all_to_all>,
                   which<scan>, which<exclusive_scan>) {
    check_present<What::value, std::int32_t>(some_totals());
}

TEST_CASE_TEMPLATE("collectives: an operation that does not commute", What, which<all_reduce>, which<reduce>,
                   which<reduce_scatter>, which<scan>) {
    check_present<What::value, suites::triangle, suites::matrix_product>({7, 3000});
}

TEST_CASE_TEMPLATE("collectives: uneven blocks", What, which<reduce_scatter>, which<all_gather>, which<gather>, which<scatter>,
                   which<all_to_all>) {
    check_present<What::value, std::int32_t>({}, uneven_counts());
}

TEST_CASE_TEMPLATE("collectives: floating point", What, which<all_reduce>, which<reduce>, which<reduce_scatter>,
                   which<scan>, which<exclusive_scan>) {
    check_present<What::value, float>({2061});
    check_present<What::value, chorus::bfloat16>({2061});
}

TEST_CASE("collectives: barrier") {
    present_ranks{}.run([](chorus::any_transport& net) {
        auto const members = chorus::group{net}.within(std::chrono::seconds{20});
        for (int turn = 0; turn < 100; ++turn) chorus::barrier(members);
    });
}

int networks::run_conformance(int argc, char** argv, rank_id rank, rank_id size, transport_maker make) {
    world.rank = rank;
    world.size = size;
    world.make = std::move(make);
    doctest::Context context{argc, argv};
    for (int i = 1; i < argc; ++i) {
        world.is_quick |= std::string_view{argv[i]} == "--quick";
        if (std::string_view{argv[i]} == "--only" && i + 1 < argc) context.addFilter("test-case", (argv[i + 1] + std::string{"*"}).c_str());
    }
    context.setOption("no-version", true);
    context.setOption("no-path-filenames", true);
    context.setOption("minimal", true);
    int const code = context.run();
    if (rank == 0) std::cout << world.compared << " results compared on each of " << size << " ranks" << std::endl;
    return code;
}
