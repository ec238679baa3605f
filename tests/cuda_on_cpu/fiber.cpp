// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "cuda_on_cpu/fiber.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CUDA_ON_CPU_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define CUDA_ON_CPU_TSAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define CUDA_ON_CPU_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define CUDA_ON_CPU_TSAN 1
#endif
#if defined(CUDA_ON_CPU_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(CUDA_ON_CPU_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

// Saves the registers that a function must keep and the place of the stack, and goes on where another did so: a few nanoseconds, where
// swapcontext asks the system for the mask of signals.
#if defined(__x86_64__)
extern "C" void cuda_on_cpu_switch(void** save, void* load);
asm(R"(
.text
.globl cuda_on_cpu_switch
.type cuda_on_cpu_switch, @function
cuda_on_cpu_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size cuda_on_cpu_switch, .-cuda_on_cpu_switch
)");
#endif

namespace cuda_on_cpu {

struct fiber::parts {
    static constexpr std::size_t stack_bytes = 256 * 1024;

    std::byte* stack = nullptr;  ///< one page that faults lies before it
    void (*entry)() = nullptr;
#if defined(__x86_64__)
    void* inside = nullptr;
    void* outside = nullptr;
#else
    ucontext_t inside, outside;
#endif
#if defined(CUDA_ON_CPU_ASAN)
    void* outside_fake = nullptr;
    void* inside_fake = nullptr;
    void const* outside_stack = nullptr;
    std::size_t outside_bytes = 0;
#endif
#if defined(CUDA_ON_CPU_TSAN)
    void* inside_fiber = nullptr;
    void* outside_fiber = nullptr;
#endif

    void switch_in() {
#if defined(__x86_64__)
        cuda_on_cpu_switch(&outside, inside);
#else
        swapcontext(&outside, &inside);
#endif
    }
    void switch_out() {
#if defined(__x86_64__)
        cuda_on_cpu_switch(&inside, outside);
#else
        swapcontext(&inside, &outside);
#endif
    }
};

namespace {

thread_local fiber* starting = nullptr;

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

}  // namespace

fiber::fiber() : parts_{std::make_unique<parts>()} {
    std::size_t const page = page_bytes();
    void* const mapped = mmap(nullptr, parts::stack_bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) std::abort();
    mprotect(mapped, page, PROT_NONE);
    parts_->stack = static_cast<std::byte*>(mapped) + page;
#if defined(CUDA_ON_CPU_TSAN)
    parts_->inside_fiber = __tsan_create_fiber(0);
#endif
}

fiber::~fiber() {
#if defined(CUDA_ON_CPU_TSAN)
    __tsan_destroy_fiber(parts_->inside_fiber);
#endif
#if defined(CUDA_ON_CPU_ASAN)
    ASAN_UNPOISON_MEMORY_REGION(parts_->stack, parts::stack_bytes);
#endif
    munmap(parts_->stack - page_bytes(), parts::stack_bytes + page_bytes());
}

void fiber::begin_inside() {
#if defined(CUDA_ON_CPU_ASAN)
    parts& self = *starting->parts_;
    __sanitizer_finish_switch_fiber(nullptr, &self.outside_stack, &self.outside_bytes);
#endif
    starting->parts_->entry();
    std::abort();
}

void fiber::start(void (*entry)()) {
    parts_->entry = entry;
#if defined(CUDA_ON_CPU_TSAN)
    __tsan_destroy_fiber(parts_->inside_fiber);  // it remembers the calls that the stack was left in
    parts_->inside_fiber = __tsan_create_fiber(0);
#endif
#if defined(CUDA_ON_CPU_ASAN)
    ASAN_UNPOISON_MEMORY_REGION(parts_->stack, parts::stack_bytes);
    parts_->inside_fake = nullptr;
#endif
#if defined(__x86_64__)
    auto* top = reinterpret_cast<void**>(parts_->stack + parts::stack_bytes);
    *--top = nullptr;  // as if begin_inside had been called: its caller is unknown, and the stack is off by eight
    *--top = reinterpret_cast<void*>(&begin_inside);
    for (int i = 0; i < 6; ++i) *--top = nullptr;
    parts_->inside = top;
#else
    getcontext(&parts_->inside);
    parts_->inside.uc_stack.ss_sp = parts_->stack;
    parts_->inside.uc_stack.ss_size = parts::stack_bytes;
    parts_->inside.uc_link = nullptr;
    makecontext(&parts_->inside, &begin_inside, 0);
#endif
}

void fiber::resume() {
    starting = this;
#if defined(CUDA_ON_CPU_TSAN)
    parts_->outside_fiber = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(parts_->inside_fiber, 0);
#endif
#if defined(CUDA_ON_CPU_ASAN)
    __sanitizer_start_switch_fiber(&parts_->outside_fake, parts_->stack, parts::stack_bytes);
#endif
    parts_->switch_in();
#if defined(CUDA_ON_CPU_ASAN)
    __sanitizer_finish_switch_fiber(parts_->outside_fake, nullptr, nullptr);
#endif
}

void fiber::suspend() {
#if defined(CUDA_ON_CPU_TSAN)
    __tsan_switch_to_fiber(parts_->outside_fiber, 0);
#endif
#if defined(CUDA_ON_CPU_ASAN)
    __sanitizer_start_switch_fiber(&parts_->inside_fake, parts_->outside_stack, parts_->outside_bytes);
#endif
    parts_->switch_out();
#if defined(CUDA_ON_CPU_ASAN)
    __sanitizer_finish_switch_fiber(parts_->inside_fake, &parts_->outside_stack, &parts_->outside_bytes);
#endif
}

}  // namespace cuda_on_cpu
