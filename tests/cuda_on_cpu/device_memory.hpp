// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "cuda_on_cpu/device_words.hpp"

#include <cstddef>
#include <cstring>
#include <type_traits>

// Accesses of kernels to memory that is told apart from ordinary memory: counted, and refused where the kernel may not.

namespace cuda_on_cpu {

/// Ends the kernel as failed where one of these bytes is not the device's, not the block's, or not aligned to their number.
void check_access(void const* at, std::size_t bytes, bool is_write);

template <class T> T checked_load(T const* from) {
    check_access(from, sizeof(T), false);
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}
template <class T> void checked_store(T* to, std::type_identity_t<T> const& value) {
    check_access(to, sizeof(T), true);
    std::memcpy(to, &value, sizeof value);
}

/// Reads, changes and writes at once; returns the value before.
template <class T, class Change> T atomically(T* at, Change const& change) {
    switch_point(false);
    check_access(at, sizeof(T), true);
    T before;
    std::memcpy(&before, at, sizeof before);
    T const after = change(before);
    std::memcpy(at, &after, sizeof after);
    switch_point(false);
    return before;
}

}  // namespace cuda_on_cpu

template <class T> T __ldcg(T const* from) { return cuda_on_cpu::checked_load(from); }
template <class T> T __ldcs(T const* from) { return cuda_on_cpu::checked_load(from); }
template <class T> T __ldg(T const* from) { return cuda_on_cpu::checked_load(from); }
template <class T> void __stcg(T* to, std::type_identity_t<T> value) { cuda_on_cpu::checked_store(to, value); }
template <class T> void __stcs(T* to, std::type_identity_t<T> value) { cuda_on_cpu::checked_store(to, value); }

template <class T> T atomicAdd(T* at, std::type_identity_t<T> value) {
    return cuda_on_cpu::atomically(at, [=](T old) { return static_cast<T>(old + value); });
}
template <class T> T atomicSub(T* at, std::type_identity_t<T> value) {
    return cuda_on_cpu::atomically(at, [=](T old) { return static_cast<T>(old - value); });
}
template <class T> T atomicMin(T* at, std::type_identity_t<T> value) {
    return cuda_on_cpu::atomically(at, [=](T old) { return value < old ? value : old; });
}
template <class T> T atomicMax(T* at, std::type_identity_t<T> value) {
    return cuda_on_cpu::atomically(at, [=](T old) { return old < value ? value : old; });
}
template <class T> T atomicAnd(T* at, std::type_identity_t<T> value) {
    return cuda_on_cpu::atomically(at, [=](T old) { return static_cast<T>(old & value); });
}
template <class T> T atomicOr(T* at, std::type_identity_t<T> value) {
    return cuda_on_cpu::atomically(at, [=](T old) { return static_cast<T>(old | value); });
}
template <class T> T atomicXor(T* at, std::type_identity_t<T> value) {
    return cuda_on_cpu::atomically(at, [=](T old) { return static_cast<T>(old ^ value); });
}
template <class T> T atomicExch(T* at, std::type_identity_t<T> value) {
    return cuda_on_cpu::atomically(at, [=](T) { return value; });
}
template <class T> T atomicCAS(T* at, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
    return cuda_on_cpu::atomically(at, [=](T old) { return old == expected ? value : old; });
}
