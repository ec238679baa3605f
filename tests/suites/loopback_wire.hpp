// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/transport/detail/messenger.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

// A network between the threads of one process, with the faults of a real one: places run out, peers die without a word.
namespace suites {

struct loopback_options {
    std::size_t largest_short = 512;
    std::size_t places = 4;         ///< short messages under way per pair
    std::uint32_t refuse_every = 0; ///< every n-th send finds no place; 0: none
};

class loopback_network {
 public:
    explicit loopback_network(chorus::rank_id ranks, loopback_options const& options = {})
        : options_{options}, inboxes_(ranks) {
        for (auto& inbox : inboxes_) inbox.places.resize(ranks, options.places);
    }

    loopback_options const& options() const { return options_; }
    chorus::rank_id size() const { return static_cast<chorus::rank_id>(inboxes_.size()); }

    struct letter {
        chorus::rank_id from;
        std::vector<std::byte> bytes;
    };
    struct mailbox {
        std::deque<letter> letters;
        std::vector<std::size_t> places;  // per sender
        bool is_dead = false;
        std::condition_variable arrived;
    };
    struct bulk {
        std::span<std::byte> in;
        bool is_done = false;
    };
    using bulk_key = std::tuple<chorus::rank_id, chorus::rank_id, std::uint32_t>;

    std::mutex guard;
    std::vector<mailbox>& inboxes() { return inboxes_; }
    std::map<bulk_key, std::shared_ptr<bulk>> bulks;

 private:
    loopback_options options_;
    std::vector<mailbox> inboxes_;
};

class loopback_wire {
 public:
    static constexpr std::uint32_t bulk_numbers = 64;

    struct transfer {
        std::shared_ptr<loopback_network::bulk> receiving{};
    };

    loopback_wire(loopback_network& network, chorus::rank_id me) : network_{&network}, me_{me} {}

    chorus::rank_id rank() const noexcept { return me_; }
    chorus::rank_id size() const noexcept { return network_->size(); }
    std::size_t largest_short() const noexcept { return network_->options().largest_short; }

    bool send_short(chorus::rank_id peer, std::span<std::byte const> header, std::span<std::byte const> payload) noexcept {
        std::lock_guard const hold{network_->guard};
        auto& inbox = network_->inboxes()[peer];
        std::uint32_t const every = network_->options().refuse_every;
        if (inbox.is_dead || network_->inboxes()[me_].is_dead) return true;  // lost on the way
        if (inbox.places[me_] == 0 || (every != 0 && ++sends_ % every == 0)) return false;
        --inbox.places[me_];
        std::vector<std::byte> bytes{header.begin(), header.end()};
        bytes.insert(bytes.end(), payload.begin(), payload.end());
        inbox.letters.push_back({me_, std::move(bytes)});
        inbox.arrived.notify_all();
        return true;
    }

    chorus::detail::short_message next_short() noexcept {
        if (!current_) {
            std::lock_guard const hold{network_->guard};
            auto& mine = network_->inboxes()[me_];
            if (mine.letters.empty()) return {};
            current_ = std::move(mine.letters.front());
            mine.letters.pop_front();
            ++mine.places[current_->from];
        }
        return {current_->from, current_->bytes};
    }
    void release_short() noexcept { current_.reset(); }
    bool is_quiet() const noexcept { return true; }

    transfer receive_bulk(chorus::rank_id peer, std::uint32_t number, std::span<std::byte> in) noexcept {
        std::lock_guard const hold{network_->guard};
        auto made = std::make_shared<loopback_network::bulk>(loopback_network::bulk{in});
        network_->bulks[{peer, me_, number}] = made;
        return {made};
    }
    transfer send_bulk(chorus::rank_id peer, std::uint32_t number, std::span<std::byte const> out) noexcept {
        std::lock_guard const hold{network_->guard};
        auto const found = network_->bulks.find({me_, peer, number});
        if (found == network_->bulks.end()) return {};  // withdrawn
        std::memcpy(found->second->in.data(), out.data(), (std::min)(out.size(), found->second->in.size()));
        found->second->is_done = true;
        network_->bulks.erase(found);
        network_->inboxes()[peer].arrived.notify_all();
        return {};
    }
    chorus::progress poll(transfer& moving) noexcept {
        if (!moving.receiving) return chorus::progress::done;
        std::lock_guard const hold{network_->guard};
        return moving.receiving->is_done ? chorus::progress::done : chorus::progress::idle;
    }
    void cancel(transfer& moving) noexcept {
        std::lock_guard const hold{network_->guard};
        std::erase_if(network_->bulks, [&](auto const& entry) { return entry.second == moving.receiving; });
    }

    void sleep(std::chrono::milliseconds at_most) noexcept {
        std::unique_lock hold{network_->guard};
        auto& mine = network_->inboxes()[me_];
        if (!current_ && mine.letters.empty()) mine.arrived.wait_for(hold, at_most);
    }

    char const* failure_of(chorus::rank_id peer) noexcept {
        std::lock_guard const hold{network_->guard};
        return network_->inboxes()[peer].is_dead ? "the line is dead" : nullptr;
    }
    std::string describe() const { return "loopback"; }

    /// As if the process had been killed.
    void die() {
        std::lock_guard const hold{network_->guard};
        network_->inboxes()[me_].is_dead = true;
    }

 private:
    loopback_network* network_;
    chorus::rank_id me_;
    std::optional<loopback_network::letter> current_;
    std::uint32_t sends_ = 0;
};
static_assert(chorus::detail::wire<loopback_wire>);

using loopback_transport = chorus::detail::messenger<loopback_wire>;

/// Every rank is a thread; the first exception of a rank comes out.
class loopback_fleet {
 public:
    explicit loopback_fleet(chorus::rank_id ranks, loopback_options const& options = {}) : ranks_{ranks}, options_{options} {}

    template <class Body>
    void run(Body const& body) const {
        loopback_network network{ranks_, options_};
        std::vector<std::exception_ptr> thrown(ranks_);
        {
            std::vector<std::jthread> threads;
            for (chorus::rank_id r = 0; r < ranks_; ++r)
                threads.emplace_back([&, r] {
                    loopback_transport net{chorus::detail::waiting_style_for(ranks_), network, r};
                    try {
                        body(net);
                    } catch (...) {
                        thrown[r] = std::current_exception();
                        net.abort(chorus::errc::aborted, r, "a rank ended with an exception");
                    }
                });
        }
        for (auto const& failure : thrown)
            if (failure) std::rethrow_exception(failure);
    }

 private:
    chorus::rank_id ranks_;
    loopback_options options_;
};

}  // namespace suites
