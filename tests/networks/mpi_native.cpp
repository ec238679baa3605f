// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "chorus/collective/all_gather.hpp"
#include "chorus/collective/all_reduce.hpp"
#include "chorus/collective/all_to_all.hpp"
#include "chorus/collective/barrier.hpp"
#include "chorus/collective/broadcast.hpp"
#include "chorus/collective/gather.hpp"
#include "chorus/collective/reduce.hpp"
#include "chorus/collective/reduce_scatter.hpp"
#include "chorus/collective/scan.hpp"
#include "chorus/collective/scatter.hpp"
#include "chorus/transport/mpi.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

// MPI's own collectives do what the schedules do.

using chorus::any_algorithm;
using chorus::mpi_transport;
using chorus::native;
using chorus::rank_id;
using world_group = chorus::group<mpi_transport>;

using numbers = std::vector<std::int32_t>;

namespace {

numbers own_data(std::size_t count, rank_id rank, int salt = 0) {
    numbers v(count);
    for (std::size_t i = 0; i < count; ++i) v[i] = static_cast<std::int32_t>((i * 7 + rank * 5 + static_cast<std::size_t>(salt)) % 11);
    return v;
}

void add(numbers& all, std::span<std::int32_t const> more) { all.insert(all.end(), more.begin(), more.end()); }

/// Lengths of blocks, some of them nothing.
std::vector<std::uint64_t> uneven(rank_id ranks, std::uint64_t count) {
    std::vector<std::uint64_t> counts(ranks);
    for (rank_id r = 0; r < ranks; ++r) counts[r] = r % 3 == 1 ? 0 : count + r;
    return counts;
}

std::uint64_t total(std::vector<std::uint64_t> const& counts) { return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}); }
std::uint64_t before(std::vector<std::uint64_t> const& counts, rank_id r) {
    return std::accumulate(counts.begin(), counts.begin() + r, std::uint64_t{0});
}

/// What every reduction comes to, apart and in place.
numbers reduced(world_group const& g, std::size_t count, any_algorithm const& by) {
    rank_id const root = g.size() - 1;
    bool const is_root = g.rank() == root;
    numbers all;
    numbers const in = own_data(count, g.rank());
    numbers out(count);
    chorus::all_reduce(g, in, out, chorus::sum{}, by);
    add(all, out);
    out = in;
    chorus::all_reduce(g, out, chorus::sum{}, by);
    add(all, out);
    out.assign(count, 0);
    chorus::reduce(g, in, out, root, chorus::sum{}, by);
    if (is_root) add(all, out);
    out = in;
    chorus::reduce(g, out, root, chorus::sum{}, by);
    if (is_root) add(all, out);

    auto const counts = uneven(g.size(), count);
    numbers const wide = own_data(total(counts), g.rank(), 3);
    numbers mine(counts[g.rank()]);
    chorus::reduce_scatter_v(g, wide, mine, counts, chorus::sum{}, by);
    add(all, mine);
    numbers whole = wide;
    chorus::reduce_scatter_v(g, whole, counts, chorus::sum{}, by);
    add(all, std::span{whole}.subspan(before(counts, g.rank()), counts[g.rank()]));
    whole = wide;
    auto const block = std::span{whole}.subspan(before(counts, g.rank()), counts[g.rank()]);
    chorus::reduce_scatter_v(g, whole, block, counts, chorus::sum{}, by);
    add(all, block);
    numbers const even = own_data(count * g.size(), g.rank(), 4);
    out.assign(count, 0);
    chorus::reduce_scatter(g, even, out, chorus::sum{}, by);
    add(all, out);
    return all;
}

numbers scanned(world_group const& g, std::size_t count, any_algorithm const& by) {
    numbers all;
    numbers const in = own_data(count, g.rank());
    numbers out(count);
    chorus::scan(g, in, out, chorus::sum{}, by);
    add(all, out);
    out = in;
    chorus::scan(g, out, out, chorus::sum{}, by);
    add(all, out);
    chorus::exclusive_scan(g, in, out, chorus::sum{}, by);
    if (g.rank() != 0) add(all, out);
    out = in;
    chorus::exclusive_scan(g, out, out, chorus::sum{}, by);
    if (g.rank() != 0) add(all, out);
    return all;
}

