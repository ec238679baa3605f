// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/time_limit.hpp"
#include "chorus/detail/first_error.hpp"
#include "chorus/transport/detail/endpoint_state.hpp"
#include "chorus/transport/detail/fork_guard.hpp"
#include "chorus/transport/detail/network_message.hpp"
#include "chorus/transport/detail/relax.hpp"
#include "chorus/transport/detail/request_pool.hpp"
#include "chorus/transport/detail/wire.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace chorus::detail {

/// One rank's end of a network: a whole `transport` with its refinements, made of what a `wire` can do.
///
/// A message that fits in a short one travels at once (one copy at each end); the send is complete when `post_send` returns. A longer one is offered
/// in a short message; the receiver, once it has matched the offer, makes its buffer ready and grants it; then the bytes move without a copy of ours.
/// So the library touches a receive's buffer only after the match, and a send's only after the grant: until then `cancel` is local and free.
/// All 64 bits of a stream travel and are compared; nothing is folded. Offers pending per rank: `Wire::bulk_numbers`.
///
/// Reports, aborts and views are short messages of their own, served by every poll, whatever operation is stuck.
/// They reach ranks that poll; one that is busy elsewhere learns when it polls next.
template <wire Wire>
class messenger : public endpoint_state {
    using request = network_request<typename Wire::transfer>;

 public:
    struct ticket {
        request* pending = nullptr;
    };

    template <class... Arguments>
    explicit messenger(waiting_style style, Arguments&&... for_wire)
        : wire_{std::forward<Arguments>(for_wire)...}, style_{style}, me_{wire_.rank()}, peers_(wire_.size()),
          largest_eager_{wire_.largest_short() - sizeof(network_header)} {
        user_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    }

    messenger(messenger const&) = delete;
    messenger& operator=(messenger const&) = delete;

    /// Tells the peers, for a second at most; what is pending is given up.
    ~messenger() {
        if (fork_.is_forked()) return;
        forget_everything();
        is_leaving_ = true;
        for (rank_id p = 0; p < size(); ++p)
            if (p != me_) tell(p, network_kind::farewell);
        push_out(std::chrono::seconds{1});
        if constexpr (requires { wire_.keep_name(); })
            if (!hears_farewells(std::chrono::seconds{1})) wire_.keep_name();
    }

    rank_id rank() const noexcept { return me_; }
    rank_id size() const noexcept { return static_cast<rank_id>(peers_.size()); }

    ticket post_send(rank_id peer, message_tag tag, std::span<std::byte const> out) {
        check_peer(peer, me_, size(), "post_send");
        if (is_aborted()) return {&failed_};
        if (peer == me_) return deliver_to_self(tag, out);
        note_user();
        auto& to = peers_[peer];
        if (out.size() <= largest_eager_ && to.queue.empty() && to.notes.empty() && !dispute_ && send_eagerly(peer, tag, out)) return {};
        request& r = pool_.take();
        r.peer = peer;
        r.tag = tag;
        r.source = out.data();
        r.bytes = out.size();
        r.stage = network_stage::queued;
        to.queue.push_back(r);
        ++queued_;
        flush(peer);
        return settle(r);
    }

    ticket post_recv(rank_id peer, message_tag tag, std::span<std::byte> in) {
        check_peer(peer, me_, size(), "post_recv");
        if (is_aborted()) return {&failed_};
        note_user();
        request& r = pool_.take();
        r.peer = peer;
        r.tag = tag;
        r.target = in.data();
        r.bytes = in.size();
        r.stage = network_stage::posted;
        if (early_message* const early = peers_[peer].early.take_first(tag.stream)) {
            accept(r, early->header, early->bytes, early->payload.span().first(early->header.kind == network_kind::eager ? early->bytes : 0));
            early_.give_back(*early);
            return settle(r);
        }
        peers_[peer].posted.push_back(r);
        return {&r};
    }

    progress poll(ticket& pending) noexcept {
        request* const r = pending.pending;
        if (r == nullptr) return progress::done;
        if (is_aborted()) {
            tell_failure();
            return progress::failed;
        }
        note_user();
        progress const now = advance(*r);
        if (now == progress::done) {
            pool_.give_back(*r);
            pending.pending = nullptr;
        } else if (now == progress::idle && (++idle_polls_ & 0xFFFu) == 0) {
            look_around();
        }
        return now;
    }

