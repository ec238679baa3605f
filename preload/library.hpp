// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "communicator.hpp"
#include "pieces.hpp"
#include "settings.hpp"
#include "transports.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <csignal>

namespace preload {

using steady = std::chrono::steady_clock;

/// A call whose caller has gone on: what a generalised request of MPI stands for.
struct pending_call {
    call asked;
    buffers memory;
    std::shared_ptr<communicator> members;  ///< lives until the call is over, also if freed before
    std::shared_ptr<bound_plan> by;
    MPI_Request request = MPI_REQUEST_NULL;
    int code = MPI_SUCCESS;
    steady::time_point started{};
};

/// CHORUS_TRACE: a line for each call.
class trace {
 public:
    explicit trace(std::string const& name) {
        if (name.empty()) return;
        int rank = 0;
        PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
        std::string const file = name + '.' + std::to_string(rank);
        file_ = std::fopen(file.c_str(), "w");
        if (file_ == nullptr) chorus::detail::raise(chorus::errc::invalid_argument, "CHORUS_TRACE=" + name + ": " + file + " cannot be written");
        std::fputs("# operation bytes algorithm microseconds\n", file_);
    }
    trace(trace const&) = delete;
    trace& operator=(trace const&) = delete;
    ~trace() { close(); }

    void close() noexcept {
        if (file_ != nullptr) std::fclose(std::exchange(file_, nullptr));
    }

    bool is_on() const noexcept { return file_ != nullptr; }
    void add(chorus::collective what, std::uint64_t bytes, char const* algorithm, steady::time_point since) const {
        if (file_ == nullptr) return;
        double const microseconds = std::chrono::duration<double, std::micro>(steady::now() - since).count();
        std::string const name{to_string(what)};
        std::fprintf(file_, "%s %llu %s %.2f\n", name.c_str(), static_cast<unsigned long long>(bytes), algorithm, microseconds);
    }

 private:
    std::FILE* file_ = nullptr;
};

/// What a chorus error is to MPI: a code of its own, of the nearest class, whose text is that of the first such error. Where MPI does not keep a text for a class of
/// its own (MPICH 4.0), the class itself, and the text goes to the standard error stream.
class error_codes {
 public:
    int of(chorus::error const& failure) {
        int& code = codes_[static_cast<std::size_t>(failure.code())];
        if (code == MPI_SUCCESS) code = made_for(failure);
        return code;
    }

 private:
    static int made_for(chorus::error const& failure) {
        std::string text = std::string{"chorus: "} + failure.what();
        if (text.size() >= MPI_MAX_ERROR_STRING) text.resize(MPI_MAX_ERROR_STRING - 1);
        int code = MPI_SUCCESS;
        int length = 0;
        char kept[MPI_MAX_ERROR_STRING + 1] = {};
        bool const is_kept = PMPI_Add_error_code(class_of(failure.code()), &code) == MPI_SUCCESS &&
                             PMPI_Add_error_string(code, text.c_str()) == MPI_SUCCESS &&
                             PMPI_Error_string(code, kept, &length) == MPI_SUCCESS && text == kept;
        if (is_kept) return code;
        std::fprintf(stderr, "%s\n", text.c_str());
        return class_of(failure.code());
    }

    static int class_of(chorus::errc code) noexcept {
        switch (code) {
            case chorus::errc::invalid_argument: return MPI_ERR_ARG;
            case chorus::errc::mismatch: return MPI_ERR_TRUNCATE;
            case chorus::errc::too_large: return MPI_ERR_COUNT;
            case chorus::errc::unsupported: return MPI_ERR_UNSUPPORTED_OPERATION;
            case chorus::errc::system_failed: return MPI_ERR_INTERN;
            default: return MPI_ERR_OTHER;
        }
    }

