// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/cuda/staged_plan.cuh"

#include "chorus/cuda/collectives.cuh"
#include "chorus/overlap/progress_thread.hpp"
#include "chorus/transport/self.hpp"
#include "chorus/transport/thread.hpp"
#include "cuda_on_cpu/control.hpp"
#include "cuda_on_cpu/device_buffer.hpp"
#include "suites/expected_error.hpp"
#include "suites/transport_suite.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace cuda = chorus::cuda;
using chorus::rank_id;
using cuda_on_cpu::device_buffer;
using namespace std::chrono_literals;

namespace {

auto const threads = [](rank_id p) { return chorus::thread_fleet{p}; };
cuda::staging_options const in_parts{.part_bytes = 64};

}  // namespace

TEST_CASE("GPU: the caller's device stays, nothing is allocated in a run, and all is given back") {
    cuda_on_cpu::begin(3);
    std::size_t const before = cuda_on_cpu::allocated();
    {
        chorus::self_transport net;
        chorus::group world{net};
        std::optional<device_buffer<float>> values;
        std::optional<cuda::staged_plan> sum;
        {
            cuda::device_scope const second{1};
            values.emplace(std::vector<float>(100, 2.0f));
            sum.emplace(cuda::plan_all_reduce(world, values->span(), chorus::sum{}, chorus::automatic{}, in_parts));
        }
        std::size_t const made = cuda_on_cpu::allocated();
        for (int run = 0; run < 3; ++run) sum->run(nullptr);
        int device = -1;
        REQUIRE(cudaGetDevice(&device) == cudaSuccess);
        CHECK(device == 0);
        CHECK(cuda_on_cpu::allocated() == made);
        CHECK(sum->describe().starts_with("7 parts through pinned memory"));
        CHECK(values->values() == std::vector<float>(100, 2.0f));
    }
    CHECK(cuda_on_cpu::allocated() == before);
    CHECK(cuda_on_cpu::failure() == "");
}

TEST_CASE("GPU: a graph cannot hold it, and it is not enqueued twice at once") {
    cuda_on_cpu::begin(1);
    chorus::self_transport net;
    chorus::group world{net};
    device_buffer<float> const values{40};
    cuda_on_cpu::test_stream const stream;
    auto sum = cuda::plan_all_reduce(world, values.span(), chorus::sum{}, chorus::automatic{}, in_parts);
    REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
    CHECK(suites::unlike(chorus::errc::unsupported, {"graph"}, [&] { sum.enqueue(stream); }) == "");
    cudaGraph_t graph = nullptr;
    REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    REQUIRE(cudaGraphDestroy(graph) == cudaSuccess);
    sum.enqueue(stream);
    CHECK(suites::unlike(chorus::errc::invalid_argument, {"under way"}, [&] { sum.enqueue(stream); }) == "");
    sum.finish();
    sum.run(stream);
}

TEST_CASE("a progress thread may advance it while its owner computes") {
    cuda_on_cpu::begin(5);
    suites::hold("driven", threads, 2, [](auto& rank) {
        chorus::group world{rank.net()};
        cuda_on_cpu::test_stream const stream;
        device_buffer<int> const values{std::vector<int>(50, static_cast<int>(world.rank()) + 1)};
        auto sum = cuda::plan_all_reduce(world, values.span(), chorus::sum{}, chorus::automatic{}, in_parts);
        chorus::progress_thread helper;
        sum.enqueue(stream);
        auto driven = helper.drive(sum);
        std::this_thread::sleep_for(2ms);
        driven.take_back();
        sum.finish();
        rank.check(values.values(stream) == std::vector<int>(50, 3), "the sum");
    });
}

TEST_CASE("who leaves in the middle is an error to the others, and nothing hangs or writes afterwards") {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        cuda_on_cpu::begin(seed);
        suites::hold("leaving", threads, 3, [](auto& rank) {
            chorus::group world{rank.net()};
            auto const deadline = world.within(10s);
            cuda_on_cpu::test_stream const stream;
            device_buffer<int> const values{std::vector<int>(80, 1)};
            std::optional<cuda::staged_plan> sum{cuda::plan_all_reduce(deadline, values.span(), chorus::sum{}, chorus::automatic{}, in_parts)};
            if (world.rank() == 1) {  // all parts but the last at most
                sum->enqueue(stream);
                sum.reset();
                rank.net().abort(chorus::errc::aborted, 1, "enough");
                return;
            }
            suites::expect_error(rank, chorus::errc::aborted, {}, [&] { sum->run(stream); });
        });
        CHECK(cuda_on_cpu::failure() == "");
    }
}
