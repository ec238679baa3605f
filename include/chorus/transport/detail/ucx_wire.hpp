// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/time_limit.hpp"
#include "chorus/transport/detail/process_watch.hpp"
#include "chorus/transport/detail/ucx_introduction.hpp"
#include "chorus/transport/detail/wire.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <poll.h>

namespace chorus::detail {

/// UCX as a wire: short messages are active messages, bulk is tag matching straight from and to the caller's memory.
///
/// Every active message begins with its sender and its number: UCX does not promise their order, the number restores it.
/// They stay in UCX's receive buffers until they are released, where UCX can spare those (else they are copied), and leave through a slot of this rank.
/// Endpoints are made at the first use of a peer, or all at once by `connect_all`; some 20 to 40 KiB and 40 to 70 µs each. All of them notice the
/// end of the peer (error handling mode PEER).
class ucx_wire {
 public:
    struct transfer {
        void* request = nullptr;  ///< UCX's, while it is not complete
        rank_id peer = nobody;
        bool is_receive = false;
        bool has_failed = false;
    };

    static constexpr std::uint32_t bulk_numbers = 1u << 16;

    explicit ucx_wire(ucx_introduction known)
        : registrations_{std::move(known.registrations)}, worker_{std::move(known.worker)}, watch_{known.identities, known.me},
          silence_{std::move(known.hosts), known.silence},
          me_{known.me}, peers_(known.addresses.size()), slots_(slot_count), arrivals_{size()} {
        expect_ucx(::ucp_worker_get_efd(worker(), &event_descriptor_), "asking for UCX's event descriptor");
        for (rank_id p = 0; p < peers_.size(); ++p) {
            peers_[p].owner = this;
            peers_[p].rank = p;
            peers_[p].address = std::move(known.addresses[p]);
        }
        free_slots_.reserve(slot_count);
        for (slot& s : slots_) {
            s.owner = this;
            s.how.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
            s.how.flags = UCP_AM_SEND_FLAG_EAGER;
            s.how.cb.send = &when_sent;
            s.how.user_data = &s;
            free_slots_.push_back(&s);
        }
        listen();
    }

    ucx_wire(ucx_wire const&) = delete;
    ucx_wire& operator=(ucx_wire const&) = delete;

    /// What was sent has a second to leave; then connections are cut.
    ~ucx_wire() {
        if (registrations_->context.owner() != ::getpid()) return;
        is_ending_ = true;
        for (peer_state& p : peers_)
            if (p.endpoint != nullptr) send_note(p, note::goodbye);
        arrivals_.drain([&](arrival const& came) { release(came); });
        flush_all(std::chrono::seconds{1});
        for (peer_state& p : peers_)
            if (p.endpoint != nullptr) close(p);
        progress_until([&] { return closing_.empty(); }, std::chrono::milliseconds{500});
    }

    /// Collective: connects with everybody. Two greetings go each way: the first proves the way, the second that its sender has heard everybody.
    /// Afterwards no rank needs another one's help to send to it, and each may leave.
    void connect_all(time_limit limit) {
        auto const begin = std::chrono::steady_clock::now();
        for (std::uint8_t greeting = 1; greeting <= 2; ++greeting) {
            for (peer_state& p : peers_)
                if (p.rank != me_) send_note(p, note::greeting);
            for (std::uint32_t turn = 0;; ++turn) {
                rank_id const missing = first_missing(greeting);
                if (missing == nobody) break;
                if (!make_progress() && turn > 100) sleep(std::chrono::milliseconds{1});
                expect_reachable(greeting, turn % 64 == 0);
                if (!limit.is_for_ever() && std::chrono::steady_clock::now() > limit.after(begin))
                    raise(errc::timed_out, "UCX did not connect rank " + std::to_string(me_) + " with rank " +
                                               std::to_string(missing) + " within " + to_string(limit), missing);
            }
        }
    }

    rank_id rank() const noexcept { return me_; }
    rank_id size() const noexcept { return static_cast<rank_id>(peers_.size()); }
    std::size_t largest_short() const noexcept { return largest_short_bytes; }

    bool send_short(rank_id peer, std::span<std::byte const> header, std::span<std::byte const> payload) noexcept {
        return send(peers_[peer], false, header, payload);
    }