    /// What polls do besides, for whoever waits for something else: reads what has come, answers, tells a failure.
    void serve() noexcept {
        note_user();
        look_around();
    }

    /// Forgets an operation that will not be waited for. Afterwards nobody touches its buffer. Peers learn nothing: abort tells them.
    void cancel(ticket& pending) noexcept {
        request* const r = std::exchange(pending.pending, nullptr);
        if (r != nullptr && r != &failed_) forget(*r);
    }

    /// From any thread. The peers are told at once if this thread is the one that used the endpoint last, else when that one polls or rests next.
    void abort(errc code, rank_id blamed, std::string_view why) noexcept {
        if (fork_.is_forked()) return;
        failure_.set(code, blamed, why);
        if (user_.load(std::memory_order_relaxed) == std::this_thread::get_id()) tell_failure();
    }

    bool is_aborted() const noexcept { return failure_.is_set() || fork_.is_forked(); }

    error failure() const {
        if (fork_.is_forked()) return fork_.failure();
        return failure_.is_set() ? failure_.get() : error{errc::aborted, "no reason was given"};
    }

    /// Messages that came before the operation they belong to are looked at again, now that it is known.
    void announce(operation_record const& record) noexcept {
        record_ = record;
        if (record.ordinal == 0) return;
        remember(record);
        if (early_count_ == 0) return;
        for (rank_id p = 0; p < size(); ++p)
            peers_[p].early.each([&](early_message const& early) { expect_agreement(p, early.header); });
    }

    /// The peer's own record: the last one that it has told.
    operation_record view_of(rank_id peer) const { return peer == me_ ? record_ : peers_[peer].view; }
    void show(operation_record const& record) noexcept { record_ = record; }
    void show_end(operation_record const& record) noexcept {
        if (record_.stream == record.stream) record_.state = record.state;
    }

    /// Asks every peer what it runs; answers come in while this rank polls.
    void ask_views() noexcept {
        survey_ = ++question_;
        for (rank_id p = 0; p < size(); ++p)
            if (p != me_) tell(p, network_kind::ask_view, bytes_of_object(record_), question_);
    }
    /// Whether the peer has answered that question or a later one.
    bool has_view_of(rank_id peer) const noexcept {
        return peer == me_ || !is_before(peers_[peer].answered, survey_);
    }
    bool has_lost(rank_id peer) noexcept {
        return peer != me_ && (peers_[peer].has_left || peers_[peer].has_failed || wire_.failure_of(peer) != nullptr);
    }

    /// Spins, then yields, then sleeps in the library at most 2 ms until something may have come.
    void rest(std::uint32_t idle_polls) noexcept {
        if (is_aborted()) return tell_failure();
        if (idle_polls < style_.spins) return;
        if (idle_polls < style_.spins + style_.yields) return platform_yield();
        wire_.sleep(std::chrono::milliseconds{2});
        if ((++rests_ & 3u) == 0) look_around();
    }

    /// Messages of our own, no shared memory: the lowest living rank gathers who has given up what was under way, and tells all who survives.
    /// Whoever learns that tells it to all survivors before it goes on, so that all or none of them know if the lowest rank dies meanwhile.
    std::vector<rank_id> recover(time_limit limit = std::chrono::seconds{10}) {
        if (fork_.is_forked()) raise(fork_.failure());
        abort(errc::aborted, me_, "rank " + std::to_string(me_) + " recovers");
        note_user();
        tell_failure();
        forget_everything();
        rank_bits const survivors = agree(limit);
        for (rank_id p = 0; p < size(); ++p)
            if (p != me_ && !peers_[p].has_left) tell(p, network_kind::survivors, survivors.bytes());
        if (!survivors.has(me_))
            raise(errc::peer_lost, "the others went on without rank " + std::to_string(me_) + ", which came too late", me_);
        return start_afresh(survivors);
    }
    std::uint64_t recoveries() const noexcept { return recoveries_; }

    std::string describe() const { return wire_.describe(); }

    Wire& net() noexcept { return wire_; }

