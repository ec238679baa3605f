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
    std::istringstream lines{text};
    return automatic::read(lines, "table.txt");
}

std::string refusal(std::string const& text) {
    try {
        read(text);
    } catch (error const& failure) {
        CHECK(failure.code() == errc::invalid_argument);
        return failure.what();
    }
    return "accepted";
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
                    CHECK(expected <= any.expected_seconds(other, operation, size, bytes));
                }
                CHECK(expected >= before);
                before = expected;
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
        "# measured on some host\n"
        "\n"
        "all_reduce 2 8 0 4096 recursive_doubling   # short\n"
        "  all_reduce  2 *  4097 *  ring(segments=4)\n"
        "all_reduce 2 * 0 * binomial_tree\n"
        "all_to_all 2 * 0 * bruck\n"
        "all_reduce 4 4 7 7 hierarchical(inside=direct, between=ring, width=2)\n");
    CHECK(tuned.table.size() == 5);
    auto chosen = [&](rank_id size, std::uint64_t bytes, bool needs_order = false) {
        return tuned.choose(collective::all_reduce, size, bytes, needs_order, false);
    };
    CHECK(chosen(2, 0).algorithm.name() == "recursive_doubling");
    CHECK(chosen(8, 4096).algorithm.name() == "recursive_doubling");
    CHECK(chosen(4, 7).algorithm.name() == "recursive_doubling");  // the first line that fits
    CHECK(chosen(8, 4096).why == "table line 3: all_reduce 2 8 0 4096 recursive_doubling");
    CHECK(chosen(9, 4096).algorithm.name() == "binomial_tree");
    CHECK(chosen(8, 4097).algorithm.describe() == "ring(segments=4)");
    CHECK(chosen(1000, std::uint64_t{1} << 40).algorithm.describe() == "ring(segments=4)");
    CHECK(chosen(8, 4097, true).algorithm.name() == "binomial_tree");  // the ring does not keep the order
    CHECK(has(chosen(1, 100).why, "cost model"));
    CHECK(has(tuned.choose(collective::broadcast, 8, 100, false, false).why, "cost model"));
    CHECK(tuned.choose(collective::all_to_all, 8, 100, false, false).algorithm.name() == "bruck");
    CHECK(tuned.choose(collective::all_to_all, 8, 100, false, true).algorithm.takes_uneven());
}

TEST_CASE("a table written is the table read") {
    automatic const first = read("all_reduce 2 * 0 4096 ring(segments=2)\nbarrier 1 7 0 * dissemination\n");
    std::string text;
    for (choice_rule const& rule : first.table) text += to_string(rule) + '\n';
    CHECK(read(text) == first);
    CHECK_FALSE(read("") == first);
}

TEST_CASE("a table from a file, and none") {
    std::string const path = (std::filesystem::temp_directory_path() / "chorus_automatic_test_table.txt").string();
    std::ofstream{path} << "broadcast 1 * 0 * chain(segments=3)\n";
    automatic const tuned = automatic::load(path);
    std::remove(path.c_str());
    CHECK(tuned.choose(collective::broadcast, 5, 1, true, true).algorithm.describe() == "chain(segments=3)");
    try {
        automatic::load(path);
        FAIL("the file is gone");
    } catch (error const& failure) {
        CHECK(failure.code() == errc::system_failed);
        CHECK(has(failure.what(), path));
    }
}

TEST_CASE("malformed lines are refused by number") {
    std::string const good = "all_reduce 2 8 0 4096 ring\n# nothing\n";
    CHECK(refusal(good) == "accepted");
    for (char const* bad :
         {"all_reduce", "all_reduce 2 8 0 4096", "all_reduce 2 8 0 x ring", "all_reduce 2 8 -1 5 ring",
          "allreduce 2 8 0 5 ring", "all_reduce 8 2 0 5 ring", "all_reduce 2 8 6 5 ring", "all_reduce 2 8 0 5 rign",
          "all_reduce 2 8 0 5 ring(x=1)", "all_reduce 2 8 0 5 ring direct", "all_reduce 2 8 0 5 bruck",
          "all_reduce 2 4294967296 0 5 ring", "all_reduce 2 8 0 18446744073709551616 ring"}) {
        INFO(bad);
        CHECK(has(refusal(good + bad + "\n"), "table.txt line 3: "));
    }
    CHECK(has(refusal("all_reduce 2 8 0 5 bruck"), "bruck does not offer all_reduce"));
    CHECK(has(refusal("allreduce 2 8 0 5 ring"), "\"allreduce\" is no collective"));
}
