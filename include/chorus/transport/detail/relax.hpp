// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/config.hpp"
#include "chorus/base/types.hpp"

#include <chrono>
#include <cstdint>
#include <thread>

namespace chorus::detail {

/// Tells the core that this is a waiting loop; tens of nanoseconds.
inline void relax() noexcept {
#if CHORUS_HAS_X86_TARGETS
    __builtin_ia32_pause();
#else
    std::this_thread::yield();
#endif
}

inline void platform_yield() noexcept { std::this_thread::yield(); }

/// How to wait where nobody rings: spins, yields, then sleeps 0.2 ms at a time.
inline void rest_unaided(std::uint32_t idle_polls) noexcept {
    if (idle_polls < 64) return;
    if (idle_polls < 1024) platform_yield();
    else std::this_thread::sleep_for(std::chrono::microseconds{200});
}

/// How a rank waits: so many polls spinning, then so many yielding, then asleep until a peer rings.
struct waiting_style {
    std::uint32_t spins = 300;  // some 15 µs: longer only delays whoever else needs the core
    std::uint32_t yields = 200;
};

/// Ranks that have a core each may spin; where ranks outnumber cores, a spinning rank only keeps the awaited one from running.
inline waiting_style waiting_style_for(rank_id ranks_on_host) noexcept {
    unsigned const cores = std::thread::hardware_concurrency();
    if (cores != 0 && ranks_on_host > cores) return {.spins = 1, .yields = 200};
    return {};
}

}  // namespace chorus::detail
