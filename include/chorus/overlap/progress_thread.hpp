// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/types.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <concepts>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace chorus {

/// What a progress thread can drive: a plan, a priority_all_reduce, whatever does what it can when told.
template <class D> concept advancing = requires(D& driven) {
    { driven.advance() } noexcept -> std::same_as<progress>;
};

/// A thread that calls `advance` on what is handed to it, for as long as this object lives: communication goes on while the caller computes.
///
///     chorus::progress_thread helper;
///     reduce.start();
///     auto driven = helper.drive(reduce);   // from here on the thread drives it
///     /* compute */
///     driven.take_back();                   // from here on the caller does
///     reduce.wait();                        // throws what went wrong
///
/// Hand-over: between `drive` and `take_back` the thread alone touches what it drives *and its transport*. Who has to use either meanwhile (start another
/// plan, make a layer ready) holds a `pause`: the thread is between two calls of advance, and stays there. All three are ordered by one mutex, so what one side wrote the other
/// sees. Errors are not thrown in the thread: they come out of the caller's next wait.
/// Waiting: nothing to drive, or all done: it sleeps until told. Nothing moved: it sleeps for 20 µs, twice as long each time up to `longest_nap`; it never spins, since the core
/// that it would burn is the computation's. MPI must have been initialised with MPI_THREAD_SERIALIZED or more.
///
/// allocates when something is handed to it | outlives its leases; joined by the destructor
class progress_thread {
 public:
    /// See `pause`.
    class pause_guard {
     public:
        explicit pause_guard(progress_thread& helper) : helper_{helper} { helper_.enter(); }
        pause_guard(pause_guard const&) = delete;
        pause_guard& operator=(pause_guard const&) = delete;
        ~pause_guard() { helper_.leave(); }

     private:
        progress_thread& helper_;
    };

    /// Something that the thread drives; taken back by its destructor at the latest. Move-only.
    class lease {
     public:
        lease(lease&& other) noexcept : helper_{std::exchange(other.helper_, nullptr)}, what_{other.what_} {}
        lease& operator=(lease&& other) noexcept {
            if (this == &other) return *this;
            take_back();
            helper_ = std::exchange(other.helper_, nullptr);
            what_ = other.what_;
            return *this;
        }
        ~lease() { take_back(); }

        /// Afterwards the thread does not touch it any more. Again: does nothing.
        void take_back() noexcept {
            if (helper_ == nullptr) return;
            pause_guard const mine{*helper_};
            std::erase_if(helper_->items_, [&](item const& each) { return each.what == what_; });
            helper_ = nullptr;
        }

     private:
        friend class progress_thread;
        lease(progress_thread& helper, void* what) noexcept : helper_{&helper}, what_{what} {}

        progress_thread* helper_;
        void* what_;
    };

    explicit progress_thread(std::chrono::microseconds longest_nap = std::chrono::microseconds{200}) : longest_nap_{longest_nap}, thread_{[this] { run(); }} {}
    progress_thread(progress_thread const&) = delete;
    progress_thread& operator=(progress_thread const&) = delete;
    ~progress_thread() {
        {
            pause_guard const mine{*this};
            is_ending_ = true;
        }
        thread_.join();
    }

    /// Hands it over until the lease is taken back or ends. It must stay in place.
    template <advancing Driven>
    lease drive(Driven& what) {
        pause_guard const mine{*this};
        items_.push_back({&what, [](void* it) noexcept { return static_cast<Driven*>(it)->advance(); }});
        return lease{*this, &what};
    }

    /// For as long as the guard lives the thread touches nothing. Blocks until it is between two calls. Not while the same thread holds another.
    pause_guard pause() { return pause_guard{*this}; }

    /// How often the thread has looked after what it drives.
    std::uint64_t turns() const noexcept { return turns_.load(std::memory_order_relaxed); }

 private:
    struct item {
        void* what;
        progress (*advance)(void*) noexcept;
    };

    void run() {
        std::unique_lock hold{gate_};
        std::chrono::microseconds nap{0};
        while (!is_ending_) {
            if (wanted_ > 0) {  // somebody waits for the gate: a mutex alone might not let them in
                resume_.wait(hold, [&] { return wanted_ == 0; });
                nap = std::chrono::microseconds{0};
                continue;
            }
            progress const now = advance_all();
            nap = now == progress::idle ? (std::min)(longest_nap_, 2 * nap + std::chrono::microseconds{20}) : std::chrono::microseconds{0};
            if (now == progress::idle) resume_.wait_for(hold, nap);
            if (now == progress::done) resume_.wait(hold, [this, seen = told_] { return told_ != seen; });
        }
    }

    /// `done`: there is nothing left to do for any of them.
    progress advance_all() noexcept {
        turns_.fetch_add(1, std::memory_order_relaxed);
        progress all = progress::done;
        for (item const& each : items_) {
            progress const now = each.advance(each.what);
            if (now == progress::moved) all = now;
            else if (now == progress::idle && all == progress::done) all = now;
        }
        return all;
    }

    void enter() {
        wanted_.fetch_add(1, std::memory_order_relaxed);
        gate_.lock();
    }
    void leave() noexcept {
        wanted_.fetch_sub(1, std::memory_order_relaxed);
        ++told_;
        gate_.unlock();
        resume_.notify_one();
    }

    std::chrono::microseconds longest_nap_;
    std::mutex gate_;  // held by the thread while it advances, by the caller while it pauses it
    std::condition_variable resume_;
    std::atomic<std::uint32_t> wanted_{0};
    std::atomic<std::uint64_t> turns_{0};
    std::vector<item> items_;
    std::uint64_t told_ = 0;  // how often somebody was inside
    bool is_ending_ = false;
    std::thread thread_;  // last: it uses the others
};

}  // namespace chorus