 private:
    struct peer_state {
        list_of<request> posted;            // receives not matched yet
        list_of<request> queue;             // sends for which there was no place, in order
        list_of<early_message> early;       // came before their receive
        std::deque<std::vector<std::byte>> notes;  // short messages of our own for which there was no place
        operation_record view;
        std::uint16_t answered = 0;
        std::uint8_t suspected = 0;
        bool is_awaited = false;
        bool has_left = false;              // or did not survive a recovery
        bool has_failed = false;            // the library gave up a transfer
        bool has_joined = false;            // the recovery to come
    };
    struct letter {
        rank_id from;
        std::vector<std::byte> bytes;
    };
    struct dispute {
        rank_id peer;
        operation_record mine;
        operation_record theirs;
        std::string text;
        std::chrono::steady_clock::time_point until;
    };

    void note_user() noexcept { user_.store(std::this_thread::get_id(), std::memory_order_relaxed); }

    ticket settle(request& r) noexcept {
        if (r.stage != network_stage::complete) return {&r};
        pool_.give_back(r);
        return {};
    }

    progress advance(request& r) noexcept {
        switch (r.stage) {
            case network_stage::complete: return progress::done;
            case network_stage::moving: return advance_bulk(r);
            case network_stage::broken: take_in(); break;
            case network_stage::queued:
            case network_stage::offered:
            case network_stage::posted: take_in(&r); break;
        }
        if (r.stage == network_stage::complete) return progress::done;
        if (is_aborted()) return progress::failed;
        return r.stage == network_stage::moving ? progress::moved : progress::idle;
    }

    progress advance_bulk(request& r) noexcept {
        progress const now = wire_.poll(r.transfer);
        if (now == progress::done) r.stage = network_stage::complete;
        else if (now == progress::failed) return give_up(r);
        else take_in();
        return is_aborted() ? progress::failed : now;
    }

    /// The peer is lost, unless the request is cancelled before that is believed.
    progress give_up(request& r) noexcept {
        r.stage = network_stage::broken;
        peers_[r.peer].has_failed = true;
        if (r.peer == me_) lose(r.peer, nullptr);
        return is_aborted() ? progress::failed : progress::idle;
    }

    // ---- sending ----

    bool send_short(rank_id peer, network_header header, std::span<std::byte const> payload) noexcept {
        header.epoch = epoch_;
        return wire_.send_short(peer, bytes_of_object(header), payload);
    }

    bool send_eagerly(rank_id peer, message_tag tag, std::span<std::byte const> out) noexcept {
        return send_short(peer, {.stream = tag.stream, .fingerprint = tag.fingerprint}, out);
    }

    /// A message of our own; kept if there is no place for it now.
    void tell(rank_id peer, network_kind kind, std::span<std::byte const> payload = {}, std::uint16_t number = 0,
              std::uint64_t stream = 0) noexcept {
        network_header const header{.stream = stream, .number = number, .kind = kind};
        auto& notes = peers_[peer].notes;
        if (notes.empty() && send_short(peer, header, payload)) return;
        CHORUS_TRY {
            network_header stamped = header;
            stamped.epoch = epoch_;
            auto const front = bytes_of_object(stamped);
            std::vector<std::byte> note{front.begin(), front.end()};
            note.insert(note.end(), payload.begin(), payload.end());
            notes.push_back(std::move(note));
            ++note_count_;
        }
        CHORUS_CATCH_ALL {}  // no memory for a note: a deadline tells
    }

    void flush_notes() noexcept {
        for (rank_id p = 0; p < size() && note_count_ > 0; ++p) {
            auto& notes = peers_[p].notes;
            while (!notes.empty() && wire_.send_short(p, notes.front(), {})) {
                notes.pop_front();
                --note_count_;
            }
        }
    }

    /// A rank that has seen a disagreement sends nothing of operations any more, so that nobody completes one that this rank will fail in.
    void flush(rank_id peer) noexcept {
        if (dispute_) return;
        auto& queue = peers_[peer].queue;
        for (; !queue.empty() && push(queue.front()); --queued_) queue.pop_front();
    }

