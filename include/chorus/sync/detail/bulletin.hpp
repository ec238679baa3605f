// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/error.hpp"
#include "chorus/base/random.hpp"
#include "chorus/base/time_limit.hpp"
#include "chorus/base/types.hpp"
#include "chorus/collective/group.hpp"
#include "chorus/detail/under_way.hpp"
#include "chorus/transport/transport.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace chorus::detail {

/// What each rank said last, with its clock, sent to every other rank without a collective: the latest wins, what a slow reader did not see in between is never sent.
///
/// messages  to each peer one of 8 + bytes for each record, and one of 8 bytes back for each that was taken; at most `window` records to a peer are not yet taken
/// memory    a record per peer for what comes in, and one per record that is still under way, shared by the peers that it goes to: bounded, however late a peer is
/// progress  in its calls, and while other operations of the group are waited for
/// end       `close`, a collective; destroyed before, the group is aborted. What fails fails the group: the peers are told
template <transport Transport>
class bulletin final : private under_way_item {
 public:
    static constexpr std::uint32_t window = 2;

    bulletin(group<Transport> const& members, std::size_t bytes, std::string title)
        : net_{&members.net()}, group_{members.state()}, title_{std::move(title)}, deadline_{members.deadline()}, bytes_{8 + bytes}, links_(members.size()) {
        group_->expect_usable(title_);
        std::uint64_t const number = next_plan(*net_, *group_);
        std::uint64_t const stream = counter_random::mix(group_->context ^ (number * 0x9E3779B97F4A7C15u));
        auto const fingerprint = static_cast<std::uint32_t>(counter_random::mix(bytes_ + 0xB0A2Du) >> 32);
        records_ = {stream, fingerprint};
        receipts_ = {counter_random::mix(stream + 1), fingerprint};
        for_each_peer([&](rank_id r, link& peer) {
            peer.record_in.resize(bytes_);
            peer.record_ticket = net_->post_recv(group_->members[r], records_, peer.record_in);
            peer.receipt_ticket = net_->post_recv(group_->members[r], receipts_, bytes_of(peer.receipt_in));
        });
        group_->under_way->add(*this);
    }
    bulletin(bulletin const&) = delete;
    bulletin& operator=(bulletin const&) = delete;
    ~bulletin() {
        if (!is_over_) give_up({errc::aborted, title_ + here() + " was destroyed before it was closed", net_->rank()});
    }

    rank_id rank() const noexcept { return group_->me; }
    rank_id size() const noexcept { return static_cast<rank_id>(links_.size()); }
    time_limit deadline() const noexcept { return deadline_; }

    /// Replaces what this rank says.
    void publish(std::uint64_t clock, std::span<std::byte const> record) {
        current_ = free_copy();
        std::memcpy(current_->data(), &clock, 8);
        if (!record.empty()) std::memcpy(current_->data() + 8, record.data(), record.size());
        ++version_;
        advance();
    }

    /// Receives and sends what can be now, without blocking. Throws what failed.
    void advance() {
        if (failure_) raise(*failure_);
        if (is_over_) return;
        for_each_peer([&](rank_id r, link& peer) { advance(group_->members[r], peer); });
        if (failure_) raise(*failure_);
    }

    /// A record from `r` lies here and was not taken; the next is received after it was.
    bool has_news(rank_id r) const noexcept { return links_[r].has_news; }
    std::uint64_t news_clock(rank_id r) const noexcept { return word_of(links_[r]) & ~last_mark; }
    std::span<std::byte const> news(rank_id r) const noexcept { return std::span{links_[r].record_in}.subspan(8); }
    void take(rank_id r) {
        link& peer = links_[r];
        peer.has_news = false;
        ++peer.taken;
        peer.has_taken_last = (word_of(peer) & last_mark) != 0;
        if (!peer.has_taken_last) peer.record_ticket = net_->post_recv(group_->members[r], records_, peer.record_in);
    }