    std::array<int, 16> codes_{};
};

/// All that chorus keeps in a process between MPI_Init and MPI_Finalize. One lock guards it; the waits of blocking calls let go of it from time to time.
class library {
 public:
    library(settings given, std::unique_ptr<trace> traced, bool is_multiple, bool all_are_multiple)
        : given_{std::move(given)}, trace_{std::move(traced)}, is_multiple_{is_multiple}, all_are_multiple_{all_are_multiple} {
        PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &when_freed, &key_, nullptr);
        if (!given_.is_native) transports_.emplace(given_);
    }

    known_types const& types() const noexcept { return types_; }
    known_reductions const& reductions() const noexcept { return reductions_; }
    trace const& traced() const noexcept { return *trace_; }

    /// The communicator if chorus carries it, else null; all members get the same. The first blocking call on one sets it up, which is a collective of its members.
    communicator* find(MPI_Comm comm, bool is_blocking) {
        thread_local struct { MPI_Comm comm; communicator* state; std::uint64_t freed; } last{MPI_COMM_NULL, nullptr, 0};
        if (comm == MPI_COMM_NULL || given_.is_native) return nullptr;
        std::uint64_t const freed = freed_.load(std::memory_order_acquire);
        if (last.comm != comm || last.freed != freed || last.state == nullptr) last = {comm, look_up(comm, is_blocking), freed};
        communicator* const state = last.state;
        return state != nullptr && state->is_carried() && (is_blocking || state->may_overlap()) ? state : nullptr;
    }

    /// Does the call on this thread; what MPI returns.
    int run(communicator& members, MPI_Comm comm, call& asked, buffers& memory) {
        auto const begin = trace_->is_on() ? steady::now() : steady::time_point{};
        return guarded(comm, [&] {
            std::unique_lock lock{mutex_};
            auto const by = members.plan_for(asked, given_);
            by->start(asked);
            await(*by, lock);
            lock.unlock();
            memory.finish();
            trace_->add(asked.what, asked.bytes(members.size()), by->algorithm().c_str(), begin);
        });
    }

    /// Begins it, and makes a request for it.
    int start(communicator& members, MPI_Comm comm, call& asked, buffers& memory, MPI_Request* request) {
        return guarded(comm, [&] {
            memory.outlive_caller();
            auto pending = std::make_shared<pending_call>();
            pending->members = share(comm);
            pending->started = trace_->is_on() ? steady::now() : steady::time_point{};
            asked.lane = members.next_lane();
            pending->asked = std::move(asked);
            pending->memory = std::move(memory);
            std::unique_lock lock{mutex_};
            pending->by = members.plan_for(pending->asked, given_);
            auto* const held = new std::shared_ptr<pending_call>{pending};
            int const code = PMPI_Grequest_start(&query, &release, &cancel, held, &pending->request);
            if (code != MPI_SUCCESS) delete held;
            expect_mpi(code);
            *request = pending->request;
            pending->by->waiting.push_back(pending);
            alive_.fetch_add(1, std::memory_order_relaxed);
            if (pending->by->waiting.size() == 1) {
                running_.push_back(pending->by);
                launch(*pending->by);
            }
            if (!helper_.joinable()) helper_ = start_helper();
            lock.unlock();
            woken_.notify_one();
        });
    }

    /// Whether requests of chorus are not complete yet.
    bool has_pending() const noexcept { return alive_.load(std::memory_order_relaxed) > 0; }

    /// Goes on with what is under way, and completes the requests of what is over. For threads that may call MPI.
    void progress() {
        std::vector<std::shared_ptr<pending_call>> over;
        {
            std::lock_guard const lock{mutex_};
            advance_all();
            over.swap(over_);
        }
        for (auto const& each : over) {
            try {
                if (each->code == MPI_SUCCESS) each->memory.finish();
            } catch (mpi_refusal const& refused) {
                each->code = refused.code;
            }
            trace_->add(each->asked.what, each->asked.bytes(each->members->size()), each->by->algorithm().c_str(), each->started);
            each->by.reset();
            each->members.reset();
            alive_.fetch_sub(1, std::memory_order_relaxed);
            PMPI_Grequest_complete(each->request);
        }
    }