    short_message next_short() noexcept {
        if (arrivals_.empty()) {
            make_progress();
            if (arrivals_.empty()) return {};
        }
        arrival const& first = arrivals_.front();
        return {first.prefix.sender(), first.body()};
    }

    void release_short() noexcept {
        release(arrivals_.front());
        arrivals_.pop();
    }

    bool is_quiet() const noexcept { return free_slots_.size() == slots_.size(); }

    transfer send_bulk(rank_id peer, std::uint32_t number, std::span<std::byte const> bytes) noexcept {
        peer_state& to = peers_[peer];
        if (!has_endpoint(to)) return {.peer = peer, .has_failed = true};
        ucp_request_param_t how = how_to_move(bytes.data(), bytes.size());
        if (to.is_by_stream) how.op_attr_mask |= UCP_OP_ATTR_FLAG_FAST_CMPL;
        return begun(::ucp_tag_send_nbx(to.endpoint, bytes.data(), bytes.size(), bulk_tag(me_, number), &how), peer, false);
    }

    transfer receive_bulk(rank_id peer, std::uint32_t number, std::span<std::byte> in) noexcept {
        ucp_request_param_t const how = how_to_move(in.data(), in.size());
        return begun(::ucp_tag_recv_nbx(worker(), in.data(), in.size(), bulk_tag(peer, number), ~ucp_tag_t{0}, &how), peer, true);
    }

    progress poll(transfer& moving) noexcept {
        if (moving.request == nullptr) return moving.has_failed ? progress::failed : progress::done;
        bool moved = false;
        if (::ucp_request_check_status(moving.request) == UCS_INPROGRESS) moved = make_progress();
        ucs_status_t const status = ::ucp_request_check_status(moving.request);
        if (status == UCS_INPROGRESS) return moved ? progress::moved : progress::idle;
        ::ucp_request_free(std::exchange(moving.request, nullptr));
        moving.has_failed = status != UCS_OK;
        if (moving.is_receive) end_receive(moving.peer);
        if (moving.has_failed && !moving.is_receive) lose(peers_[moving.peer], status);
        return moving.has_failed ? progress::failed : progress::done;
    }

    /// A receive that is not matched ends at once. What moves has a second to end; then the connection to the peer is cut.
    void cancel(transfer& moving) noexcept {
        void* const request = std::exchange(moving.request, nullptr);
        if (request == nullptr) return;
        if (moving.is_receive) ::ucp_request_cancel(worker(), request);
        auto const is_over = [&] { return ::ucp_request_check_status(request) != UCS_INPROGRESS; };
        if (!progress_until(is_over, std::chrono::milliseconds{800})) {
            lose(peers_[moving.peer], UCS_ERR_CANCELED);
            progress_until(is_over, std::chrono::milliseconds{200});
        }
        ::ucp_request_free(request);
        if (moving.is_receive) end_receive(moving.peer);
    }

    void sleep(std::chrono::milliseconds at_most) noexcept {
        if (!arrivals_.empty() || ::ucp_worker_arm(worker()) != UCS_OK) return;
        pollfd look{.fd = event_descriptor_, .events = POLLIN, .revents = 0};
        ::poll(&look, 1, static_cast<int>(at_most.count()));
    }

    /// An endpoint is made even for a peer that is only listened to, so that its end is noticed.
    char const* failure_of(rank_id peer) noexcept {
        peer_state& other = peers_[peer];
        if (other.failure == nullptr && !watch_.is_alive(peer)) lose(other, "its process ended");
        if (other.failure == nullptr && !watch_.is_local(peer) && has_endpoint(other) && silence_.is_silent(peer))
            lose(other, "its host does not answer");
        return arrivals_.waiting_of(peer) > 0 ? nullptr : other.failure;
    }

