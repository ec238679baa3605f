// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/transport/detail/arena_recovery.hpp"
#include "chorus/transport/detail/endpoint_state.hpp"
#include "chorus/transport/detail/mailbox_arena.hpp"
#include "chorus/transport/detail/mailbox_request.hpp"
#include "chorus/transport/detail/relax.hpp"

#include <algorithm>
#include <chrono>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace chorus::detail {

/// One rank's end of a mailbox arena: the whole `transport` with all its refinements, for threads and for processes.
///
/// Messages up to 40 bytes travel inside the announcing cache line; up to `eager_bytes` through a chunk of the sender, so that the send
/// completes at once; longer ones are offered, and the receiver copies or reduces them out of the sender's memory
/// (`Platform::pull`), or has them streamed through the sender's chunks where it cannot reach that memory. A sender that has nothing else
/// to do streams without being asked: `post_push`.
///
/// `Platform` knows what differs between threads and processes: pull, wake, sleep, is_alive, reaches, and whether pushing pays.
template <class Platform>
class mailbox : public endpoint_state {
 public:
    struct ticket {
        request* pending = nullptr;
    };

    mailbox(mailbox_arena const& arena, rank_id me, waiting_style style, Platform platform)
        : arena_{arena}, platform_{std::move(platform)}, me_{me}, style_{style}, eager_bytes_{Platform::eager_bytes},
          incoming_(arena.shape().ranks), outgoing_(arena.shape().ranks), suspected_(arena.shape().ranks),
          awaited_(arena.shape().ranks) {
        if (eager_bytes_ > arena.shape().chunk_bytes) eager_bytes_ = arena.shape().chunk_bytes;
        reserved_.resize(arena.shape().chunks_per_rank);
        awaited_offers_.resize(arena.shape().offers_per_rank);
        for (auto& from : incoming_) from.unexpected.reserve(4);
    }

    mailbox(mailbox const&) = delete;
    mailbox& operator=(mailbox const&) = delete;

    rank_id rank() const noexcept { return me_; }
    rank_id size() const noexcept { return arena_.shape().ranks; }
    rank_id cores() const noexcept { return arena_.header().cores; }

    ticket post_send(rank_id peer, message_tag tag, std::span<std::byte const> out) { return post_push(peer, tag, out, 0); }

    /// A send that its rank does nothing beside: where the peer has a core of its own, it is pushed through chunks at once, in pieces of whole elements, and
    /// the two copies overlap. `element_bytes` is also the receiver's; 0: not known, as for `post_send`.
    ticket post_push(rank_id peer, message_tag tag, std::span<std::byte const> out, std::uint64_t element_bytes) {
        check_peer(peer, me_, size(), "post_send");
        disarm();
        auto& lane_out = outgoing_[peer];
        if (out.size() <= inline_bytes && lane_out.queue.empty() && has_room(peer)) {
            announce_inline(peer, tag, out);
            return {};
        }
        request& r = pool_.take();
        r.peer = peer;
        r.tag = tag;
        r.source = out.data();
        r.bytes = out.size();
        if (Platform::pushes && peer != me_ && style_.has_own_core && element_bytes > 0)
            r.piece_bytes = pushed_piece(out.size(), element_bytes);
        r.stage = request_stage::queued;
        lane_out.queue.push_back(r);
        flush(peer);
        return settle(r);
    }

    ticket post_recv(rank_id peer, message_tag tag, std::span<std::byte> in) {
        check_peer(peer, me_, size(), "post_recv");
        request& r = pool_.take();
        r.target = {.out = in.data(), .bytes = in.size()};
        return await(r, peer, tag, in.size());
    }

    ticket post_recv_reduce(rank_id peer, message_tag tag, reduce_target const& into) {
        check_peer(peer, me_, size(), "post_recv_reduce");
        request& r = pool_.take();
        r.target = into;
        return await(r, peer, tag, into.bytes);
    }

