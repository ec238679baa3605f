// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/data/blocks.hpp"

#include "chorus/schedule/binomial_tree.hpp"
#include "chorus/schedule/direct.hpp"
#include "chorus/schedule/recursive_doubling.hpp"
#include "chorus/schedule/ring.hpp"
#include "chorus/schedule/scatter_all_gather.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

using namespace chorus;

namespace {

/// Contiguous, in order, covering: the laws of every cut.
void check_cut(blocks const& cut, std::uint64_t count, rank_id parts) {
    CHECK(cut.parts() == parts);
    CHECK(cut.count() == count);
    CHECK(cut.begin(0) == 0);
    CHECK(cut.begin(parts) == count);
    std::uint64_t sum = 0;
    for (rank_id b = 0; b < parts; ++b) {
        CHECK(cut.begin(b + 1) >= cut.begin(b));
        CHECK(cut.begin(b) == sum);
        sum += cut.length(b);
    }
    CHECK(sum == count);
}

/// The bytes that each rank of a schedule sends and receives, in the cut of `count` bytes.
struct traffic {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
};
template <class Make>
std::vector<traffic> traffic_of(rank_id size, std::uint64_t count, Make const& make) {
    std::vector<traffic> all(size);
    for (rank_id me = 0; me < size; ++me) {
        schedule const plan = make(me);
        blocks const cut = blocks::near_equal(count, plan.blocks());
        for (step const& s : plan.steps()) {
            std::uint64_t const bytes = cut.length(s.local.first, s.local.count);
            CHECK(bytes <= count);
            (s.kind == step_kind::send ? all[me].sent : all[me].received) += bytes;
        }
    }
    return all;
}

std::uint64_t sum_of_sent(std::vector<traffic> const& all) {
    std::uint64_t sum = 0;
    for (traffic const& one : all) sum += one.sent;
    return sum;
}
std::uint64_t sum_of_received(std::vector<traffic> const& all) {
    std::uint64_t sum = 0;
    for (traffic const& one : all) sum += one.received;
    return sum;
}

}  // namespace

static_assert(blocks::near_equal(10, 4).begin(2) == 6 && blocks::near_equal(10, 4).length(2) == 2);

TEST_CASE("near-equal cuts: laws, and no two blocks differ by more than one element") {
    for (rank_id parts = 1; parts <= 17; ++parts)
        for (std::uint64_t count : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{parts} - 1, std::uint64_t{parts},
                                    std::uint64_t{parts} + 1, std::uint64_t{3} * parts + 1, std::uint64_t{1031}}) {
            blocks const cut = blocks::near_equal(count, parts);
            check_cut(cut, count, parts);
            for (rank_id b = 1; b < parts; ++b) {
                CHECK(cut.length(b) <= cut.length(b - 1));
                CHECK(cut.length(b) + 1 >= cut.length(0));
                CHECK(cut.length(0, b) == cut.begin(b));
            }
        }
}

TEST_CASE("cuts by counts: laws, empty blocks among them") {
    std::vector<std::vector<std::uint64_t>> const lists = {{},        {0},       {5},       {0, 5, 0},
                                                           {0, 0, 0}, {0, 0, 1}, {2, 3, 1}, {7, 0, 0, 9}};
    for (auto const& counts : lists) {
        std::uint64_t sum = 0;
        for (std::uint64_t count : counts) sum += count;
        blocks const cut = blocks::of_counts(counts);
        check_cut(cut, sum, static_cast<rank_id>(counts.size()));
        for (rank_id b = 0; b < counts.size(); ++b) CHECK(cut.length(b) == counts[b]);
    }
    CHECK(blocks{}.parts() == 0);
    CHECK(blocks{}.begin(0) == 0);
}

