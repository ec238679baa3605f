// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <chorus/base/types.hpp>
#include <chorus/transport/any_transport.hpp>

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace torch_chorus {

/// How ranks meet before a transport exists: through the store that torch.distributed has set up for the group (a chorus::bootstrap).
class store_rendezvous {
 public:
    store_rendezvous(c10d::Store& store, chorus::rank_id rank, chorus::rank_id size) : store_{store}, rank_{rank}, size_{size} {}

    chorus::rank_id rank() const noexcept { return rank_; }
    chorus::rank_id size() const noexcept { return size_; }

    std::vector<std::vector<std::byte>> exchange(std::span<std::byte const> mine) {
        std::string const round = "chorus/" + std::to_string(round_++) + '/';
        auto const* const first = reinterpret_cast<std::uint8_t const*>(mine.data());
        store_.set(round + std::to_string(rank_), std::vector<std::uint8_t>(first, first + mine.size()));
        std::vector<std::vector<std::byte>> all(size_);
        for (chorus::rank_id r = 0; r < size_; ++r)
            for (std::uint8_t const each : store_.get(round + std::to_string(r))) all[r].push_back(std::byte{each});
        return all;
    }

 private:
    c10d::Store& store_;
    chorus::rank_id rank_;
    chorus::rank_id size_;
    std::size_t round_ = 0;
};

/// Shared memory where all ranks are on one host, UCX otherwise if it is built in. Collective.
chorus::any_transport open_network(store_rendezvous& meet);

/// Ranks on several hosts; throws std::runtime_error where UCX is not built in.
chorus::any_transport open_between_hosts(store_rendezvous& meet);

/// One operation of a queue, in the form in which torch awaits it.
class operation final : public c10d::Work {
 public:
    operation(c10d::OpType type, std::vector<at::Tensor> results, std::function<void()> body)
        : Work{-1, type}, results_{std::move(results)}, body_{std::move(body)},
          future_{c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()))} {}

    std::vector<at::Tensor> result() override { return results_; }
    c10::intrusive_ptr<c10::ivalue::Future> getFuture() override { return future_; }

    void run() noexcept {
        std::exception_ptr failed;
        try {
            body_();
        } catch (...) {
            failed = std::current_exception();
        }
        body_ = nullptr;  // with the tensors that it holds
        finish(failed);
        if (failed) future_->setError(failed);
        else future_->markCompleted(c10::IValue{results_});
    }

 private:
    std::vector<at::Tensor> results_;
    std::function<void()> body_;
    c10::intrusive_ptr<c10::ivalue::Future> future_;
};

/// The thread of a process group: runs operations one by one in the order in which they were asked for, which is the same on all ranks. So a bucket of
/// gradients is on its way while the backward pass computes the next.
class worker {
 public:
    worker() : thread_{[this] { run(); }} {}
    worker(worker const&) = delete;
    worker& operator=(worker const&) = delete;
    /// Finishes what is queued.
    ~worker() {
        {
            std::lock_guard const hold{guard_};
            is_ending_ = true;
        }
        changed_.notify_one();
        thread_.join();
    }

    c10::intrusive_ptr<operation> add(c10d::OpType type, std::vector<at::Tensor> results, std::function<void()> body) {
        auto made = c10::make_intrusive<operation>(type, std::move(results), std::move(body));
        {
            std::lock_guard const hold{guard_};
            queue_.push_back(made);
        }
        changed_.notify_one();
        return made;
    }

 private:
    void run() {
        std::unique_lock hold{guard_};
        for (;;) {
            changed_.wait(hold, [&] { return is_ending_ || !queue_.empty(); });
            if (queue_.empty()) return;
            auto const next = std::move(queue_.front());
            queue_.pop_front();
            hold.unlock();
            next->run();
            hold.lock();
        }
    }

    std::mutex guard_;
    std::condition_variable changed_;
    std::deque<c10::intrusive_ptr<operation>> queue_;
    bool is_ending_ = false;
    std::thread thread_;
};

}  // namespace torch_chorus