    progress poll(ticket& pending) noexcept {
        request* const r = pending.pending;
        if (r == nullptr) return progress::done;
        if (is_aborted()) return progress::failed;
        progress const now = advance(*r);
        if (now != progress::idle) disarm();
        if (now == progress::done) {
            pool_.give_back(*r);
            pending.pending = nullptr;
        } else if (now == progress::idle && (++idle_polls_ & 0xFFFu) == 0) {
            look_for_lost_peers();
            look_for_disagreement();
        }
        return now;
    }

    /// Forgets an operation that will not be waited for. Afterwards nobody touches its buffer. Peers learn nothing: abort tells them.
    void cancel(ticket& pending) noexcept {
        request* const r = std::exchange(pending.pending, nullptr);
        if (r == nullptr) return;
        switch (r->stage) {
            case request_stage::queued: outgoing_[r->peer].queue.remove(*r); break;
            case request_stage::posted: incoming_[r->peer].posted.remove(*r); break;
            case request_stage::offered:
            case request_stage::streaming_out: withdraw(*r); break;
            case request_stage::pulling:
            case request_stage::draining: arena_.offer(r->peer, r->offer).state.store(offer_refused); break;
            case request_stage::complete: break;
        }
        pool_.give_back(*r);
    }

    void abort(errc code, rank_id blamed, std::string_view why) noexcept {
        if (is_forked() || !write_abort(arena_.header(), code, blamed, me_, why, arena_.header().recoveries())) return;
        for (rank_id p = 0; p < size(); ++p) platform_.wake(p, arena_.member_of(p));
    }

    bool is_aborted() const noexcept {
        return arena_.header().stage() != abort_none || is_forked();
    }

    error failure() const {
        if (is_forked()) return fork_failure();
        for (int attempt = 0; attempt < 1000 && arena_.header().stage() == abort_being_written; ++attempt) platform_yield();
        return read_abort(arena_.header(), me_);
    }

    /// Messages that came before the operation they belong to are looked at again, now that it is known.
    void announce(operation_record const& record) noexcept {
        show(record);
        if (record.ordinal == 0) return;
        remember(record);
        if (unexpected_ == 0) return;
        for (rank_id p = 0; p < size(); ++p)
            for (announcement const& early : incoming_[p].unexpected) expect_agreement(p, early);
    }
    operation_record view_of(rank_id peer) const { return read_record(arena_.member_of(peer)); }
    void show(operation_record const& record) noexcept {
        member& mine = arena_.member_of(me_);
        if (record.run <= 1 || !shows_stream(mine, record.stream)) return write_record(mine, record);
        write_record_round(mine, record);
        write_record_run(mine, record);
    }
    void show_end(operation_record const& record) noexcept {
        member& mine = arena_.member_of(me_);
        if (shows_stream(mine, record.stream)) write_record_run(mine, record);
    }

    /// Records lie in shared memory: there is nothing to ask, and also of a rank that ended or was stopped the last one is to be had.
    void ask_views() noexcept {}
    bool has_view_of(rank_id) const noexcept { return true; }
    bool has_lost(rank_id peer) noexcept {
        bool const left = arena_.member_of(peer).presence.load(std::memory_order_acquire) == presence_left;
        return left || incoming_[peer].is_lost || incoming_[peer].is_unreadable || !platform_.is_alive(peer);
    }

    /// Spins, then yields, then sleeps at most 2 ms, or as long as given, until a peer has done something for this rank.
    void rest(std::uint32_t idle_polls) noexcept { rest(idle_polls, std::chrono::milliseconds{2}); }
    void rest(std::uint32_t idle_polls, std::chrono::milliseconds at_most) noexcept {
        member& mine = arena_.member_of(me_);
        if (spins_.allows(idle_polls)) {
            disarm();
            if (idle_polls > 64) relax();
            return;
        }
        if (idle_polls < style_.spins + style_.yields) {
            disarm();
            spins_.yield();
            return;
        }
        if (!armed_) {  // whatever happens from here on rings the bell; look once more before sleeping
            bell_seen_ = mine.bell.load(std::memory_order_acquire);
            mine.sleeping.store(1, std::memory_order_seq_cst);
            std::atomic_thread_fence(std::memory_order_seq_cst);
            armed_ = true;
            return;
        }
        platform_.sleep(me_, mine, bell_seen_, at_most);
        bell_seen_ = mine.bell.load(std::memory_order_acquire);
        look_for_lost_peers();
        if ((++looks_ & 15u) == 0) look_for_disagreement();
    }

