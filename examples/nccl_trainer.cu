// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
//
// Data-parallel training on GPUs over NCCL: a process for each GPU, a step that is captured as a CUDA graph once and launched ever after. Each rank fits the
// same linear function to samples of its own.
//
//     nvcc -std=c++20 --expt-relaxed-constexpr -Iinclude examples/nccl_trainer.cu -lnccl -o nccl_trainer
//     torchrun --no-python --nproc_per_node 2 ./nccl_trainer
#include <chorus/base/random.hpp>
#include <chorus/cuda/device.cuh>
#include <chorus/cuda/launch.cuh>
#include <chorus/cuda/owned.cuh>
#include <chorus/cuda/transport/nccl.cuh>
#include <chorus/transport/rendezvous_tcp.hpp>

#include <cmath>
#include <cstdio>
#include <exception>
#include <vector>

namespace cuda = chorus::cuda;

constexpr unsigned features = 64, samples = 4096, steps = 300;

/// What is to be learnt.
float weight_of(unsigned feature) { return static_cast<float>(feature % 7) - 3.0F; }

/// Memory of the current device, filled from the host's.
class device_vector {
 public:
    explicit device_vector(std::vector<float> const& values) : count_{values.size()} {
        cuda::expect_success(cudaMalloc(&data_, count_ * sizeof(float)), "cudaMalloc");
        cuda::expect_success(cudaMemcpy(data_, values.data(), count_ * sizeof(float), cudaMemcpyHostToDevice), "cudaMemcpy");
    }
    device_vector(device_vector const&) = delete;
    device_vector& operator=(device_vector const&) = delete;
    ~device_vector() { cudaFree(data_); }

    float* data() const { return data_; }
    cuda::device_span<float> span() const { return {data_, count_}; }
    std::vector<float> values() const {
        std::vector<float> all(count_);
        cuda::expect_success(cudaMemcpy(all.data(), data_, count_ * sizeof(float), cudaMemcpyDeviceToHost), "cudaMemcpy");
        return all;
    }

 private:
    float* data_ = nullptr;
    std::size_t count_;
};

/// How far each sample is off. A column of inputs for each feature.
__global__ void residuals(float const* inputs, float const* targets, float const* weights, float* off) {
    unsigned const sample = blockIdx.x * blockDim.x + threadIdx.x;
    if (sample >= samples) return;
    float sum = -targets[sample];
    for (unsigned f = 0; f < features; ++f) sum += weights[f] * inputs[f * samples + sample];
    off[sample] = sum;
}

/// A thread for each feature.
__global__ void gradients(float const* inputs, float const* off, float* gradient) {
    float sum = 0.0F;
    for (unsigned s = 0; s < samples; ++s) sum += off[s] * inputs[threadIdx.x * samples + s];
    gradient[threadIdx.x] = sum / samples;
}

__global__ void descend(float* weights, float const* gradient, float rate) { weights[threadIdx.x] -= rate * gradient[threadIdx.x]; }

int train() {
    int const devices = cuda::expect_device();
    auto meet = chorus::tcp_rendezvous::from_environment();
    cuda::expect_success(cudaSetDevice(static_cast<int>(meet.rank()) % devices), "cudaSetDevice");
    cuda::nccl_communicator world{meet};

    std::vector<float> inputs(features * samples), targets(samples, 0.0F);
    chorus::counter_random const random{meet.rank() + 1};
    for (unsigned f = 0; f < features; ++f)
        for (unsigned s = 0; s < samples; ++s) {
            float const value = static_cast<float>(random.below(f * samples + s, 2001)) / 1000.0F - 1.0F;
            inputs[f * samples + s] = value;
            targets[s] += weight_of(f) * value;
        }
    device_vector const x{inputs}, y{targets}, weights{std::vector<float>(features)}, off{std::vector<float>(samples)}, gradient{std::vector<float>(features)};
    auto average = cuda::plan_all_reduce(world, gradient.span(), chorus::mean{});

    cuda::owned_stream const stream;
    average.run(stream);  // the first one connects the ranks
    cuda::expect_success(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    cuda::launch(residuals, samples / 256, 256, 0, stream, x.data(), y.data(), weights.data(), off.data());
    cuda::launch(gradients, 1, features, 0, stream, x.data(), off.data(), gradient.data());
    average.enqueue(stream);
    cuda::launch(descend, 1, features, 0, stream, weights.data(), gradient.data(), 0.5F);
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t step = nullptr;
    cuda::expect_success(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
    cuda::expect_success(cudaGraphInstantiate(&step, graph, 0), "cudaGraphInstantiate");

    for (unsigned s = 0; s < steps; ++s) cuda::expect_success(cudaGraphLaunch(step, stream), "cudaGraphLaunch");
    cuda::expect_success(cudaStreamSynchronize(stream), "training");
    world.check();  // throws what NCCL has met
    cudaGraphExecDestroy(step);
    cudaGraphDestroy(graph);

    float worst = 0.0F;
    std::vector<float> const learnt = weights.values();
    for (unsigned f = 0; f < features; ++f) worst = std::fmax(worst, std::fabs(learnt[f] - weight_of(f)));
    if (meet.rank() == 0) std::printf("%u ranks, %u steps: no weight is off by more than %g\n", static_cast<unsigned>(meet.size()), steps, static_cast<double>(worst));
    return worst < 0.01F ? 0 : 1;
}

int main() {
    try {
        return train();
    } catch (chorus::error const& failure) {
        std::puts(failure.what());
        return failure.code() == chorus::errc::unsupported ? 77 : 1;
    }
}
