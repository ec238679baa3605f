// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/schedule/automatic.hpp"

#include <doctest/doctest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

using namespace chorus;

namespace {

bool has(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

automatic read(std::string const& text) {
    std::istringstream lines{"chorus-table 1\n" + text};
    return automatic::with(selection_table::read(lines, "table.txt"));
}

constexpr std::uint64_t sizes_in_bytes[] = {0, 1, 8, 64, 512, 4096, 1u << 15, 1u << 18, 1u << 21, 1u << 24, 1u << 28};

}  // namespace

TEST_CASE("what is chosen can do what is asked, at every size") {
    automatic const any{};
    for (collective operation : all_collectives)
        for (rank_id size = 1; size <= 17; ++size)
            for (std::uint64_t bytes : sizes_in_bytes)
                for (bool needs_order : {false, true})
                    for (bool uneven : {false, true}) {
                        INFO(std::string{to_string(operation)}, " p=", size, " bytes=", bytes);
                        choice const chosen = any.choose(operation, size, bytes, needs_order, uneven);
                        CHECK(chosen.algorithm.supports(operation));
                        if (needs_order && has_reduction(operation)) CHECK(chosen.algorithm.keeps_order());
                        if (uneven && operation == collective::all_to_all) CHECK(chosen.algorithm.takes_uneven());
                        CHECK(has(chosen.why, "cost model"));
                    }
}

TEST_CASE("asked twice, or by another rank with the same values, the answer is the same") {
    for (rank_id size : {2u, 8u, 64u})
        for (std::uint64_t bytes : sizes_in_bytes) {
            choice const a = automatic{}.choose(collective::all_reduce, size, bytes, false, false);
            choice const b = automatic{}.choose(collective::all_reduce, size, bytes, false, false);
            CHECK(a.algorithm == b.algorithm);
            CHECK(a.why == b.why);
        }
}

TEST_CASE("no listed algorithm is expected to be faster, and more bytes are never expected to be faster") {
    automatic const any{};
    for (collective operation : all_collectives)
        for (rank_id size : {2u, 3u, 8u, 16u, 100u}) {
            double before = 0;
            for (std::uint64_t bytes : sizes_in_bytes) {
                INFO(std::string{to_string(operation)}, " p=", size, " bytes=", bytes);
                choice const chosen = any.choose(operation, size, bytes, false, false);
                double const expected = any.expected_seconds(chosen.algorithm, operation, size, bytes);
                for (std::string_view name : known_algorithms()) {
                    any_algorithm const other = algorithm_named(name);
                    if (name == "hierarchical" || !other.supports(operation)) continue;
                    bool const is_detour = operation == collective::reduce && size == 2 && other.cost_of(operation, 2, 1).rounds > 1;
                    if (is_detour) continue;  // there and back in halves: the model does not know that one message is streamed
                    CHECK(expected <= any.expected_seconds(other, operation, size, bytes));
                }
                CHECK(expected >= before);
                before = expected;
            }
        }
}

TEST_CASE("ranks that take turns on cores: the work of all decides, and none listed is expected to be faster") {
    automatic const any{};
    for (collective operation : all_collectives)
        for (rank_id size : {3u, 4u, 8u, 17u}) {
            double before = 0;
            for (std::uint64_t bytes : sizes_in_bytes) {
                INFO(std::string{to_string(operation)}, " p=", size, " bytes=", bytes);
                choice const chosen = any.choose({operation, size, bytes, "shm", false, false, 2});
                CHECK(chosen.algorithm == any.choose({operation, size, bytes, "shm", false, false, 2}).algorithm);
                CHECK(has(chosen.why, "on 2 cores"));
                double const expected = any.expected_seconds(chosen.algorithm, operation, size, bytes, 2);
                for (timed_algorithm const& other : chosen.times) CHECK(expected <= other.seconds);
                CHECK(expected >= before);
                before = expected;
            }
        }
    auto broadcast = [&](rank_id cores) { return any.choose({collective::broadcast, 8, 1 << 18, "shm", false, false, cores}).algorithm; };
    CHECK(broadcast(2).cost_of(collective::broadcast, 8, 1).rounds == 1);  // every other one moves as many bytes, in more turns
    CHECK(broadcast(8) == broadcast(0));                                   // a core each
}

TEST_CASE("between hosts long sums go round a ring in two halves, one of them under way while the other is reduced") {
    automatic const any{};
    for (std::string_view transport : {"ucx", "mpi"})
        for (rank_id size : {2u, 3u, 4u, 8u, 16u}) {
            auto chosen = [&](std::uint64_t bytes, bool needs_order = false) {
                return any.choose({collective::all_reduce, size, bytes, transport, needs_order}).algorithm;
            };
            CHECK(chosen(64u << 20).describe() == "ring(segments=2)");
            CHECK(chosen(64u << 20, true).keeps_order());
            CHECK(chosen(8).cost_of(collective::all_reduce, size, 8).rounds <= 5);
            for (collective operation : all_collectives) {
                double before = 0;
                for (std::uint64_t bytes : sizes_in_bytes) {
                    choice const one = any.choose({operation, size, bytes, transport});
                    double const time = one.times.front().seconds;
                    CHECK(time == any.expected_seconds(one.algorithm, operation, size, bytes, 0, transport));
                    CHECK(time >= before);
                    before = time;
                }
            }
        }
}

TEST_CASE("many ranks: few rounds for short vectors, few bytes for long ones") {
    automatic const any{};
    auto chosen = [&](std::uint64_t bytes) {
        return any.choose(collective::all_reduce, 64, bytes, false, false).algorithm;
    };
    cost const short_one = chosen(8).cost_of(collective::all_reduce, 64, 8);
    CHECK(short_one.rounds <= 7);
    cost const long_one = chosen(1u << 28).cost_of(collective::all_reduce, 64, 1u << 28);
    CHECK(long_one.bytes_sent <= 2.0 * (1u << 28));
    automatic slow_start{};
    slow_start.link.latency = 1;
    CHECK(slow_start.choose(collective::all_reduce, 64, 1u << 20, false, false)
              .algorithm.cost_of(collective::all_reduce, 64, 1)
              .rounds <= 2);
}

TEST_CASE("a table decides where it can, the cost model elsewhere") {
    automatic const tuned = read(
        "all_reduce * 2..8 0..4096 recursive_doubling   # short\n"
        "  all_reduce  *  2..*  4097..*  ring(segments=4)\n"
        "all_reduce shm 9..* 0..4096 binomial_tree\n"
        "all_to_all * 2..* * bruck\n"
        "all_gather thread * * ring\n");
    auto chosen = [&](rank_id size, std::uint64_t bytes, bool needs_order = false, std::string_view over = "shm") {
        return tuned.choose(collective::all_reduce, size, bytes, needs_order, false, over);
    };
    CHECK(chosen(2, 0).algorithm.name() == "recursive_doubling");
    CHECK(chosen(8, 4096).algorithm.name() == "recursive_doubling");
    CHECK(has(chosen(8, 4096).why, "table.txt line 2: all_reduce * 2..8 0..4096 recursive_doubling; the cost model expects"));
    CHECK(chosen(8, 4096).row == selection_row{.ranks_from = 2, .ranks_to = 8, .bytes_to = 4096,
                                               .algorithm = recursive_doubling{}});
    CHECK_FALSE(chosen(8, 4096).is_measured);
    CHECK(chosen(9, 4096).algorithm.name() == "binomial_tree");
    CHECK(has(chosen(9, 4096, false, "thread").why, "cost model"));
    CHECK(has(chosen(9, 4096, false, "").why, "cost model"));
    CHECK(chosen(8, 4097).algorithm.describe() == "ring(segments=4)");
    CHECK(chosen(1000, std::uint64_t{1} << 40).algorithm.describe() == "ring(segments=4)");
    choice const ordered = chosen(8, 4097, true);  // the ring does not keep the order
    CHECK(ordered.algorithm.keeps_order());
    CHECK_FALSE(ordered.row);
    CHECK(has(chosen(1, 100).why, "cost model"));
    CHECK(has(tuned.choose(collective::broadcast, 8, 100, false, false).why, "cost model"));
    CHECK(tuned.choose(collective::all_to_all, 8, 100, false, false).algorithm.name() == "bruck");
    CHECK(tuned.choose(collective::all_to_all, 8, 100, false, true).algorithm.takes_uneven());
}

TEST_CASE("a choice tells the time of the chosen one and of the next best, measured or expected") {
    automatic const tuned = read(
        "all_reduce shm 4 0..4096 direct\n"
        "all_reduce shm 8 * ring(segments=3)\n"
        "measured all_reduce shm 4 1000 10 direct | 20 ring | 4 recursive_doubling\n"
        "measured all_reduce shm 4 2000 30 direct | 30 ring\n");
    choice const measured = tuned.choose({collective::all_reduce, 4, 1500, "shm"});
    CHECK(measured.is_measured);
    CHECK(measured.times.size() == 3);
    CHECK(measured.times[0].algorithm.name() == "recursive_doubling");  // 4 us at 1000 bytes, 6 us in proportion
    CHECK(has(measured.why, "table.txt line 2: all_reduce shm 4 0..4096 direct; measured 20 us, next best "
                            "recursive_doubling 6 us (-70 %)"));
    choice const expected = tuned.choose({collective::all_reduce, 8, 1500, "shm"});
    CHECK_FALSE(expected.is_measured);
    CHECK(has(expected.why, "table.txt line 3: "));
    double before = 0;
    bool has_own = false;
    for (timed_algorithm const& time : expected.times) {
        CHECK(time.seconds == tuned.expected_seconds(time.algorithm, collective::all_reduce, 8, 1500));
        CHECK(time.seconds >= before);
        before = time.seconds;
        has_own |= time.algorithm == expected.algorithm;
    }
    CHECK(has_own);
    choice const modelled = automatic{}.choose({collective::all_reduce, 8, 1500, "shm"});
    CHECK(modelled.algorithm == modelled.times.front().algorithm);
    CHECK(has(modelled.why, "next best " + modelled.times[1].algorithm.describe()));
}

TEST_CASE("choosers are equal if link and table are") {
    CHECK(automatic{} == automatic{});
    automatic const one = read("barrier * 1..7 * dissemination\n");
    automatic const two = read("barrier * 1..7 * dissemination\n");
    CHECK(one == two);
    CHECK(one.is_same(one));
    CHECK_FALSE(one.is_same(two));
    CHECK_FALSE(one == automatic{});
    CHECK_FALSE(one == read("barrier * 1..8 * dissemination\n"));
    automatic other = one;
    other.link.latency = 1;
    CHECK_FALSE(other == one);
    other = one;
    other.in_turns.per_turn = 1;
    CHECK_FALSE(other == one);
    CHECK_FALSE(other.is_same(one));
}

TEST_CASE("a table from a file, and none") {
    std::string const path = (std::filesystem::temp_directory_path() / "chorus_automatic_test_table.txt").string();
    std::ofstream{path} << "chorus-table 1\nbroadcast * * * chain(segments=3)\n";
    automatic const tuned = automatic::load(path);
    std::remove(path.c_str());
    CHECK(tuned.choose(collective::broadcast, 5, 1, true, true).algorithm.describe() == "chain(segments=3)");
    CHECK(has(tuned.choose(collective::broadcast, 5, 1, true, true).why, path + " line 2: "));
    try {
        automatic::load(path);
        FAIL("the file is gone");
    } catch (error const& failure) {
        CHECK(failure.code() == errc::system_failed);
        CHECK(has(failure.what(), path));
    }
}

TEST_CASE("a row may name the library's own, of which no time is known") {
    automatic const tuned = read("all_reduce mpi 2..* * native\n");
    choice const chosen = tuned.choose(collective::all_reduce, 4, 1024, false, false, "mpi");
    CHECK(chosen.algorithm.name() == native::name);
    CHECK(has(chosen.why, "a time that is not known"));
    CHECK(has(chosen.why, "next best"));
    CHECK_FALSE(chosen.times.empty());
}
