// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "cuda_on_cpu/machine_state.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CUDA_ON_CPU_ASAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define CUDA_ON_CPU_ASAN 1
#endif
#if defined(CUDA_ON_CPU_ASAN)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, bytes) static_cast<void>(0)
#define ASAN_UNPOISON_MEMORY_REGION(at, bytes) static_cast<void>(0)
#endif

// Memory: of devices, pinned, managed. What the host must not touch faults; what kernels must not touch is refused by check_access, and
// poisoned for the address sanitizer.

namespace cuda_on_cpu {

namespace {

constexpr std::size_t arena_bytes = std::size_t{1} << 36;

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }
std::uintptr_t number(void const* at) { return reinterpret_cast<std::uintptr_t>(at); }

int arena_of(void const* at) {
    auto const& arenas = state().arenas;
    for (std::size_t i = 0; i < arenas.size(); ++i)
        if (number(at) >= number(arenas[i].base) && number(at) < number(arenas[i].base) + arena_bytes) return static_cast<int>(i);
    return -1;
}

void protect_all(int how) {
    for (device_arena const& arena : state().arenas)
        if (arena.top != 0 && mprotect(arena.base, arena.top, how) != 0) std::abort();
}

int open_count = 0;

cudaError_t wrong(std::string const& why, cudaError_t error = cudaErrorInvalidValue) {
    fail(why, error);
    return error;
}

cudaError_t allocate(void** pointer, std::size_t bytes, bool is_there) {
    machine_state& on = state();
    auto const device = static_cast<std::size_t>(current_device());
    if (pointer == nullptr) return cudaErrorInvalidValue;
    if (on.arenas[device].used + bytes > on.having.memory || bytes > on.having.memory) return cudaErrorMemoryAllocation;
    *pointer = bytes == 0 ? nullptr : new_device_memory(current_device(), bytes, is_there);
    return cudaSuccess;
}

cudaError_t allocate_host(void** pointer, std::size_t bytes, cudaMemoryType type) {
    std::size_t const rounded = (bytes + 255) / 256 * 256;
    *pointer = bytes == 0 ? nullptr : std::aligned_alloc(256, rounded);
    if (bytes == 0) return cudaSuccess;
    if (*pointer == nullptr) return cudaErrorMemoryAllocation;
    std::memset(*pointer, static_cast<int>(state().draws.below(256)), rounded);
    ASAN_POISON_MEMORY_REGION(static_cast<std::byte*>(*pointer) + bytes, rounded - bytes);
    state().regions[number(*pointer)] = {bytes, type, current_device()};
    return cudaSuccess;
}

cudaError_t free_host(void* pointer) {
    auto const found = state().regions.find(number(pointer));
    bool const is_ours = found != state().regions.end() && found->second.type != cudaMemoryTypeDevice && !found->second.is_registered;
    if (!is_ours) return wrong("freeing " + describe(pointer));
    ASAN_UNPOISON_MEMORY_REGION(pointer, (found->second.bytes + 255) / 256 * 256);
    erase_region(pointer);
    std::free(pointer);
    return cudaSuccess;
}

/// After a kernel failed memory can still be freed, so that a failing test leaves none behind.
bool cannot_free(call const& on) { return on.refused() != cudaSuccess && on.refused() != cudaErrorLaunchFailure; }

region const* last_found = nullptr;
std::uintptr_t last_begin = 0;

}  // namespace

region const* find_region(void const* at, std::size_t bytes) {
    std::uintptr_t const begin = number(at);
    if (last_found != nullptr && begin >= last_begin && begin + bytes <= last_begin + last_found->bytes) return last_found;
    auto const after = state().regions.upper_bound(begin);
    if (after == state().regions.begin()) return nullptr;
    auto const found = std::prev(after);
    if (begin + bytes > found->first + found->second.bytes || begin >= found->first + found->second.bytes) return nullptr;
    last_found = &found->second;
    last_begin = found->first;
    return last_found;
}

std::string describe(void const* at) {
    std::ostringstream out;
    out << at;
    auto const after = state().regions.upper_bound(number(at));
    if (after != state().regions.begin()) {
        auto const& [begin, found] = *std::prev(after);
        if (number(at) < begin + found.bytes + page_bytes()) {
            out << ", byte " << number(at) - begin << " of an allocation of " << found.bytes << " bytes";
            return out.str();
        }
    }
    out << (arena_of(at) >= 0 ? ", device memory that is not allocated" : ", memory of the host that is not pinned");
    return out.str();
}