    bool push(request& r) noexcept {
        if (r.bytes <= largest_eager_) {
            if (!send_eagerly(r.peer, r.tag, {r.source, r.bytes})) return false;
            r.stage = network_stage::complete;
            return true;
        }
        return make_offer(r);
    }

    bool make_offer(request& r) noexcept {
        std::optional<std::uint16_t> const number = free_number();
        if (!number) return false;
        network_header const header{
            .stream = r.tag.stream, .fingerprint = r.tag.fingerprint, .number = *number, .kind = network_kind::offer};
        std::uint64_t const bytes = r.bytes;
        if (!send_short(r.peer, header, bytes_of_object(bytes))) return false;
        r.number = *number;
        r.stage = network_stage::offered;
        offers_[*number] = &r;
        return true;
    }

    /// The lowest numbers are used again first, so that the table stays small.
    std::optional<std::uint16_t> free_number() noexcept {
        for (std::size_t n = 0; n < offers_.size(); ++n)
            if (offers_[n] == nullptr) return static_cast<std::uint16_t>(n);
        std::size_t const most = (std::min)(std::size_t{Wire::bulk_numbers}, std::size_t{1} << 16);
        if (offers_.size() == most) return std::nullopt;
        CHORUS_TRY { offers_.push_back(nullptr); }
        CHORUS_CATCH_ALL { return std::nullopt; }
        return static_cast<std::uint16_t>(offers_.size() - 1);
    }

    ticket deliver_to_self(message_tag tag, std::span<std::byte const> out) {
        network_header const header{.stream = tag.stream, .fingerprint = tag.fingerprint};
        if (request* const r = peers_[me_].posted.take_first(tag.stream)) accept(*r, header, out.size(), out);
        else keep_for_later(me_, header, out.size(), out);
        return {};
    }

    // ---- receiving ----

    /// Takes in what has come, from whomever, no further than the message that completes `awaited`.
    void take_in(request const* awaited = nullptr) noexcept {
        if (note_count_ > 0) flush_notes();
        for (rank_id p = 0; p < size() && queued_ > 0; ++p) flush(p);
        for (int taken = 0; taken < 64 && read_next(); ++taken)
            if (awaited != nullptr && awaited->stage == network_stage::complete) return;
    }

    /// Whether there was one to read. A failure that reading it finds is told once it is read, because telling reads on.
    bool read_next() noexcept {
        short_message const arrived = wire_.next_short();
        if (arrived.peer == nobody) return false;
        is_reading_ = true;
        read(arrived.peer, arrived.bytes);
        is_reading_ = false;
        wire_.release_short();
        if (failure_.is_set() && !has_told_) tell_failure();
        return true;
    }

    void read(rank_id peer, std::span<std::byte const> bytes) noexcept {
        network_header header;
        if (!read_object(bytes, header)) return abort(errc::system_failed, peer, "a message without a header came");
        if (peers_[peer].has_left) return;
        if (is_leaving_) {  // after the own farewell nothing is answered
            peers_[peer].has_left = header.kind == network_kind::farewell;
            return;
        }
        if (header.epoch != epoch_) return keep_if_ahead(peer, header, bytes);
        switch (header.kind) {
            case network_kind::eager: return match(peer, header, bytes.size(), bytes);
            case network_kind::offer: {
                std::uint64_t length = 0;
                read_object(bytes, length);
                return match(peer, header, static_cast<std::size_t>(length), {});
            }
            case network_kind::grant: return begin_bulk(peer, header.number);
            case network_kind::ask_view: return answer(peer, header, bytes);
            case network_kind::view: return note_view(peer, header, bytes);
            case network_kind::abort: return hear_abort(peer, bytes);
            case network_kind::farewell: peers_[peer].has_left = true; return;
            case network_kind::join: return hear_join(peer, bytes);
            case network_kind::survivors: return hear_survivors(bytes);
        }
    }

    void match(rank_id peer, network_header const& header, std::size_t bytes, std::span<std::byte const> payload) noexcept {
        if (request* const r = peers_[peer].posted.take_first(header.stream)) accept(*r, header, bytes, payload);
        else keep_for_later(peer, header, bytes, payload);
    }

