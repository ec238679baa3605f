// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/cuda/transport/nccl_plan.cuh"

#include "chorus/cuda/transport/nccl.cuh"
#include "cuda_on_cpu/device_buffer.hpp"
#include "cuda_on_cpu/nccl_ranks.hpp"
#include "suites/expected_error.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace cuda = chorus::cuda;
using cuda_on_cpu::device_buffer;
using cuda_on_cpu::require;

TEST_CASE("GPU: an NCCL plan comes after earlier and before later work of its stream, without being awaited") {
    for (std::uint64_t seed = 0; seed < 20; ++seed)
        cuda_on_cpu::on_nccl_ranks(seed, 3, [](auto& meet) {
            cuda::nccl_communicator world{meet};
            cuda_on_cpu::test_stream const stream;
            device_buffer<int> const fresh{std::vector<int>(9, static_cast<int>(world.rank()) + 1)}, values{9}, copy{9};
            auto sum = cuda::plan_all_reduce(world, values.span(), chorus::sum{});
            for (int run = 0; run < 2; ++run) {
                require(cudaMemcpyAsync(values.data(), fresh.data(), 9 * sizeof(int), cudaMemcpyDeviceToDevice, stream) == cudaSuccess, "copy");
                sum.enqueue(stream);
                require(cudaMemcpyAsync(copy.data(), values.data(), 9 * sizeof(int), cudaMemcpyDeviceToDevice, stream) == cudaSuccess, "copy");
                if (run == 0) require(suites::unlike(chorus::errc::invalid_argument, {"under way"}, [&] { sum.enqueue(stream); }) == "" || sum.advance() == chorus::progress::done, "twice at once");
                sum.finish();
                require(sum.advance() == chorus::progress::done, "done stays");
                require(copy.values(stream) == std::vector<int>(9, 6), "the copy sees the sum");
            }
        });
}

TEST_CASE("GPU: an NCCL plan is captured in a graph and runs at every launch") {
    for (std::uint64_t seed = 0; seed < 10; ++seed)
        cuda_on_cpu::on_nccl_ranks(seed, 2, [](auto& meet) {
            cuda::nccl_communicator world{meet};
            cuda_on_cpu::test_stream const stream;
            device_buffer<int> const values{std::vector<int>(4, 1)};
            auto sum = cuda::plan_all_reduce(world, values.span(), chorus::sum{});
            cudaGraph_t graph = nullptr;
            cudaGraphExec_t made = nullptr;
            require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess, "begin");
            sum.run(stream);
            require(cudaStreamEndCapture(stream, &graph) == cudaSuccess, "end");
            require(cudaGraphInstantiate(&made, graph) == cudaSuccess, "instantiate");
            for (int run = 0; run < 3; ++run) require(cudaGraphLaunch(made, stream) == cudaSuccess, "launch");
            require(values.values(stream) == std::vector<int>(4, 8), "doubled by each launch");
            world.check();
            cudaGraphExecDestroy(made);
            cudaGraphDestroy(graph);
        });
}
