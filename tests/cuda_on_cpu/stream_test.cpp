// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/cuda/device.cuh"
#include "chorus/cuda/global_memory.cuh"
#include "chorus/cuda/launch.cuh"

#include "cuda_on_cpu/control.hpp"
#include "cuda_on_cpu/device_buffer.hpp"
#include "cuda_on_cpu/trials.hpp"

#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

// Streams, events, memory and graphs: what is right holds for every seed, what lacks an event or a wait is caught.

using namespace chorus;
using cuda_on_cpu::always_holds;
using cuda_on_cpu::device_buffer;
using cuda_on_cpu::is_caught;
using cuda_on_cpu::test_stream;

namespace {

constexpr unsigned count = 40;

__global__ void fill(unsigned* out, unsigned value) {
    unsigned const at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count) cuda::store(out + at, value);
}
__global__ void add(unsigned* out, unsigned const* in) {
    unsigned const at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count) cuda::store(out + at, cuda::load(out + at) + cuda::load(in + at));
}
void enqueue_fill(unsigned* out, unsigned value, cudaStream_t stream) { cuda::launch(fill, 2, 32, 0, stream, out, value); }
void enqueue_add(unsigned* out, unsigned const* in, cudaStream_t stream) { cuda::launch(add, 2, 32, 0, stream, out, in); }

class test_event {
 public:
    test_event() { cudaEventCreateWithFlags(&event_, cudaEventDisableTiming); }
    test_event(test_event const&) = delete;
    test_event& operator=(test_event const&) = delete;
    ~test_event() { cudaEventDestroy(event_); }
    operator cudaEvent_t() const { return event_; }

 private:
    cudaEvent_t event_ = nullptr;
};

struct pinned {
    unsigned* data = nullptr;
    pinned() { cudaMallocHost(&data, count * sizeof(unsigned)); }
    pinned(pinned const&) = delete;
    pinned& operator=(pinned const&) = delete;
    ~pinned() {
        cudaDeviceSynchronize();
        cudaFreeHost(data);
    }
};

constexpr std::size_t bytes = count * sizeof(unsigned);
std::vector<unsigned> const all_42(count, 42u), all_85(count, 85u);

/// 42 on one stream, 43 on another, added on the second.
template <bool HasEvent> bool added_on_another_stream(std::uint64_t) {
    device_buffer<unsigned> const a{count}, b{count};
    test_stream const first, second;
    test_event const done;
    enqueue_fill(a.data(), 42, first);
    cudaEventRecord(done, first);
    enqueue_fill(b.data(), 43, second);
    if (HasEvent) cudaStreamWaitEvent(second, done);
    enqueue_add(b.data(), a.data(), second);
    return b.values(second) == all_85;
}

template <bool Waits> bool read_from_pinned(std::uint64_t) {
    device_buffer<unsigned> const a{count};
    test_stream const stream;
    pinned const host;
    enqueue_fill(a.data(), 42, stream);
    cudaMemcpyAsync(host.data, a.data(), bytes, cudaMemcpyDeviceToHost, stream);
    if (Waits) cudaStreamSynchronize(stream);
    return std::vector<unsigned>(host.data, host.data + count) == all_42;
}

/// A pinned buffer used for two copies.
template <bool Waits> bool reused_pinned(std::uint64_t) {
    device_buffer<unsigned> const a{count}, b{count};
    test_stream const stream;
    test_event const copied;
    pinned const host;
    std::fill_n(host.data, count, 42u);
    cudaMemcpyAsync(a.data(), host.data, bytes, cudaMemcpyHostToDevice, stream);
    cudaEventRecord(copied, stream);
    while (Waits && cudaEventQuery(copied) == cudaErrorNotReady) {}
    std::fill_n(host.data, count, 43u);
    cudaMemcpyAsync(b.data(), host.data, bytes, cudaMemcpyHostToDevice, stream);
    enqueue_add(b.data(), a.data(), stream);
    return b.values(stream) == all_85;
}

template <bool InOrder> bool freed_after_use(std::uint64_t) {
    test_stream const stream;
    device_buffer<unsigned> const out{std::vector<unsigned>(count, 1u)};
    unsigned* scratch = nullptr;
    if (InOrder) cudaMallocAsync(&scratch, bytes, stream);
    else cudaMalloc(&scratch, bytes);
    enqueue_fill(scratch, 41, stream);
    enqueue_add(out.data(), scratch, stream);
    if (InOrder) cudaFreeAsync(scratch, stream);
    else cudaFree(scratch);
    return cudaStreamSynchronize(stream) == cudaSuccess && out.values() == all_42;
}