std::byte* new_device_memory(int device, std::size_t bytes, bool is_there) {
    device_arena& arena = state().arenas[static_cast<std::size_t>(device)];
    std::size_t const page = page_bytes();
    std::byte* const made = arena.base + arena.top;
    std::size_t const reserved = (bytes + page - 1) / page * page + page;  // one page behind stays poisoned
    if (arena.top + reserved > arena_bytes) std::abort();
    ASAN_POISON_MEMORY_REGION(made, reserved);
    arena.top += reserved;
    arena.used += bytes;
    state().regions[number(made)] = {bytes, cudaMemoryTypeDevice, device, false};
    if (mprotect(made, reserved, PROT_READ | PROT_WRITE) != 0) std::abort();
    ASAN_UNPOISON_MEMORY_REGION(made, bytes);
    std::memset(made, static_cast<int>(state().draws.below(256)), bytes);
    ASAN_POISON_MEMORY_REGION(made, bytes);
    if (open_count == 0 && mprotect(made, reserved, PROT_NONE) != 0) std::abort();
    if (is_there) set_there(made, true);
    return made;
}

void set_there(void const* at, bool is_there) {
    auto const found = state().regions.find(number(at));
    if (found == state().regions.end()) return;
    found->second.is_there = is_there;
    if (is_there) ASAN_UNPOISON_MEMORY_REGION(at, found->second.bytes);
    else ASAN_POISON_MEMORY_REGION(at, found->second.bytes);
}

void erase_region(void const* at) {
    auto const found = state().regions.find(number(at));
    if (found == state().regions.end()) return;
    region const gone = found->second;
    if (gone.type == cudaMemoryTypeDevice) {
        set_there(at, false);
        state().arenas[static_cast<std::size_t>(gone.device)].used -= gone.bytes;
        if (open_count == 0) madvise(const_cast<void*>(at), gone.bytes, MADV_DONTNEED);
    }
    state().regions.erase(found);
    last_found = nullptr;
}

bool is_host_accessible(void const* at) { return arena_of(at) < 0; }

open_memory::open_memory() {
    if (open_count++ == 0) protect_all(PROT_READ | PROT_WRITE);
}
open_memory::~open_memory() {
    if (--open_count == 0) protect_all(PROT_NONE);
}

bool has_host_address(void const* argument, std::size_t bytes) {
    std::lock_guard const held{state().lock};
    for (std::size_t at = 0; at + 8 <= bytes; at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, static_cast<std::byte const*>(argument) + at, 8);
        if (word >> 32 == 0 || word >> 47 != 0) continue;
#if defined(CUDA_ON_CPU_ASAN)
        if (word >= 0x7FFF8000u && word < 0x10007FFF8000u) continue;  // the sanitizer's own, an eighth of all addresses
#endif
        auto* const address = reinterpret_cast<void*>(word);
        if (arena_of(address) >= 0 || find_region(address, 0) != nullptr) continue;
        unsigned char is_resident = 0;
        if (mincore(reinterpret_cast<void*>(word / page_bytes() * page_bytes()), 1, &is_resident) != 0) continue;
        return true;
    }
    return false;
}

std::size_t allocated() {
    std::lock_guard const held{state().lock};
    std::size_t bytes = 0;
    for (auto const& [begin, one] : state().regions) bytes += one.is_registered ? 0 : one.bytes;
    return bytes;
}