    std::vector<rank_id> recover(time_limit limit = std::chrono::seconds{10}) {
        if (is_forked()) raise(fork_failure());
        abort(errc::aborted, me_, "rank " + std::to_string(me_) + " recovers");
        pool_.each([&](request& r) {
            ticket pending{&r};
            cancel(pending);
        });
        arena_recovery agreement{arena_, me_, [this](rank_id p) { return platform_.is_alive(p); }, limit};
        std::vector<rank_id> survivors = agreement.agree();
        start_afresh(survivors);
        agreement.resume();
        return survivors;
    }
    std::uint64_t recoveries() const noexcept { return arena_.header().recoveries(); }

    /// Elements longer than this cannot be reduced on arrival (they might straddle the pieces of a stream).
    std::size_t largest_reduced_element() const noexcept { return arena_.shape().chunk_bytes; }

    Platform& platform() noexcept { return platform_; }
    Platform const& platform() const noexcept { return platform_; }
    mailbox_arena const& arena() const noexcept { return arena_; }

 private:
    struct source {
        request_list posted;
        std::vector<announcement> unexpected;
        std::uint32_t next = 0;       // number of the next message to read
        std::uint32_t published = 0;  // what the sender was last told of it
        bool is_lost = false;         // did not survive a recovery; nothing is read from it any more
        bool is_unreadable = false;   // its memory could not be read
    };
    struct destination {
        request_list queue;           // sends that found no room yet, in order
        std::uint32_t next = 0;       // number of the next message to write
        std::uint32_t consumed = 0;   // what the receiver last said of it
    };

    /// Platforms of processes know their owner; threads have none to be told from.
    bool is_forked() const noexcept {
        if constexpr (requires { platform_.owner(); }) return platform_.owner().is_forked();
        else return false;
    }
    error fork_failure() const {
        if constexpr (requires { platform_.owner(); }) return platform_.owner().failure();
        else return error{errc::forked, "a forked process uses its parent's endpoint"};
    }

    ticket settle(request& r) noexcept {
        if (r.stage != request_stage::complete) return {&r};
        pool_.give_back(r);
        return {};
    }

    progress advance(request& r) noexcept {
        switch (r.stage) {
            case request_stage::queued: flush(r.peer); break;
            case request_stage::offered: answer(r); break;
            case request_stage::streaming_out: return pour(r);
            case request_stage::posted: collect(r.peer); break;
            case request_stage::pulling: return pull(r);
            case request_stage::draining: return drain(r);
            case request_stage::complete: return progress::done;
        }
        if (r.stage == request_stage::complete) return progress::done;
        if (is_aborted()) return progress::failed;
        bool const can_go_on = r.stage == request_stage::pulling || r.stage == request_stage::streaming_out || r.stage == request_stage::draining;
        return can_go_on ? progress::moved : progress::idle;
    }

    // ---- sending ----

    bool has_room(rank_id peer) noexcept {
        auto& out = outgoing_[peer];
        if (out.next - out.consumed < lane_slots) return true;
        out.consumed = arena_.lane_between(me_, peer).consumed.load(std::memory_order_acquire);
        return out.next - out.consumed < lane_slots;
    }

    envelope& blank(rank_id peer) noexcept {
        return arena_.lane_between(me_, peer).slots[outgoing_[peer].next % lane_slots];
    }

    void publish(rank_id peer, envelope& filled, message_tag tag, std::uint64_t bytes, message_kind kind) noexcept {
        filled.fingerprint = tag.fingerprint;
        filled.stream = tag.stream;
        filled.bytes_and_kind = bytes | (static_cast<std::uint64_t>(kind) << 56);
        filled.turn.store(++outgoing_[peer].next, std::memory_order_release);
        nudge(peer);
    }