    /// Waits until `holds()`. Past the deadline it fails with what `why` says: text and the rank to blame.
    template <class Holds, class Why>
    void wait_until(Holds const& holds, Why const& why) {
        auto const began = std::chrono::steady_clock::now();
        for (std::uint32_t idle = 0;; ++idle) {
            advance();
            if (holds()) return;
            group_->under_way->help_all_but(*this, idle > 32);
            if (!deadline_.is_for_ever() && std::chrono::steady_clock::now() >= deadline_.after(began)) {
                auto const [text, peer] = why();
                give_up({errc::timed_out, title_ + here() + ": not within " + to_string(deadline_) + ": " + text, peer == nobody ? nobody : group_->members[peer]});
                raise(*failure_);
            }
            rest(idle);
        }
    }

    /// Begins to close, goes on with it, and says whether it is done: the last record of every rank was taken by all, through `on_news(rank)` before it goes. Collective;
    /// does not block. Afterwards nothing is under way.
    template <class OnNews>
    bool try_close(OnNews const& on_news) {
        if (is_over_ && !failure_) return true;
        if (!is_closing_) mark_last();
        advance();
        open_ = nobody;
        for_each_peer([&](rank_id r, link& peer) {
            if (peer.has_news) {
                on_news(r);
                take(r);
            }
            if (!is_closed(peer)) open_ = r;
        });
        if (open_ == nobody) end();
        return open_ == nobody;
    }

    /// The same, blocking.
    template <class OnNews>
    void close(OnNews const& on_news) {
        wait_until([&] { return try_close(on_news); }, [&] { return std::pair{"rank " + std::to_string(open_) + " has not closed it", open_}; });
    }

 private:
    static constexpr std::uint64_t last_mark = std::uint64_t{1} << 63;
    using copy = std::shared_ptr<std::vector<std::byte>>;
    using ticket = typename Transport::ticket;

    struct link {
        std::vector<std::byte> record_in{};
        ticket record_ticket{};
        bool has_news = false;
        std::uint64_t taken = 0;                 // records from this peer
        bool has_taken_last = false;
        std::array<copy, window> under_way{};    // to this peer, until sent
        std::array<ticket, window> tickets{};
        std::uint64_t version = 0;               // of the record sent last
        std::uint64_t sent = 0;
        std::uint64_t receipt_in = 0;            // how many of them it has taken, as received
        std::uint64_t received = 0;              // as known
        ticket receipt_ticket{};
        bool has_last_receipt = false;
        std::uint64_t receipt_out = 0;
        std::uint64_t told = 0;                  // receipts sent for
        ticket told_ticket{};
        bool is_telling = false;
    };

    /// The record that is sent last says so; those under way are left as they are.
    void mark_last() {
        is_closing_ = true;
        current_ = current_ ? std::make_shared<std::vector<std::byte>>(*current_) : std::make_shared<std::vector<std::byte>>(bytes_);
        std::uint64_t word = 0;
        std::memcpy(&word, current_->data(), 8);
        word |= last_mark;
        std::memcpy(current_->data(), &word, 8);
        ++version_;
    }

    template <class F>
    void for_each_peer(F const& f) {
        for (rank_id r = 0; r < size(); ++r)
            if (r != rank()) f(r, links_[r]);
    }

    static std::span<std::byte> bytes_of(std::uint64_t& word) noexcept { return std::as_writable_bytes(std::span{&word, 1}); }

    static std::uint64_t word_of(link const& peer) noexcept {
        std::uint64_t word = 0;
        std::memcpy(&word, peer.record_in.data(), 8);
        return word;
    }

    bool is_done(ticket& pending) {
        progress const now = net_->poll(pending);
        if (now == progress::failed && !failure_) {
            if constexpr (explaining_transport<Transport>) give_up(net_->failure());
            else give_up({errc::peer_lost, title_ + here() + ": the transport failed"});
        }
        return now == progress::done;
    }

