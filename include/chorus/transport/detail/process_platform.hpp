// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/byte_buffer.hpp"
#include "chorus/transport/detail/fork_guard.hpp"
#include "chorus/transport/detail/mailbox_arena.hpp"
#include "chorus/transport/detail/shared_region.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <csignal>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include <linux/futex.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>

namespace chorus::detail {

/// Processes of one host: they wake one another by futex, watch one another through process descriptors, and read one another's memory
/// with process_vm_readv where the system allows it (same user; not under every container's rules), else through chunks.
class process_platform {
 public:
    static constexpr std::uint64_t eager_bytes = 32 * 1024 - 1;  // from there on memory is attached to, unless told otherwise
    static constexpr bool pushes = true;
    static constexpr std::uint64_t pull_bytes = 256 * 1024;

    process_platform(std::shared_ptr<shared_region const> region, mailbox_arena const& arena, rank_id me,
                     std::uint64_t attach_from_bytes)
        : region_{std::move(region)}, arena_{arena}, me_{me}, attach_from_bytes_{attach_from_bytes},
          peers_(arena.shape().ranks), bounce_{std::make_unique<byte_buffer>(bounce_bytes)},
          probe_word_{std::make_unique<std::uint64_t>(mailbox_arena::magic)} {
#ifdef PR_SET_PTRACER
        ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);  // where only parents may read by default
#endif
        member& mine = arena_.member_of(me_);
        std::uint32_t absent = presence_absent;
        if (!mine.presence.compare_exchange_strong(absent, presence_coming))
            raise(errc::invalid_argument, "rank " + std::to_string(me_) + " has joined this shared-memory session before", me_);
        mine.process.store(static_cast<std::uint32_t>(::getpid()));
        mine.probe.store(reinterpret_cast<std::uintptr_t>(probe_word_.get()));
        mine.presence.store(presence_here, std::memory_order_release);
        arena_.header().attached.fetch_add(1);
    }

    /// Waits until every rank has attached; raises timed_out naming the absent ones.
    void wait_for_all(std::chrono::steady_clock::time_point until) {
        auto const ranks = arena_.shape().ranks;
        while (arena_.header().attached.load() < ranks) {
            if (arena_.header().stage() != abort_none) raise(read_abort(arena_.header(), me_));
            if (std::chrono::steady_clock::now() > until) raise_absent();
            std::this_thread::sleep_for(std::chrono::microseconds{200});
        }
        for (rank_id p = 0; p < ranks; ++p) {
            if (p == me_) continue;
            auto const process = static_cast<pid_t>(arena_.member_of(p).process.load());
            int const descriptor = static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
            peers_[p].is_gone = descriptor < 0 && errno == ESRCH;
            peers_[p].process = process;
            peers_[p].watched = owned_descriptor{descriptor};
        }
    }

    fork_guard const& owner() const noexcept { return *owner_; }

    bool reaches(rank_id peer, std::uint64_t bytes) noexcept {
        if (peer == me_) return true;
        if (bytes < attach_from_bytes_) return false;
        peer_process& other = peers_[peer];
        if (other.reach == reach_state::unknown) {
            std::uint64_t seen = 0;
            bool const could = read(peer, arena_.member_of(peer).probe.load(), reinterpret_cast<std::byte*>(&seen), sizeof seen);
            other.reach = could && seen == mailbox_arena::magic ? reach_state::yes : reach_state::no;
        }
        return other.reach == reach_state::yes;
    }

    /// Brings `bytes` bytes at `address` of the peer: straight to `plain` where given, else through a cached bounce buffer to `sink`.
    template <class Sink>
    bool pull(rank_id peer, std::uint64_t address, std::uint64_t bytes, std::byte* plain, std::uint64_t element,
              Sink const& sink) noexcept {
        if (peer == me_) {
            sink(reinterpret_cast<std::byte const*>(static_cast<std::uintptr_t>(address)), 0, bytes);
            return true;
        }
        if (plain != nullptr) return read(peer, address, plain, bytes);
        std::uint64_t const piece = (std::max)(element, bounce_bytes / element * element);
        bounce_->grow(piece);
        for (std::uint64_t at = 0; at < bytes; at += piece) {
            std::uint64_t const part = (std::min)(piece, bytes - at);
            if (!read(peer, address + at, bounce_->data(), part)) return false;
            sink(bounce_->data(), at, part);
        }
        return true;
    }

    void wake(rank_id, member& other) const noexcept { ring(other); }

    static void ring(member& other) noexcept {
        other.bell.fetch_add(1, std::memory_order_release);
        ::syscall(SYS_futex, &other.bell, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
    }

    void sleep(rank_id, member& mine, std::uint32_t seen, std::chrono::milliseconds at_most) noexcept {
        timespec const limit{.tv_sec = 0, .tv_nsec = static_cast<long>(at_most.count()) * 1'000'000L};
        ::syscall(SYS_futex, &mine.bell, FUTEX_WAIT, seen, &limit, nullptr, 0);
    }

    bool is_alive(rank_id peer) noexcept {
        if (peer == me_) return true;
        peer_process& other = peers_[peer];
        if (!other.is_gone && other.watched.is_open()) {
            pollfd look{.fd = other.watched.get(), .events = POLLIN, .revents = 0};
            other.is_gone = ::poll(&look, 1, 0) == 1;
        } else if (!other.is_gone) {  // a system without process descriptors
            other.is_gone = ::kill(other.process, 0) != 0 && errno == ESRCH;
        }
        return !other.is_gone;
    }

 private:
    static constexpr std::uint64_t bounce_bytes = 64 * 1024;

    enum class reach_state : std::uint8_t { unknown, yes, no };

    struct peer_process {
        owned_descriptor watched;
        pid_t process = 0;
        bool is_gone = false;
        reach_state reach = reach_state::unknown;
    };

    bool read(rank_id peer, std::uint64_t address, std::byte* to, std::uint64_t bytes) noexcept {
        while (bytes > 0) {
            iovec here{to, bytes};
            iovec there{reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)), bytes};
            ssize_t const got = ::process_vm_readv(peers_[peer].process, &here, 1, &there, 1, 0);
            if (got <= 0) return false;
            to += got;
            address += static_cast<std::uint64_t>(got);
            bytes -= static_cast<std::uint64_t>(got);
        }
        return true;
    }

    [[noreturn]] void raise_absent() const {
        std::string absent;
        rank_id first = nobody;
        for (rank_id p = 0; p < arena_.shape().ranks; ++p) {
            if (arena_.member_of(p).presence.load() != presence_absent) continue;
            absent += (absent.empty() ? "" : ", ") + std::to_string(p);
            if (first == nobody) first = p;
        }
        raise(errc::timed_out, "these ranks never came to the shared-memory session: " + absent, first);
    }

    std::shared_ptr<shared_region const> region_;
    mailbox_arena arena_;
    rank_id me_;
    std::uint64_t attach_from_bytes_;
    std::vector<peer_process> peers_;
    std::unique_ptr<fork_guard> owner_ = std::make_unique<fork_guard>();
    std::unique_ptr<byte_buffer> bounce_;
    std::unique_ptr<std::uint64_t> probe_word_;
};

}  // namespace chorus::detail