    void keep_for_later(rank_id peer, network_header const& header, std::size_t bytes,
                        std::span<std::byte const> payload) noexcept {
        expect_agreement(peer, header);
        CHORUS_TRY {
            early_message& early = early_.take();
            early.is_used = true;
            early.tag = {header.stream, header.fingerprint};
            early.header = header;
            early.bytes = bytes;
            early.payload.grow(payload.size());
            if (!payload.empty()) std::memcpy(early.payload.data(), payload.data(), payload.size());
            peers_[peer].early.push_back(early);
            ++early_count_;
        }
        CHORUS_CATCH_ALL { abort(errc::too_large, peer, "no memory for a message that came before its receive"); }
    }

    void accept(request& r, network_header const& header, std::size_t bytes, std::span<std::byte const> payload) noexcept {
        if (bytes != r.bytes || header.fingerprint != r.tag.fingerprint) return refuse(r, bytes);
        if (header.kind == network_kind::eager) {
            if (!payload.empty()) std::memcpy(r.target, payload.data(), payload.size());
            r.stage = network_stage::complete;
            return;
        }
        r.transfer = wire_.receive_bulk(r.peer, header.number, {r.target, r.bytes});
        r.stage = network_stage::moving;
        tell(r.peer, network_kind::grant, {}, header.number);
    }

    void begin_bulk(rank_id peer, std::uint16_t number) noexcept {
        request* const r = number < offers_.size() ? offers_[number] : nullptr;
        if (r == nullptr || r == &withdrawn_ || r->peer != peer) return;
        offers_[number] = nullptr;
        r->transfer = wire_.send_bulk(peer, number, {r->source, r->bytes});
        r->stage = network_stage::moving;
    }

    // ---- ending ----

    void forget(request& r) noexcept {
        switch (r.stage) {
            case network_stage::queued: 
                peers_[r.peer].queue.remove(r);
                --queued_;
                break;
            case network_stage::posted: peers_[r.peer].posted.remove(r); break;
            case network_stage::offered: offers_[r.number] = &withdrawn_; break;  // a late grant must not find another's
            case network_stage::moving: wire_.cancel(r.transfer); break;
            case network_stage::broken:
            case network_stage::complete: break;
        }
        pool_.give_back(r);
    }

    void forget_everything() noexcept {
        pool_.each([&](request& r) { forget(r); });
    }

    /// Lets the library send what it was given, and goes on reading: peers may be about to leave, or to recover.
    void push_out(std::chrono::milliseconds at_most) noexcept {
        auto const until = std::chrono::steady_clock::now() + at_most;
        for (std::uint32_t turn = 0; note_count_ > 0 || !wire_.is_quiet(); ++turn) {
            if (std::chrono::steady_clock::now() > until) return;
            if (note_count_ > 0) flush_notes();
            read_next();
            if (turn > 100) wire_.sleep(std::chrono::milliseconds{1});
        }
    }

    // ---- recovering ----

    rank_bits agree(time_limit limit) {
        if (lost_.bytes().empty()) lost_ = rank_bits{size()};
        auto const begin = std::chrono::steady_clock::now();
        rank_id joined = nobody;
        for (std::uint32_t turn = 0;; ++turn) {
            take_in();
            if (verdict_) return *verdict_;
            if (turn % 8 == 0) note_losses();
            rank_id const lowest = lowest_living();
            auto const now = std::chrono::steady_clock::now();
            bool const is_late = !limit.is_for_ever() && now > limit.after(begin);
            if (lowest == me_) {
                if (is_late || all_living_joined()) return joined_ranks();
            } else if (joined != lowest) {
                joined = lowest;
                tell(lowest, network_kind::join, lost_.bytes());
            } else if (is_late && now > limit.after(limit.after(begin)) + std::chrono::seconds{1}) {
                raise(errc::timed_out, "rank " + std::to_string(lowest) + " does not say who survives", lowest);
            }
            wire_.sleep(std::chrono::milliseconds{1});
        }
    }

