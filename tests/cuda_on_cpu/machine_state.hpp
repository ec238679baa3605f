// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/random.hpp"
#include "cuda_on_cpu/control.hpp"
#include "cuda_on_cpu/launch_config.hpp"
#include "cuda_on_cpu/runtime_api.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace cuda_on_cpu {

/// All that is left to chance comes from here, in the order in which it is asked for.
class chance {
 public:
    explicit chance(std::uint64_t seed) : random_{seed} {}
    std::uint64_t bits() { return random_.bits(counter_++); }
    std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_.below(counter_++, bound)); }
    bool one_in(std::size_t many) { return below(many) == 0; }

 private:
    chorus::counter_random random_;
    std::uint64_t counter_ = 0;
};

/// A piece of work in a stream: may begin when all that it waits for is done.
struct operation {
    enum class status { waiting, running, done };
    std::function<void()> act;  ///< null: nothing to do
    std::vector<std::shared_ptr<operation>> after;
    std::function<bool()> gate;  ///< may not begin while it says no; null: it may
    int device = 0;
    bool is_host_function = false;  ///< runs while other threads may call the runtime
    status state = status::waiting;
};
using work = std::shared_ptr<operation>;

/// Memory that is told apart from ordinary memory.
struct region {
    std::size_t bytes = 0;
    cudaMemoryType type = cudaMemoryTypeDevice;
    int device = 0;
    bool is_there = true;     ///< false until a stream-ordered allocation has come to its turn
    bool is_registered = false;  ///< the user's own memory
};

/// A device's addresses: reserved at once, handed out in order and never twice, unreadable for the host while no kernel or copy runs.
struct device_arena {
    std::byte* base = nullptr;
    std::size_t top = 0;
    std::size_t used = 0;
};

/// What is being captured.
struct captured_node {
    std::function<void()> act;
    std::vector<std::size_t> after;
    int device = 0;
    bool is_host_function = false;
    std::function<bool()> gate;
};

}  // namespace cuda_on_cpu

struct CUgraph_st {
    std::vector<cuda_on_cpu::captured_node> nodes;
};

namespace cuda_on_cpu {

struct capture {
    CUgraph_st graph;
    cudaStream_t origin = nullptr;
    std::set<cudaStream_t> streams;
    bool is_invalid = false;
};

}  // namespace cuda_on_cpu

struct CUstream_st {
    int device = 0;
    bool is_blocking = true;  ///< waits for the legacy stream, and is waited for by it
    cuda_on_cpu::work last;
    std::shared_ptr<cuda_on_cpu::capture> captured_by;
    std::vector<std::size_t> tail;  ///< while captured: what the next node comes after
};
struct CUevent_st {
    int device = 0;
    cuda_on_cpu::work recorded;
    std::shared_ptr<cuda_on_cpu::capture> captured_by;
    std::vector<std::size_t> tail;
};
struct CUgraphExec_st {
    std::vector<cuda_on_cpu::captured_node> nodes;
    cuda_on_cpu::work last;  ///< launches of one graph come one after another
};

namespace cuda_on_cpu {

/// The one machine of the process. Every function of the runtime holds `lock` while it looks at this.
struct machine_state {
    std::mutex lock;
    std::condition_variable changed;
    chance draws{0};
    machine having;
    std::string first_failure;
    cudaError_t sticky = cudaSuccess;  ///< after a kernel failed, all calls fail
    moved_bytes counts;

    std::map<std::uintptr_t, region> regions;
    std::vector<device_arena> arenas;
    std::set<std::pair<int, int>> peers;  ///< (who, whose memory)
    std::map<void const*, std::size_t> allowed_shared;

    std::vector<work> queue;
    std::vector<CUstream_st> legacy;  ///< of each device
    std::set<cudaStream_t> streams;
    std::set<cudaEvent_t> events;
    std::set<cudaGraph_t> graphs;
    std::set<cudaGraphExec_t> executables;
};

machine_state& state();
void fail(std::string const& why, cudaError_t error);  ///< the first failure stays; a failed launch is sticky

// memory.cpp, all under the lock
region const* find_region(void const* at, std::size_t bytes);
std::byte* new_device_memory(int device, std::size_t bytes, bool is_there);
void set_there(void const* at, bool is_there);
void erase_region(void const* at);
bool is_host_accessible(void const* at);
std::string describe(void const* at);
/// While one lives, the devices' memory is readable and writable.
class open_memory {
 public:
    open_memory();
    open_memory(open_memory const&) = delete;
    open_memory& operator=(open_memory const&) = delete;
    ~open_memory();
};

// stream.cpp
/// The stream itself, or the legacy stream of the current device; null for a handle that is none.
CUstream_st* stream_of(cudaStream_t stream);
cudaError_t enqueue(CUstream_st& stream, std::function<void()> act, bool is_host_function = false, std::function<bool()> gate = {});
void finish(std::unique_lock<std::mutex>& held, work const& until);
void finish_all(std::unique_lock<std::mutex>& held);
void move_on(std::unique_lock<std::mutex>& held, std::size_t at_most);  ///< does up to so many pieces of work
bool is_done(work const& piece);
int current_device();

/// What every function of the runtime begins with: the lock, the sticky error, and some of the work that may be done.
class call {
 public:
    explicit call(char const* name);
    std::unique_lock<std::mutex>& held() { return held_; }
    cudaError_t refused() const { return refused_; }
    static cudaError_t end(cudaError_t result);  ///< remembers it for cudaGetLastError

 private:
    std::unique_lock<std::mutex> held_;
    cudaError_t refused_ = cudaSuccess;
};

// kernel.cpp
void run_kernel(kernel_call const& what, int device);

}  // namespace cuda_on_cpu
