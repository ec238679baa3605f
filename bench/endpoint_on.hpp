// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "endpoint.hpp"

#include <chorus/collective/barrier.hpp>
#include <chorus/collective/group.hpp>
#include <chorus/schedule/algorithms.hpp>
#include <chorus/transport/transport.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace bench {

namespace detail {

/// What the calls of chorus/collective compose from typed buffers, composed from an element that is known at run time.
template <class Asked, class Algorithm>
chorus::plan compose(Asked& asked, call_shape const& shape, std::span<std::byte const> in, std::span<std::byte> out,
                     Algorithm const& algorithm) {
    using chorus::collective;
    chorus::detail::operation& call = asked.asked();
    chorus::rank_id const me = asked.me();
    if (shape.what == collective::barrier) {
        asked.cut_at_will(0);
        call.element = "nothing";
        return asked.finish(algorithm, {});
    }
    bool const exchanges = shape.what == collective::all_to_all;
    bool const is_root = me == shape.root;
    bool const in_blocks = chorus::has_block_per_rank(shape.what);
    call.count = exchanges && shape.by_counts ? 0 : shape.count;
    call.element_bytes = shape.element->bytes;
    call.element = shape.element->name;
    if (chorus::has_root(shape.what)) asked.rooted_at(shape.root);
    if (chorus::has_reduction(shape.what)) {
        call.reduction = shape.element->reducer_of(shape.op);
        call.element += ' ' + std::string{call.reduction->operation};
    }
    bool const one_in = shape.what == collective::all_gather || shape.what == collective::gather;
    bool const one_out = shape.what == collective::reduce_scatter || shape.what == collective::scatter;
    bool const gives = is_root || (shape.what != collective::broadcast && shape.what != collective::scatter);
    bool const gets = is_root || (shape.what != collective::reduce && shape.what != collective::gather);
    chorus::rank_id const all = in_blocks ? asked.ranks() : 1;
    if (gives) {
        call.input = {in.data(), one_in ? me : 0, exchanges ? 0 : one_in ? 1 : all};
        if (exchanges) call.input_cut = shape.cut(me);
    }
    if (gets) {
        call.output = {out.data(), one_out ? me : 0, one_out ? 1 : all};
        bool const is_empty = shape.what == collective::exclusive_scan && me == 0;
        call.result = {call.output.first, is_empty ? 0 : call.output.count};
    }
    if (in_blocks) asked.cut_by(shape.cut(me));
    else asked.cut_at_will(shape.count);
    return asked.finish(algorithm, {.carried_by = shape.carried_by.fresh()}, shape.by_counts);
}

/// Waits for messages, for so long at most. All of them are polled in turn: one may not move before another has.
template <class Transport>
class message_waiter {
 public:
    using ticket = typename Transport::ticket;

    message_waiter(Transport& net, chorus::time_limit limit) : net_{net}, limit_{limit} {}

    void wait(std::span<ticket> pending) {
        auto const begin = std::chrono::steady_clock::now();
        std::size_t done = 0;  // all before are
        for (std::uint32_t idle = 0; done < pending.size();) {
            bool const has_moved = poll(pending, done);
            if (has_moved) idle = 0;
            else net_.rest(idle++);
            if (idle % 1024 == 1023 && !limit_.is_for_ever() && std::chrono::steady_clock::now() > limit_.after(begin))
                throw chorus::error{chorus::errc::timed_out, "rank " + std::to_string(net_.rank()) +
                                                                 ": no message within " + to_string(limit_)};
        }
    }

 private:
    /// Whether anything moved. `done` is moved over those that are.
    bool poll(std::span<ticket> pending, std::size_t& done) {
        bool has_moved = false;
        for (std::size_t i = done; i < pending.size(); ++i) {
            chorus::progress const came = net_.poll(pending[i]);
            if (came == chorus::progress::failed) throw net_.failure();
            if (came == chorus::progress::moved) has_moved = true;
            if (came != chorus::progress::done || i != done) continue;
            has_moved = true;
            ++done;
        }
        return has_moved;
    }