    void announce_inline(rank_id peer, message_tag tag, std::span<std::byte const> out) noexcept {
        envelope& filled = blank(peer);
        if (!out.empty()) std::memcpy(filled.payload, out.data(), out.size());
        publish(peer, filled, tag, out.size(), message_kind::inlined);
    }

    void flush(rank_id peer) noexcept {
        auto& queue = outgoing_[peer].queue;
        while (!queue.empty() && has_room(peer) && push(queue.front())) queue.pop_front();
    }

    bool push(request& r) noexcept {
        if (r.bytes <= inline_bytes) {
            announce_inline(r.peer, r.tag, {r.source, static_cast<std::size_t>(r.bytes)});
            r.stage = request_stage::complete;
            return true;
        }
        if (r.bytes <= eager_bytes_ && (r.piece_bytes == 0 || r.bytes <= r.piece_bytes)) {
            std::uint32_t const chunk = free_chunk();
            if (chunk != no_chunk && chunk + 1 < arena_.shape().chunks_per_rank) {  // the last one is kept for streams
                send_eagerly(r, chunk);
                return true;
            }
        }
        return make_offer(r);
    }

    /// Whole elements: 8 or 16 KiB where a chunk would hold so much of the message that the two copies hardly overlap. 0: none fits into a chunk.
    std::uint64_t pushed_piece(std::uint64_t bytes, std::uint64_t element_bytes) const noexcept {
        std::uint64_t const chunk = arena_.shape().chunk_bytes;
        if (element_bytes > chunk) return 0;
        std::uint64_t const part = bytes <= chunk / 2 ? chunk / 4 : bytes <= 2 * chunk ? chunk / 2 : chunk;
        return (std::max)(part / element_bytes, std::uint64_t{1}) * element_bytes;
    }

    void send_eagerly(request& r, std::uint32_t chunk) noexcept {
        std::memcpy(arena_.chunk(me_, chunk), r.source, r.bytes);
        arena_.chunk_state(me_, chunk).full.store(1, std::memory_order_relaxed);
        envelope& filled = blank(r.peer);
        std::memcpy(filled.payload, &chunk, sizeof chunk);
        r.stage = request_stage::complete;
        publish(r.peer, filled, r.tag, r.bytes, message_kind::eager);
    }

    bool make_offer(request& r) noexcept {
        std::uint32_t const number = free_offer();
        if (number == no_chunk) return false;
        offer_slot& slot = arena_.offer(me_, number);
        bool const is_pushed = r.piece_bytes > 0 && lend_chunks(slot, false);
        if (is_pushed) slot.piece_bytes = r.piece_bytes;
        slot.state.store(is_pushed ? offer_streaming : offer_open, std::memory_order_relaxed);
        awaited_offers_[number] = true;
        r.offer = number;
        r.stage = is_pushed ? request_stage::streaming_out : request_stage::offered;
        envelope& filled = blank(r.peer);
        offered_memory const memory{reinterpret_cast<std::uintptr_t>(r.source), number};
        std::memcpy(filled.payload, &memory, sizeof memory);
        publish(r.peer, filled, r.tag, r.bytes, message_kind::offered);
        return true;
    }

    void answer(request& r) noexcept {
        offer_slot& slot = arena_.offer(me_, r.offer);
        std::uint32_t const state = slot.state.load(std::memory_order_acquire);
        if (state == offer_taken) {
            slot.state.store(offer_vacant, std::memory_order_relaxed);
            awaited_offers_[r.offer] = false;
            r.stage = request_stage::complete;
        } else if (state == offer_granted) {
            begin_stream(r, slot);
        }
    }

    void begin_stream(request& r, offer_slot& slot) noexcept {
        if (!lend_chunks(slot, true)) return;
        r.piece_bytes = slot.piece_bytes;
        r.stage = request_stage::streaming_out;
        slot.state.store(offer_streaming, std::memory_order_release);
        nudge(r.peer);
    }