numbers moved(world_group const& g, std::size_t count, any_algorithm const& by) {
    rank_id const me = g.rank();
    numbers all;
    auto const counts = uneven(g.size(), count);
    std::size_t const sum = total(counts);
    for (rank_id root = 0; root < g.size(); ++root) {
        numbers v = own_data(count, me);
        chorus::broadcast(g, v, root, by);
        add(all, v);
        numbers const in = own_data(count, me, 1);
        numbers wide(count * g.size());
        chorus::gather(g, in, wide, root, by);
        if (me == root) add(all, wide);
        numbers const part = own_data(counts[me], me, 2);
        numbers gathered(sum);
        chorus::gather_v(g, part, gathered, counts, root, by);
        if (me == root) add(all, gathered);
        numbers placed = own_data(sum, me, 3);
        auto const own = std::span{placed}.subspan(before(counts, me), counts[me]);
        chorus::gather_v(g, own, placed, counts, root, by);
        if (me == root) add(all, placed);

        numbers out(count);
        chorus::scatter(g, own_data(count * g.size(), me, 4), out, root, by);
        add(all, out);
        numbers piece(counts[me]);
        chorus::scatter_v(g, own_data(sum, me, 5), piece, counts, root, by);
        add(all, piece);
        numbers dealt = own_data(sum, me, 6);
        auto const share = std::span{dealt}.subspan(before(counts, me), counts[me]);
        chorus::scatter_v(g, dealt, share, counts, root, by);
        add(all, share);
    }
    numbers wide(count * g.size());
    chorus::all_gather(g, own_data(count, me, 7), wide, by);
    add(all, wide);
    wide = own_data(count * g.size(), me, 8);
    chorus::all_gather(g, wide, by);
    add(all, wide);
    numbers gathered(sum);
    chorus::all_gather_v(g, own_data(counts[me], me, 9), gathered, counts, by);
    add(all, gathered);
    gathered = own_data(sum, me, 10);
    chorus::all_gather_v(g, std::span{gathered}.subspan(before(counts, me), counts[me]), gathered, counts, by);
    add(all, gathered);

    numbers exchanged(count * g.size());
    chorus::all_to_all(g, own_data(count * g.size(), me, 1), exchanged, by);
    add(all, exchanged);
    std::vector<std::uint64_t> out_counts;  // rank a sends (a + 2b) % 4 + count elements to b
    std::vector<std::uint64_t> in_counts;
    for (rank_id p = 0; p < g.size(); ++p) {
        out_counts.push_back((me + 2 * p) % 4 + count);
        in_counts.push_back((p + 2 * me) % 4 + count);
    }
    exchanged.assign(total(in_counts), 0);
    chorus::all_to_all_v(g, own_data(total(out_counts), me, 2), out_counts, exchanged, in_counts, by);
    add(all, exchanged);
    if (by.supports(chorus::collective::barrier)) chorus::barrier(g, by);
    return all;
}

any_algorithm const by_library = chorus::algorithm_named("native");
any_algorithm const by_schedule = chorus::direct{};

/// Every reduction, in every call that there is.
void same_by_each(world_group const& g, std::size_t count) {
    CHECK(reduced(g, count, by_library) == reduced(g, count, by_schedule));
    CHECK(scanned(g, count, by_library) == scanned(g, count, by_schedule));
}

/// The world, part of it, and its ranks in another order; each rank calls for the groups that it is in.
template <class Call>
void in_every_group(mpi_transport& net, Call const& call) {
    world_group const world{net};
    call(world);
    std::vector<rank_id> backwards;
    std::vector<rank_id> evens;
    for (rank_id r = world.size(); r-- > 0;) {
        backwards.push_back(r);
        if (r % 2 == 0) evens.push_back(r);
    }
    call(world.subgroup(backwards));
    if (world.rank() % 2 == 0) call(world.subgroup(evens));
}

