// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "cuda_on_cpu/device_memory.hpp"
#include "cuda_on_cpu/fiber.hpp"
#include "cuda_on_cpu/machine_state.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <deque>
#include <optional>

// Runs the blocks of a kernel: some at a time, their threads as fibers that go on in an order that the seed draws.

constinit thread_local uint3 threadIdx{};
constinit thread_local uint3 blockIdx{};
constinit thread_local dim3 blockDim{};
constinit thread_local dim3 gridDim{};

namespace cuda_on_cpu {

namespace {

struct block_of_threads;

struct gpu_thread {
    fiber* on = nullptr;
    block_of_threads* block = nullptr;
    uint3 index{};
    unsigned number = 0;  ///< within the block
    enum class status { ready, at_barrier, in_warp, over } state = status::ready;
    struct {
        warp_operation what;
        unsigned mask;
        std::uint64_t value;
        unsigned argument;
        int width;
    } together{};
    std::uint64_t result = 0;

    unsigned lane() const { return number % 32; }
    unsigned warp() const { return number / 32; }
};

struct block_of_threads {
    uint3 index{};
    std::vector<gpu_thread> threads;
    std::unique_ptr<std::byte[]> shared;
    unsigned over = 0, arrived = 0;
    block_operation barrier = block_operation::sync;
    unsigned counted = 0;  ///< threads that came to the barrier with a value other than 0
};

class kernel_run {
 public:
    kernel_run(kernel_call const& what, int device) : what_{what}, device_{device} {}

    void run();

    gpu_thread& current() { return *current_; }
    int device() const { return device_; }
    std::size_t shared_bytes() const { return what_.shared_bytes; }
    void pause(bool is_waiting, std::size_t one_in = 4);
    int at_barrier(block_operation what, int value);
    std::uint64_t in_warp(warp_operation what, unsigned mask, std::uint64_t value, unsigned argument, int width);
    [[noreturn]] void refuse(std::string why);
    static void enter();

 private:
    enum class order { random, oldest, newest };

    void admit();
    void step();
    gpu_thread* next();
    void end_thread();
    void release_barrier(block_of_threads& block);
    void release_warp(block_of_threads& block, unsigned warp);
    void resolve(std::array<gpu_thread*, 32> const& lanes);
    void suspend() { current_->on->suspend(); }
    void make_ready(gpu_thread& thread);
    std::string place() const;
    std::string stuck() const;