void make_arenas(std::size_t devices) {
    auto& arenas = state().arenas;
    while (arenas.size() < devices) {
        void* const mapped = mmap(nullptr, arena_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (mapped == MAP_FAILED) std::abort();
        arenas.push_back({static_cast<std::byte*>(mapped)});
    }
}

namespace {

void copy_now(void* to, void const* from, std::size_t bytes) {
    for (void const* side : {static_cast<void const*>(to), from}) {
        if (is_host_accessible(side) && find_region(side, 1) == nullptr) continue;  // ordinary memory
        region const* const found = find_region(side, bytes);
        if (found == nullptr || !found->is_there)
            return fail("a copy of " + std::to_string(bytes) + " bytes " + (side == to ? "to " : "from ") + describe(side),
                        cudaErrorLaunchFailure);
    }
    std::memmove(to, from, bytes);
}

bool is_direction(void const* to, void const* from, cudaMemcpyKind kind) {
    bool const to_host = is_host_accessible(to), from_host = is_host_accessible(from);
    auto const is_managed = [](void const* at) {
        region const* const found = find_region(at, 0);
        return found != nullptr && found->type == cudaMemoryTypeManaged;
    };
    bool const to_fits = is_managed(to) || kind == cudaMemcpyDefault ||
                         to_host == (kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost);
    bool const from_fits = is_managed(from) || kind == cudaMemcpyDefault ||
                           from_host == (kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice);
    return to_fits && from_fits;
}

bool is_pageable(void const* at) { return is_host_accessible(at) && find_region(at, 0) == nullptr; }

/// `waits`: as cudaMemcpy does, unless both sides are a device's.
cudaError_t copy(call& on, void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream, bool waits) {
    CUstream_st* const in = stream_of(stream);
    if (in == nullptr) return wrong("a copy in a stream that is none", cudaErrorInvalidResourceHandle);
    if (bytes == 0) return cudaSuccess;
    if (!is_direction(to, from, kind)) return wrong("a copy to " + describe(to) + " from " + describe(from) + " in the wrong direction");
    if (in->captured_by != nullptr && (waits || is_pageable(to) || is_pageable(from))) {
        in->captured_by->is_invalid = true;
        return wrong("a copy of memory that is not pinned, while captured", cudaErrorStreamCaptureUnsupported);
    }
    waits = (waits && (is_host_accessible(to) || is_host_accessible(from))) || is_pageable(to);
    cudaError_t result = cudaSuccess;
    if (is_pageable(from) && !waits) {  // the runtime has copied it to a place of its own when it returns
        auto const kept = std::make_shared<std::vector<std::byte>>(static_cast<std::byte const*>(from), static_cast<std::byte const*>(from) + bytes);
        result = enqueue(*in, [=] { copy_now(to, kept->data(), bytes); });
    } else {
        result = enqueue(*in, [=] { copy_now(to, from, bytes); });
    }
    if (waits && result == cudaSuccess) finish(on.held(), in->last);
    return result;
}

cudaError_t set(void* to, int value, std::size_t bytes, cudaStream_t stream) {
    CUstream_st* const in = stream_of(stream);
    if (in == nullptr) return wrong("cudaMemset in a stream that is none", cudaErrorInvalidResourceHandle);
    if (bytes == 0) return cudaSuccess;
    return enqueue(*in, [=] {
        region const* const found = find_region(to, bytes);
        if (found == nullptr || !found->is_there) return fail("cudaMemset of " + std::to_string(bytes) + " bytes at " + describe(to), cudaErrorLaunchFailure);
        std::memset(to, value, bytes);
    });
}

}  // namespace

}  // namespace cuda_on_cpu

using cuda_on_cpu::call;

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
    call on{"cudaMalloc"};
    return call::end(on.refused() != cudaSuccess ? on.refused() : cuda_on_cpu::allocate(pointer, bytes, true));
}

cudaError_t cudaFree(void* pointer) {
    call on{"cudaFree"};
    if (cuda_on_cpu::cannot_free(on) || pointer == nullptr) return call::end(on.refused());
    auto const& regions = cuda_on_cpu::state().regions;
    auto const found = regions.find(reinterpret_cast<std::uintptr_t>(pointer));
    if (found == regions.end()) return call::end(cuda_on_cpu::wrong("cudaFree of " + cuda_on_cpu::describe(pointer)));
    if (found->second.type == cudaMemoryTypeManaged) return call::end(cuda_on_cpu::free_host(pointer));
    if (found->second.type != cudaMemoryTypeDevice) return call::end(cuda_on_cpu::wrong("cudaFree of memory of the host"));
    cuda_on_cpu::erase_region(pointer);
    return call::end(cudaSuccess);
}

cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t stream) {
    call on{"cudaMallocAsync"};
    if (on.refused() != cudaSuccess) return call::end(on.refused());
    CUstream_st* const in = cuda_on_cpu::stream_of(stream);
    if (in == nullptr) return call::end(cudaErrorInvalidResourceHandle);
    if (in->captured_by != nullptr) return call::end(cuda_on_cpu::wrong("cudaMallocAsync while captured", cudaErrorStreamCaptureUnsupported));
    cudaError_t const result = cuda_on_cpu::allocate(pointer, bytes, false);
    if (result != cudaSuccess || *pointer == nullptr) return call::end(result);
    return call::end(cuda_on_cpu::enqueue(*in, [made = *pointer] { cuda_on_cpu::set_there(made, true); }));
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
    call on{"cudaFreeAsync"};
    if (cuda_on_cpu::cannot_free(on) || pointer == nullptr) return call::end(on.refused());
    if (on.refused() != cudaSuccess) return cuda_on_cpu::erase_region(pointer), call::end(on.refused());
    CUstream_st* const in = cuda_on_cpu::stream_of(stream);
    if (in == nullptr) return call::end(cudaErrorInvalidResourceHandle);
    if (in->captured_by != nullptr) return call::end(cuda_on_cpu::wrong("cudaFreeAsync while captured", cudaErrorStreamCaptureUnsupported));
    if (cuda_on_cpu::state().regions.count(reinterpret_cast<std::uintptr_t>(pointer)) == 0)
        return call::end(cuda_on_cpu::wrong("cudaFreeAsync of " + cuda_on_cpu::describe(pointer)));
    return call::end(cuda_on_cpu::enqueue(*in, [pointer] { cuda_on_cpu::erase_region(pointer); }));
}

cudaError_t cudaMallocHost(void** pointer, std::size_t bytes) {
    call on{"cudaMallocHost"};
    return call::end(on.refused() != cudaSuccess ? on.refused() : cuda_on_cpu::allocate_host(pointer, bytes, cudaMemoryTypeHost));
}
cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned) { return cudaMallocHost(pointer, bytes); }
cudaError_t cudaMallocManaged(void** pointer, std::size_t bytes, unsigned) {
    call on{"cudaMallocManaged"};
    return call::end(on.refused() != cudaSuccess ? on.refused() : cuda_on_cpu::allocate_host(pointer, bytes, cudaMemoryTypeManaged));
}
cudaError_t cudaFreeHost(void* pointer) {
    call on{"cudaFreeHost"};
    if (cuda_on_cpu::cannot_free(on) || pointer == nullptr) return call::end(on.refused());
    return call::end(cuda_on_cpu::free_host(pointer));
}
cudaError_t cudaHostRegister(void* pointer, std::size_t bytes, unsigned) {
    call on{"cudaHostRegister"};
    if (on.refused() != cudaSuccess) return call::end(on.refused());
    if (bytes == 0 || !cuda_on_cpu::is_host_accessible(pointer)) return call::end(cudaErrorInvalidValue);
    cuda_on_cpu::state().regions[reinterpret_cast<std::uintptr_t>(pointer)] = {bytes, cudaMemoryTypeHost, cuda_on_cpu::current_device(), true, true};
    return call::end(cudaSuccess);
}
cudaError_t cudaHostUnregister(void* pointer) {
    call on{"cudaHostUnregister"};
    if (on.refused() != cudaSuccess) return call::end(on.refused());
    cuda_on_cpu::erase_region(pointer);
    return call::end(cudaSuccess);
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, void const* pointer) {
    call on{"cudaPointerGetAttributes"};
    if (on.refused() != cudaSuccess) return call::end(on.refused());
    cuda_on_cpu::region const* const found = cuda_on_cpu::find_region(pointer, 0);
    auto* const same = const_cast<void*>(pointer);
    if (found == nullptr) *attributes = {cudaMemoryTypeUnregistered, -2, nullptr, same};
    else *attributes = {found->type, found->device, same, found->type == cudaMemoryTypeDevice ? nullptr : same};
    return call::end(cudaSuccess);
}

cudaError_t cudaMemcpy(void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind) {
    call on{"cudaMemcpy"};
    return call::end(on.refused() != cudaSuccess ? on.refused() : cuda_on_cpu::copy(on, to, from, bytes, kind, nullptr, true));
}
cudaError_t cudaMemcpyAsync(void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
    call on{"cudaMemcpyAsync"};
    return call::end(on.refused() != cudaSuccess ? on.refused() : cuda_on_cpu::copy(on, to, from, bytes, kind, stream, false));
}
cudaError_t cudaMemcpyPeerAsync(void* to, int, void const* from, int, std::size_t bytes, cudaStream_t stream) {
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}
cudaError_t cudaMemset(void* to, int value, std::size_t bytes) { return cudaMemsetAsync(to, value, bytes, nullptr); }
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
    call on{"cudaMemsetAsync"};
    return call::end(on.refused() != cudaSuccess ? on.refused() : cuda_on_cpu::set(to, value, bytes, stream));
}
