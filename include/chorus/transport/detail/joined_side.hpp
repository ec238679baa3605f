// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/time_limit.hpp"
#include "chorus/transport/detail/bounce_pool.hpp"
#include "chorus/transport/detail/relax.hpp"
#include "chorus/transport/transport.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace chorus::detail {

/// One of the transports that another is made of, with something sensible for every refinement that it lacks. It holds a
/// receive that never ends, so that it can be polled, and its failure seen, while nothing else is under way on it.
template <transport Net>
class joined_side {
 public:
    using ticket = typename Net::ticket;

    explicit joined_side(Net& net) : net_{std::addressof(net)}, pulse_{post_pulse()} {}
    joined_side(joined_side const&) = delete;
    joined_side& operator=(joined_side const&) = delete;
    ~joined_side() {
        if constexpr (cancelling_transport<Net>) net_->cancel(pulse_);
    }

    Net& net() const noexcept { return *net_; }

    ticket post_recv_reduce(rank_id peer, message_tag tag, reduce_target const& into, bounce_pool& bounces,
                            bounced_reduction*& bounce) {
        if constexpr (reducing_transport<Net>) return net_->post_recv_reduce(peer, tag, into);
        bounce = &bounces.take(into);
        return net_->post_recv(peer, tag, bounce->landing());
    }
    std::size_t largest_reduced_element() const noexcept {
        if constexpr (requires(Net const& known) { known.largest_reduced_element(); })
            return std::as_const(*net_).largest_reduced_element();
        else return (std::numeric_limits<std::size_t>::max)();
    }

    /// Operations that were posted and not seen to end.
    std::uint64_t open() const noexcept { return open_; }
    void count_open() noexcept { ++open_; }
    void count_closed() noexcept { --open_; }

    /// Makes progress on whatever the transport has to do. True if it has failed as a whole.
    bool has_failed() noexcept { return net_->poll(pulse_) == progress::failed; }

    void abort(errc code, rank_id blamed, std::string_view why) noexcept {
        if constexpr (aborting_transport<Net>) net_->abort(code, blamed, why);
    }
    bool is_aborted() const noexcept {
        if constexpr (aborting_transport<Net>) return net_->is_aborted();
        else return false;
    }
    error failure() const {
        if constexpr (explaining_transport<Net>) return std::as_const(*net_).failure();
        else return error{errc::aborted, "the transport failed and cannot say why"};
    }

    /// Without what was under way.
    std::vector<rank_id> recover(time_limit limit) {
        net_->cancel(pulse_);
        open_ = 0;
        std::vector<rank_id> alive = net_->recover(limit);
        pulse_ = post_pulse();
        return alive;
    }

    /// For 1 ms at most where the transport can be told so.
    void rest(std::uint32_t idle_polls) noexcept {
        if constexpr (requires { net_->rest(idle_polls, std::chrono::milliseconds{1}); })
            net_->rest(idle_polls, std::chrono::milliseconds{1});
        else if constexpr (resting_transport<Net>) net_->rest(idle_polls);
        else rest_unaided(idle_polls);
    }

    bool try_enter() noexcept {
        if constexpr (guarded_transport<Net>) return net_->try_enter();
        else return true;
    }
    void leave() noexcept {
        if constexpr (guarded_transport<Net>) net_->leave();
    }

    void announce(operation_record const& record) noexcept {
        if constexpr (announcing_transport<Net>) net_->announce(record);
    }
    operation_record view_of(rank_id peer) const {
        if constexpr (announcing_transport<Net>) return std::as_const(*net_).view_of(peer);
        else return {};
    }
    void show(operation_record const& record) noexcept {
        if constexpr (following_transport<Net>) net_->show(record);
    }
    void show_end(operation_record const& record) noexcept {
        if constexpr (following_transport<Net>) net_->show_end(record);
    }
    void ask_views() noexcept {
        if constexpr (surveying_transport<Net>) net_->ask_views();
    }
    bool has_view_of(rank_id peer) noexcept {
        if constexpr (surveying_transport<Net>) return net_->has_view_of(peer);
        else return false;
    }
    bool has_lost(rank_id peer) noexcept {
        if constexpr (surveying_transport<Net>) return net_->has_lost(peer);
        else return false;
    }

 private:
    static constexpr std::uint64_t pulse_stream = 0xB1C0'5E1F'0A7E'94D3u;  // nobody sends on it

    ticket post_pulse() { return net_->post_recv(net_->rank(), {.stream = pulse_stream}, {}); }

    Net* net_;
    ticket pulse_;
    std::uint64_t open_ = 0;
};

}  // namespace chorus::detail
