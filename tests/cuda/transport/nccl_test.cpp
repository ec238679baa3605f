// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/cuda/transport/nccl.cuh"

#include "cuda_on_cpu/device_buffer.hpp"
#include "cuda_on_cpu/nccl_ranks.hpp"
#include "suites/expected_error.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cuda = chorus::cuda;
using chorus::rank_id;
using cuda_on_cpu::device_buffer;
using cuda_on_cpu::require;

namespace {

int value_of(rank_id rank, std::size_t i) { return static_cast<int>((i * 7 + rank * 3) % 5) + 1; }

template <class T> std::vector<T> values_of(rank_id rank, std::size_t count) {
    std::vector<T> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(static_cast<T>(static_cast<chorus::wide_t<T>>(value_of(rank, i))));
    return all;
}

/// Small whole numbers: exact in every type.
template <class T, class Op> void expect_reduced(cuda::nccl_communicator const& world, Op const& op, std::size_t count, int (*combine)(int, int)) {
    cuda_on_cpu::test_stream const stream;
    device_buffer<T> const values{values_of<T>(world.rank(), count)};
    auto all = cuda::plan_all_reduce(world, values.span(), op);
    all.run(stream);
    auto const got = values.values(stream);
    for (std::size_t i = 0; i < count; ++i) {
        int expected = value_of(0, i);
        for (rank_id r = 1; r < world.size(); ++r) expected = combine(expected, value_of(r, i));
        require(static_cast<double>(static_cast<chorus::wide_t<T>>(got[i])) == expected, std::string{Op::name} + " of " + std::string{chorus::element_name<T>()});
    }
}

int add(int a, int b) { return a + b; }
int times(int a, int b) { return a * b; }
int lesser(int a, int b) { return a < b ? a : b; }
int greater(int a, int b) { return a > b ? a : b; }

template <class T> void expect_sums(cuda::nccl_communicator const& world) { expect_reduced<T>(world, chorus::sum{}, 5, add); }

}  // namespace

TEST_CASE("all_reduce by NCCL: every type and operation, 1 to 8 ranks") {
    for (rank_id p = 1; p <= 8; ++p)
        cuda_on_cpu::on_nccl_ranks(p, p, [p](auto& meet) {
            cuda::nccl_communicator world{meet};
            require(world.size() == p && world.rank() == meet.rank(), "who it is");
            expect_sums<std::int8_t>(world);
            expect_sums<std::uint8_t>(world);
            expect_sums<std::int32_t>(world);
            expect_sums<std::uint32_t>(world);
            expect_sums<std::int64_t>(world);
            expect_sums<std::uint64_t>(world);
            expect_sums<chorus::half>(world);
            expect_sums<chorus::bfloat16>(world);
            expect_sums<double>(world);
            for (std::size_t count : {0u, 1u, 17u}) {
                expect_reduced<float>(world, chorus::sum{}, count, add);
                expect_reduced<float>(world, chorus::product{}, count, times);
                expect_reduced<float>(world, chorus::minimum{}, count, lesser);
                expect_reduced<float>(world, chorus::maximum{}, count, greater);
            }
            cuda_on_cpu::test_stream const stream;
            device_buffer<float> const values{std::vector<float>(3, static_cast<float>(2 * world.rank()))};
            cuda::plan_all_reduce(world, values.span(), chorus::mean{}).run(stream);
            require(values.values(stream) == std::vector<float>(3, static_cast<float>(p - 1)), "the mean");
        });
}

TEST_CASE("the other collectives of device memory by NCCL: what is expected where, 1 to 8 ranks") {
    for (rank_id p = 1; p <= 8; ++p)
        cuda_on_cpu::on_nccl_ranks(100 + p, p, [p](auto& meet) {
            cuda::nccl_communicator world{meet};
            rank_id const me = world.rank();
            cuda_on_cpu::test_stream const stream;
            std::size_t const count = 6 * p;
            device_buffer<int> const mine{values_of<int>(me, count)}, part{values_of<int>(me, 6)}, all{count}, block{6};

            cuda::plan_all_gather(world, part.read(), all.span()).run(stream);
            auto got = all.values(stream);
            for (std::size_t i = 0; i < count; ++i) require(got[i] == value_of(static_cast<rank_id>(i / 6), i % 6), "all_gather");

            cuda::plan_reduce_scatter(world, mine.read(), block.span(), chorus::sum{}).run(stream);
            got = block.values(stream);
            for (std::size_t i = 0; i < 6; ++i) {
                int expected = 0;
                for (rank_id r = 0; r < p; ++r) expected += value_of(r, me * 6 + i);
                require(got[i] == expected, "reduce_scatter");
            }

            cuda::plan_all_to_all(world, mine.read(), all.span()).run(stream);
            got = all.values(stream);
            for (std::size_t i = 0; i < count; ++i) require(got[i] == value_of(static_cast<rank_id>(i / 6), me * 6 + i % 6), "all_to_all");

            for (rank_id root = 0; root < p; ++root) {
                device_buffer<int> const told{values_of<int>(me, 5)};
                cuda::plan_broadcast(world, told.span(), root).run(stream);
                require(told.values(stream) == values_of<int>(root, 5), "broadcast");
            }
        });
}

TEST_CASE("what does not fit is refused before NCCL is asked") {
    cuda_on_cpu::on_nccl_ranks(7, 2, [](auto& meet) {
        cuda::nccl_communicator world{meet};
        device_buffer<int> const three{3}, four{4};
        auto const refused = [](char const* words, auto const& ask) { require(suites::unlike(chorus::errc::invalid_argument, {words}, ask) == "", words); };
        refused("output of an all_gather", [&] { cuda::plan_all_gather(world, three.read(), four.span()); });
        refused("input of a reduce_scatter", [&] { cuda::plan_reduce_scatter(world, four.read(), three.span(), chorus::sum{}); });
        refused("input of an all_to_all", [&] { cuda::plan_all_to_all(world, three.read(), three.span()); });
        refused("output of an all_to_all", [&] { cuda::plan_all_to_all(world, four.read(), three.span()); });
        refused("root of a broadcast", [&] { cuda::plan_broadcast(world, three.span(), 2); });
    });
}