    void note_losses() noexcept {
        for (rank_id p = 0; p < size(); ++p)
            if (p != me_ && (peers_[p].has_left || wire_.failure_of(p) != nullptr)) lost_.add(p);
    }
    rank_id lowest_living() const noexcept {
        rank_id p = 0;
        while (p != me_ && lost_.has(p)) ++p;
        return p;
    }
    bool all_living_joined() const noexcept {
        for (rank_id p = 0; p < size(); ++p)
            if (p != me_ && !lost_.has(p) && !peers_[p].has_joined) return false;
        return true;
    }
    rank_bits joined_ranks() const {
        rank_bits all{size()};
        for (rank_id p = 0; p < size(); ++p)
            if (p == me_ || (peers_[p].has_joined && !lost_.has(p))) all.add(p);
        return all;
    }

    void hear_join(rank_id peer, std::span<std::byte const> bytes) noexcept {
        if (!failure_.is_set()) has_told_ = true;  // the peer has told everybody
        failure_.set(errc::aborted, peer, "a peer recovers");
        peers_[peer].has_joined = true;
        CHORUS_TRY {
            if (lost_.bytes().empty()) lost_ = rank_bits{size()};
            lost_.unite(bytes);
        }
        CHORUS_CATCH_ALL {}
    }

    void hear_survivors(std::span<std::byte const> bytes) noexcept {
        if (verdict_) return;
        CHORUS_TRY {
            rank_bits told{size()};
            if (told.unite(bytes)) verdict_ = std::move(told);
        }
        CHORUS_CATCH_ALL {}
    }

    /// Others may be through before this rank.
    void keep_if_ahead(rank_id peer, network_header const& header, std::span<std::byte const> bytes) noexcept {
        if (header.epoch != static_cast<std::uint8_t>(epoch_ + 1)) return;
        CHORUS_TRY {
            auto const front = bytes_of_object(header);
            ahead_.push_back({peer, {front.begin(), front.end()}});
            ahead_.back().bytes.insert(ahead_.back().bytes.end(), bytes.begin(), bytes.end());
        }
        CHORUS_CATCH_ALL { abort(errc::too_large, peer, "no memory for a message that came during recovery"); }
    }

    std::vector<rank_id> start_afresh(rank_bits const& survivors) {
        std::vector<rank_id> all;
        for (rank_id p = 0; p < size(); ++p) {
            auto& peer = peers_[p];
            if (survivors.has(p)) all.push_back(p);
            else peer.has_left = true;
            while (!peer.early.empty()) {
                early_message& early = peer.early.front();
                peer.early.pop_front();
                early_.give_back(early);
            }
            peer.suspected = 0;
            peer.has_failed = false;
            peer.has_joined = false;
        }
        early_count_ = 0;
        offers_.clear();
        dispute_.reset();
        verdict_.reset();
        lost_ = rank_bits{};
        failure_.clear();
        has_told_ = false;
        ++epoch_;
        ++recoveries_;
        if constexpr (requires { wire_.begin_generation(1u); }) wire_.begin_generation(static_cast<std::uint32_t>(recoveries_));
        for (letter const& early : std::exchange(ahead_, {})) read(early.from, early.bytes);
        return all;
    }

    /// Whether every peer has said farewell, or is known to be gone: then nothing of theirs is under way any more.
    bool hears_farewells(std::chrono::milliseconds at_most) noexcept {
        auto const until = std::chrono::steady_clock::now() + at_most;
        for (std::uint32_t turn = 0;; ++turn) {
            take_in();
            bool all = true;
            for (rank_id p = 0; p < size(); ++p)
                all = all && (p == me_ || peers_[p].has_left || wire_.failure_of(p) != nullptr);
            if (all) return true;
            if (std::chrono::steady_clock::now() > until) return false;
            if (turn > 100) wire_.sleep(std::chrono::milliseconds{1});
        }
    }

    // ---- failing ----

    /// Once, by the thread that uses the endpoint.
    void tell_failure() noexcept {
        if (has_told_ || is_reading_ || is_leaving_ || fork_.is_forked() || !failure_.is_set()) return;
        has_told_ = true;
        CHORUS_TRY {
            error const why = failure_.get();
            abort_notice const notice{why.peer(), static_cast<std::uint32_t>(why.code())};
            std::string_view const text = why.message().substr(0, largest_eager_ - sizeof notice);
            std::vector<std::byte> payload(sizeof notice + text.size());
            std::memcpy(payload.data(), &notice, sizeof notice);
            std::memcpy(payload.data() + sizeof notice, text.data(), text.size());
            for (rank_id p = 0; p < size(); ++p)
                if (p != me_ && !peers_[p].has_left) tell(p, network_kind::abort, payload);
            push_out(std::chrono::milliseconds{200});
        }
        CHORUS_CATCH_ALL {}
    }