struct place { float x, y, z; };
bool operator==(place a, place b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

template <class Act>
std::optional<chorus::error> refusal(Act const& act) {
    try {
        act();
    } catch (chorus::error const& thrown) {
        return thrown;
    }
    return std::nullopt;
}

}  // namespace

TEST_CASE("what is moved comes to the same places") {
    mpi_transport net{MPI_COMM_WORLD};
    in_every_group(net, [](world_group const& g) {
        for (std::size_t count : {0u, 1u, 5u, 3000u}) {
            CHECK(moved(g, count, by_library) == moved(g, count, by_schedule));
        }
        std::vector<place> v(77, place{static_cast<float>(g.rank()), 1, 2});
        chorus::broadcast(g, v, g.size() - 1, native{});
        CHECK(v == std::vector<place>(77, place{static_cast<float>(g.size() - 1), 1, 2}));
    });
}

TEST_CASE("what is reduced comes to the same numbers in every call") {
    mpi_transport net{MPI_COMM_WORLD};
    in_every_group(net, [](world_group const& g) {
        for (std::size_t count : {0u, 1u, 7u, 2000u}) same_by_each(g, count);
        std::vector<float> v(50, static_cast<float>(g.rank()));
        chorus::all_reduce(g, v, chorus::maximum{}, native{});
        CHECK(v == std::vector<float>(50, static_cast<float>(g.size() - 1)));
    });
}