    /// False if none is free. What nobody has asked for yet may wait for long, so it leaves the last chunk to streams that somebody awaits.
    bool lend_chunks(offer_slot& slot, bool is_asked_for) noexcept {
        slot.chunk_count = 0;
        while (slot.chunk_count < stream_chunks) {
            std::uint32_t const chunk = free_chunk();
            if (chunk == no_chunk || (!is_asked_for && chunk + 1 == arena_.shape().chunks_per_rank)) break;
            reserved_[chunk] = true;
            slot.chunks[slot.chunk_count++] = chunk;
        }
        return slot.chunk_count > 0;
    }

    progress pour(request& r) noexcept {
        offer_slot& slot = arena_.offer(me_, r.offer);
        if (slot.state.load(std::memory_order_relaxed) == offer_refused) return progress::idle;  // the abort follows
        bool moved = false;
        while (r.moved < r.bytes) {
            std::uint32_t const chunk = slot.chunks[r.piece % slot.chunk_count];
            auto& full = arena_.chunk_state(me_, chunk).full;
            if (full.load(std::memory_order_acquire) != 0) return moved ? progress::moved : progress::idle;
            std::uint64_t const part = (std::min)(r.piece_bytes, r.bytes - r.moved);
            std::memcpy(arena_.chunk(me_, chunk), r.source + r.moved, part);
            full.store(1, std::memory_order_release);
            nudge(r.peer);
            r.moved += part;
            ++r.piece;
            moved = true;
        }
        for (std::uint32_t i = 0; i < slot.chunk_count; ++i) reserved_[slot.chunks[i]] = false;
        awaited_offers_[r.offer] = false;
        r.stage = request_stage::complete;  // the slot becomes free when the receiver has taken the last piece
        return progress::done;
    }

    void withdraw(request& r) noexcept {
        offer_slot& slot = arena_.offer(me_, r.offer);
        if (r.stage == request_stage::streaming_out)
            for (std::uint32_t i = 0; i < slot.chunk_count; ++i) reserved_[slot.chunks[i]] = false;
        awaited_offers_[r.offer] = false;
        for (;;) {
            std::uint32_t state = slot.state.load(std::memory_order_acquire);
            if (state == offer_taken || state == offer_refused) {
                slot.state.store(offer_vacant);
                return;
            }
            if (state != offer_reading && slot.state.compare_exchange_strong(state, offer_withdrawn)) return;
            if (state == offer_reading && !platform_.is_alive(r.peer)) return;
            relax();
        }
    }

    static constexpr std::uint32_t no_chunk = 0xFFFFFFFFu;

    std::uint32_t free_chunk() noexcept {
        std::uint32_t const chunks = arena_.shape().chunks_per_rank;
        for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {  // the lowest free one: most likely still cached
            if (reserved_[chunk] || arena_.chunk_state(me_, chunk).full.load(std::memory_order_acquire) != 0) continue;
            return chunk;
        }
        return no_chunk;
    }

    std::uint32_t free_offer() noexcept {
        std::uint32_t const offers = arena_.shape().offers_per_rank;
        for (std::uint32_t tried = 0; tried < offers; ++tried) {
            std::uint32_t const slot = (next_offer_ + tried) % offers;
            std::uint32_t const state = arena_.offer(me_, slot).state.load(std::memory_order_acquire);
            if (awaited_offers_[slot] || (state != offer_vacant && state != offer_taken)) continue;
            next_offer_ = slot + 1;
            return slot;
        }
        return no_chunk;
    }

    /// Whoever sleeps is woken after each event; the fence orders the event before the look at `sleeping`.
    void nudge(rank_id peer) noexcept {
        std::atomic_thread_fence(std::memory_order_seq_cst);
        member& other = arena_.member_of(peer);
        if (other.sleeping.load(std::memory_order_relaxed) != 0) platform_.wake(peer, other);
    }

    void disarm() noexcept {
        if (!armed_) return;
        armed_ = false;
        arena_.member_of(me_).sleeping.store(0, std::memory_order_relaxed);
    }

    // ---- receiving ----