    /// "UCX 1.13.1: posix+cma to ranks 1 2 3; tcp/eth0 to rank 4; not connected: ranks 5 6".
    std::string describe() const {
        std::map<std::string, std::string> ranks_by_route;
        for (peer_state const& p : peers_) {
            if (p.rank == me_) continue;
            std::string const route = p.failure != nullptr ? std::string{"nothing ("} + p.failure + ')'
                                      : p.endpoint == nullptr ? "no connection yet" : ucx_route_of(p.endpoint);
            ranks_by_route[route] += ' ' + std::to_string(p.rank);
        }
        std::string text = std::string{"UCX "} + ::ucp_get_version_string();
        char const* between = ": ";
        for (auto const& [route, ranks] : ranks_by_route) {
            text += between + route + " to ranks" + ranks;
            between = "; ";
        }
        return text;
    }

    std::shared_ptr<ucx_registrations> const& registrations() const noexcept { return registrations_; }

 private:
    enum class note : std::uint8_t { greeting = 1, goodbye };  ///< the wire's own short messages
    static constexpr unsigned short_id = 1;
    /// With the prefix and UCX's own header it fits in one piece (8 KiB) of every transport.
    static constexpr std::size_t largest_short_bytes = 8192 - 128;
    static constexpr std::size_t slot_count = 64;
    static constexpr std::size_t slots_per_peer = 16;

    struct peer_state {
        ucx_wire* owner = nullptr;
        rank_id rank = 0;
        ucp_ep_h endpoint = nullptr;
        char const* failure = nullptr;
        std::vector<std::byte> address;
        std::uint32_t sent = 0;          // short messages
        std::size_t slots_in_use = 0;
        std::size_t receives = 0;        // bulk, under way
        bool is_leaving = false;
        bool is_by_stream = false;       // TCP: see note_route
        std::uint8_t greetings = 0;       // see connect_all
    };
    struct slot {
        ucx_wire* owner = nullptr;
        peer_state* to = nullptr;
        ucp_request_param_t how{};
        std::byte bytes[sizeof(arrival_prefix) + largest_short_bytes];
    };

    ucp_worker_h worker() const noexcept { return worker_->get(); }

    static ucp_tag_t bulk_tag(rank_id sender, std::uint32_t number) noexcept {
        return (ucp_tag_t{sender} << 32) | number;
    }

    // ---- beginning ----

    void listen() {
        ucp_am_handler_param_t handler{};
        handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG |
                             UCP_AM_HANDLER_PARAM_FIELD_FLAGS;
        handler.id = short_id;
        handler.cb = &when_short_comes;
        handler.arg = this;
        handler.flags = UCP_AM_FLAG_WHOLE_MSG;
        expect_ucx(::ucp_worker_set_am_recv_handler(worker(), &handler), "listening for UCX messages");
    }

    rank_id first_missing(std::uint8_t greeting) const noexcept {
        for (peer_state const& p : peers_)
            if (p.rank != me_ && (p.greetings < greeting || p.slots_in_use > 0)) return p.rank;
        return nobody;
    }

    /// Who has greeted twice may have left already.
    void expect_reachable(std::uint8_t greeting, bool looks_closely) {
        for (peer_state const& p : peers_) {
            if (p.rank == me_ || p.greetings >= greeting) continue;
            if (p.failure == nullptr && (!looks_closely || failure_of(p.rank) == nullptr)) continue;
            raise(errc::peer_lost, "UCX cannot connect rank " + std::to_string(me_) + " with rank " + std::to_string(p.rank) + ": " + p.failure,
                  p.rank);
        }
    }

    bool has_endpoint(peer_state& to) noexcept {
        if (to.endpoint == nullptr && to.failure == nullptr) connect(to);
        return to.failure == nullptr;
    }

    void connect(peer_state& to) noexcept {
        ucp_ep_params_t wanted{};
        wanted.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
        wanted.address = reinterpret_cast<ucp_address_t const*>(to.address.data());
        wanted.err_mode = UCP_ERR_HANDLING_MODE_PEER;
        wanted.err_handler.cb = &when_peer_fails;
        wanted.err_handler.arg = &to;
        ucs_status_t const status = ::ucp_ep_create(worker(), &wanted, &to.endpoint);
        if (status == UCS_OK) return note_route(to);
        to.endpoint = nullptr;
        to.failure = ::ucs_status_string(status);
    }