    void advance(rank_id to, link& peer) {
        if (!failure_ && !peer.has_news && !peer.has_taken_last && is_done(peer.record_ticket)) peer.has_news = true;
        if (!failure_ && !peer.has_last_receipt && is_done(peer.receipt_ticket)) {
            peer.received = peer.receipt_in & ~last_mark;
            peer.has_last_receipt = (peer.receipt_in & last_mark) != 0;
            if (!peer.has_last_receipt) peer.receipt_ticket = net_->post_recv(to, receipts_, bytes_of(peer.receipt_in));
        }
        for (std::uint32_t slot = 0; slot < window && !failure_; ++slot)
            if (peer.under_way[slot] && is_done(peer.tickets[slot])) peer.under_way[slot].reset();
        if (!failure_ && peer.is_telling && is_done(peer.told_ticket)) peer.is_telling = false;
        if (!failure_) send(to, peer);
    }

    void send(rank_id to, link& peer) {
        std::size_t const slot = static_cast<std::size_t>(peer.sent % window);
        if (peer.version != version_ && peer.sent - peer.received < window && !peer.under_way[slot]) {
            peer.version = version_;
            ++peer.sent;
            peer.under_way[slot] = current_;
            peer.tickets[slot] = net_->post_send(to, records_, *current_);
        }
        if (peer.told != peer.taken && !peer.is_telling) {
            peer.told = peer.taken;
            peer.receipt_out = peer.taken | (peer.has_taken_last ? last_mark : 0);
            peer.told_ticket = net_->post_send(to, receipts_, bytes_of(peer.receipt_out));
            peer.is_telling = true;
        }
    }

    bool is_closed(link const& peer) const noexcept {
        bool const is_sent = std::none_of(peer.under_way.begin(), peer.under_way.end(), [](copy const& c) { return c != nullptr; });
        return peer.has_taken_last && peer.told == peer.taken && !peer.is_telling && peer.has_last_receipt && is_sent;
    }

    /// One that no message under way reads.
    copy free_copy() {
        current_.reset();
        for (copy& kept : copies_)
            if (kept.use_count() == 1) return kept;
        return copies_.emplace_back(std::make_shared<std::vector<std::byte>>(bytes_));
    }

    bool help(bool) noexcept override {
        CHORUS_TRY {
            if (is_over_) return false;
            for_each_peer([&](rank_id r, link& peer) { advance(group_->members[r], peer); });
        }
        CHORUS_CATCH_ALL { give_up({errc::aborted, title_}); }
        return failure_.has_value();
    }

    void give_up(error const& why) noexcept {
        failure_ = why;
        if (!group_->failure) group_->failure = why;
        if constexpr (aborting_transport<Transport>) net_->abort(why.code(), why.peer(), why.message());
        if constexpr (cancelling_transport<Transport>)
            for_each_peer([&](rank_id, link& peer) {
                if (!peer.has_news && !peer.has_taken_last) net_->cancel(peer.record_ticket);
                if (!peer.has_last_receipt) net_->cancel(peer.receipt_ticket);
                if (peer.is_telling) net_->cancel(peer.told_ticket);
                for (std::uint32_t slot = 0; slot < window; ++slot)
                    if (peer.under_way[slot]) net_->cancel(peer.tickets[slot]);
            });
        end();
    }

    void end() noexcept {
        is_over_ = true;
        group_->under_way->remove(*this);
    }

    std::string here() const { return " on rank " + std::to_string(net_->rank()); }

    void rest(std::uint32_t idle) noexcept {
        if constexpr (resting_transport<Transport>) net_->rest(idle + 1);
        else if (idle < 200) std::this_thread::yield();
        else std::this_thread::sleep_for(std::chrono::microseconds{50});
    }

    Transport* net_;
    std::shared_ptr<group_state> group_;
    std::string title_;
    time_limit deadline_;
    std::size_t bytes_;
    message_tag records_;
    message_tag receipts_;
    std::vector<link> links_;
    std::vector<copy> copies_;
    copy current_;
    std::uint64_t version_ = 0;
    bool is_over_ = false;
    bool is_closing_ = false;
    rank_id open_ = nobody;  // whom closing waits for
    std::optional<error> failure_;
};

}  // namespace chorus::detail