    Transport& net_;
    chorus::time_limit limit_;
};

}  // namespace detail

/// The endpoint on a transport, which must outlive it.
template <class Transport>
class endpoint_on : public endpoint {
 public:
    endpoint_on(Transport& net, chorus::time_limit limit, std::string way)
        : net_{net}, world_{chorus::group{net}.within(limit)}, gate_{chorus::plan_barrier(world_)}, waiter_{net, limit},
          way_{std::move(way)} {}

    chorus::rank_id rank() const noexcept override { return world_.rank(); }
    chorus::rank_id size() const noexcept override { return world_.size(); }
    std::string describe() const override { return way_; }
    void barrier() override { gate_.run(); }

    chorus::plan make_plan(call_shape const& shape, std::span<std::byte const> in, std::span<std::byte> out,
                           std::string const& algorithm) override {
        return chorus::detail::compose_plan(world_, shape.what, [&](auto& asked) {
            constexpr std::string_view with_table = "automatic(";
            if (algorithm == "automatic") return detail::compose(asked, shape, in, out, chorus::automatic{});
            if (!algorithm.starts_with(with_table))
                return detail::compose(asked, shape, in, out, chorus::algorithm_named(algorithm));
            std::string const file = algorithm.substr(with_table.size(), algorithm.size() - with_table.size() - 1);
            return detail::compose(asked, shape, in, out, chorus::automatic::load(file));
        });
    }

    void ping_pong(std::span<std::byte const> out, std::span<std::byte> in) override {
        if (rank() > 1) return;
        ticket pair[] = {net_.post_recv(1 - rank(), {messages, 0}, in), ticket{}};
        if (rank() == 1) waiter_.wait(std::span{pair}.first(1));
        pair[1] = net_.post_send(1 - rank(), {messages, 0}, out);
        if (rank() == 1) waiter_.wait(std::span{pair}.last(1));
        else waiter_.wait(pair);
    }

    void stream(std::span<std::byte const> out, std::span<std::byte> in, std::size_t window, bool both_ways) override {
        if (rank() > 1) return;
        bool const sends = rank() == 0 || both_ways;
        bool const receives = rank() == 1 || both_ways;
        std::size_t const places = out.empty() ? 1 : in.size() / out.size();
        pending_.clear();
        for (std::size_t i = 0; receives && i < window; ++i) {
            auto const place = in.subspan(i % places * out.size(), out.size());
            pending_.push_back(net_.post_recv(1 - rank(), {messages, 0}, place));
        }
        for (std::size_t i = 0; sends && i < window; ++i)
            pending_.push_back(net_.post_send(1 - rank(), {messages, 0}, out));
        std::array<std::byte, 4> answer{};
        if (rank() == 0) pending_.push_back(net_.post_recv(1, {answers, 0}, answer));
        waiter_.wait(pending_);
        if (rank() == 0) return;
        ticket answered[] = {net_.post_send(0, {answers, 0}, answer)};
        waiter_.wait(answered);
    }

    void shift(std::span<std::byte const> out, std::span<std::byte> in) override {
        ticket pair[] = {net_.post_recv((rank() + size() - 1) % size(), {messages, 0}, in),
                         net_.post_send((rank() + 1) % size(), {messages, 0}, out)};
        waiter_.wait(pair);
    }

 private:
    using ticket = typename Transport::ticket;
    static constexpr std::uint64_t messages = 0x62656E6368;  // apart from the streams of plans
    static constexpr std::uint64_t answers = messages + 1;

    Transport& net_;
    chorus::group<Transport> world_;
    chorus::plan gate_;
    detail::message_waiter<Transport> waiter_;
    std::vector<ticket> pending_;
    std::string way_;
};

}  // namespace bench