template <bool HasEvent> bool allocated_on_another_stream(std::uint64_t) {
    test_stream const first, second;
    test_event const there;
    unsigned* scratch = nullptr;
    cudaMallocAsync(&scratch, bytes, first);
    cudaEventRecord(there, first);
    if (HasEvent) cudaStreamWaitEvent(second, there);
    enqueue_fill(scratch, 42, second);
    bool const holds = cudaStreamSynchronize(second) == cudaSuccess;
    cudaDeviceSynchronize();
    cudaFree(scratch);
    return holds;
}

template <bool HasAccess> bool read_from_a_peer(std::uint64_t) {
    cuda_on_cpu::begin(5, {.has_peer_access = HasAccess});
    cudaSetDevice(1);
    device_buffer<unsigned> const there{all_42};
    cudaSetDevice(0);
    device_buffer<unsigned> const here{std::vector<unsigned>(count, 43u)};
    cudaDeviceEnablePeerAccess(1, 0);
    enqueue_add(here.data(), there.data(), nullptr);
    return cudaDeviceSynchronize() == cudaSuccess && here.values() == all_85;
}

/// Whether a process that does this dies.
template <class Act> bool kills(Act const& act) {
    pid_t const child = fork();
    if (child == 0) {
        std::signal(SIGSEGV, [](int) { _exit(42); });
        std::signal(SIGBUS, [](int) { _exit(42); });
        act();
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

}  // namespace

TEST_CASE("GPU-3: a missing event between streams is caught") {
    CHECK(always_holds(added_on_another_stream<true>));
    CHECK(is_caught(added_on_another_stream<false>));
}

TEST_CASE("pinned memory read before its copy, or written during one, is caught") {
    CHECK(always_holds(read_from_pinned<true>));
    CHECK(is_caught(read_from_pinned<false>));
    CHECK(always_holds(reused_pinned<true>));
    CHECK(is_caught(reused_pinned<false>));
}

TEST_CASE("memory that is freed before its use, or used before it is allocated, is caught") {
    CHECK(always_holds(freed_after_use<true>));
    CHECK(is_caught(freed_after_use<false>));
    CHECK(always_holds(allocated_on_another_stream<true>));
    CHECK(is_caught(allocated_on_another_stream<false>));
    CHECK(cuda_on_cpu::allocated() == 0);
}

TEST_CASE("a peer's memory needs peer access") {
    CHECK_FALSE(read_from_a_peer<false>(0));
    CHECK(cuda_on_cpu::failure().find("without peer access") != std::string::npos);
    CHECK(read_from_a_peer<true>(0));
    cuda_on_cpu::begin(0);
}

TEST_CASE("memory of the host in a kernel is refused; memory of a device on the host faults") {
    cuda_on_cpu::begin(1);
    std::vector<unsigned> ordinary(count);
    CHECK_THROWS_AS(enqueue_fill(ordinary.data(), 1, nullptr), error);
    CHECK(cuda_on_cpu::failure().find("an address of host memory") != std::string::npos);
    cuda_on_cpu::begin(1);
    device_buffer<unsigned> const a{all_42};
    CHECK(kills([&] { static_cast<void>(*static_cast<unsigned volatile*>(a.data())); }));
    CHECK_FALSE(kills([&] { static_cast<void>(*static_cast<unsigned volatile*>(ordinary.data())); }));
    CHECK(a.values() == all_42);
}

TEST_CASE("GPU-5: pageable, pinned and managed memory, in the right direction; the wrong one is refused") {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        cuda_on_cpu::begin(seed);
        test_stream const stream;
        device_buffer<unsigned> const a{count};
        std::vector<unsigned> source = all_42, target(count);
        cudaMemcpyAsync(a.data(), source.data(), bytes, cudaMemcpyHostToDevice, stream);
        source.assign(count, 0u);  // pageable memory was read when the call returned
        cudaMemcpyAsync(target.data(), a.data(), bytes, cudaMemcpyDeviceToHost, stream);
        REQUIRE(target == all_42);  // and written, too
        unsigned* managed = nullptr;
        cudaMallocManaged(&managed, bytes);
        cudaMemcpyAsync(managed, a.data(), bytes, cudaMemcpyDefault, stream);
        enqueue_add(managed, a.data(), stream);
        cudaStreamSynchronize(stream);
        REQUIRE(managed[count - 1] == 84);
        cudaFree(managed);
        REQUIRE(cuda_on_cpu::failure() == "");
    }
    device_buffer<unsigned> const a{count};
    std::vector<unsigned> target(count);
    CHECK(cudaMemcpy(target.data(), a.data(), bytes, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    cuda_on_cpu::begin(0, {.memory = 1000});
    void* much = nullptr;
    CHECK(cudaMalloc(&much, 2000) == cudaErrorMemoryAllocation);
    cuda_on_cpu::begin(0);
}

TEST_CASE("host functions come in their turn, and must not call the runtime") {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        cuda_on_cpu::begin(seed);
        test_stream const stream;
        pinned const host;
        device_buffer<unsigned> const a{count}, b{count};
        enqueue_fill(a.data(), 42, stream);
        cudaMemcpyAsync(host.data, a.data(), bytes, cudaMemcpyDeviceToHost, stream);
        cudaLaunchHostFunc(stream, [](void* at) { for (unsigned i = 0; i < count; ++i) static_cast<unsigned*>(at)[i] += 43; }, host.data);
        cudaMemcpyAsync(b.data(), host.data, bytes, cudaMemcpyHostToDevice, stream);
        REQUIRE(b.values(stream) == all_85);
    }
    cudaLaunchHostFunc(nullptr, [](void*) { cudaDeviceSynchronize(); }, nullptr);
    cudaDeviceSynchronize();
    CHECK(cuda_on_cpu::failure() == "cudaDeviceSynchronize was called by a host function of a stream");
    cuda_on_cpu::begin(0);
}

TEST_CASE("the legacy stream waits for blocking streams, and they for it") {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        cuda_on_cpu::begin(seed);
        cudaStream_t blocking = nullptr;
        cudaStreamCreate(&blocking);
        device_buffer<unsigned> const a{count}, b{count};
        enqueue_fill(a.data(), 21, blocking);
        enqueue_fill(b.data(), 43, blocking);
        enqueue_add(a.data(), a.data(), nullptr);
        enqueue_add(b.data(), a.data(), blocking);
        REQUIRE(b.values(blocking) == all_85);
        cudaStreamDestroy(blocking);
    }
}