    void hear_abort(rank_id from, std::span<std::byte const> bytes) noexcept {
        abort_notice notice;
        if (!read_object(bytes, notice)) return;
        CHORUS_TRY {
            std::string text = "rank " + std::to_string(from) + " reports: ";
            text.append(reinterpret_cast<char const*>(bytes.data()), bytes.size());
            has_told_ = true;  // the peer tells everybody
            failure_.set(static_cast<errc>(notice.code), notice.blamed, text);
        }
        CHORUS_CATCH_ALL { failure_.set(static_cast<errc>(notice.code), notice.blamed, "a peer reports a failure"); }
    }

    /// Both ends' views are wanted in the error; the peer is asked for its own, for half a second.
    void refuse(request& r, std::size_t sent) noexcept {
        r.stage = network_stage::posted;
        peers_[r.peer].posted.push_front(r);  // stays pending; polls fail soon
        CHORUS_TRY {
            operation_record const* const mine = recent_on(r.tag.stream);
            open_dispute(r.peer, mine != nullptr ? *mine : record_, refusal_text(me_, r.bytes, r.peer, sent));
        }
        CHORUS_CATCH_ALL { abort(errc::mismatch, r.peer, "ranks disagree"); }
    }

    void open_dispute(rank_id peer, operation_record const& mine, std::string text) {
        if (dispute_) return;
        if (peer == me_) return abort(errc::mismatch, peer, text);
        auto const until = std::chrono::steady_clock::now() + std::chrono::milliseconds{500};
        dispute_ = dispute{peer, mine, peers_[peer].view, std::move(text), until};
        tell(peer, network_kind::ask_view, bytes_of_object(record_), ++question_, mine.stream);
    }

    /// Asked about a stream, a rank shows what it ran on it; else what it runs now.
    void answer(rank_id peer, network_header const& asked, std::span<std::byte const> theirs) noexcept {
        read_object(theirs, peers_[peer].view);
        operation_record const* const on_stream = asked.stream != 0 ? recent_on(asked.stream) : nullptr;
        operation_record const& shown = on_stream != nullptr ? *on_stream : record_;
        tell(peer, network_kind::view, bytes_of_object(shown), asked.number, asked.stream);
    }

    void close_dispute() noexcept {
        CHORUS_TRY {
            dispute const& d = *dispute_;
            abort(errc::mismatch, d.peer, d.text + both_views(me_, d.mine, d.peer, d.theirs));
        }
        CHORUS_CATCH_ALL { abort(errc::mismatch, dispute_->peer, "ranks disagree"); }
        dispute_.reset();
    }

    void note_view(rank_id peer, network_header const& header, std::span<std::byte const> bytes) noexcept {
        operation_record theirs;
        if (!read_object(bytes, theirs)) return;
        if (is_before(peers_[peer].answered, header.number)) peers_[peer].answered = header.number;
        if (dispute_ && dispute_->peer == peer && header.stream == dispute_->mine.stream) {
            dispute_->theirs = theirs;
            return close_dispute();
        }
        if (header.stream != 0) return;
        peers_[peer].view = theirs;
        bool const same_call = record_.ordinal != 0 && theirs.stream == record_.stream && theirs.ordinal == record_.ordinal;
        if (same_call && theirs.fingerprint != record_.fingerprint) disagree(peer, record_);
    }

    /// Numbers of questions, modulo 2^16.
    static bool is_before(std::uint16_t a, std::uint16_t b) noexcept { return static_cast<std::uint16_t>(b - a - 1) < 0x7FFF; }

    /// A message on a stream of an own recent operation must have that one's fingerprint.
    void expect_agreement(rank_id peer, network_header const& header) noexcept {
        operation_record const* const mine = recent_on(header.stream);
        if (mine != nullptr && mine->fingerprint != header.fingerprint) disagree(peer, *mine);
    }

