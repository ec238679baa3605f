// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/schedule/import_rules.hpp"

#include "chorus/base/random.hpp"
#include "chorus/schedule/algorithms.hpp"

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace chorus;

namespace {

bool has(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

imported_table open_mpi(std::string const& text) {
    std::istringstream lines{text};
    return import_open_mpi_rules(lines, "rules.conf");
}

imported_table nccl(std::string const& text, std::int64_t nodes = 0) {
    std::istringstream lines{text};
    return import_nccl_tuner(lines, "tuner.csv", nodes);
}

template <class Import>
std::string refusal_of(Import const& import, std::string const& text) {
    try {
        import(text);
    } catch (error const& failure) {
        CHECK(failure.code() == errc::invalid_argument);
        return failure.what();
    }
    return "accepted";
}

std::string row_for(imported_table const& from, algorithm_query const& asked) {
    selection_row const* const row = from.table.find(asked);
    return row == nullptr ? "none" : row->algorithm.describe();
}

std::string all_of(std::vector<std::string> const& lines) {
    std::string all;
    for (std::string const& line : lines) all += line + '\n';
    return all;
}

auto const as_open_mpi = [](std::string const& text) { return open_mpi(text); };
auto const as_nccl = [](std::string const& text) { return nccl(text); };

std::string const open_mpi_rules =
    "rule-file-version-2\n"
    "3   # collectives\n"
    "2   # allreduce\n"
    "2   # communicator sizes\n"
    "4   # ranks\n"
    "3   # message sizes\n"
    "0      3 0 0\n"
    "8192   4 0 0 16\n"
    "1000000 0 0 0\n"
    "16\n"
    "1\n"
    "0 6 0 0\n"
    "3 1 8 2 0 3 0 0   # alltoall\n"
    "4096 2 0 0\n"
    "0 1 2 2 0 5 0 0   # allgather by neighbours, then ring\n"
    "64 4 0 0\n";

}  // namespace

TEST_CASE("rules of Open MPI hold from their communicator and message size up to the next") {
    imported_table const from = open_mpi(open_mpi_rules);
    auto all_reduce_by = [&](rank_id ranks, std::uint64_t bytes) {
        return row_for(from, {collective::all_reduce, ranks, bytes, "mpi"});
    };
    CHECK(all_reduce_by(3, 0) == "none");
    CHECK(all_reduce_by(4, 0) == "recursive_doubling");
    CHECK(all_reduce_by(15, 8191) == "recursive_doubling");
    CHECK(all_reduce_by(4, 8192) == "ring");
    CHECK(all_reduce_by(15, 999999) == "ring");
    CHECK(all_reduce_by(15, 1000000) == "none");
    CHECK(all_reduce_by(16, 0) == "rabenseifner");
    CHECK(all_reduce_by(100000, 1u << 30) == "rabenseifner");
    CHECK(row_for(from, {collective::all_to_all, 8, 4095}) == "bruck");
    CHECK(row_for(from, {collective::all_to_all, 800, 4096}) == "pairwise");
    CHECK(row_for(from, {collective::all_gather, 2, 63}) == "none");
    CHECK(row_for(from, {collective::all_gather, 2, 64}) == "ring");
    REQUIRE(from.left_out.size() == 1);
    CHECK(from.left_out[0] == "rules.conf line 15: algorithm 5 (neighbor) of allgather has no counterpart");
    CHECK(from.table.rows()[1].line == 8);
    CHECK(open_mpi("0").table.is_empty());
    CHECK(row_for(open_mpi("1 7 1 0 1 0 6 0 0"), {collective::broadcast, 1, 0}) == "binomial_tree");
    imported_table const gap = open_mpi("1 7 3  0 1 0 6 0 0  1 0  3 1 0 1 0 0");
    CHECK(gap.table.rows().size() == 1);
    CHECK(row_for(gap, {collective::broadcast, 2, 0}) == "none");
}

TEST_CASE("every algorithm id of Open MPI becomes a row that can do it, or a reason") {
    for (std::uint64_t id = 0; id < 24; ++id)
        for (std::uint64_t algorithm = 0; algorithm < 12; ++algorithm) {
            imported_table const from =
                open_mpi("1 " + std::to_string(id) + " 1 2 1 0 " + std::to_string(algorithm) + " 0 0");
            INFO(std::to_string(id), " ", std::to_string(algorithm), " ", all_of(from.left_out));
            bool const is_known = id <= 3 || (id >= 6 && id <= 9) || (id >= 11 && id <= 15);
            if (algorithm == 0 && is_known) CHECK((from.table.is_empty() && from.left_out.empty()));
            else CHECK(from.table.rows().size() + from.left_out.size() == 1);
            for (selection_row const& row : from.table.rows())
                for (rank_id ranks : {2u, 3u, 8u})
                    CHECK(row.algorithm.make(row.operation, 0, ranks).blocks() > 0);
        }
    CHECK(has(all_of(open_mpi("1 14 1 2 2 0 1 0 0 9 2 0 0").left_out), "message sizes of scan do not count the elements"));
    CHECK(open_mpi("1 14 1 2 1 0 2 0 0").table.rows().size() == 1);
    CHECK(has(all_of(open_mpi("1 10 1 2 1 0 2 0 0").left_out), "collective 10 has no counterpart"));
}

TEST_CASE("all-gather and its form by counts share rows here: the first rules win") {
    imported_table const from = open_mpi("2  0 1 4 1 0 4 0 0  1 1 2 1 0 2 0 0");
    CHECK(row_for(from, {collective::all_gather, 4, 9}) == "ring");
    CHECK(row_for(from, {collective::all_gather, 3, 9}) == "bruck");
    CHECK(row_for(from, {collective::all_gather, 2, 9}) == "bruck");
    CHECK(row_for(from, {collective::all_gather, 400, 9}) == "ring");
    CHECK(from.table.rows().size() == 2);
}

TEST_CASE("what Open MPI would not read is refused by line") {
    struct bad_text {
        char const* text;
        char const* words;
    };
    for (bad_text const bad : {
             bad_text{"", "line 0: found the end of the text, expected a number of collectives"},
             {"1", "found the end of the text, expected the id of a collective"},
             {"1\n2\nx", "line 3: found \"x\", expected a number of communicator sizes, a whole number"},
             {"1\n-2", "line 2: found \"-2\", expected the id of a collective"},
             {"65", "found \"65\", expected a number of collectives, at most 64"},
             {"1 2 1 4 1\n8 3 0 0", "line 2: found 8, expected 0 as the first message size"},
             {"1 2 1 4 2 0 3 0 0 0 3 0 0", "expected message sizes in ascending order"},
             {"1 2 2 4 1 0 3 0 0 4 1 0 3 0 0", "expected communicator sizes in ascending order"},
             {"1 2 1 4 1 0 3 0 0\n7", "line 2: found \"7\", expected the end"},
             {"1 2 1 4 1 0 3 0 0 16", "found \"16\", expected the end"},
             {"rule-file-version-3 1", "version 1 or 2; the form of version 3 is JSON"},
             {"{\"rule_file_version\": 3}", "line 1: found"},
             {"1 2 1 4 99999", "at most 4096"},
             {"99999999999999999999999", "a whole number"},
         }) {
        INFO(std::string{bad.text});
        std::string const said = refusal_of(as_open_mpi, bad.text);
        INFO(said);
        CHECK(has(said, "rules.conf line "));
        CHECK(has(said, bad.words));
    }
}

TEST_CASE("lines of the NCCL tuner become rows; the first that matches wins") {
    imported_table const from = nccl(
        "# Format: …\n"
        "allreduce,0,65536,tree,simple,2,-1,-1\n"
        "allreduce,32768,1048576,ring,ll128,4,-1,32,1,0\n"
        " allreduce , 0 , 4294967295 , ring , simple , -1 , -1 , -1 , -1 , -1\n"
        "allreduce,5,6,ring,simple,-1,-1,-1\n"
        "broadcast,0,32768,tree,simple,-1,1,-1\n"
        "broadcast,32769,4294967295,ring,simple,2,-1,-1,1,0\n"
        "allgather,0,4294967295,pat,simple,4,-1,16\n"
        "reducescatter,0,131072,tree,simple,2,-1,-1\n"
        "reduce,0,4294967295,nvls,simple,-1,-1,-1\n"
        "reduce,0,9,ring,ll,-1,-1,-1,4\n"
        "reduce,0,9,ring,ll,-1,-1,-1,-1,1\n");
    auto all_reduce_by = [&](rank_id ranks, std::uint64_t bytes) {
        return row_for(from, {collective::all_reduce, ranks, bytes});
    };
    CHECK(all_reduce_by(2, 0) == "double_binary_tree");
    CHECK(all_reduce_by(32, 65536) == "double_binary_tree");
    CHECK(all_reduce_by(32, 65537) == "ring");
    CHECK(all_reduce_by(2, 65537) == "ring");
    CHECK(all_reduce_by(2, 4294967296) == "none");
    CHECK(row_for(from, {collective::broadcast, 8, 32769}) == "chain");
    CHECK(row_for(from, {collective::broadcast, 8, 5}) == "none");
    CHECK(row_for(from, {collective::all_gather, 16, 5}) == "bruck");
    CHECK(row_for(from, {collective::all_gather, 15, 5}) == "none");
    std::string const left_out = all_of(from.left_out);
    INFO(left_out);
    CHECK(from.left_out.size() == 6);
    CHECK(has(left_out, "tuner.csv line 5: earlier lines answer all that"));
    CHECK(has(left_out, "tuner.csv line 6: it is for 1 nodes"));
    CHECK(has(left_out, "tuner.csv line 9: tree of reducescatter has no counterpart"));
    CHECK(has(left_out, "tuner.csv line 10: nvls of reduce has no counterpart"));
    CHECK(has(left_out, "tuner.csv line 11: it is for 4 operations at once"));
    CHECK(has(left_out, "tuner.csv line 12: it is for registered buffers"));
    CHECK(row_for(nccl("broadcast,0,32768,tree,simple,-1,1,-1\n", 1), {collective::broadcast, 8, 5}) == "double_binary_tree");
}

TEST_CASE("first wins: random overlapping lines answer as a search from the top does") {
    counter_random const random{3};
    std::uint64_t draws = 0;
    auto below = [&](std::uint64_t limit) { return random.below(draws++, limit); };
    for (int trial = 0; trial < 60; ++trial) {
        struct line {
            std::uint64_t from, to;
            std::int64_t ranks;
            bool tree;
        };
        std::vector<line> lines;
        std::string text;
        for (int i = 0; i < 12; ++i) {
            std::uint64_t const from = below(20);
            lines.push_back({from, from + below(12), static_cast<std::int64_t>(below(4)), below(2) == 0});
            if (lines.back().ranks == 0) lines.back().ranks = -1;
            line const& l = lines.back();
            text += "allreduce," + std::to_string(l.from) + ',' + std::to_string(l.to) + (l.tree ? ",tree" : ",ring") +
                    ",simple,-1,-1," + std::to_string(l.ranks) + '\n';
        }
        imported_table const from = nccl(text);
        for (rank_id ranks = 1; ranks <= 5; ++ranks)
            for (std::uint64_t bytes = 0; bytes < 34; ++bytes) {
                std::string expected = "none";
                for (line const& l : lines)
                    if (expected == "none" && bytes >= l.from && bytes <= l.to && (l.ranks == -1 || l.ranks == ranks))
                        expected = l.tree ? "double_binary_tree" : "ring";
                CHECK(row_for(from, {collective::all_reduce, ranks, bytes}) == expected);
            }
    }
}

TEST_CASE("unknown words and malformed lines of the NCCL tuner are refused by line") {
    struct bad_text {
        char const* text;
        char const* words;
    };
    for (bad_text const bad : {
             bad_text{"allreduce,0,1,ring", "8 to 10 fields"},
             {"allreduce,0,1,ring,ll,1,1,1,1,1,1", "8 to 10 fields"},
             {"alltoall,0,1,ring,ll,1,1,1", "found \"alltoall\", expected broadcast"},
             {"allreduce,x,1,ring,ll,1,1,1", "found \"x,1\", expected min bytes,max bytes"},
             {"allreduce,2,1,ring,ll,1,1,1", "expected min bytes,max bytes"},
             {"allreduce,0,1,rign,ll,1,1,1", "found \"rign\", expected tree"},
             {"allreduce,0,1,ring,l,1,1,1", "expected a protocol"},
             {"allreduce,0,1,ring,ll,-2,1,1", "expected channels"},
             {"allreduce,0,1,ring,ll,1,,1", "expected a number of nodes"},
             {"allreduce,0,1,ring,ll,1,1,0", "expected a number of ranks"},
             {"allreduce,0,1,ring,ll,1,1,4294967296", "expected a number of ranks"},
         }) {
        INFO(std::string{bad.text});
        std::string const said = refusal_of(as_nccl, std::string{"# head\n"} + bad.text + '\n');
        INFO(said);
        CHECK(has(said, "tuner.csv line 2: found"));
        CHECK(has(said, bad.words));
    }
}

TEST_CASE("whatever the bytes, foreign rules are read or refused, soon") {
    counter_random const random{11};
    std::uint64_t draws = 0;
    std::string const tuner = "allreduce,0,65536,tree,simple,2,-1,-1\nreduce,0,9,ring,ll,-1,-1,-1,4\n";
    for (int trial = 0; trial < 2000; ++trial) {
        std::string text = trial % 2 == 0 ? open_mpi_rules : tuner;
        for (std::uint64_t changes = 1 + random.below(draws++, 6); changes > 0; --changes) {
            std::size_t const at = static_cast<std::size_t>(random.below(draws++, text.size()));
            if (random.below(draws++, 2) == 0) text[at] = static_cast<char>(random.below(draws++, 256));
            else text.insert(at, text.substr(static_cast<std::size_t>(random.below(draws++, text.size())), 9));
        }
        std::string const said = trial % 2 == 0 ? refusal_of(as_open_mpi, text) : refusal_of(as_nccl, text);
        CHECK((said == "accepted" || has(said, " line ")));
    }
}
