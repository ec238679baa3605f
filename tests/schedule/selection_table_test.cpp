// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/schedule/selection_table.hpp"

#include "chorus/base/random.hpp"

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace chorus;

namespace {

bool has(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

selection_table read(std::string const& text) {
    std::istringstream lines{text};
    return selection_table::read(lines, "table.txt");
}

std::string written(selection_table const& table) {
    std::ostringstream out;
    table.write(out);
    return out.str();
}

template <class Work>
std::string refusal_of(Work const& work) {
    try {
        work();
    } catch (error const& failure) {
        CHECK(failure.code() == errc::invalid_argument);
        return failure.what();
    }
    return "accepted";
}

std::string refusal(std::string const& text) {
    return refusal_of([&] { read(text); });
}

std::string const good =
    "# machine: two cores\n"
    "# date: today\n"
    "chorus-table 1\n"
    "# collective transport ranks bytes algorithm\n"
    "all_reduce shm 2 0..4095 recursive_doubling\n"
    "all_reduce shm 2 4096..* ring(segments=4)\n"
    "all_reduce shm 4..8 * hierarchical(inside=direct, between=ring, width=2)\n"
    "barrier * * * dissemination\n"
    "broadcast tcp 3 7 chain\n"
    "# measured collective transport ranks bytes microseconds algorithm | …\n"
    "measured all_reduce shm 2 4096 3.21 ring(segments=4) | 3.4 recursive_doubling\n"
    "measured barrier shm 2 0 0.5 dissemination\n";

}  // namespace

TEST_CASE("what is written is what was read, comments at the head included") {
    selection_table const table = read(good);
    CHECK(written(table) == good);
    CHECK(read(written(table)) == table);
    CHECK(table.rows().size() == 5);
    CHECK(table.rows()[1].line == 6);
    CHECK(table.measurements().size() == 2);
    CHECK(table.comments == std::vector<std::string>{"machine: two cores", "date: today"});
    CHECK(read("chorus-table 1").is_empty());
    CHECK(read("\r\n# x\r\nchorus-table 1\r\nbarrier * * * dissemination\r\n").rows().size() == 1);
    CHECK_FALSE(read("chorus-table 1") == table);
}

TEST_CASE("a row answers what it says and nothing else") {
    selection_table const table = read(good);
    auto found = [&](collective what, std::string_view over, rank_id ranks, std::uint64_t bytes, bool order = false) {
        selection_row const* const row = table.find({what, ranks, bytes, over, order});
        return row == nullptr ? std::string{"none"} : row->algorithm.describe();
    };
    CHECK(found(collective::all_reduce, "shm", 2, 0) == "recursive_doubling");
    CHECK(found(collective::all_reduce, "shm", 2, 4095) == "recursive_doubling");
    CHECK(found(collective::all_reduce, "shm", 2, 4096) == "ring(segments=4)");
    CHECK(found(collective::all_reduce, "shm", 2, ~std::uint64_t{0}) == "ring(segments=4)");
    CHECK(found(collective::all_reduce, "shm", 2, 4096, true) == "none");
    CHECK(found(collective::all_reduce, "shm", 2, 4095, true) == "recursive_doubling");
    CHECK(found(collective::all_reduce, "thread", 2, 0) == "none");
    CHECK(found(collective::all_reduce, "", 2, 0) == "none");
    CHECK(found(collective::all_reduce, "shm", 3, 0) == "none");
    CHECK(has(found(collective::all_reduce, "shm", 4, 0), "hierarchical"));
    CHECK(has(found(collective::all_reduce, "shm", 8, 1u << 30), "hierarchical"));
    CHECK(found(collective::all_reduce, "shm", 9, 0) == "none");
    CHECK(found(collective::barrier, "", 4096, 0) == "dissemination");
    CHECK(found(collective::broadcast, "tcp", 3, 7) == "chain");
    CHECK(found(collective::broadcast, "tcp", 3, 8) == "none");
}

TEST_CASE("refused is: by line, what was found, what was expected") {
    std::string const head = "chorus-table 1\nall_reduce * 2..8 0..4096 ring\n";
    CHECK(refusal(head) == "accepted");
    struct bad_line {
        char const* text;
        char const* found;
        char const* expected;
    };
    for (bad_line const bad : {
             bad_line{"allreduce shm 2 0 ring", "found \"allreduce\"", "expected a collective: all_reduce, "},
             {"gather", "found the end of the line", "expected a transport"},
             {"gather Shm 2 0 direct", "found \"Shm\"", "expected a transport such as shm, or *"},
             {"gather shm", "found the end of the line", "expected ranks such as"},
             {"gather shm 2..", "found \"2..\"", "expected ranks such as"},
             {"gather shm 2..3..4 0 direct", "found \"2..3..4\"", "expected ranks such as"},
             {"gather shm -1 0 direct", "found \"-1\"", "expected ranks"},
             {"gather shm 4294967296 0 direct", "found \"4294967296\"", "expected ranks"},
             {"gather shm 0 0 direct", "0 ranks", "at least one"},
             {"gather shm 2 18446744073709551616 direct", "found \"18446744073709551616\"", "expected bytes"},
             {"gather shm 2 4K direct", "found \"4K\"", "expected bytes such as"},
             {"gather shm 2 7..6 direct", "", "a range ends before it begins"},
             {"gather shm 2 7", "found the end of the line", "expected an algorithm"},
             {"gather shm 2 7 rign", "there is no algorithm \"rign\"", "there are all_pairs"},
             {"gather shm 2 7 direct(x=1)", "direct has no parameter x", ""},
             {"gather shm 2 7 direct ring", "there is no algorithm \"direct ring\"", ""},
             {"gather shm 2 7 ring", "ring does not offer gather", ""},
             {"all_reduce shm 2 4096..5000 direct", "overlaps \"all_reduce * 2..8 0..4096 ring\" of line 2", ""},
             {"all_reduce * 9 0 ring(segments=4097)", "found \"4097\"", "expected a parameter of at most 4096"},
             {"all_reduce * 9 0 ring(segments=4294967295)", "found \"4294967295\"", ""},
             {"all_reduce * 9..10 0 hierarchical(groups=4+5)", "groups", "one number of ranks only"},
             {"all_reduce * 10 0 hierarchical(groups=4+5)", "group sizes must", "add up"},
             {"measured all_reduce * 2 8 1 ring", "found \"*\"", "expected a transport such as shm"},
             {"measured all_reduce shm 2..3 8 1 ring", "found \"2..3\"", "expected a number of ranks"},
             {"measured all_reduce shm 2 8", "found the end of the line", "expected microseconds"},
             {"measured all_reduce shm 2 8 ring", "found \"ring\"", "expected microseconds above 0"},
             {"measured all_reduce shm 2 8 0 ring", "found \"0\"", "expected microseconds above 0"},
             {"measured all_reduce shm 2 8 nan ring", "found \"nan\"", "expected microseconds above 0"},
             {"measured all_reduce shm 2 8 inf ring", "found \"inf\"", ""},
             {"measured all_reduce shm 2 8 1e999 ring", "found \"1e999\"", ""},
             {"measured all_reduce shm 2 8 1 ring |", "found the end of the line", "expected microseconds"},
             {"measured all_reduce shm 2 8 1 ring | 2 ring", "measured twice", ""},
             {"measured all_reduce shm 2 8 1 bruck", "bruck does not offer all_reduce", ""},
             {"measured all_reduce shm 0 8 1 ring", "0 ranks", ""},
             {"chorus-table 1", "found \"chorus-table\"", "expected a collective"},
         }) {
        INFO(std::string{bad.text});
        std::string const said = refusal(head + bad.text + "\nbarrier * * * dissemination\n");
        INFO(said);
        CHECK(has(said, "table.txt line 3: "));
        CHECK(has(said, bad.found));
        CHECK(has(said, bad.expected));
    }
    CHECK(has(refusal(""), "found the end of the text, expected \"chorus-table 1\""));
    CHECK(has(refusal("barrier * * * dissemination"), "line 1: found \"barrier * * * dissemination\", expected \"chorus-table 1\""));
    CHECK(has(refusal("chorus-table 2"), "another version"));
    CHECK(has(refusal(good + "measured barrier shm 2 0 1 dissemination"), "there already of line 12"));
}

TEST_CASE("whatever the bytes, a text is a table or is refused, soon") {
    counter_random const random{7};
    std::uint64_t draws = 0;
    for (int trial = 0; trial < 1000; ++trial) {
        std::string text = good;
        for (std::uint64_t changes = 1 + random.below(draws++, 6); changes > 0; --changes) {
            std::size_t const at = static_cast<std::size_t>(random.below(draws++, text.size()));
            switch (random.below(draws++, 3)) {
                case 0: text[at] = static_cast<char>(random.below(draws++, 256)); break;
                case 1: text.erase(at, static_cast<std::size_t>(random.below(draws++, 9))); break;
                default: text.insert(at, text.substr(static_cast<std::size_t>(random.below(draws++, text.size())), 9));
            }
        }
        std::string const said = refusal(text);
        if (said == "accepted") CHECK(written(read(written(read(text)))) == written(read(text)));
        else CHECK(has(said, "table.txt line "));
        for (char c : said) CHECK((static_cast<unsigned char>(c) >= 0x20 && c != 0x7F));
    }
    CHECK(has(refusal(std::string(1u << 20, 'x')), "at most 4096 characters"));
    std::string nested = "ring";
    for (int i = 0; i < 100; ++i) nested = "hierarchical(inside=" + nested + ")";
    CHECK(has(refusal("chorus-table 1\nall_reduce * 2 0 " + nested), "at most 6 algorithms"));
    std::string const zeros(3, '\0');
    CHECK(has(refusal("chorus-table 1\n" + zeros), "\"???\""));
}

TEST_CASE("more rows than there may be are refused") {
    std::string text = "chorus-table 1\n";
    for (std::size_t i = 0; i <= selection_table::most_rows; ++i) text += "barrier * " + std::to_string(i + 1) + " 0 dissemination\n";
    CHECK(has(refusal(text), "line " + std::to_string(selection_table::most_rows + 2) + ": more than"));
}

TEST_CASE("two rows overlap exactly if some question has both as an answer") {
    std::vector<selection_row> rows;
    for (char const* over : {"*", "shm", "thread"})
        for (rank_id from : {1u, 2u, 3u})
            for (rank_id to : {2u, 3u})
                for (std::uint64_t bytes : {0u, 2u})
                    if (from <= to)
                        rows.push_back({.transport = over, .ranks_from = from, .ranks_to = to, .bytes_from = bytes,
                                        .bytes_to = 2, .algorithm = direct{}});
    for (selection_row const& a : rows)
        for (selection_row const& b : rows) {
            bool both = false;
            for (char const* over : {"shm", "thread", "other"})
                for (rank_id ranks = 1; ranks <= 4; ++ranks)
                    for (std::uint64_t bytes = 0; bytes <= 3; ++bytes) {
                        algorithm_query const asked{collective::all_reduce, ranks, bytes, over};
                        both |= a.covers(asked) && b.covers(asked);
                    }
            CHECK(a.overlaps(b) == both);
            selection_table table;
            table.add(a);
            CHECK((refusal_of([&] { table.add(b); }) != "accepted") == both);
        }
}

TEST_CASE("times lie on lines between what was measured") {
    selection_table const table = read(
        "chorus-table 1\n"
        "measured all_reduce shm 4 1000 10 ring | 6 direct\n"
        "measured all_reduce shm 4 2000 30 ring\n"
        "measured all_reduce shm 4 4000 20 direct | 31 ring\n"
        "measured all_reduce shm 2 1000 1 ring\n");
    auto at = [&](std::uint64_t bytes, any_algorithm const& algorithm, bool order = false) {
        for (timed_algorithm const& time : table.times_of({collective::all_reduce, 4, bytes, "shm", order}))
            if (time.algorithm == algorithm) return 1e6 * time.seconds;
        return -1.0;
    };
    CHECK(at(0, ring{}) == doctest::Approx(10));
    CHECK(at(1000, ring{}) == doctest::Approx(10));
    CHECK(at(1500, ring{}) == doctest::Approx(20));
    CHECK(at(2000, ring{}) == doctest::Approx(30));
    CHECK(at(3000, ring{}) == doctest::Approx(30.5));
    CHECK(at(8000, ring{}) == doctest::Approx(62));
    CHECK(at(2000, direct{}) == doctest::Approx(6 + 14.0 / 3));
    CHECK(at(1500, bruck{}) == -1);
    CHECK(at(1500, ring{}, true) == -1);
    auto const times = table.times_of({collective::all_reduce, 4, 1500, "shm"});
    CHECK(times.size() == 2);
    CHECK(times.front().algorithm.name() == "direct");
    CHECK(table.times_of({collective::all_reduce, 4, 1500, "thread"}).empty());
    CHECK(table.times_of({collective::all_reduce, 3, 1500, "shm"}).empty());
    CHECK(table.times_of({collective::reduce, 4, 1500, "shm"}).empty());
}

TEST_CASE("newer rows and measurements replace those of their collective, transport and ranks") {
    selection_table table = read(good);
    selection_table const newer = read(
        "# new\nchorus-table 1\n"
        "all_reduce shm 2 * direct\n"
        "measured all_reduce shm 2 8 1 direct\n");
    table.replace(newer);
    CHECK(table.comments == std::vector<std::string>{"new"});
    CHECK(table.rows().size() == 4);
    CHECK(table.measurements().size() == 2);
    CHECK(table.find({collective::all_reduce, 2, 5000, "shm"})->algorithm.name() == "direct");
    CHECK(table.find({collective::broadcast, 3, 7, "tcp"}) != nullptr);
    CHECK(table.times_of({collective::all_reduce, 2, 4096, "shm"}).size() == 1);
    CHECK(has(refusal_of([&] { table.replace(read("chorus-table 1\nall_reduce shm 5 * direct\n")); }), "overlaps"));
}