    void disagree(rank_id peer, operation_record const& mine) noexcept {
        CHORUS_TRY { open_dispute(peer, mine, "the ranks disagree"); }
        CHORUS_CATCH_ALL { abort(errc::mismatch, peer, "the ranks disagree"); }
    }

    /// What whoever waits does now and then: believe in losses, end disputes, and compare its operation with the others'.
    void look_around() noexcept {
        if (is_aborted()) return tell_failure();
        take_in();
        auto const now = std::chrono::steady_clock::now();
        if (dispute_ && now > dispute_->until) return close_dispute();
        if (now - last_look_ < std::chrono::milliseconds{20}) return;
        last_look_ = now;
        look_for_lost_peers();
        if (now < next_survey_ || is_aborted()) return;
        bool const is_first = next_survey_ == std::chrono::steady_clock::time_point{};
        survey_gap_ = (std::min)(survey_gap_ * 2, std::chrono::milliseconds{2000});
        next_survey_ = now + survey_gap_;
        if (!is_first && !dispute_) ask_awaited();
    }

    /// Also finds out whether they can be reached at all.
    void ask_awaited() noexcept {
        ++question_;
        for (rank_id p = 0; p < size(); ++p)
            if (p != me_ && (peers_[p].is_awaited || size() <= 16))
                tell(p, network_kind::ask_view, bytes_of_object(record_), question_);
    }

    /// A loss is believed only at the third look in a row, because the peer's last messages may not have been read yet.
    void look_for_lost_peers() noexcept {
        for (auto& p : peers_) p.is_awaited = false;
        pool_.each([&](request const& r) {
            if (r.peer != me_) peers_[r.peer].is_awaited = true;
        });
        for (rank_id p = 0; p < size(); ++p) {
            if (!peers_[p].is_awaited) continue;
            char const* how = peers_[p].has_left ? "it left" : wire_.failure_of(p);
            if (how == nullptr && peers_[p].has_failed) how = "the network failed";
            if (how == nullptr) peers_[p].suspected = 0;
            else if (++peers_[p].suspected == 3) return lose(p, how);
        }
    }

    void lose(rank_id peer, char const* how) noexcept {
        if (dispute_) return close_dispute();  // that explains it better
        if (how == nullptr) how = "the network failed";
        CHORUS_TRY { abort(errc::peer_lost, peer, lost_text(peer, how, me_, record_)); }
        CHORUS_CATCH_ALL { abort(errc::peer_lost, peer, how); }
    }

    fork_guard fork_;
    Wire wire_;
    waiting_style style_;
    rank_id me_;
    std::vector<peer_state> peers_;
    std::size_t largest_eager_;
    pool_of<request> pool_;
    pool_of<early_message> early_;
    std::vector<request*> offers_;  // number -> the send that waits for a grant
    request failed_{.stage = network_stage::queued};     // what is posted after a failure
    request withdrawn_{.stage = network_stage::queued};  // holds the number of an offer that was taken back
    std::size_t early_count_ = 0;   // messages ever kept for later
    std::size_t note_count_ = 0;    // in all peers' notes
    std::size_t queued_ = 0;        // in all peers' queues
    operation_record record_;
    first_error failure_;
    std::atomic<std::thread::id> user_;
    std::optional<dispute> dispute_;
    std::chrono::steady_clock::time_point last_look_{};
    std::chrono::steady_clock::time_point next_survey_{};
    std::chrono::milliseconds survey_gap_{100};
    std::uint32_t idle_polls_ = 0;
    std::uint32_t rests_ = 0;
    std::uint16_t question_ = 0;
    std::uint16_t survey_ = 0;          // the last question that went to everybody
    std::optional<rank_bits> verdict_;  // who survives the recovery to come
    rank_bits lost_;                    // in the eyes of those who have joined it
    std::vector<letter> ahead_;         // sent by ranks that have it behind them
    std::uint64_t recoveries_ = 0;
    std::uint8_t epoch_ = 0;            // recoveries, modulo 256
    bool has_told_ = false;
    bool is_reading_ = false;           // a message
    bool is_leaving_ = false;
};

}  // namespace chorus::detail