    ticket await(request& r, rank_id peer, message_tag tag, std::uint64_t bytes) {
        r.peer = peer;
        r.tag = tag;
        r.bytes = bytes;
        r.stage = request_stage::posted;
        auto& from = incoming_[peer];
        for (std::size_t i = 0; i < from.unexpected.size(); ++i) {
            if (from.unexpected[i].stream != tag.stream) continue;
            announcement const early = from.unexpected[i];
            from.unexpected.erase(from.unexpected.begin() + static_cast<std::ptrdiff_t>(i));
            --unexpected_;
            accept(r, early);
            return settle(r);
        }
        from.posted.push_back(r);
        return {&r};
    }

    /// Takes in what `peer` has announced: matched receives are served, the rest is kept for receives to come.
    void collect(rank_id peer) noexcept {
        auto& from = incoming_[peer];
        if (from.is_lost) return;
        lane& in = arena_.lane_between(peer, me_);
        for (;;) {
            envelope const& head = in.slots[from.next % lane_slots];
            if (head.turn.load(std::memory_order_acquire) != from.next + 1) return;
            announcement const arrived{head};
            request* const r = from.posted.take_first(arrived.stream);
            bool const last_awaited = from.posted.empty();
            if (r != nullptr) accept(*r, arrived);
            else keep_for_later(peer, arrived);
            ++from.next;
            if (from.next - from.published >= lane_slots / 2) {
                from.published = from.next;
                in.consumed.store(from.next, std::memory_order_release);
                nudge(peer);
            }
            if (last_awaited) return;
        }
    }

    void keep_for_later(rank_id peer, announcement const& arrived) noexcept {
        expect_agreement(peer, arrived);
        incoming_[peer].unexpected.push_back(arrived);
        ++unexpected_;
    }

    void accept(request& r, announcement const& arrived) noexcept {
        if (arrived.bytes != r.bytes || arrived.fingerprint != r.tag.fingerprint) {
            refuse(r, arrived);
            return;
        }
        if (arrived.kind == message_kind::inlined) {
            land(r, 0, arrived.payload.data(), r.bytes);
            r.stage = request_stage::complete;
        } else if (arrived.kind == message_kind::eager) {
            std::uint32_t chunk = 0;
            std::memcpy(&chunk, arrived.payload.data(), sizeof chunk);
            land(r, 0, arena_.chunk(r.peer, chunk), r.bytes);
            arena_.chunk_state(r.peer, chunk).full.store(0, std::memory_order_release);
            r.stage = request_stage::complete;
        } else {
            offered_memory memory{};
            std::memcpy(&memory, arrived.payload.data(), sizeof memory);
            r.address = memory.address;
            r.offer = memory.slot;
            if (arena_.offer(r.peer, r.offer).state.load(std::memory_order_acquire) == offer_streaming) receive_pushed(r, arrived);
            else if (platform_.reaches(r.peer, r.bytes)) r.stage = request_stage::pulling;
            else grant(r);
        }
    }

    void receive_pushed(request& r, announcement const& arrived) noexcept {
        r.piece_bytes = arena_.offer(r.peer, r.offer).piece_bytes;
        r.stage = request_stage::draining;
        if (r.target.reduction != nullptr && r.piece_bytes % r.target.reduction->element_bytes != 0) {
            r.stage = request_stage::posted;
            refuse(r, arrived);
        }
    }

    void grant(request& r) noexcept {
        offer_slot& slot = arena_.offer(r.peer, r.offer);
        std::uint64_t const element = r.target.reduction != nullptr ? r.target.reduction->element_bytes : 1;
        r.piece_bytes = arena_.shape().chunk_bytes / element * element;
        slot.piece_bytes = r.piece_bytes;
        r.stage = request_stage::draining;
        std::uint32_t open = offer_open;
        slot.state.compare_exchange_strong(open, offer_granted);  // fails only if it was withdrawn
        nudge(r.peer);
    }

    void land(request& r, std::uint64_t at, std::byte const* bytes, std::uint64_t part) noexcept {
        if (part == 0) return;
        if (r.target.reduction != nullptr) r.target.combine(at, bytes, part);
        else std::memcpy(r.target.out + at, bytes, part);
    }

