// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/transport/detail/mailbox.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace chorus {

namespace detail {

/// What the endpoints of one thread fleet share.
class thread_world {
 public:
    explicit thread_world(rank_id ranks) : shape_{.ranks = ranks}, doorbells_(ranks) {
        expects(ranks > 0, [] { return "a thread fleet needs at least one rank"; });
        std::size_t const bytes = mailbox_arena::bytes_needed(shape_) + page;
        memory_.reset(static_cast<std::byte*>(std::calloc(bytes, 1)));  // zero pages come when first used
        if (!memory_) raise(errc::system_failed, "no memory for " + std::to_string(ranks) + " ranks");
        auto const address = reinterpret_cast<std::uintptr_t>(memory_.get());
        arena_ = mailbox_arena{memory_.get() + (page - address % page) % page, shape_};
        arena_.initialise();
    }

    mailbox_arena const& arena() const noexcept { return arena_; }

    void wake(rank_id sleeper, member& other) {
        other.bell.fetch_add(1, std::memory_order_release);
        { std::lock_guard const hold{doorbells_[sleeper].mutex}; }
        doorbells_[sleeper].rung.notify_all();
    }

    void sleep(rank_id me, member& mine, std::uint32_t seen, std::chrono::milliseconds at_most) {
        std::unique_lock hold{doorbells_[me].mutex};
        doorbells_[me].rung.wait_for(hold, at_most,
                                     [&] { return mine.bell.load(std::memory_order_acquire) != seen; });
    }

 private:
    static constexpr std::size_t page = 4096;
    struct doorbell {
        std::mutex mutex;
        std::condition_variable rung;
    };
    struct release {
        void operator()(std::byte* memory) const noexcept { std::free(memory); }
    };

    mailbox_shape shape_;
    std::vector<doorbell> doorbells_;
    std::unique_ptr<std::byte, release> memory_;
    mailbox_arena arena_;
};

/// Threads see each other's memory: the receiver copies or reduces straight out of the sender's buffer.
struct thread_platform {
    static constexpr std::uint64_t eager_bytes = 2048;
    static constexpr bool pushes = false;  // one copy instead of two
    static constexpr std::uint64_t pull_bytes = 256 * 1024;

    std::shared_ptr<thread_world> world;

    bool reaches(rank_id, std::uint64_t) const noexcept { return true; }

    template <class Sink>
    bool pull(rank_id, std::uint64_t address, std::uint64_t bytes, std::byte*, std::uint64_t, Sink const& sink) noexcept {
        sink(reinterpret_cast<std::byte const*>(static_cast<std::uintptr_t>(address)), 0, bytes);
        return true;
    }

    void wake(rank_id sleeper, member& other) noexcept { world->wake(sleeper, other); }
    void sleep(rank_id me, member& mine, std::uint32_t seen, std::chrono::milliseconds at_most) noexcept {
        world->sleep(me, mine, seen, at_most);
    }
    bool is_alive(rank_id) const noexcept { return true; }
};

}  // namespace detail

/// One rank of a thread fleet: a transport between threads of one process.
///
/// matching: peer, stream, order | one thread at a time per endpoint; `abort` from any | copies: none above 2 KiB, one below | no pins |
/// largest message 2^56 - 1 bytes | tags: all 64 bits | a rank whose function has ended is `peer_lost` to whoever still waits for it.
class thread_transport : public detail::mailbox<detail::thread_platform> {
 public:
    /// The name in tables of algorithms.
    static constexpr std::string_view kind() noexcept { return "thread"; }

    thread_transport(std::shared_ptr<detail::thread_world> world, rank_id me)
        : mailbox{world->arena(), me, detail::waiting_style_for(world->arena().shape().ranks), {world}} {
        arena().member_of(me).presence.store(detail::presence_here, std::memory_order_release);
    }

    ~thread_transport() {
        arena().member_of(rank()).presence.store(detail::presence_left, std::memory_order_release);
    }
};
static_assert(transport<thread_transport> && reducing_transport<thread_transport> &&
              aborting_transport<thread_transport> && explaining_transport<thread_transport> &&
              resting_transport<thread_transport> && announcing_transport<thread_transport> &&
              cancelling_transport<thread_transport> && guarded_transport<thread_transport> &&
              counting_transport<thread_transport> && recovering_transport<thread_transport>);

/// p ranks as threads of this process, for programs that have no launcher.
class thread_fleet {
 public:
    explicit thread_fleet(rank_id ranks) : ranks_{ranks} {
        detail::expects(ranks > 0, [] { return "a thread fleet needs at least one rank"; });
    }

    rank_id size() const noexcept { return ranks_; }

    /// Calls `body(thread_transport&)` once per rank, each in a thread of its own, and returns when all have returned. If one throws, the others'
    /// operations fail with `aborted`, and the first exception comes out of here.
    template <class Body>
    void run(Body&& body) const {
        auto const world = std::make_shared<detail::thread_world>(ranks_);
        std::mutex guard;
        std::exception_ptr first;
        auto rank_body = [&](rank_id me) {
            thread_transport net{world, me};
            CHORUS_TRY { body(net); }
            CHORUS_CATCH_ALL {
                {
                    std::lock_guard const hold{guard};
                    if (!first) first = std::current_exception();
                }
                net.abort(errc::aborted, me, "the function of rank " + std::to_string(me) + " threw an exception");
            }
        };
        {
            std::vector<std::jthread> threads;
            threads.reserve(ranks_);
            CHORUS_TRY {
                for (rank_id r = 0; r < ranks_; ++r) threads.emplace_back(rank_body, r);
            }
            CHORUS_CATCH_ALL {  // no more threads: those that run must not wait for the missing ones
                detail::write_abort(world->arena().header(), errc::system_failed, nobody, nobody,
                                    "a thread could not be started", 0);
                std::lock_guard const hold{guard};
                first = std::current_exception();
            }
        }
        if (first) std::rethrow_exception(first);
    }

 private:
    rank_id ranks_;
};

}  // namespace chorus
