// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/cuda/collectives.cuh"

#include "chorus/transport/self.hpp"
#include "chorus/transport/simulated.hpp"
#include "chorus/transport/thread.hpp"
#include "cuda_on_cpu/control.hpp"
#include "cuda_on_cpu/device_buffer.hpp"
#include "suites/expected_error.hpp"
#include "suites/transport_suite.hpp"
#include "suites/turn_taking.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cuda = chorus::cuda;
using chorus::rank_id;
using cuda_on_cpu::device_buffer;

namespace {

auto const simulated = [](rank_id p) { return suites::simulated_fleet{p}; };
auto const threads = [](rank_id p) { return chorus::thread_fleet{p}; };

std::int32_t value_of(rank_id rank, std::size_t i) { return static_cast<std::int32_t>(i * 7 % 31 + rank * 1000); }

std::vector<std::int32_t> values_of(rank_id rank, std::size_t count) {
    std::vector<std::int32_t> all(count);
    for (std::size_t i = 0; i < count; ++i) all[i] = value_of(rank, i);
    return all;
}

std::int32_t sum_of(rank_id ranks, std::size_t i) {
    std::int32_t sum = 0;
    for (rank_id r = 0; r < ranks; ++r) sum += value_of(r, i);
    return sum;
}

}  // namespace

TEST_CASE("device memory is reduced over a host's transport, whatever the parts, between work on the same stream") {
    std::uint64_t seed = 0;
    for (rank_id p : {1u, 2u, 3u, 5u, 8u})
        for (std::size_t count : {0u, 1u, 8u, 9u, 16u, 17u, 40u}) {
            cuda_on_cpu::begin(++seed);
            suites::hold("staged", simulated, p, [&](auto& rank) {
                chorus::group world{rank.net()};
                cuda_on_cpu::test_stream const stream;
                device_buffer<std::int32_t> const values{count}, seen{count}, fresh{values_of(world.rank(), count)};
                auto sum = cuda::plan_all_reduce(world, values.span(), chorus::sum{}, chorus::automatic{}, {.part_bytes = 32});
                for (int run = 0; run < 2; ++run) {
                    REQUIRE(cudaMemcpyAsync(values.data(), fresh.data(), count * sizeof(std::int32_t), cudaMemcpyDeviceToDevice, stream) == cudaSuccess);
                    sum.enqueue(stream);
                    sum.finish();
                    REQUIRE(cudaMemcpyAsync(seen.data(), values.data(), count * sizeof(std::int32_t), cudaMemcpyDeviceToDevice, stream) == cudaSuccess);
                    auto const got = seen.values(stream);
                    for (std::size_t i = 0; i < count; ++i) rank.check(got[i] == sum_of(p, i), "element " + std::to_string(i));
                }
            });
            CHECK(cuda_on_cpu::failure() == "");
        }
}

TEST_CASE("between threads as well, and the other collectives of device memory") {
    for (rank_id p : {2u, 3u}) {
        cuda_on_cpu::begin(p);
        suites::hold("staged between threads", threads, p, [&](auto& rank) {
            chorus::group world{rank.net()};
            rank_id const me = world.rank();
            cuda_on_cpu::test_stream const stream;
            std::size_t const count = 12 * p;
            device_buffer<std::int32_t> const mine{values_of(me, count)}, part{values_of(me, 12)}, all{count}, block{12};

            cuda::plan_all_gather(world, part.read(), all.span()).run(stream);
            auto got = all.values(stream);
            for (std::size_t i = 0; i < count; ++i) rank.check(got[i] == value_of(static_cast<rank_id>(i / 12), i % 12), "all_gather " + std::to_string(i));

            cuda::plan_reduce_scatter(world, mine.read(), block.span(), chorus::sum{}).run(stream);
            got = block.values(stream);
            for (std::size_t i = 0; i < 12; ++i) rank.check(got[i] == sum_of(p, me * 12 + i), "reduce_scatter " + std::to_string(i));

            cuda::plan_all_to_all(world, mine.read(), all.span()).run(stream);
            got = all.values(stream);
            for (std::size_t i = 0; i < count; ++i) rank.check(got[i] == value_of(static_cast<rank_id>(i / 12), me * 12 + i % 12), "all_to_all " + std::to_string(i));

            for (rank_id root = 0; root < p; ++root) {
                device_buffer<std::int32_t> const told{values_of(me, count)};
                cuda::plan_broadcast(world, told.span(), root, chorus::automatic{}, {.part_bytes = 40}).run(stream);
                got = told.values(stream);
                for (std::size_t i = 0; i < count; ++i) rank.check(got[i] == value_of(root, i), "broadcast " + std::to_string(i));
            }
        });
        CHECK(cuda_on_cpu::failure() == "");
    }
}

TEST_CASE("GPU: without a device the plan says what is missing") {
    cuda_on_cpu::begin(1, {.devices = 0});
    chorus::self_transport net;
    chorus::group world{net};
    auto const ask = [&] { cuda::plan_all_reduce(world, cuda::device_span<float>{nullptr, 0}, chorus::sum{}); };
    CHECK(suites::unlike(chorus::errc::unsupported, {"a GPU is needed"}, ask) == "");
    cuda_on_cpu::begin(1);
}