    progress pull(request& r) noexcept {
        offer_slot& slot = arena_.offer(r.peer, r.offer);
        std::uint32_t open = offer_open;
        if (!slot.state.compare_exchange_strong(open, offer_reading)) return progress::idle;  // withdrawn: abort follows
        std::uint64_t const element = r.target.reduction != nullptr ? r.target.reduction->element_bytes : 1;
        std::uint64_t const piece = (std::max)(element, Platform::pull_bytes / element * element);
        std::uint64_t const part = (std::min)(piece, r.bytes - r.moved);
        std::byte* const plain = r.target.reduction == nullptr ? r.target.out + r.moved : nullptr;
        bool const arrived = platform_.pull(r.peer, r.address + r.moved, part, plain, element,
                                            [&](std::byte const* bytes, std::uint64_t offset, std::uint64_t length) {
                                                land(r, r.moved + offset, bytes, length);
                                            });
        if (!arrived) {
            slot.state.store(offer_open);
            incoming_[r.peer].is_unreadable = true;  // a loss, unless the receive is cancelled before it is believed
            return progress::idle;
        }
        r.moved += part;
        bool const complete = r.moved == r.bytes;
        slot.state.store(complete ? offer_taken : offer_open, std::memory_order_release);
        if (!complete) return progress::moved;
        nudge(r.peer);
        r.stage = request_stage::complete;
        return progress::done;
    }

    progress drain(request& r) noexcept {
        offer_slot& slot = arena_.offer(r.peer, r.offer);
        std::uint32_t const state = slot.state.load(std::memory_order_acquire);
        if (state != offer_streaming) return progress::idle;
        bool moved = false;
        while (r.moved < r.bytes) {
            std::uint32_t const chunk = slot.chunks[r.piece % slot.chunk_count];
            auto& full = arena_.chunk_state(r.peer, chunk).full;
            if (full.load(std::memory_order_acquire) == 0) return moved ? progress::moved : progress::idle;
            std::uint64_t const part = (std::min)(r.piece_bytes, r.bytes - r.moved);
            land(r, r.moved, arena_.chunk(r.peer, chunk), part);
            r.moved += part;
            ++r.piece;
            if (r.moved == r.bytes) slot.state.store(offer_taken, std::memory_order_release);
            full.store(0, std::memory_order_release);
            nudge(r.peer);
            moved = true;
        }
        r.stage = request_stage::complete;
        return progress::done;
    }

    /// Nobody sends meanwhile: what has been announced is thrown away, what this rank lent is its own again.
    void start_afresh(std::vector<rank_id> const& survivors) noexcept {
        for (rank_id p = 0; p < size(); ++p) {
            auto& from = incoming_[p];
            from.is_lost = !std::binary_search(survivors.begin(), survivors.end(), p);
            from.is_unreadable = false;
            from.unexpected.clear();
            lane& in = arena_.lane_between(p, me_);
            while (in.slots[from.next % lane_slots].turn.load(std::memory_order_acquire) == from.next + 1) ++from.next;
            from.published = from.next;
            in.consumed.store(from.next, std::memory_order_release);
            suspected_[p] = 0;
        }
        unexpected_ = 0;
        for (std::uint32_t chunk = 0; chunk < arena_.shape().chunks_per_rank; ++chunk) {
            reserved_[chunk] = false;
            arena_.chunk_state(me_, chunk).full.store(0, std::memory_order_release);
        }
        for (std::uint32_t slot = 0; slot < arena_.shape().offers_per_rank; ++slot) {
            awaited_offers_[slot] = false;
            arena_.offer(me_, slot).state.store(offer_vacant, std::memory_order_release);
        }
    }

    // ---- failing ----

    void refuse(request& r, announcement const& arrived) noexcept {
        if (arrived.kind == message_kind::offered) {
            offered_memory memory{};
            std::memcpy(&memory, arrived.payload.data(), sizeof memory);
            arena_.offer(r.peer, memory.slot).state.store(offer_refused);
        }
        incoming_[r.peer].posted.push_front(r);  // stays pending; polls fail from now on
        CHORUS_TRY {
            abort(errc::mismatch, r.peer, refusal_text(me_, r.bytes, r.peer, arrived.bytes) + views_on(r.tag.stream, r.peer));
        }
        CHORUS_CATCH_ALL { abort(errc::mismatch, r.peer, "ranks disagree"); }
    }