    /// UCX's own rendezvous asks once more for every bulk transfer, and its answers queue behind bulk that goes the other way, so that the two
    /// directions of a TCP connection take turns. It saves a copy, which is worth that inside a host only. Both ends are ready anyway.
    void note_route(peer_state& to) noexcept {
        CHORUS_TRY { to.is_by_stream = !watch_.is_local(to.rank) && ucx_route_of(to.endpoint).starts_with("tcp"); }
        CHORUS_CATCH_ALL {}
    }

    // ---- what UCX calls, from inside its progress ----

    static void when_sent(void* request, ucs_status_t status, void* sent) noexcept {
        slot& s = *static_cast<slot*>(sent);
        if (status != UCS_OK) s.owner->lose(*s.to, status);
        --s.to->slots_in_use;
        s.owner->free_slots_.push_back(&s);
        ::ucp_request_free(request);
    }

    static void when_peer_fails(void* peer, ucp_ep_h, ucs_status_t status) noexcept {
        peer_state& lost = *static_cast<peer_state*>(peer);
        lost.owner->lose(lost, status);
    }

    static ucs_status_t when_short_comes(void* wire, void const*, std::size_t, void* data, std::size_t bytes,
                                         ucp_am_recv_param_t const* how) noexcept {
        ucx_wire& self = *static_cast<ucx_wire*>(wire);
        if ((how->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0 || bytes < sizeof(arrival_prefix)) return UCS_OK;
        bool const may_stay = (how->recv_attr & UCP_AM_RECV_ATTR_FLAG_DATA) != 0;
        arrival came = arrival::of(data, bytes, !may_stay);
        if (came.prefix.sender() >= self.size() || came.prefix.sender() == self.me_) return UCS_OK;  // a stranger's
        if (!may_stay) came.data = self.copies_.keep(data, bytes);
        self.arrivals_.take(came, [&](arrival const& next) { self.hear(next); });
        return may_stay ? UCS_INPROGRESS : UCS_OK;
    }

    void release(arrival const& came) noexcept {
        if (came.is_copy) copies_.give_back(came.data, came.bytes);
        else ::ucp_am_data_release(worker(), came.data);
    }

    void hear(arrival const& came) noexcept {
        if (!came.prefix.is_note() && !is_ending_) return arrivals_.append(came);
        if (came.prefix.is_note() && !came.body().empty()) read_note(peers_[came.prefix.sender()], static_cast<note>(came.body()[0]));
        spent_.push_back(came);
    }

    void read_note(peer_state& from, note what) noexcept {
        if (what == note::greeting) ++from.greetings;
        if (what == note::goodbye) from.is_leaving = true;
        part_from(from);
    }

    /// Not before what it sent has come in.
    void part_from(peer_state& peer) noexcept {
        if (peer.is_leaving && peer.receives == 0) lose(peer, "it left");
    }
    void end_receive(rank_id peer) noexcept {
        --peers_[peer].receives;
        part_from(peers_[peer]);
    }

    // ---- moving ----

    ucp_request_param_t how_to_move(void const* at, std::size_t bytes) const noexcept {
        ucp_request_param_t how{};
        how.op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE;
        how.memory_type = UCS_MEMORY_TYPE_HOST;
        if (ucp_mem_h const handle = registrations_->find(at, bytes); handle != nullptr) {
            how.op_attr_mask |= UCP_OP_ATTR_FIELD_MEMH;
            how.memh = handle;
        }
        return how;
    }

    transfer begun(ucs_status_ptr_t request, rank_id peer, bool is_receive) noexcept {
        if (is_receive && UCS_PTR_IS_PTR(request)) ++peers_[peer].receives;
        if (!UCS_PTR_IS_ERR(request)) return {.request = request, .peer = peer, .is_receive = is_receive};
        if (!is_receive) lose(peers_[peer], UCS_PTR_STATUS(request));
        return {.peer = peer, .is_receive = is_receive, .has_failed = true};
    }

    bool send(peer_state& to, bool is_note, std::span<std::byte const> header, std::span<std::byte const> payload) noexcept {
        if (free_slots_.empty() || to.slots_in_use == slots_per_peer) {
            make_progress();
            if (free_slots_.empty() || to.slots_in_use == slots_per_peer) return false;
        }
        if (!has_endpoint(to)) return true;  // nobody is there to hear it
        slot& s = *free_slots_.back();
        arrival_prefix const prefix{me_, is_note, to.sent};
        std::memcpy(s.bytes, &prefix, sizeof prefix);
        std::memcpy(s.bytes + sizeof prefix, header.data(), header.size());
        if (!payload.empty()) std::memcpy(s.bytes + sizeof prefix + header.size(), payload.data(), payload.size());
        s.to = &to;
        ucs_status_ptr_t const request = ::ucp_am_send_nbx(to.endpoint, short_id, nullptr, 0, s.bytes,
                                                           sizeof prefix + header.size() + payload.size(), &s.how);
        if (UCS_PTR_IS_ERR(request)) {
            lose(to, UCS_PTR_STATUS(request));
            return true;
        }
        ++to.sent;
        if (request == nullptr) return true;
        free_slots_.pop_back();
        ++to.slots_in_use;
        return true;
    }

    /// So long that it needs a receive buffer of the peer: later ones find that at hand, whatever has become of the peer.
    bool send_note(peer_state& to, note what) noexcept {
        std::byte text[256]{};
        text[0] = static_cast<std::byte>(what);
        return send(to, true, text, {});
    }

    bool make_progress() noexcept {
        bool const moved = ::ucp_worker_progress(worker()) != 0;
        for (; !spent_.empty(); spent_.pop_back()) release(spent_.back());
        if (broken_ > 0) close_broken();
        if (!closing_.empty()) sweep_closing();
        return moved;
    }

    template <class Condition>
    bool progress_until(Condition const& holds, std::chrono::milliseconds at_most) noexcept {
        auto const until = std::chrono::steady_clock::now() + at_most;
        for (std::uint32_t turn = 0; !holds(); ++turn) {
            if (std::chrono::steady_clock::now() > until) return false;
            if (!make_progress() && turn > 100) sleep(std::chrono::milliseconds{1});
        }
        return true;
    }

    // ---- ending ----

    void lose(peer_state& peer, ucs_status_t status) noexcept { lose(peer, ::ucs_status_string(status)); }

    /// May be inside UCX: the endpoint is closed later.
    void lose(peer_state& peer, char const* why) noexcept {
        if (peer.failure != nullptr) return;
        peer.failure = why;
        if (peer.endpoint != nullptr) ++broken_;
    }

    void close_broken() noexcept {
        broken_ = 0;
        for (peer_state& p : peers_)
            if (p.failure != nullptr && p.endpoint != nullptr) close(p);
    }

    void flush_all(std::chrono::milliseconds at_most) noexcept {
        ucp_request_param_t const how{};
        ucs_status_ptr_t const request = ::ucp_worker_flush_nbx(worker(), &how);
        if (!UCS_PTR_IS_PTR(request)) return;
        closing_.push_back(request);
        progress_until([&] { return closing_.empty(); }, at_most);
    }

    /// What is under way on the endpoint ends, as failed.
    void close(peer_state& peer) noexcept {
        ucp_request_param_t how{};
        how.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
        how.flags = UCP_EP_CLOSE_FLAG_FORCE;
        ucs_status_ptr_t const request = ::ucp_ep_close_nbx(std::exchange(peer.endpoint, nullptr), &how);
        if (UCS_PTR_IS_PTR(request)) closing_.push_back(request);
    }

    void sweep_closing() noexcept {
        std::erase_if(closing_, [](void* request) {
            if (::ucp_request_check_status(request) == UCS_INPROGRESS) return false;
            ::ucp_request_free(request);
            return true;
        });
    }

    std::shared_ptr<ucx_registrations> registrations_;
    std::unique_ptr<ucx_worker> worker_;
    process_watch watch_;
    silence_watch silence_;
    rank_id me_;
    std::vector<peer_state> peers_;
    std::vector<slot> slots_;
    std::vector<slot*> free_slots_;
    ordered_arrivals arrivals_;
    arrival_copies copies_;
    std::vector<arrival> spent_;         // messages that have been read inside UCX: it takes them back outside only
    std::vector<void*> closing_;         // UCX's requests to flush and to close
    std::size_t broken_ = 0;             // peers lost since the last look
    int event_descriptor_ = -1;
    bool is_ending_ = false;             // what comes now is dropped
};
static_assert(wire<ucx_wire>);

}  // namespace chorus::detail
