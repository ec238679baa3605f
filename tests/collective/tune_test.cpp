// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/collective/tune.hpp"

#include "chorus/collective/all_reduce.hpp"
#include "chorus/schedule/find_cliffs.hpp"
#include "chorus/transport/run_all.hpp"
#include "chorus/transport/simulated.hpp"
#include "chorus/transport/thread.hpp"
#include "suites/expected_error.hpp"
#include "suites/watchdog.hpp"

#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace chorus;

namespace {

std::string written(selection_table const& table) {
    std::ostringstream out;
    table.write(out);
    return out.str();
}

// The laws of every tuned table: rows without gaps, each within the tolerance of the best measured.
void check_table(selection_table const& table, tune_options const& asked, rank_id ranks, std::string const& kind) {
    for (collective operation : asked.operations) {
        INFO(std::string{to_string(operation)});
        std::uint64_t next = 0;
        for (selection_row const& row : table.rows()) {
            if (row.operation != operation) continue;
            CHECK(row.bytes_from == next);
            CHECK(row.transport == kind);
            CHECK((row.ranks_from == ranks && row.ranks_to == ranks));
            next = row.bytes_to + 1;
        }
        CHECK(next == 0);  // the last row has no end
    }
    for (measured_point const& point : table.measurements()) {
        selection_row const* const row = table.find({point.operation, ranks, point.bytes, kind});
        REQUIRE(row != nullptr);
        auto const own = detail::time_in(point.times, row->algorithm);
        REQUIRE(own);
        CHECK(*own <= point.times.front().seconds * (1 + asked.tolerance));
        for (timed_algorithm const& time : point.times) CHECK(time.algorithm.supports(point.operation));
    }
    std::istringstream text{written(table)};
    CHECK(written(selection_table::read(text)) == written(table));
    for (cliff const& found : find_cliffs(table, asked.tolerance)) CHECK(found.what != cliff::kind::beaten);
}

}  // namespace

TEST_CASE("over threads all ranks make the same table, and calls that use it give the right sums") {
    suites::watchdog const guard{60};
    for (rank_id ranks : {1u, 2u, 3u}) {
        tune_options asked;
        asked.bytes = {4, 2000, 40000};
        asked.repeat = 3;
        asked.seconds = 20;
        std::vector<selection_table> tables(ranks);
        std::vector<std::vector<tuning_step>> told(ranks);
        std::vector<std::vector<float>> sums(ranks);
        std::vector<std::string> reasons(ranks);
        thread_fleet{ranks}.run([&](thread_transport& net) {
            group world{net};
            tune_options mine = asked;
            mine.report = [&](tuning_step const& step) { told[world.rank()].push_back(step); };
            tables[world.rank()] = tune(world, mine);
            auto const tuned = automatic::with(tables[world.rank()]);
            sums[world.rank()].assign(3000, static_cast<float>(world.rank() + 1));
            plan call = plan_all_reduce(world, sums[world.rank()], sum{}, tuned);
            reasons[world.rank()] = call.describe();
            call.run();
        });
        for (rank_id r = 0; r < ranks; ++r) {
            CHECK(tables[r] == tables[0]);
            CHECK(sums[r] == std::vector<float>(3000, static_cast<float>(ranks * (ranks + 1) / 2)));
            CHECK(reasons[r].find("chosen by table: all_reduce thread " + std::to_string(ranks) + ' ') != std::string::npos);
            CHECK(reasons[r].find("; measured ") != std::string::npos);
            REQUIRE(told[r].size() == 31);  // ten collectives at three sizes, and a barrier
            for (std::size_t i = 0; i < told[r].size(); ++i) {
                CHECK(told[r][i].done == i + 1);
                CHECK(told[r][i].all == 31);
                CHECK(!told[r][i].measured.times.empty());
                if (i > 0) CHECK(told[r][i].seconds >= told[r][i - 1].seconds);
            }
        }
        CHECK(tables[0].measurements().size() == 31);
        check_table(tables[0], asked, ranks, "thread");
    }
}

TEST_CASE("over a simulated network, where messages are the clock, the algorithm with fewest messages is found") {
    for (rank_id ranks : {4u, 8u}) {
        simulated_network network{ranks, {.seed = ranks}};
        tune_options asked;
        asked.operations = {collective::all_reduce, collective::all_gather};
        asked.bytes = {64, 1, 1024, 2};  // in any order; 1, 2 and 4 bytes are one element
        asked.candidates = {direct{}, binomial_tree{}, ring{}};
        asked.repeat = 3;
        asked.seconds = 1e9;
        asked.clock = [&] { return static_cast<double>(network.messages()); };
        std::vector<std::unique_ptr<tuner<simulated_transport>>> tuners;
        std::vector<std::function<progress()>> steps;
        for (rank_id r = 0; r < ranks; ++r) {
            group world{network.endpoint(r)};
            tuners.push_back(std::make_unique<tuner<simulated_transport>>(world, asked));
            steps.push_back([&tuned = *tuners.back()] { return tuned.advance(); });
        }
        REQUIRE(run_all<std::function<progress()>>(steps, {.seed = 5}) == progress::done);
        selection_table const& table = tuners[0]->result();
        for (auto const& each : tuners) CHECK(each->result() == table);
        CHECK(table.measurements().size() == 6);
        CHECK(table.find({collective::all_reduce, ranks, 64, "simulated"})->algorithm.name() == "binomial_tree");
        for (measured_point const& point : table.measurements()) {
            INFO(to_string(point));
            CHECK(point.times.size() == (point.operation == collective::all_reduce ? 3 : 2));
            if (point.operation == collective::all_reduce)
                CHECK(*detail::time_in(point.times, direct{}) > *detail::time_in(point.times, binomial_tree{}));
        }
        check_table(table, asked, ranks, "simulated");
    }
}

TEST_CASE("when the time is over, what was not reached is left out, on all ranks alike") {
    suites::watchdog const guard{60};
    for (double seconds : {0.0, 30.0, 200.0, 1000.0}) {
        std::vector<selection_table> tables(2);
        thread_fleet{2}.run([&](thread_transport& net) {
            group world{net};
            double time = 0;
            tune_options asked;
            asked.operations = {collective::broadcast, collective::all_reduce};
            asked.bytes = {4, 64, 1024, 4096};
            asked.candidates = {direct{}, binomial_tree{}};
            asked.seconds = seconds;
            asked.repeat = 1000;
            asked.clock = [&] { return time += 1.0 + world.rank(); };
            tables[world.rank()] = tune(world, asked);
        });
        CHECK(tables[0] == tables[1]);
        std::size_t const reached = tables[0].measurements().size();
        if (seconds == 0.0) CHECK(tables[0].is_empty());
        else CHECK(reached > 0);
        if (seconds == 30.0) CHECK(reached < 8);
        if (seconds == 1000.0) CHECK(reached == 8);
        if (reached > 0) CHECK(tables[0].rows().front().bytes_from == 0);
    }
}

TEST_CASE("ranks that are asked to measure different things fail together") {
    suites::watchdog const guard{60};
    std::vector<std::string> wrong(3);
    CHECK_THROWS(thread_fleet{3}.run([&](thread_transport& net) {
        group world{net};
        tune_options asked;
        asked.operations = {collective::all_reduce};
        asked.bytes = {world.rank() == 1 ? 64u : 128u};
        asked.repeat = 2;
        wrong[world.rank()] = suites::unlike(errc::mismatch, {"all_reduce"}, [&] { tune(world, asked); });
        throw error{errc::aborted, "as expected"};
    }));
    for (std::string const& text : wrong) CHECK(text.empty());
}
