// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/schedule/explain.hpp"

#include <sstream>
#include <string>

#include <doctest/doctest.h>

using namespace chorus;

namespace {

automatic read(std::string const& text) {
    std::istringstream lines{"chorus-table 1\n" + text};
    return automatic::with(selection_table::read(lines, "table.txt"));
}

}  // namespace

TEST_CASE("an explanation names the row that decided, its time and the others'") {
    automatic const tuned = read(
        "all_reduce shm 4 0..4096 direct\n"
        "measured all_reduce shm 4 1000 10 direct | 12.5 ring | 40 rabenseifner\n");
    CHECK(explain(tuned, {collective::all_reduce, 4, 1000, "shm"}) ==
          "all_reduce of 1000 bytes on 4 ranks over shm\n"
          "  chosen    direct\n"
          "  decided   by table.txt line 2: all_reduce shm 4 0..4096 direct\n"
          "  measured  10 us, next best ring 12.5 us (+25 %)\n"
          "  others    12.5 us  ring\n"
          "            40 us  rabenseifner\n");
    std::string const fallback = explain(tuned, {collective::all_reduce, 4, 4097, "shm", true});
    CHECK(fallback.find("on 4 ranks over shm, in the order of ranks\n") != std::string::npos);
    CHECK(fallback.find("by the cost model: no row of table.txt answers\n  expected  ") != std::string::npos);
}

TEST_CASE("explained is what is chosen, whatever is asked") {
    for (collective operation : all_collectives)
        for (rank_id ranks : {1u, 2u, 7u})
            for (bool uneven : {false, true}) {
                algorithm_query const asked{operation, ranks, 4096, {}, false, uneven};
                std::string const text = explain(automatic{}, asked);
                choice const chosen = automatic{}.choose(asked);
                CHECK(text.find("\n  chosen    " + chosen.algorithm.describe() + "\n  decided   by the cost model\n") !=
                      std::string::npos);
                for (timed_algorithm const& other : chosen.times)
                    CHECK(text.find(other.algorithm.describe()) != std::string::npos);
            }
}