    /// Before MPI_Finalize: nobody leaves while others need him.
    void end() {
        if (helper_.joinable()) {
            {
                std::lock_guard const lock{mutex_};
                is_ending_ = true;
            }
            woken_.notify_all();
            helper_.join();
        }
        if (!has_failed_) PMPI_Barrier(MPI_COMM_WORLD);
        PMPI_Comm_free_keyval(&key_);
        trace_->close();
    }

 private:
    // ---- communicators ----

    communicator* look_up(MPI_Comm comm, bool is_blocking) {
        auto** const found = attribute(comm);
        if (found != nullptr) return (*found)->get();
        return is_blocking ? set_up(comm) : nullptr;
    }

    std::shared_ptr<communicator>** attribute(MPI_Comm comm) {
        thread_local std::shared_ptr<communicator>* value = nullptr;
        int is_there = 0;
        PMPI_Comm_get_attr(comm, key_, &value, &is_there);
        return is_there != 0 ? &value : nullptr;
    }
    std::shared_ptr<communicator> share(MPI_Comm comm) { return **attribute(comm); }

    communicator* set_up(MPI_Comm comm) {
        auto made = std::make_shared<communicator>();
        std::vector<rank_id> ranks = world_ranks(comm);
        if (ranks.size() > 1) {
            std::uint64_t const label = labels_.agree(ranks, comm);
            if (label != labels::none) {
                bool const may_overlap = transports_->is_on_one_host(ranks) || all_are_multiple_;
                auto members = transports_->group_of(ranks, label);
                made = std::make_shared<communicator>(std::move(members), &labels_, std::move(ranks), label, may_overlap);
            }
        }
        int rank = 0;
        PMPI_Comm_rank(comm, &rank);
        made->know_rank(rank);
        communicator* const state = made.get();
        PMPI_Comm_set_attr(comm, key_, new std::shared_ptr<communicator>{std::move(made)});
        return state;
    }

    /// Empty for what has ranks of another world, as after MPI_Comm_spawn, and for inter-communicators.
    static std::vector<rank_id> world_ranks(MPI_Comm comm) {
        int is_inter = 0;
        PMPI_Comm_test_inter(comm, &is_inter);
        if (is_inter != 0) return {};
        MPI_Group some = MPI_GROUP_NULL;
        MPI_Group world = MPI_GROUP_NULL;
        int size = 0;
        PMPI_Comm_group(comm, &some);
        PMPI_Comm_group(MPI_COMM_WORLD, &world);
        PMPI_Comm_size(comm, &size);
        std::vector<int> own(static_cast<std::size_t>(size));
        std::vector<int> there(own.size());
        for (std::size_t i = 0; i < own.size(); ++i) own[i] = static_cast<int>(i);
        PMPI_Group_translate_ranks(some, size, own.data(), world, there.data());
        PMPI_Group_free(&some);
        PMPI_Group_free(&world);
        if (std::find(there.begin(), there.end(), MPI_UNDEFINED) != there.end()) return {};
        return {there.begin(), there.end()};
    }

    static int when_freed(MPI_Comm, int, void* state, void*) {
        freed_.fetch_add(1, std::memory_order_release);
        delete static_cast<std::shared_ptr<communicator>*>(state);
        return MPI_SUCCESS;
    }

    // ---- calls ----

    template <class Body>
    int guarded(MPI_Comm comm, Body const& body) {
        int code = MPI_SUCCESS;
        try {
            body();
            return code;
        } catch (mpi_refusal const& refused) {
            return refused.code;  // MPI has called the handler
        } catch (chorus::error const& failure) {
            std::lock_guard const lock{mutex_};
            code = failed(failure);
        } catch (std::bad_alloc const&) {
            code = MPI_ERR_NO_MEM;
        }
        PMPI_Comm_call_errhandler(comm, code);
        return code;
    }
    int failed(chorus::error const& failure) {
        has_failed_ = true;
        return codes_.of(failure);
    }

