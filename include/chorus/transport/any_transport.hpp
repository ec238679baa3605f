// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/time_limit.hpp"
#include "chorus/detail/first_error.hpp"
#include "chorus/transport/detail/any_ticket.hpp"
#include "chorus/transport/detail/bounce_pool.hpp"
#include "chorus/transport/detail/relax.hpp"
#include "chorus/transport/transport.hpp"

#include <atomic>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace chorus {

namespace detail {

/// What any_transport asks of whatever is inside. The bodies here are what it does for a transport that lacks the
/// refinement.
class transport_interface {
 public:
    virtual ~transport_interface() = default;

    virtual any_ticket post_send(rank_id peer, message_tag tag, std::span<std::byte const> out) = 0;
    virtual any_ticket post_recv(rank_id peer, message_tag tag, std::span<std::byte> in) = 0;
    virtual progress poll(any_ticket& pending) noexcept = 0;

    virtual any_ticket post_recv_reduce(rank_id, message_tag, reduce_target const&) { return {}; }
    virtual std::size_t largest_reduced_element() const noexcept {
        return (std::numeric_limits<std::size_t>::max)();
    }
    virtual void cancel(any_ticket&) noexcept {}
    virtual void abort(errc code, rank_id blamed, std::string_view why) noexcept { abort_.set(code, blamed, why); }
    virtual bool is_aborted() noexcept { return abort_.is_set(); }
    virtual error failure() const { return error{errc::aborted, "the transport failed and cannot say why"}; }
    virtual void rest(std::uint32_t idle_polls) noexcept { rest_unaided(idle_polls); }
    virtual bool try_enter() noexcept { return !busy_.exchange(true, std::memory_order_acquire); }
    virtual void leave() noexcept { busy_.store(false, std::memory_order_release); }
    virtual void announce(operation_record const& record) noexcept { record_ = record; }
    virtual operation_record view_of(rank_id peer, rank_id me) const {
        return peer == me ? record_ : operation_record{};
    }
    virtual void show(operation_record const& record) noexcept { record_ = record; }
    virtual void show_end(operation_record const& record) noexcept {
        if (record_.stream == record.stream) record_.state = record.state;
    }
    virtual void ask_views() noexcept {}
    virtual bool has_view_of(rank_id peer, rank_id me) noexcept { return peer == me; }
    virtual bool has_lost(rank_id) noexcept { return false; }
    virtual std::uint64_t count_plan(std::uint64_t) { return 0; }
    virtual std::vector<rank_id> recover(time_limit, rank_id me) {
        raise(errc::unsupported, "recover on rank " + std::to_string(me) + ": the transport in any_transport cannot go on without lost ranks");
    }
    virtual std::uint64_t recoveries() const noexcept { return 0; }
    virtual std::string_view kind() const noexcept { return {}; }
    virtual rank_id cores() const noexcept { return 0; }

    first_error abort_;  // used only where the inner transport cannot abort

 private:
    std::atomic<bool> busy_{false};
    operation_record record_;
};

template <class Transport>
class transport_model final : public transport_interface {
 public:
    explicit transport_model(Transport& net) noexcept : net_{std::addressof(net)} {}
    explicit transport_model(std::unique_ptr<Transport> net) noexcept : net_{net.get()}, owned_{std::move(net)} {}

    any_ticket post_send(rank_id peer, message_tag tag, std::span<std::byte const> out) override {
        return wrap(net_->post_send(peer, tag, out));
    }
    any_ticket post_recv(rank_id peer, message_tag tag, std::span<std::byte> in) override {
        return wrap(net_->post_recv(peer, tag, in));
    }
    progress poll(any_ticket& pending) noexcept override { return net_->poll(pending.as<inner_ticket>()); }