TEST_CASE("elements and operations are those of MPI that do the same") {
    using chorus::detail::mpi_operation_of;
    using chorus::detail::mpi_type_of;
    for (std::string const name : {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float", "double", "bool"}) {
        auto const type = mpi_type_of(name);
        REQUIRE(type);
        int bytes = 0;
        MPI_Type_size(*type, &bytes);
        std::size_t const digits = name.find_first_of("123468");
        CHECK(bytes * 8 == (digits != std::string::npos ? std::stoi(name.substr(digits)) : name == "float" ? 32 : name == "double" ? 64 : 8));
        bool const is_float = name == "float" || name == "double";
        CHECK(mpi_operation_of("sum", name).has_value() == (name != "bool"));
        CHECK(mpi_operation_of("bit_or", name).has_value() == (!is_float && name != "bool"));
        CHECK(mpi_operation_of("logical_or", name).has_value() == !is_float);
        CHECK_FALSE(mpi_operation_of("mean", name));
        CHECK_FALSE(mpi_operation_of("user", name));
    }
    for (char const* name : {"half", "bfloat16", "byte", "user"}) CHECK_FALSE(mpi_type_of(name));
    auto const combined = [](char const* operation, std::int32_t left, std::int32_t right) {
        MPI_Reduce_local(&left, &right, 1, *mpi_type_of("int32"), *mpi_operation_of(operation, "int32"));
        return right;
    };
    CHECK(combined("sum", -12, 10) == -2);
    CHECK(combined("product", -12, 10) == -120);
    CHECK(combined("minimum", -12, 10) == -12);
    CHECK(combined("maximum", -12, 10) == 10);
    CHECK(combined("bit_and", 12, 10) == 8);
    CHECK(combined("bit_or", 12, 10) == 14);
    CHECK(combined("bit_xor", 12, 10) == 6);
    CHECK(combined("logical_and", 12, 0) == 0);
    CHECK(combined("logical_or", 12, 0) == 1);
    CHECK(combined("logical_xor", 12, 10) == 0);
}

TEST_CASE("some ranks in place, some not") {
    mpi_transport net{MPI_COMM_WORLD};
    world_group const world{net};
    numbers in(100, 1);
    numbers out(100);
    if (world.rank() == 0) chorus::all_reduce(world, in, chorus::sum{}, native{});
    else chorus::all_reduce(world, in, out, chorus::sum{}, native{});
    CHECK((world.rank() == 0 ? in : out) == numbers(100, static_cast<int>(world.size())));
}

TEST_CASE("plans run again and again, side by side, awaited in any order, and take other buffers") {
    mpi_transport net{MPI_COMM_WORLD};
    world_group const world{net};
    numbers a(1000);
    numbers b(10);
    auto first = chorus::plan_all_reduce(world, a, chorus::sum{}, native{});
    auto second = chorus::plan_all_reduce(world, b, chorus::maximum{}, native{});
    int const ranks = static_cast<int>(world.size());
    for (int run = 0; run < 20; ++run) {
        a.assign(1000, run);
        b.assign(10, static_cast<int>(world.rank()) + run);
        first.start();
        second.start();
        (world.rank() % 2 == 0 ? first : second).wait();
        (world.rank() % 2 == 0 ? second : first).wait();
        CHECK(a == numbers(1000, run * ranks));
        CHECK(b == numbers(10, ranks - 1 + run));
    }
    numbers other(1000, 2);
    first.rebind(other.data());
    first.run();
    CHECK(other == numbers(1000, 2 * ranks));
    CHECK(first.describe().find("native") != std::string::npos);
    CHECK(world.counters().finished == 41);
    numbers v(100, 1);
    chorus::all_reduce(world, v, chorus::sum{});
    CHECK(v == numbers(100, ranks));
}

TEST_CASE("what MPI cannot do is refused, with what is missing") {
    auto const refused = [](auto sample, auto const& op, std::string const& missing) {
        mpi_transport net{MPI_COMM_WORLD};
        world_group const world{net};
        std::vector<decltype(sample)> v(3, sample);
        auto const why = refusal([&] { chorus::all_reduce(world, v, op, native{}); });
        REQUIRE(why);
        CHECK(why->code() == chorus::errc::unsupported);
        CHECK(std::string{why->what()}.find(missing) != std::string::npos);
        MPI_Barrier(MPI_COMM_WORLD);
    };
    refused(chorus::half{1.0f}, chorus::sum{}, "no type for elements of half");
    refused(1, chorus::commutative{[](int x, int y) { return x + y; }}, "no operation user on int32");
    refused(1, [](int x, int y) { return x + y; }, "not known to commute");
    refused(1.0f, chorus::mean{}, "no operation mean on float");
    refused(place{}, chorus::commutative{[](place x, place) { return x; }}, "no type for elements of user");
}

TEST_CASE("a member that does not come is a time-out, and the group has failed") {
    mpi_transport net{MPI_COMM_WORLD};
    if (net.size() < 2) return;
    numbers v(1000, 1);
    world_group const world{net};
    auto plan = chorus::plan_all_reduce(world, v, chorus::sum{}, native{}, {.deadline = std::chrono::milliseconds{300}});
    if (net.rank() != 0) {
        auto const why = refusal([&] { plan.run(); });
        REQUIRE(why);
        bool const is_told = std::string{why->what()}.find("not complete within") != std::string::npos;
        CHECK((why->code() == chorus::errc::timed_out && is_told));
        CHECK(world.is_poisoned());
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (net.rank() != 0) return;
    auto const why = refusal([&] {
        for (int turn = 0; turn < 1000; ++turn) chorus::barrier(world.within(std::chrono::seconds{5}));
    });
    REQUIRE(why);
    CHECK(std::string{why->what()}.find("not complete within") != std::string::npos);
}

TEST_CASE("a member that never makes the first native plan of some ranks is a time-out") {
    mpi_transport net{MPI_COMM_WORLD};
    if (net.size() < 3) return;
    world_group const world{net};
    if (net.rank() < 2) {
        auto const pair = world.subgroup(std::vector<rank_id>{1, 0}).within(std::chrono::milliseconds{300});
        numbers v(10, 1);
        if (net.rank() == 0) {
            auto const why = refusal([&] { (void)chorus::plan_all_reduce(pair, v, chorus::sum{}, native{}); });
            REQUIRE(why);
            CHECK(why->code() == chorus::errc::timed_out);
            CHECK(std::string{why->what()}.find("barrier") != std::string::npos);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
    chorus::mpi::session const session{argc, argv};
    doctest::Context context{argc, argv};
    return context.run();
}