TEST_CASE("CNT-1: offsets beyond 32 bits rise, and end where they should") {
    std::uint64_t const doubles = (std::uint64_t{1} << 29) + 3;
    blocks const near_equal = blocks::near_equal(doubles, 3);
    check_cut(near_equal, doubles, 3);
    CHECK(near_equal.begin(3) * sizeof(double) == 4294967320u);

    std::uint64_t const gib = std::uint64_t{1} << 30;
    blocks const by_counts = blocks::of_counts(std::vector<std::uint64_t>{gib, gib, gib});
    check_cut(by_counts, 3 * gib, 3);
    for (rank_id b = 0; b <= 3; ++b) CHECK(by_counts.begin(b) == b * gib);
}

TEST_CASE("a sum that does not fit in 64 bits is refused") {
    std::uint64_t const most = (std::numeric_limits<std::uint64_t>::max)();
    CHECK(blocks::of_counts(std::vector<std::uint64_t>{most - 1, 1}).count() == most);
    CHECK(blocks::near_equal(most, 3).begin(3) == most);
    CHECK(blocks::near_equal(most, 3).begin(2) == most / 3 * 2);
    try {
        blocks::of_counts(std::vector<std::uint64_t>{most - 1, 1, 1});
        FAIL("accepted");
    } catch (error const& failure) {
        CHECK(failure.code() == errc::too_large);
    }
}

TEST_CASE("CNT-2: a huge total in chunks of 4 MiB is cut to its end") {
    std::uint64_t const total = (std::uint64_t{1} << 31) + 4096;
    std::uint64_t const chunk = std::uint64_t{4} << 20;
    std::vector<std::uint64_t> counts;
    for (std::uint64_t at = 0; at < total; at += chunk) counts.push_back((std::min)(chunk, total - at));
    CHECK(counts.size() == 513);
    blocks const chunks = blocks::of_counts(counts);
    check_cut(chunks, total, 513);
    CHECK(chunks.length(512) == 4096);
    CHECK(chunks.begin(512) == std::uint64_t{1} << 31);

    blocks const even = blocks::near_equal(total, 513);
    check_cut(even, total, 513);
    CHECK(even.length(0) <= chunk);
}

TEST_CASE("CNT-4: scatter and broadcast of more than 2^31 bytes, every root") {
    std::uint64_t const total = (std::uint64_t{1} << 31) + 3;
    for (rank_id size : {3u, 5u})
        for (rank_id root = 0; root < size; ++root) {
            blocks const cut = blocks::near_equal(total, size);
            auto const straight = traffic_of(size, total, [&](rank_id me) { return direct{}.scatter(me, size, root); });
            CHECK(straight[root].sent == total - cut.length(root));
            CHECK(sum_of_received(straight) == total - cut.length(root));

            auto const tree =
                traffic_of(size, total, [&](rank_id me) { return binomial_tree{}.scatter(me, size, root); });
            CHECK(tree[root].sent == total - cut.length(root));
            for (rank_id me = 0; me < size; ++me)
                if (me != root) CHECK(tree[me].received == tree[me].sent + cut.length(me));

            auto const broadcast =
                traffic_of(size, total, [&](rank_id me) { return scatter_all_gather{}.broadcast(me, size, root); });
            CHECK(sum_of_sent(broadcast) == sum_of_received(broadcast));
            for (rank_id me = 0; me < size; ++me)
                if (me != root) CHECK(broadcast[me].received >= total - cut.length(root));
        }
}

TEST_CASE("HUG-2: 4096 ranks, few and very many elements") {
    constexpr rank_id size = 4096;
    blocks const few = blocks::near_equal(100, size);
    check_cut(few, 100, size);
    rank_id owners = 0;
    for (rank_id b = 0; b < size; ++b) {
        CHECK(few.length(b) <= 1);
        owners += few.length(b) == 1;
    }
    CHECK(owners == 100);
    check_cut(blocks::near_equal(std::uint64_t{1} << 33, size), std::uint64_t{1} << 33, size);
    CHECK(blocks::near_equal(std::uint64_t{1} << 33, size).length(size - 1) == std::uint64_t{1} << 21);

    for (rank_id me : {rank_id{0}, rank_id{4095}}) {
        CHECK(ring{}.all_reduce(me, size).rounds() == 2 * (size - 1));
        CHECK(recursive_doubling{}.all_reduce(me, size).rounds() == 12);
    }
}
