// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/schedule/hierarchical.hpp"

#include "chorus/schedule/all_pairs.hpp"
#include "chorus/schedule/direct.hpp"
#include "chorus/schedule/rabenseifner.hpp"
#include "chorus/schedule/recursive_doubling.hpp"
#include "chorus/schedule/recursive_halving.hpp"
#include "chorus/schedule/ring.hpp"
#include "suites/algorithm_suite.hpp"

#include <doctest/doctest.h>

#include <string_view>
#include <vector>

using namespace chorus;

namespace hierarchical_test {

/// Halving down, doubling up: an inside algorithm in slices that keeps order.
struct halving_doubling {
    static constexpr std::string_view name = "halving_doubling";
    static constexpr bool keeps_order = true;

    schedule reduce_scatter(rank_id me, rank_id size) const { return recursive_halving{}.reduce_scatter(me, size); }
    cost reduce_scatter_cost(rank_id size, double bytes) const {
        return recursive_halving{}.reduce_scatter_cost(size, bytes);
    }
    schedule all_gather(rank_id me, rank_id size) const { return recursive_doubling{}.all_gather(me, size); }
    cost all_gather_cost(rank_id size, double bytes) const { return recursive_doubling{}.all_gather_cost(size, bytes); }

    friend bool operator==(halving_doubling, halving_doubling) = default;
};

template <class Inside, class Between>
void check_pair(Inside inside, Between between) {
    for (rank_id width : {1u, 2u, 3u, 4u, 8u, 64u})
        for (rank_id size = 1; size <= 26; ++size)
            suites::check_algorithm_at(hierarchical{inside, between, width}, collective::all_reduce, size);
    std::vector<std::vector<rank_id>> const cuts{{1}, {3, 1, 4}, {1, 1, 7, 2}, {6}, {3, 3, 3}, {2, 13, 5, 7}};
    for (auto const& groups : cuts) {
        rank_id size = 0;
        for (rank_id const ranks : groups) size += ranks;
        suites::check_algorithm_at(hierarchical{inside, between, 0, groups}, collective::all_reduce, size);
    }
}

}  // namespace hierarchical_test

using namespace hierarchical_test;

TEST_CASE("WSZ-1: hierarchical keeps all laws of an algorithm") {
    suites::algorithm_suite(hierarchical{ring{}, recursive_doubling{}, 8});
}

TEST_CASE("WSZ-1: any two algorithms, any width, uneven groups") {
    check_pair(ring{}, recursive_doubling{});
    check_pair(halving_doubling{}, rabenseifner{});
    check_pair(direct{}, ring{.segments = 3});
    check_pair(recursive_doubling{}, all_pairs{});
    check_pair(rabenseifner{}, direct{});
}

TEST_CASE("uneven groups still cut evenly, unless that takes too many blocks") {
    for (rank_id size = 2; size <= 26; ++size)
        for (rank_id width = 2; width < size; ++width) {
            rank_id const blocks = hierarchical{ring{}, ring{}, width}.all_reduce(0, size).blocks();
            CHECK(blocks % width == 0);
            if (size % width != 0) CHECK(blocks % (size % width) == 0);
            CHECK(blocks % ((size + width - 1) / width) == 0);
        }
    std::vector<rank_id> const coprime{5, 7, 11, 13, 17};
    hierarchical const algorithm{ring{}, direct{}, 0, coprime};
    CHECK(algorithm.all_reduce(0, 53).blocks() < 1000);
    suites::check_algorithm_at(algorithm, collective::all_reduce, 53);
}

TEST_CASE("hierarchies nest") {
    hierarchical const within{direct{}, ring{}, 2};
    for (rank_id size = 1; size <= 26; ++size)
        suites::check_algorithm_at(hierarchical{direct{}, within, 3}, collective::all_reduce, size);
}

TEST_CASE("order is kept when both parts keep it") {
    CHECK(hierarchical<direct, rabenseifner>::keeps_order);
    CHECK_FALSE(hierarchical<direct, ring>::keeps_order);
    CHECK_FALSE(hierarchical<ring, direct>::keeps_order);
}

TEST_CASE("one group is the inside algorithm's work alone, groups of one the outside's") {
    for (rank_id size = 2; size <= 9; ++size)
        for (rank_id me = 0; me < size; ++me) {
            CHECK(hierarchical{ring{}, direct{}, size}.all_reduce(me, size).steps() == ring{}.all_reduce(me, size).steps());
            CHECK(hierarchical{ring{}, direct{}, 1}.all_reduce(me, size) == direct{}.all_reduce(me, size));
        }
}

TEST_CASE("with equal groups in slices, only a slice of the vector leaves the group") {
    for (rank_id width : {2u, 4u, 5u})
        for (rank_id nodes : {2u, 3u, 6u})
            for (rank_id me = 0; me < width * nodes; ++me) {
                schedule const s = hierarchical{ring{}, ring{}, width}.all_reduce(me, width * nodes);
                rank_id sent = 0;
                for (step const& next : s.steps())
                    if (next.kind == step_kind::send && next.peer / width != me / width) sent += next.local.count;
                CHECK(sent * nodes * width == 2 * (nodes - 1) * s.blocks());
            }
}

TEST_CASE("groups that do not add up to the number of ranks are refused") {
    for (std::vector<rank_id> const& groups : std::vector<std::vector<rank_id>>{{3, 4}, {3, 4, 2}, {3, 0, 5}, {9}})
        CHECK_THROWS_AS((hierarchical{direct{}, direct{}, 0, groups}.all_reduce(0, 8)), error);
    CHECK_THROWS_AS((hierarchical{direct{}, direct{}, 0}.all_reduce(0, 8)), error);
}