TEST_CASE("a captured graph of two branches does the same at every launch") {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        cuda_on_cpu::begin(seed);
        test_stream const first, second;
        test_event const fork_point, join_point;
        device_buffer<unsigned> const a{count}, b{count}, sum{std::vector<unsigned>(count)};
        cudaGraph_t graph = nullptr;
        cudaGraphExec_t executable = nullptr;
        REQUIRE(cudaStreamBeginCapture(first, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
        enqueue_fill(a.data(), 20, first);
        cudaEventRecord(fork_point, first);
        cudaStreamWaitEvent(second, fork_point);
        enqueue_fill(b.data(), 22, second);
        enqueue_add(b.data(), a.data(), second);
        cudaEventRecord(join_point, second);
        cudaStreamWaitEvent(first, join_point);
        enqueue_add(sum.data(), b.data(), first);
        REQUIRE(cudaStreamEndCapture(first, &graph) == cudaSuccess);
        CHECK(cuda_on_cpu::moved().kernels == 0);
        REQUIRE(cudaGraphInstantiate(&executable, graph) == cudaSuccess);
        for (int launch = 0; launch < 3; ++launch) REQUIRE(cudaGraphLaunch(executable, first) == cudaSuccess);
        REQUIRE(sum.values(first) == std::vector<unsigned>(count, 126u));
        CHECK(cuda_on_cpu::moved().kernels == 12);
        cudaGraphExecDestroy(executable);
        cudaGraphDestroy(graph);
    }
}

TEST_CASE("what a capture cannot hold is refused") {
    cuda_on_cpu::begin(1);
    test_stream const first, second;
    test_event const fork_point;
    device_buffer<unsigned> const a{count};
    cudaGraph_t graph = nullptr;
    cudaStreamBeginCapture(first, cudaStreamCaptureModeThreadLocal);
    CHECK(cudaStreamSynchronize(first) == cudaErrorStreamCaptureUnsupported);
    CHECK(cudaStreamEndCapture(first, &graph) == cudaErrorStreamCaptureInvalidated);
    cudaStreamBeginCapture(first, cudaStreamCaptureModeThreadLocal);
    cudaEventRecord(fork_point, first);
    cudaStreamWaitEvent(second, fork_point);
    enqueue_fill(a.data(), 1, second);
    CHECK(cudaStreamEndCapture(first, &graph) == cudaErrorStreamCaptureUnjoined);
    CHECK(cudaStreamEndCapture(first, &graph) == cudaErrorStreamCaptureUnmatched);
    cuda_on_cpu::begin(1);
}
