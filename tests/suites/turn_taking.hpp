// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/random.hpp"
#include "chorus/transport/simulated.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace suites {

/// Lets ranks that were written as plain functions, one thread each, run one at a time in an order drawn from a seed:
/// whoever holds the turn runs, and hands it on when told.
class turn_order {
 public:
    turn_order(chorus::rank_id ranks, std::uint64_t seed) : random_{seed}, doors_(ranks) {
        for (chorus::rank_id r = 0; r < ranks; ++r) open_.push_back(r);
        holder_ = draw();
    }

    void enter(chorus::rank_id me) {
        std::unique_lock hold{mutex_};
        wait(hold, me);
    }

    void pass(chorus::rank_id me) {
        std::unique_lock hold{mutex_};
        holder_ = draw();
        if (holder_ == me) return;
        doors_[holder_].notify_one();
        wait(hold, me);
    }

    void leave(chorus::rank_id me) {
        std::unique_lock const hold{mutex_};
        std::erase(open_, me);
        if (open_.empty()) return;
        holder_ = draw();
        doors_[holder_].notify_one();
    }

 private:
    void wait(std::unique_lock<std::mutex>& hold, chorus::rank_id me) {
        doors_[me].wait(hold, [&] { return holder_ == me; });
    }
    chorus::rank_id draw() { return open_[static_cast<std::size_t>(random_.below(draws_++, open_.size()))]; }

    std::mutex mutex_;
    chorus::counter_random random_;
    std::uint64_t draws_ = 0;
    std::vector<std::condition_variable> doors_;
    std::vector<chorus::rank_id> open_;
    chorus::rank_id holder_ = 0;
};

/// A simulated endpoint that hands on the turn whenever a poll found nothing, and sometimes otherwise.
class turn_taking_transport {
 public:
    using ticket = chorus::simulated_transport::ticket;

    turn_taking_transport(chorus::simulated_transport& net, turn_order& order) : net_{&net}, order_{&order} {}

    chorus::rank_id rank() const noexcept { return net_->rank(); }
    chorus::rank_id size() const noexcept { return net_->size(); }
    ticket post_send(chorus::rank_id peer, chorus::message_tag tag, std::span<std::byte const> out) {
        return net_->post_send(peer, tag, out);
    }
    ticket post_recv(chorus::rank_id peer, chorus::message_tag tag, std::span<std::byte> in) {
        return net_->post_recv(peer, tag, in);
    }
    ticket post_recv_reduce(chorus::rank_id peer, chorus::message_tag tag, chorus::reduce_target const& into) {
        return net_->post_recv_reduce(peer, tag, into);
    }
    chorus::progress poll(ticket& pending) noexcept {
        chorus::progress const came_to = net_->poll(pending);
        if (came_to == chorus::progress::idle || ++polls_ % 8 == 0) order_->pass(rank());
        return came_to;
    }
    void cancel(ticket& pending) noexcept { net_->cancel(pending); }
    void abort(chorus::errc code, chorus::rank_id blamed, std::string_view why) noexcept {
        net_->abort(code, blamed, why);
    }
    bool is_aborted() const noexcept { return net_->is_aborted(); }
    chorus::error failure() const { return net_->failure(); }
    void rest(std::uint32_t) noexcept {}
    void announce(chorus::operation_record const& record) noexcept { net_->announce(record); }
    chorus::operation_record view_of(chorus::rank_id peer) const { return net_->view_of(peer); }
    void show(chorus::operation_record const& record) noexcept { net_->show(record); }
    void show_end(chorus::operation_record const& record) noexcept { net_->show_end(record); }
    void ask_views() noexcept { net_->ask_views(); }
    bool has_view_of(chorus::rank_id peer) const noexcept { return net_->has_view_of(peer); }
    bool has_lost(chorus::rank_id peer) const noexcept { return net_->has_lost(peer); }

 private:
    chorus::simulated_transport* net_;
    turn_order* order_;
    std::uint64_t polls_ = 0;
};

/// p simulated ranks, each a plain function in its own thread, of which one runs at a time: the same seed, the same
/// run.
class simulated_fleet {
 public:
    explicit simulated_fleet(chorus::rank_id ranks, chorus::simulated_options const& options = {})
        : ranks_{ranks}, options_{options} {}

    /// As `thread_fleet::run`.
    template <class Body>
    void run(Body const& body) const {
        chorus::simulated_network network{ranks_, options_};
        turn_order order{ranks_, options_.seed};
        std::exception_ptr first;
        std::vector<std::thread> threads;
        for (chorus::rank_id r = 0; r < ranks_; ++r)
            threads.emplace_back([&, r] {
                order.enter(r);
                turn_taking_transport net{network.endpoint(r), order};
                try {
                    body(net);
                } catch (...) {
                    if (!first) first = std::current_exception();
                    net.abort(chorus::errc::aborted, r, "the function of a rank threw an exception");
                }
                order.leave(r);
            });
        for (std::thread& thread : threads) thread.join();
        if (first) std::rethrow_exception(first);
    }

 private:
    chorus::rank_id ranks_;
    chorus::simulated_options options_;
};

}  // namespace suites
