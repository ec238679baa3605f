// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/topo/layout.hpp"

#include "chorus/base/random.hpp"
#include "suites/expected_error.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

using chorus::errc;
using chorus::rank_id;
using chorus::topo::layout;

namespace {

void check_laws(layout const& places) {
    rank_id const p = places.size();
    CAPTURE(p);
    CAPTURE(places.hosts());
    std::vector<bool> seen(p, false);
    std::vector<rank_id> joined;
    rank_id last_leader = 0;
    for (rank_id host = 0; host < places.hosts(); ++host) {
        auto const ranks = places.ranks_of(host);
        REQUIRE(!ranks.empty());
        CHECK(std::is_sorted(ranks.begin(), ranks.end()));
        CHECK(places.sizes()[host] == ranks.size());
        CHECK(places.leader_of(host) == ranks.front());
        CHECK((host == 0 ? ranks.front() == 0 : ranks.front() > last_leader));  // hosts in order of appearance
        last_leader = ranks.front();
        for (rank_id local = 0; local < ranks.size(); ++local) {
            CHECK(places.host_of(ranks[local]) == host);
            CHECK(places.local_rank(ranks[local]) == local);
            CHECK(!seen[ranks[local]]);
            seen[ranks[local]] = true;
            joined.push_back(ranks[local]);
        }
    }
    CHECK(std::find(seen.begin(), seen.end(), false) == seen.end());
    auto const sizes = places.sizes();
    CHECK(std::accumulate(sizes.begin(), sizes.end(), rank_id{0}) == p);
    CHECK(places.order() == joined);
    CHECK(places.is_contiguous() == std::is_sorted(joined.begin(), joined.end()));
    std::vector<rank_id> hosts(p);
    for (rank_id r = 0; r < p; ++r) hosts[r] = places.host_of(r);
    CHECK(layout{hosts} == places);
}

/// The same placement under labels of which nothing is known but which are equal.
std::vector<std::uint64_t> disguised(layout const& places, std::uint64_t seed) {
    std::vector<std::uint64_t> labels;
    for (rank_id r = 0; r < places.size(); ++r)
        labels.push_back(chorus::counter_random{seed}.bits(places.host_of(r)));
    return labels;
}

}  // namespace

TEST_CASE("HET-1: hosts part the ranks, the order is a permutation, sizes add up") {
    for (rank_id p = 1; p <= 17; ++p)
        for (rank_id n = 1; n <= p; ++n) {
            layout const in_blocks = layout::blocks(p, n);
            layout const dealt = layout::round_robin(p, n);
            check_laws(in_blocks);
            check_laws(dealt);
            CHECK(in_blocks.hosts() == (p + n - 1) / n);
            CHECK(in_blocks.is_contiguous());
            CHECK(dealt.hosts() == n);
            CHECK(dealt.is_contiguous() == (n == 1 || n == p));
            for (rank_id r = 0; r < p; ++r) {
                CHECK(in_blocks.local_rank(r) == r % n);
                CHECK(dealt.host_of(r) == r % n);
            }
        }
}

TEST_CASE("HET-1: uneven hosts") {
    for (std::vector<rank_id> const& sizes :
         std::vector<std::vector<rank_id>>{{3, 1}, {1, 2}, {2, 3}, {3, 4}, {1, 1, 3}, {7, 8}}) {
        std::vector<rank_id> hosts;
        for (rank_id host = 0; host < sizes.size(); ++host) hosts.insert(hosts.end(), sizes[host], host);
        layout const places{hosts};
        check_laws(places);
        CHECK(places.sizes() == sizes);
        CHECK(places.is_contiguous());
    }
}

TEST_CASE("only which labels are equal matters, not what they are") {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        chorus::counter_random const random{seed};
        auto const p = static_cast<rank_id>(1 + random.below(0, 17));
        std::vector<int> labels;
        std::vector<std::string> names;
        for (rank_id r = 0; r < p; ++r) {
            labels.push_back(static_cast<int>(random.below(r + 1, 6)) - 3);
            names.push_back("node" + std::to_string(labels.back()));
        }
        layout const places{labels};
        check_laws(places);
        CHECK(layout{names} == places);
        CHECK(layout{disguised(places, seed)} == places);
        for (rank_id a = 0; a < p; ++a)
            for (rank_id b = 0; b < p; ++b)
                CHECK((places.host_of(a) == places.host_of(b)) == (labels[a] == labels[b]));
    }
    CHECK(layout{"b", "a", "b"} == layout{7, 9, 7});
    CHECK(layout{"b", "a", "b"} == layout::round_robin(3, 2));
    layout const one{5};
    CHECK(layout{one} == one);
}

TEST_CASE("what is no layout is refused in a sentence") {
    using suites::unlike;
    CHECK(unlike(errc::invalid_argument, {"at least one rank"}, [] { layout{std::vector<int>{}}; }) == "");
    CHECK(unlike(errc::invalid_argument, {"at least one rank"}, [] { layout::blocks(0, 2); }) == "");
    CHECK(unlike(errc::invalid_argument, {"width is 0"}, [] { layout::blocks(4, 0); }) == "");
    CHECK(unlike(errc::invalid_argument, {"0 hosts for 4 ranks"}, [] { layout::round_robin(4, 0); }) == "");
    CHECK(unlike(errc::invalid_argument, {"5 hosts for 4 ranks"}, [] { layout::round_robin(4, 5); }) == "");
    layout const places = layout::blocks(4, 2);
    CHECK(unlike(errc::invalid_argument, {"rank 4", "below 4"}, [&] { (void)places.host_of(4); }) == "");
    CHECK(unlike(errc::invalid_argument, {"rank 9", "below 4"}, [&] { (void)places.local_rank(9); }) == "");
    CHECK(unlike(errc::invalid_argument, {"host 2", "below 2"}, [&] { (void)places.ranks_of(2); }) == "");
    CHECK(unlike(errc::invalid_argument, {"host 7", "below 2"}, [&] { (void)places.leader_of(7); }) == "");
}