    any_ticket post_recv_reduce(rank_id peer, message_tag tag, reduce_target const& into) override {
        if constexpr (reducing_transport<Transport>) return wrap(net_->post_recv_reduce(peer, tag, into));
        else return transport_interface::post_recv_reduce(peer, tag, into);
    }
    std::size_t largest_reduced_element() const noexcept override {
        if constexpr (requires { net_->largest_reduced_element(); }) return net_->largest_reduced_element();
        else return transport_interface::largest_reduced_element();
    }
    void cancel(any_ticket& pending) noexcept override {
        if constexpr (cancelling_transport<Transport>) net_->cancel(pending.as<inner_ticket>());
    }
    void abort(errc code, rank_id blamed, std::string_view why) noexcept override {
        if constexpr (aborting_transport<Transport>) net_->abort(code, blamed, why);
        else transport_interface::abort(code, blamed, why);
    }
    bool is_aborted() noexcept override {
        if constexpr (aborting_transport<Transport>) return net_->is_aborted();
        else return transport_interface::is_aborted();
    }
    error failure() const override {
        if constexpr (explaining_transport<Transport>) return std::as_const(*net_).failure();
        else return transport_interface::failure();
    }
    void rest(std::uint32_t idle_polls) noexcept override {
        if constexpr (resting_transport<Transport>) net_->rest(idle_polls);
        else transport_interface::rest(idle_polls);
    }
    bool try_enter() noexcept override {
        if constexpr (guarded_transport<Transport>) return net_->try_enter();
        else return transport_interface::try_enter();
    }
    void leave() noexcept override {
        if constexpr (guarded_transport<Transport>) net_->leave();
        else transport_interface::leave();
    }
    void announce(operation_record const& record) noexcept override {
        if constexpr (announcing_transport<Transport>) net_->announce(record);
        else transport_interface::announce(record);
    }
    operation_record view_of(rank_id peer, rank_id me) const override {
        if constexpr (announcing_transport<Transport>) return std::as_const(*net_).view_of(peer);
        else return transport_interface::view_of(peer, me);
    }
    void show(operation_record const& record) noexcept override {
        if constexpr (following_transport<Transport>) net_->show(record);
        else transport_interface::show(record);
    }
    void show_end(operation_record const& record) noexcept override {
        if constexpr (following_transport<Transport>) net_->show_end(record);
        else transport_interface::show_end(record);
    }
    void ask_views() noexcept override {
        if constexpr (surveying_transport<Transport>) net_->ask_views();
    }
    bool has_view_of(rank_id peer, rank_id me) noexcept override {
        if constexpr (surveying_transport<Transport>) return net_->has_view_of(peer);
        else return transport_interface::has_view_of(peer, me);
    }
    bool has_lost(rank_id peer) noexcept override {
        if constexpr (surveying_transport<Transport>) return net_->has_lost(peer);
        else return transport_interface::has_lost(peer);
    }
    std::uint64_t count_plan(std::uint64_t context) override {
        if constexpr (counting_transport<Transport>) return net_->count_plan(context);
        else return transport_interface::count_plan(context);
    }
    std::vector<rank_id> recover(time_limit limit, rank_id me) override {
        if constexpr (recovering_transport<Transport>) return net_->recover(limit);
        else return transport_interface::recover(limit, me);
    }
    std::string_view kind() const noexcept override { return kind_of(*net_); }
    rank_id cores() const noexcept override {
        if constexpr (core_counting_transport<Transport>) return std::as_const(*net_).cores();
        else return transport_interface::cores();
    }
    std::uint64_t recoveries() const noexcept override {
        if constexpr (recovering_transport<Transport>) return std::as_const(*net_).recoveries();
        else return transport_interface::recoveries();
    }

 private:
    using inner_ticket = typename Transport::ticket;

    static any_ticket wrap(inner_ticket&& posted) noexcept {
        return any_ticket{std::in_place_type<inner_ticket>, std::move(posted)};
    }

    Transport* net_;
    std::unique_ptr<Transport> owned_;
};

}  // namespace detail

/// Any transport behind one ordinary type: by reference, or owned. Models every refinement; `is_…` says which ones the
/// inner transport has. Where it has none: a reduction is received into scratch and combined when done (one more copy,
/// scratch kept for reuse); `abort` reaches this rank alone; `failure` is a general error; `rest` spins, yields, sleeps
/// 0.2 ms; `view_of` knows only the own record; plans are not counted; `try_enter` guards this object; `cancel` does nothing, and the buffer
/// must stay until the transport is gone; `recover` throws unsupported.
///
/// Matching, threads, copies, limits and lost peers: as the inner transport. A post costs one virtual call and never
/// allocates, once the scratch of bounced reductions has grown. Movable; tickets stay valid.
class any_transport {
 public:
    /// What was posted and is not done, of whichever transport is inside.
    class ticket {
     public:
        ticket() noexcept = default;

     private:
        friend class any_transport;
        explicit ticket(detail::any_ticket inner, detail::bounced_reduction* bounce = nullptr) noexcept
            : inner_{std::move(inner)}, bounce_{bounce} {}

        detail::any_ticket inner_;
        detail::bounced_reduction* bounce_ = nullptr;
        progress state_ = progress::idle;
    };

    template <class Transport>
        requires(!std::same_as<std::remove_cv_t<Transport>, any_transport>) && transport<Transport>
    explicit any_transport(Transport& net)
        : any_transport{std::make_unique<detail::transport_model<Transport>>(net), net} {}

    template <class Transport>
        requires(!std::same_as<Transport, any_transport>) && transport<Transport>
    explicit any_transport(std::unique_ptr<Transport> owned) : any_transport{*owned, std::move(owned)} {}

    rank_id rank() const noexcept { return rank_; }
    rank_id size() const noexcept { return size_; }
    std::string_view kind() const noexcept { return net_->kind(); }
    rank_id cores() const noexcept { return net_->cores(); }