    /// MPI's own messages go on meanwhile: a peer may need an earlier one of ours before it comes to this call.
    void await(bound_plan& by, std::unique_lock<std::mutex>& lock) {
        constexpr chorus::time_limit first = std::chrono::microseconds{50};
        constexpr chorus::time_limit later = std::chrono::microseconds{1000};
        for (chorus::time_limit slice = first; !by.plan().wait_for(slice); slice = later) {
            lock.unlock();
            int has_come = 0;
            PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &has_come, MPI_STATUS_IGNORE);
            if (is_multiple_) std::this_thread::yield();
            lock.lock();
        }
    }

    // ---- calls whose callers have gone on ----

    void launch(bound_plan& by) {
        try {
            by.start(by.waiting.front()->asked);
        } catch (chorus::error const& failure) {
            by.waiting.front()->code = failed(failure);
        }
    }

    bool advance_all() {
        bool moved = false;
        for (std::size_t i = 0; i < running_.size();) {
            bound_plan& by = *running_[i];
            auto const now = by.plan().advance();
            if (now == chorus::progress::moved) moved = true;
            if (now != chorus::progress::done && now != chorus::progress::failed && by.waiting.front()->code == MPI_SUCCESS) {
                ++i;
                continue;
            }
            moved = true;
            if (now == chorus::progress::failed) note_failure(by);
            over_.push_back(std::move(by.waiting.front()));
            by.waiting.pop_front();
            if (by.waiting.empty()) running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
            else launch(by);
        }
        return moved;
    }
    void note_failure(bound_plan& by) {
        try {
            by.plan().wait();
        } catch (chorus::error const& failure) {
            by.waiting.front()->code = failed(failure);
        }
    }

    /// A thread that goes on with pending calls while the program is in a call that chorus does not see, or computes. It does not complete requests, and calls
    /// MPI only through a transport that does, where all ranks have MPI_THREAD_MULTIPLE.
    std::thread start_helper() {
        sigset_t all;
        sigset_t before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        std::thread made{[this] { help(); }};
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        return made;
    }
    void help() {
        constexpr std::chrono::microseconds shortest{50};
        constexpr std::chrono::microseconds longest{2000};
        auto nap = shortest;
        std::unique_lock lock{mutex_};
        while (!is_ending_) {
            woken_.wait(lock, [&] { return is_ending_ || !running_.empty(); });
            nap = advance_all() ? shortest : (std::min)(2 * nap, longest);
            lock.unlock();
            std::this_thread::sleep_for(nap);
            lock.lock();
        }
    }

    static int query(void* held, MPI_Status* status) {
        PMPI_Status_set_elements(status, MPI_BYTE, 0);
        PMPI_Status_set_cancelled(status, 0);
        status->MPI_SOURCE = MPI_UNDEFINED;
        status->MPI_TAG = MPI_UNDEFINED;
        return (*static_cast<std::shared_ptr<pending_call>*>(held))->code;
    }
    static int release(void* held) {
        delete static_cast<std::shared_ptr<pending_call>*>(held);
        return MPI_SUCCESS;
    }
    static int cancel(void*, int) { return MPI_SUCCESS; }

    settings given_;
    std::unique_ptr<trace> trace_;
    bool is_multiple_;
    bool all_are_multiple_;
    int key_ = MPI_KEYVAL_INVALID;
    known_types types_;
    known_reductions reductions_;
    labels labels_;
    std::optional<transports> transports_;
    error_codes codes_;
    bool has_failed_ = false;
    inline static std::atomic<std::uint64_t> freed_{1};  // communicators freed so far

    std::mutex mutex_;
    std::vector<std::shared_ptr<bound_plan>> running_;
    std::vector<std::shared_ptr<pending_call>> over_;  // requests to be completed
    std::atomic<int> alive_{0};
    std::condition_variable woken_;
    std::thread helper_;
    bool is_ending_ = false;
};

}  // namespace preload
