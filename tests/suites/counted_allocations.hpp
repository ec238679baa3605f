// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

// Counts every allocation of the program through new, whoever asks. Replaces operator new, so that only one source file
// of a program may include this.

namespace suites {

inline std::atomic<std::uint64_t> allocations{0};

inline void* allocate_counted(std::size_t bytes, std::size_t alignment) {
    ++allocations;
    void* const memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (memory == nullptr) throw std::bad_alloc{};
    return memory;
}

/// How many allocations the call made.
template <class Call>
std::uint64_t allocations_in(Call const& call) {
    std::uint64_t const before = allocations;
    call();
    return allocations - before;
}

}  // namespace suites

[[gnu::noinline]] void* operator new(std::size_t bytes) {
    return suites::allocate_counted(bytes, alignof(std::max_align_t));
}
[[gnu::noinline]] void* operator new[](std::size_t bytes) {
    return suites::allocate_counted(bytes, alignof(std::max_align_t));
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t to) {
    return suites::allocate_counted(bytes, static_cast<std::size_t>(to));
}
[[gnu::noinline]] void* operator new[](std::size_t bytes, std::align_val_t to) {
    return suites::allocate_counted(bytes, static_cast<std::size_t>(to));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