    bool is_reducing() const noexcept { return has_.reducing; }
    bool is_aborting() const noexcept { return has_.aborting; }
    bool is_explaining() const noexcept { return has_.explaining; }
    bool is_resting() const noexcept { return has_.resting; }
    bool is_announcing() const noexcept { return has_.announcing; }
    bool is_cancelling() const noexcept { return has_.cancelling; }
    bool is_guarded() const noexcept { return has_.guarded; }
    bool is_recovering() const noexcept { return has_.recovering; }

    ticket post_send(rank_id peer, message_tag tag, std::span<std::byte const> out) {
        return ticket{net_->post_send(peer, tag, out)};
    }

    ticket post_recv(rank_id peer, message_tag tag, std::span<std::byte> in) {
        return ticket{net_->post_recv(peer, tag, in)};
    }

    ticket post_recv_reduce(rank_id peer, message_tag tag, reduce_target const& into) {
        if (has_.reducing) return ticket{net_->post_recv_reduce(peer, tag, into)};
        detail::bounced_reduction& bounce = bounces_.take(into);
        return ticket{net_->post_recv(peer, tag, bounce.landing()), &bounce};
    }

    /// The longest element that can be reduced on arrival, in bytes.
    std::size_t largest_reduced_element() const noexcept { return net_->largest_reduced_element(); }

    progress poll(ticket& pending) noexcept {
        if (pending.inner_.is_empty()) return progress::done;
        if (pending.state_ == progress::done || pending.state_ == progress::failed) return pending.state_;
        if (!has_.aborting && net_->abort_.is_set()) return progress::failed;
        pending.state_ = net_->poll(pending.inner_);
        if (pending.state_ == progress::done && pending.bounce_ != nullptr)
            bounces_.finish(*std::exchange(pending.bounce_, nullptr));
        return pending.state_;
    }

    void cancel(ticket& pending) noexcept {
        if (pending.inner_.is_empty()) return;
        net_->cancel(pending.inner_);
        if (has_.cancelling && pending.bounce_ != nullptr) bounces_.give_back(*pending.bounce_);
        pending = ticket{};
    }

    void abort(errc code, rank_id blamed, std::string_view why) noexcept { net_->abort(code, blamed, why); }
    bool is_aborted() noexcept { return net_->is_aborted(); }
    error failure() const { return !has_.aborting && net_->abort_.is_set() ? net_->abort_.get() : net_->failure(); }
    void rest(std::uint32_t idle_polls) noexcept { net_->rest(idle_polls); }
    bool try_enter() noexcept { return net_->try_enter(); }
    void leave() noexcept { net_->leave(); }
    void announce(operation_record const& record) noexcept { net_->announce(record); }
    operation_record view_of(rank_id peer) const { return net_->view_of(peer, rank_); }
    void show(operation_record const& record) noexcept { net_->show(record); }
    void show_end(operation_record const& record) noexcept { net_->show_end(record); }
    /// Whether others can be asked at all: `has_view_of` is false for all of them otherwise.
    bool is_surveying() const noexcept { return has_.surveying; }
    void ask_views() noexcept { net_->ask_views(); }
    bool has_view_of(rank_id peer) noexcept { return net_->has_view_of(peer, rank_); }
    bool has_lost(rank_id peer) noexcept { return net_->has_lost(peer); }
    std::uint64_t count_plan(std::uint64_t context) { return net_->count_plan(context); }
    std::vector<rank_id> recover(time_limit limit = std::chrono::seconds{10}) { return net_->recover(limit, rank_); }
    std::uint64_t recoveries() const noexcept { return net_->recoveries(); }

 private:
    struct refinements {
        bool reducing, aborting, explaining, resting, announcing, cancelling, guarded, surveying, recovering;
    };

    template <class Transport, class Net>
    any_transport(std::unique_ptr<detail::transport_model<Transport>> model, Net const& net)
        : has_{reducing_transport<Transport>, aborting_transport<Transport>,   explaining_transport<Transport>,
               resting_transport<Transport>,  announcing_transport<Transport>, cancelling_transport<Transport>,
               guarded_transport<Transport>,  surveying_transport<Transport>,  recovering_transport<Transport>},
          rank_{net.rank()}, size_{net.size()}, net_{std::move(model)} {}

    template <class Transport>
    any_transport(Transport& net, std::unique_ptr<Transport> owned)
        : any_transport{std::make_unique<detail::transport_model<Transport>>(std::move(owned)), net} {}

    refinements has_;
    rank_id rank_;
    rank_id size_;
    detail::bounce_pool bounces_;  // before the transport, which is destroyed first: until then it may write into them
    std::unique_ptr<detail::transport_interface> net_;
};
static_assert(transport<any_transport> && reducing_transport<any_transport> && aborting_transport<any_transport> &&
              explaining_transport<any_transport> && resting_transport<any_transport> &&
              announcing_transport<any_transport> && cancelling_transport<any_transport> &&
              guarded_transport<any_transport> && counting_transport<any_transport> &&
              following_transport<any_transport> && surveying_transport<any_transport> &&
              recovering_transport<any_transport>);

}  // namespace chorus
