// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/config.hpp"
#include "chorus/base/types.hpp"

#include <algorithm>
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
    bool has_own_core = true;
};

/// How many polls to spin, learned from how waits end. Where ranks share a core, though there are cores enough for all, what is awaited comes as soon as
/// this rank has yielded: the next waits spin less. Where it comes during the spins, they grow again.
class spin_budget {
 public:
    explicit spin_budget(std::uint32_t most) noexcept : most_{most}, now_{most} {}

    /// In a wait that has come to `idle_polls`; not more than at the last call: another wait.
    bool allows(std::uint32_t idle_polls) noexcept {
        if (idle_polls <= last_) learn();
        last_ = idle_polls;
        return idle_polls < now_;
    }

    /// Gives the core away.
    void yield() noexcept {
        auto const begin = std::chrono::steady_clock::now();
        platform_yield();
        was_away(std::chrono::steady_clock::now() - begin);
    }

    /// Less than 1 µs: nobody else wanted the core. Much more: somebody had it who does not wait for this rank.
    void was_away(std::chrono::nanoseconds time) noexcept {
        if (time > std::chrono::microseconds{1} && time < std::chrono::microseconds{100}) helped_at_ = last_;
    }

    std::uint32_t spins() const noexcept { return now_; }

 private:
    static constexpr std::uint32_t least = 64;  // some 0.5 µs: longer than a message takes between two cores

    void learn() noexcept {
        if (last_ < now_) now_ = (std::min)(most_, 2 * now_);
        else if (helped_at_ == last_) now_ = (std::min)(most_, (std::max)(least, now_ / 2));
        helped_at_ = 0;
    }

    std::uint32_t most_;
    std::uint32_t now_;
    std::uint32_t last_ = 0;       // idle polls of the wait so far
    std::uint32_t helped_at_ = 0;  // idle polls when a peer may have run in this rank's place; 0: not in this wait
};

/// Ranks that have a core each may spin; where ranks outnumber cores, a spinning rank only keeps the awaited one from running.
inline waiting_style waiting_style_for(rank_id ranks_on_host) noexcept {
    unsigned const cores = std::thread::hardware_concurrency();
    if (cores != 0 && ranks_on_host > cores) return {.spins = 1, .yields = 200, .has_own_core = false};
    return {};
}

}  // namespace chorus::detail