    kernel_call const& what_;
    int device_;
    order order_ = order::random;
    std::size_t most_resident_ = 1;
    std::vector<std::size_t> waiting_blocks_;
    std::vector<std::unique_ptr<block_of_threads>> resident_;
    std::deque<gpu_thread*> ready_;
    gpu_thread* current_ = nullptr;
    std::uint64_t without_progress_ = 0;
    bool is_refused_ = false;
};

thread_local kernel_run* running = nullptr;

/// Stacks are used again and again.
std::vector<std::unique_ptr<fiber>>& idle_fibers() {
    static std::vector<std::unique_ptr<fiber>> fibers;
    return fibers;
}

std::string text(uint3 at) {
    return "(" + std::to_string(at.x) + ", " + std::to_string(at.y) + ", " + std::to_string(at.z) + ")";
}

uint3 unfold(std::size_t number, dim3 of) {
    return {static_cast<unsigned>(number % of.x), static_cast<unsigned>(number / of.x % of.y),
            static_cast<unsigned>(number / of.x / of.y)};
}

char const* name_of(warp_operation what) {
    constexpr char const* names[] = {"__syncwarp", "__ballot_sync", "__any_sync", "__all_sync", "__shfl_sync", "__shfl_up_sync",
                                     "__shfl_down_sync", "__shfl_xor_sync", "__match_any_sync"};
    return names[static_cast<int>(what)];
}

void kernel_run::run() {
    chance& draws = state().draws;
    std::size_t const blocks = std::size_t{what_.grid.x} * what_.grid.y * what_.grid.z;
    waiting_blocks_.resize(blocks);
    for (std::size_t i = 0; i < blocks; ++i) waiting_blocks_[i] = blocks - 1 - i;  // taken from the back
    std::size_t const manner = draws.below(4);
    if (manner == 1) std::reverse(waiting_blocks_.begin(), waiting_blocks_.end());
    if (manner > 1)
        for (std::size_t i = blocks; i > 1; --i) std::swap(waiting_blocks_[i - 1], waiting_blocks_[draws.below(i)]);
    most_resident_ = 1 + draws.below(4);
    order_ = static_cast<order>(draws.below(3));
    gridDim = what_.grid;
    blockDim = what_.block;
    kernel_run* const outer = std::exchange(running, this);
    while (!is_refused_) {
        admit();
        if (resident_.empty()) break;
        if (ready_.empty()) {
            is_refused_ = true;
            fail(stuck(), cudaErrorLaunchFailure);
            break;
        }
        step();
    }
    for (auto const& block : resident_) {  // of a kernel that failed
        for (gpu_thread& thread : block->threads)
            if (thread.on != nullptr) idle_fibers().emplace_back(std::exchange(thread.on, nullptr));
    }
    running = outer;
}

void kernel_run::admit() {
    while (resident_.size() < most_resident_ && !waiting_blocks_.empty()) {
        auto block = std::make_unique<block_of_threads>();
        block->index = unfold(waiting_blocks_.back(), what_.grid);
        waiting_blocks_.pop_back();
        block->threads.resize(std::size_t{what_.block.x} * what_.block.y * what_.block.z);
        block->shared = std::make_unique<std::byte[]>(what_.shared_bytes);
        std::fill_n(block->shared.get(), what_.shared_bytes, static_cast<std::byte>(state().draws.bits()));
        for (std::size_t i = 0; i < block->threads.size(); ++i) {
            gpu_thread& thread = block->threads[i];
            thread.block = block.get();
            thread.number = static_cast<unsigned>(i);
            thread.index = unfold(i, what_.block);
            ready_.push_back(&thread);
        }
        resident_.push_back(std::move(block));
    }
}

gpu_thread* kernel_run::next() {
    chance& draws = state().draws;
    bool const is_newest = order_ == order::newest && !draws.one_in(8);
    if (order_ == order::random || (order_ == order::newest && !is_newest))
        std::swap(ready_.back(), ready_[draws.below(ready_.size())]);
    if (order_ == order::oldest) {
        gpu_thread* const first = ready_.front();
        ready_.pop_front();
        return first;
    }
    gpu_thread* const last = ready_.back();
    ready_.pop_back();
    return last;
}

void kernel_run::step() {
    current_ = next();
    if (++without_progress_ > 1'000'000) {
        is_refused_ = true;
        return fail("no thread of the kernel gets on: " + place() + " waits without end", cudaErrorLaunchFailure);
    }
    if (current_->on == nullptr) {
        auto& idle = idle_fibers();
        if (idle.empty()) idle.push_back(std::make_unique<fiber>());
        current_->on = idle.back().release();
        idle.pop_back();
        current_->on->start(&kernel_run::enter);
    }
    threadIdx = current_->index;
    blockIdx = current_->block->index;
    current_->on->resume();
    if (current_->state == gpu_thread::status::over) end_thread();
}

void kernel_run::enter() {
    running->what_.body();
    running->current_->state = gpu_thread::status::over;
    running->suspend();
}

void kernel_run::end_thread() {
    gpu_thread& thread = *current_;
    idle_fibers().emplace_back(std::exchange(thread.on, nullptr));
    without_progress_ = 0;
    block_of_threads& block = *thread.block;
    ++block.over;
    if (block.over == block.threads.size()) {
        std::erase_if(resident_, [&](auto const& one) { return one.get() == &block; });
        return;
    }
    release_barrier(block);
    release_warp(block, thread.warp());
}

void kernel_run::make_ready(gpu_thread& thread) {
    thread.state = gpu_thread::status::ready;
    ready_.push_back(&thread);
}

void kernel_run::pause(bool is_waiting, std::size_t one_in) {
    if (!is_waiting && !state().draws.one_in(one_in)) return;
    if (is_waiting && order_ == order::newest) ready_.push_front(current_);
    else ready_.push_back(current_);
    suspend();
}

int kernel_run::at_barrier(block_operation what, int value) {
    block_of_threads& block = *current_->block;
    if (block.arrived != 0 && block.barrier != what) refuse("threads of a block come to barriers of different kinds");
    block.barrier = what;
    ++block.arrived;
    if (value != 0) ++block.counted;
    current_->state = gpu_thread::status::at_barrier;
    release_barrier(block);
    suspend();
    return static_cast<int>(current_->result);
}

void kernel_run::release_barrier(block_of_threads& block) {
    if (block.arrived == 0 || block.arrived + block.over != block.threads.size()) return;
    std::uint64_t result = block.counted;
    if (block.barrier == block_operation::all) result = block.counted == block.arrived;
    if (block.barrier == block_operation::any) result = block.counted != 0;
    block.arrived = block.counted = 0;
    without_progress_ = 0;
    for (gpu_thread& thread : block.threads) {
        if (thread.state != gpu_thread::status::at_barrier) continue;
        thread.result = result;
        make_ready(thread);
    }
}

std::uint64_t kernel_run::in_warp(warp_operation what, unsigned mask, std::uint64_t value, unsigned argument, int width) {
    gpu_thread& self = *current_;
    if ((mask >> self.lane() & 1u) == 0) refuse(std::string{name_of(what)} + " by a thread that is not in its mask");
    self.together = {what, mask, value, argument, width};
    self.state = gpu_thread::status::in_warp;
    release_warp(*self.block, self.warp());
    suspend();
    return self.result;
}

void kernel_run::release_warp(block_of_threads& block, unsigned warp) {
    std::size_t const first = std::size_t{warp} * 32, end = (std::min)(block.threads.size(), first + 32);
    for (std::size_t i = first; i < end; ++i) {
        if (block.threads[i].state != gpu_thread::status::in_warp) continue;
        auto const& asked = block.threads[i].together;
        std::array<gpu_thread*, 32> lanes{};
        bool is_complete = true;
        for (std::size_t j = first; j < end; ++j) {
            gpu_thread& other = block.threads[j];
            if ((asked.mask >> other.lane() & 1u) == 0 || other.state == gpu_thread::status::over) continue;
            bool const is_here = other.state == gpu_thread::status::in_warp && other.together.mask == asked.mask &&
                                 other.together.what == asked.what;
            is_complete = is_complete && is_here;
            lanes[other.lane()] = &other;
        }
        if (is_complete) resolve(lanes);
    }
}

void kernel_run::resolve(std::array<gpu_thread*, 32> const& lanes) {
    unsigned here = 0, holds = 0;
    for (unsigned lane = 0; lane < 32; ++lane) {
        if (lanes[lane] == nullptr) continue;
        here |= 1u << lane;
        if (lanes[lane]->together.value != 0) holds |= 1u << lane;
    }
    for (unsigned lane = 0; lane < 32; ++lane) {
        if (lanes[lane] == nullptr) continue;
        auto const& asked = lanes[lane]->together;
        unsigned const width = static_cast<unsigned>(asked.width), first = lane / width * width;
        unsigned source = lane;
        std::uint64_t& result = lanes[lane]->result;
        switch (asked.what) {
            case warp_operation::sync: break;
            case warp_operation::ballot: result = holds; continue;
            case warp_operation::any: result = holds != 0; continue;
            case warp_operation::all: result = holds == here; continue;
            case warp_operation::match_any:
                result = 0;
                for (unsigned other = 0; other < 32; ++other)
                    if (lanes[other] != nullptr && lanes[other]->together.value == asked.value) result |= std::uint64_t{1} << other;
                continue;
            case warp_operation::shuffle: source = first + asked.argument % width; break;
            case warp_operation::shuffle_up: source = lane - first >= asked.argument ? lane - asked.argument : lane; break;
            case warp_operation::shuffle_down: source = lane - first + asked.argument < width ? lane + asked.argument : lane; break;
            case warp_operation::shuffle_xor: source = (lane ^ asked.argument) < first + width ? lane ^ asked.argument : lane; break;
        }
        // What a lane that does not take part would give is unspecified.
        result = lanes[source] != nullptr ? lanes[source]->together.value : state().draws.bits();
    }
    without_progress_ = 0;
    for (gpu_thread* lane : lanes)
        if (lane != nullptr) make_ready(*lane);
}

std::string kernel_run::place() const { return "thread " + text(current_->index) + " of block " + text(current_->block->index); }

void kernel_run::refuse(std::string why) {
    fail(place() + ": " + why, cudaErrorLaunchFailure);
    is_refused_ = true;
    std::string{}.swap(why);  // this stack is left for ever
    suspend();
    std::abort();
}

std::string kernel_run::stuck() const {
    std::string result = "the kernel cannot get on:";
    for (auto const& block : resident_) {
        result += " in block " + text(block->index) + " " + std::to_string(block->arrived) + " threads wait at a barrier, " +
                  std::to_string(block->over) + " are over";
        for (gpu_thread const& thread : block->threads) {
            if (thread.state != gpu_thread::status::in_warp) continue;
            result += ", thread " + text(thread.index) + " waits in ";
            result += name_of(thread.together.what);
        }
    }
    return result;
}

kernel_run& in_kernel(char const* what) {
    if (running == nullptr) {
        fail(std::string{what} + " outside of a kernel", cudaErrorLaunchFailure);
        std::abort();
    }
    return *running;
}

}  // namespace

void* shared_memory() { return in_kernel("shared memory").current().block->shared.get(); }
int block_together(block_operation what, int value) { return in_kernel("a barrier").at_barrier(what, value); }
std::uint64_t warp_together(warp_operation what, unsigned mask, std::uint64_t value, unsigned argument, int width) {
    return in_kernel(name_of(what)).in_warp(what, mask, value, argument, width);
}
void switch_point(bool is_waiting) { in_kernel("a fence").pause(is_waiting); }

unsigned active_lanes() {
    kernel_run& run = in_kernel("__activemask");
    unsigned mask = 0;
    gpu_thread const& self = run.current();
    for (gpu_thread const& other : self.block->threads)
        if (other.warp() == self.warp() && other.state == gpu_thread::status::ready && (&other == &self || state().draws.one_in(2)))
            mask |= 1u << other.lane();
    return mask;
}

namespace {

/// Why the running kernel may not access this; empty: it may.
std::string access_problem(kernel_run& run, void const* at, std::size_t bytes) {
    if (reinterpret_cast<std::uintptr_t>(at) % bytes != 0) return ", which is not aligned to them";
    region const* const found = find_region(at, bytes);
    if (found == nullptr) return ", which is not all there";
    if (!found->is_there) return ", before its allocation in stream order, or after it was freed";
    bool const is_foreign = found->type == cudaMemoryTypeDevice && found->device != run.device();
    if (!is_foreign || state().peers.contains({run.device(), found->device})) return "";
    return ", from device " + std::to_string(run.device()) + " without peer access";
}

}  // namespace

void check_access(void const* at, std::size_t bytes, bool is_write) {
    kernel_run& run = in_kernel("an access to device memory");
    run.pause(false, 32);
    auto const address = reinterpret_cast<std::uintptr_t>(at);
    auto const shared = reinterpret_cast<std::uintptr_t>(run.current().block->shared.get());
    if (address >= shared && address + bytes <= shared + run.shared_bytes()) return;
    std::string problem = access_problem(run, at, bytes);
    if (!problem.empty()) {
        problem.insert(0, describe(at));
        problem.insert(0, " bytes at ");
        problem.insert(0, std::to_string(bytes));
        problem.insert(0, is_write ? "writes " : "reads ");
        run.refuse(std::move(problem));
    }
    (is_write ? state().counts.written : state().counts.read) += bytes;
}

void run_kernel(kernel_call const& what, int device) {
    ++state().counts.kernels;
    kernel_run{what, device}.run();
}

}  // namespace cuda_on_cpu
