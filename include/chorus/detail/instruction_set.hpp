// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/config.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace chorus::detail {

/// The levels that kernels are compiled for, whatever flags the user compiles with. Wider ones exist on x86-64 only.
enum class instruction_set : std::uint8_t {
    baseline,  ///< vectors of 16 bytes: SSE2, NEON, or what the compiler makes of them
    avx2,      ///< vectors of 32 bytes: AVX2 and F16C
    avx512     ///< vectors of 64 bytes: AVX-512 F, BW, DQ, VL
};

constexpr std::string_view to_string(instruction_set level) noexcept {
    constexpr std::string_view names[] = {"baseline", "avx2", "avx512"};
    return names[static_cast<int>(level)];
}

constexpr std::size_t vector_bytes(instruction_set level) noexcept {
    return std::size_t{16} << static_cast<unsigned>(level);
}

/// The widest level that this machine and its operating system can run.
inline instruction_set widest_instruction_set() noexcept {
#if CHORUS_HAS_X86_TARGETS
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        return instruction_set::avx512;
    std::uint32_t leaf = 1, part = 0, features = 0, unused = 0;
    asm volatile("cpuid" : "+a"(leaf), "=b"(unused), "+c"(part), "=d"(features));
    bool const has_f16c = ((part >> 29) & 1u) != 0;  // not among the names that every compiler's cpu_supports knows
    if (__builtin_cpu_supports("avx2") && has_f16c) return instruction_set::avx2;
#endif
    return instruction_set::baseline;
}

inline std::atomic<instruction_set>& chosen_instruction_set() noexcept {
    static std::atomic<instruction_set> chosen{widest_instruction_set()};
    return chosen;
}

/// The level of reducers made from now on: the widest one of the machine unless a test chose another.
inline instruction_set current_instruction_set() noexcept {
    return chosen_instruction_set().load(std::memory_order_relaxed);
}

/// For tests: `level`, or the widest that the machine can run if that is less. Returns the level in force.
inline instruction_set force_instruction_set(instruction_set level) noexcept {
    instruction_set const widest = widest_instruction_set();
    instruction_set const possible = level < widest ? level : widest;
    chosen_instruction_set().store(possible, std::memory_order_relaxed);
    return possible;
}

}  // namespace chorus::detail