    void lose(rank_id peer, char const* how) noexcept {
        CHORUS_TRY {
            abort(errc::peer_lost, peer, lost_text(peer, how, me_, view_of(me_)));
        }
        CHORUS_CATCH_ALL { abort(errc::peer_lost, peer, how); }
    }

    /// A peer that left or died while something is awaited from it is lost; believed only at the third look in a row, because its last
    /// messages may not have been read yet (every look is followed by polls).
    void look_for_lost_peers() noexcept {
        if (is_aborted()) return;
        pool_.each([&](request const& r) {
            bool const is_taken = r.stage == request_stage::offered &&
                                  arena_.offer(me_, r.offer).state.load(std::memory_order_relaxed) == offer_taken;
            if (r.peer != me_ && !is_taken) awaited_[r.peer] = true;
        });
        for (rank_id p = 0; p < size(); ++p) {
            if (!std::exchange(awaited_[p], std::uint8_t{0})) continue;
            bool const left = arena_.member_of(p).presence.load(std::memory_order_acquire) == presence_left;
            bool const is_gone = left || incoming_[p].is_lost || !platform_.is_alive(p);
            if (!is_gone && !incoming_[p].is_unreadable) suspected_[p] = 0;
            else if (++suspected_[p] == 3) lose(p, left ? "it left" : is_gone ? "it died" : "its memory could not be read");
        }
    }

    void expect_agreement(rank_id peer, announcement const& arrived) noexcept {
        operation_record const* const mine = recent_on(arrived.stream);
        if (mine != nullptr && mine->fingerprint != arrived.fingerprint) disagree(peer, *mine);
    }

    void disagree(rank_id peer, operation_record const& mine) noexcept {
        CHORUS_TRY { abort(errc::mismatch, peer, "the ranks disagree" + both_views(me_, mine, peer, view_of(peer))); }
        CHORUS_CATCH_ALL { abort(errc::mismatch, peer, "the ranks disagree"); }
    }

    /// Ranks that were given different arguments may wait for messages that nobody will send: whoever waits reads what has come from
    /// anybody, and compares what the others say they run with what it runs itself.
    void look_for_disagreement() noexcept {
        if (is_aborted()) return;
        for (rank_id p = 0; p < size(); ++p) collect(p);
        operation_record const mine = read_record(arena_.member_of(me_));
        if (mine.ordinal == 0) return;
        for (rank_id p = 0; p < size(); ++p) {
            auto const other = read_whole_record(arena_.member_of(p));
            if (!other || other->stream != mine.stream || other->ordinal != mine.ordinal) continue;
            if (other->fingerprint == mine.fingerprint) continue;
            return disagree(p, mine);
        }
    }

    std::string views_on(std::uint64_t stream, rank_id peer) const {
        operation_record const* const mine = recent_on(stream);
        return both_views(me_, mine != nullptr ? *mine : view_of(me_), peer, view_of(peer));
    }

    mailbox_arena arena_;
    Platform platform_;
    rank_id me_;
    waiting_style style_;
    spin_budget spins_{style_.spins};
    std::uint64_t eager_bytes_;
    std::vector<source> incoming_;
    std::vector<destination> outgoing_;
    std::vector<std::uint8_t> suspected_;
    std::vector<std::uint8_t> awaited_;
    std::vector<std::uint8_t> reserved_;        // chunk -> a stream uses it
    std::vector<std::uint8_t> awaited_offers_;  // offer slot -> a pending send uses it
    request_pool pool_;
    std::uint32_t next_offer_ = 0;
    std::size_t unexpected_ = 0;                                 // announcements kept for later, of all sources
    std::uint32_t idle_polls_ = 0;
    std::uint32_t looks_ = 0;
    std::uint32_t bell_seen_ = 0;
    bool armed_ = false;
};

}  // namespace chorus::detail
