// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/random.hpp"
#include "chorus/transport/transport.hpp"
#include "suites/failure_list.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

// The laws of `transport`, for any of them. One line per transport:
//
//     TEST_CASE("laws") { suites::check_transport([](chorus::rank_id p) { return chorus::thread_fleet{p}; }); }
//
// The callable makes a fleet of p ranks: `fleet.run(body)` calls `body(net)` once per rank, at the same time, and
// throws if a body did. Ranks collect what is wrong; only the main thread talks to the test framework, so a failure on
// one rank hangs nobody.
namespace suites {

using bytes = std::vector<std::byte>;

/// Bytes that differ by sender, receiver, stream and number.
inline bytes payload(std::size_t many, std::uint64_t from, std::uint64_t to, std::uint64_t stream,
                     std::uint64_t number) {
    bytes data(many);
    std::uint64_t const seed = ((from * 64 + to) * 64 + stream) * 100000 + number;
    for (std::size_t at = 0; at < many; at += 8) {
        std::uint64_t const word = chorus::counter_random::mix(seed * 1000003 + at);
        std::memcpy(data.data() + at, &word, (std::min)(std::size_t{8}, many - at));
    }
    return data;
}

/// One rank's view of a law: posts, waits, and notes what is wrong.
template <class Net>
class rank_of {
 public:
    using ticket = typename Net::ticket;

    rank_of(Net& net, failure_list& failures) : net_{&net}, failures_{&failures} {}

    Net& net() { return *net_; }
    chorus::rank_id me() const { return net_->rank(); }
    chorus::rank_id size() const { return net_->size(); }

    void check(bool holds, std::string const& what) {
        if (!holds) failures_->add("rank " + std::to_string(me()) + " of " + std::to_string(size()) + ": " + what);
    }

    /// Polls all until none is pending; in any order, each again and again, since one may wait for another.
    /// What takes longer than 20 s is a hang, and ends this rank.
    chorus::progress wait_all(std::span<ticket> pending) {
        auto const until = std::chrono::steady_clock::now() + std::chrono::seconds{20};
        std::uint32_t idle_polls = 0;
        for (;;) {
            bool open = false;
            bool moved = false;
            for (ticket& t : pending) {
                chorus::progress const came_to = net_->poll(t);
                if (came_to == chorus::progress::failed) return came_to;
                open |= came_to != chorus::progress::done;
                moved |= came_to == chorus::progress::moved;
            }
            if (!open) return chorus::progress::done;
            idle_polls = moved ? 0 : idle_polls + 1;
            if (idle_polls > 0) rest(idle_polls);
            if (std::chrono::steady_clock::now() > until) throw std::runtime_error{"hangs"};
        }
    }

    chorus::progress wait(ticket& pending) { return wait_all({std::addressof(pending), 1}); }

    void finish(std::span<ticket> pending, std::string const& what) {
        if (wait_all(pending) == chorus::progress::done) return;
        check(false, what + ": failed" + reason());
        throw std::runtime_error{"failed"};
    }

    void finish(ticket& pending, std::string const& what) { finish({std::addressof(pending), 1}, what); }

    std::string reason() const {
        if constexpr (chorus::explaining_transport<Net>) return std::string{" ("} + net_->failure().what() + ")";
        else return {};
    }

    ticket send(chorus::rank_id peer, std::uint64_t stream, bytes const& out, std::uint32_t fingerprint = 0) {
        return net_->post_send(peer, {stream, fingerprint}, out);
    }
    ticket recv(chorus::rank_id peer, std::uint64_t stream, bytes& in, std::uint32_t fingerprint = 0) {
        return net_->post_recv(peer, {stream, fingerprint}, in);
    }

    /// Nobody passes before all have come. Uses stream 1000.
    void meet() {
        bytes const out(1);
        std::vector<bytes> in(size(), bytes(1));
        std::vector<ticket> open;
        for (chorus::rank_id p = 0; p < size(); ++p) {
            open.push_back(send(p, 1000, out));
            open.push_back(recv(p, 1000, in[p]));
        }
        finish(open, "meet");
    }

    void rest(std::uint32_t idle_polls) {
        if constexpr (chorus::resting_transport<Net>) net_->rest(idle_polls);
        else std::this_thread::yield();
    }

 private:
    Net* net_;
    failure_list* failures_;
};

enum class ending { clean, may_abort };

struct outcome {
    std::vector<std::string> failures;  ///< what ranks found wrong
    std::string thrown;                 ///< what came out of the fleet
};

/// Runs `law(rank)` on p ranks of a new fleet.
template <class MakeFleet, class Law>
outcome observe(MakeFleet const& make, chorus::rank_id p, Law const& law) {
    failure_list failures;
    outcome result;
    try {
        auto const fleet = make(p);
        fleet.run([&](auto& net) {
            rank_of rank{net, failures};
            try {
                law(rank);
            } catch (std::exception const& unexpected) {
                rank.check(false, std::string{"ends with "} + unexpected.what());
                throw;
            }
        });
    } catch (std::exception const& by_fleet) {
        result.thrown = by_fleet.what();
    }
    result.failures = failures.texts();
    return result;
}

/// Runs and reports. `may_abort`: the law makes the transport fail, which the fleet may report too.
template <class MakeFleet, class Law>
void hold(char const* name, MakeFleet const& make, chorus::rank_id p, Law const& law, ending end = ending::clean) {
    outcome const result = observe(make, p, law);
    for (std::string const& text : result.failures) FAIL_CHECK(std::string{name}, ": ", text);
    if (end == ending::clean)
        CHECK_MESSAGE(result.thrown.empty(), std::string{name}, " on ", p, " ranks: ", result.thrown);
}

/// Sizes around the borders of inlined, eager, chunked and pulled messages.
inline std::vector<std::size_t> const& border_sizes() {
    static std::vector<std::size_t> const sizes{0,    1,    7,    8,     39,    40,    41,    42,    63,    64,
                                                65,   2047, 2048, 2049,  4095,  4096,  4097,  8191,  8192,  8193,
                                                32767, 32768, 32769, 65535, 65536, 65537, 262145, 1u << 20};
    return sizes;
}

inline void affine(std::byte* out, std::byte const* left, std::byte const* right, std::size_t count, void const*) {
    for (std::size_t i = 0; i < count; ++i) {
        std::uint32_t l = 0;
        std::uint32_t r = 0;
        std::memcpy(&l, left + 4 * i, 4);
        std::memcpy(&r, right + 4 * i, 4);
        l = 3 * l + r;
        std::memcpy(out + 4 * i, &l, 4);
    }
}
inline chorus::byte_reduction const affine_reduction{.apply = affine, .op = nullptr, .element_bytes = 4};

// Every law is a callable on a rank_of; it holds for every number of ranks, one included.

inline constexpr auto sizes_to_everybody = [](auto& rank) {
    for (std::size_t many : border_sizes()) {
        std::vector<bytes> out;
        std::vector<bytes> in(rank.size(), bytes(many));
        std::vector<typename std::remove_reference_t<decltype(rank)>::ticket> open;
        for (chorus::rank_id p = 0; p < rank.size(); ++p) out.push_back(payload(many, rank.me(), p, 1, many));
        for (chorus::rank_id p = 0; p < rank.size(); ++p) {
            bool const send_first = (rank.me() + p) % 2 == 0;
            if (send_first) open.push_back(rank.send(p, 1, out[p]));
            open.push_back(rank.recv(p, 1, in[p]));
            if (!send_first) open.push_back(rank.send(p, 1, out[p]));
        }
        rank.finish(open, "size " + std::to_string(many));
        for (auto& t : open) rank.check(rank.net().poll(t) == chorus::progress::done, "done stays done");
        for (chorus::rank_id p = 0; p < rank.size(); ++p)
            rank.check(in[p] == payload(many, p, rank.me(), 1, many), "wrong bytes, size " + std::to_string(many));
    }
};

inline constexpr auto order_on_a_stream = [](auto& rank) {
    chorus::rank_id const next = (rank.me() + 1) % rank.size();
    chorus::rank_id const before = (rank.me() + rank.size() - 1) % rank.size();
    auto size_of = [](std::uint64_t number) {
        constexpr std::size_t sizes[] = {5, 3000, 0, 41, 70000, 40};
        return sizes[number % 6];
    };
    std::uint64_t const many = 60;
    std::vector<bytes> out;
    std::vector<bytes> in;
    std::vector<typename std::remove_reference_t<decltype(rank)>::ticket> open;
    for (std::uint64_t n = 0; n < many; ++n) {
        out.push_back(payload(size_of(n), rank.me(), next, 2, n));
        in.emplace_back(size_of(n));
    }
    for (std::uint64_t n = 0; n < many; ++n) {
        open.push_back(rank.recv(before, 2, in[n]));
        open.push_back(rank.send(next, 2, out[n]));
    }
    rank.finish(open, "order");
    for (std::uint64_t n = 0; n < many; ++n)
        rank.check(in[n] == payload(size_of(n), before, rank.me(), 2, n),
                   "message " + std::to_string(n) + " out of order");
};

// Sent on stream 3 then 4, received on 4 then 3, waited for in turn: a message no receive waits for must not stop the
// others.
inline constexpr auto streams_cross = [](auto& rank) {
    for (std::size_t many : {std::size_t{8}, std::size_t{1000}, std::size_t{100000}})
        for (chorus::rank_id shift = 0; shift < rank.size(); ++shift) {
            chorus::rank_id const to = (rank.me() + shift) % rank.size();
            chorus::rank_id const from = (rank.me() + rank.size() - shift) % rank.size();
            bytes const out[] = {payload(many, rank.me(), to, 3, shift), payload(many, rank.me(), to, 4, shift)};
            bytes in[] = {bytes(many), bytes(many)};
            typename std::remove_reference_t<decltype(rank)>::ticket open[4] = {};
            open[0] = rank.send(to, 3, out[0]);
            open[1] = rank.send(to, 4, out[1]);
            open[2] = rank.recv(from, 4, in[1]);
            rank.finish(std::span{open}.subspan(1, 2), "the later stream first");
            open[3] = rank.recv(from, 3, in[0]);
            rank.finish(open, "both streams");
            for (std::uint64_t s : {3u, 4u})
                rank.check(in[s - 3] == payload(many, from, rank.me(), s, shift), "streams are mixed up");
        }
};

// 200 sends to everybody before the first receive is posted; then received in the order of another stream.
inline constexpr auto many_unexpected = [](auto& rank) {
    std::uint64_t const many = 200;
    std::vector<typename std::remove_reference_t<decltype(rank)>::ticket> open;
    std::vector<bytes> out;
    std::vector<bytes> in(many * rank.size());
    auto size_of = [](std::uint64_t n) { return static_cast<std::size_t>(n * 37 % 150 + (n % 50 == 0 ? 5000 : 0)); };
    for (chorus::rank_id p = 0; p < rank.size(); ++p)
        for (std::uint64_t n = 0; n < many; ++n) out.push_back(payload(size_of(n), rank.me(), p, n % 2, n));
    for (chorus::rank_id p = 0; p < rank.size(); ++p)
        for (std::uint64_t n = 0; n < many; ++n) open.push_back(rank.send(p, n % 2, out[p * many + n]));
    for (int i = 0; i < 50; ++i)
        for (auto& t : open) rank.check(rank.net().poll(t) != chorus::progress::failed, "a send fails");
    for (std::uint64_t odd : {1u, 0u})
        for (chorus::rank_id p = 0; p < rank.size(); ++p)
            for (std::uint64_t n = odd; n < many; n += 2) {
                in[p * many + n].resize(size_of(n));
                open.push_back(rank.recv(p, n % 2, in[p * many + n]));
            }
    rank.finish(open, "outstanding sends");
    for (chorus::rank_id p = 0; p < rank.size(); ++p)
        for (std::uint64_t n = 0; n < many; ++n)
            rank.check(in[p * many + n] == payload(size_of(n), p, rank.me(), n % 2, n),
                       "unexpected message " + std::to_string(n) + " is wrong");
};

inline constexpr auto both_directions_at_once = [](auto& rank) {
    std::size_t const many = 4u << 20;
    chorus::rank_id const next = (rank.me() + 1) % rank.size();
    chorus::rank_id const before = (rank.me() + rank.size() - 1) % rank.size();
    bytes const out = payload(many, rank.me(), 0, 5, 0);
    bytes in[] = {bytes(many), bytes(many)};
    typename std::remove_reference_t<decltype(rank)>::ticket open[] = {
        rank.send(next, 5, out), rank.send(before, 6, out), rank.recv(next, 6, in[0]), rank.recv(before, 5, in[1])};
    rank.finish(open, "4 MiB to both sides");
    rank.check(in[0] == payload(many, next, 0, 5, 0) && in[1] == payload(many, before, 0, 5, 0), "wrong bytes");
};

// Small messages, thousands in a row, values carry the round: a fast rank's next message is never taken for this one's.
inline constexpr auto back_to_back = [](auto& rank) {
    chorus::counter_random const random{rank.me()};
    std::vector<std::uint64_t> out(rank.size());
    std::vector<std::uint64_t> in(rank.size());
    std::vector<typename std::remove_reference_t<decltype(rank)>::ticket> open;
    for (std::uint64_t round = 0; round < 300; ++round) {
        open.clear();
        for (chorus::rank_id p = 0; p < rank.size(); ++p) {
            out[p] = round * 10000 + rank.me() * 100 + p;
            open.push_back(rank.net().post_recv(p, {7, 1}, std::as_writable_bytes(std::span{&in[p], 1})));
            open.push_back(rank.net().post_send(p, {7, 1}, std::as_bytes(std::span{&out[p], 1})));
        }
        if (random.below(round, 16) == 0) std::this_thread::yield();
        rank.finish(open, "round " + std::to_string(round));
        for (chorus::rank_id p = 0; p < rank.size(); ++p)
            rank.check(in[p] == round * 10000 + p * 100 + rank.me(), "round " + std::to_string(round) + " is wrong");
    }
};

inline constexpr auto reduces_on_both_sides = [](auto& rank) {
    using net_type = std::remove_reference_t<decltype(rank.net())>;
    if constexpr (chorus::reducing_transport<net_type>) {
        for (std::size_t many : border_sizes())
            for (int kind = 0; kind < 4; ++kind) {
                bool const left = kind % 2 == 0;
                bool const in_place = kind / 2 == 0;
                std::size_t const whole = many / 4 * 4;
                chorus::rank_id const next = (rank.me() + 1) % rank.size();
                chorus::rank_id const before = (rank.me() + rank.size() - 1) % rank.size();
                bytes const out = payload(whole, rank.me(), next, 8, many);
                bytes const arriving = payload(whole, before, rank.me(), 8, many);
                bytes mine = payload(whole, rank.me(), rank.me(), 9, many);
                bytes expected(whole);
                if (left) affine(expected.data(), arriving.data(), mine.data(), whole / 4, nullptr);
                else affine(expected.data(), mine.data(), arriving.data(), whole / 4, nullptr);
                bytes apart(whole);
                bytes& result = in_place ? mine : apart;
                typename net_type::ticket open[] = {
                    rank.net().post_recv_reduce(before, {8, 3},
                                                {result.data(), mine.data(), whole, left, &affine_reduction}),
                    rank.send(next, 8, out, 3)};
                rank.finish(open, "reduction of " + std::to_string(whole));
                rank.check(result == expected, "wrong reduction of " + std::to_string(whole));
            }
    }
};

// The receiver fails with `mismatch` where the transport can say so, and names both sizes.
template <std::size_t SentBytes, std::size_t ExpectedBytes, std::uint32_t SentMark, std::uint32_t ExpectedMark>
inline constexpr auto mismatch_fails = [](auto& rank) {
    using net_type = std::remove_reference_t<decltype(rank.net())>;
    chorus::rank_id const sender = rank.size() - 1;
    bytes const out(SentBytes);
    bytes in(ExpectedBytes);
    typename net_type::ticket sent;
    if (rank.me() == sender) sent = rank.send(0, 11, out, SentMark);
    if (rank.me() == 0) {
        auto pending = rank.recv(sender, 11, in, ExpectedMark);
        rank.check(rank.wait(pending) == chorus::progress::failed, "a mismatch is not noticed");
        rank.check(rank.net().poll(pending) == chorus::progress::failed, "failed does not stay failed");
        if constexpr (chorus::explaining_transport<net_type>) {
            rank.check(rank.net().failure().code() == chorus::errc::mismatch, "wrong code" + rank.reason());
            if (SentBytes != ExpectedBytes)
                rank.check(rank.reason().find(std::to_string(SentBytes)) != std::string::npos &&
                               rank.reason().find(std::to_string(ExpectedBytes)) != std::string::npos,
                           "does not name both sizes" + rank.reason());
        }
    }
    rank.wait(sent);  // done, or failed as well
};

// Rank 0 aborts while everybody waits for a message that nobody sends; the wait must end within a second.
inline constexpr auto abort_frees_everybody = [](auto& rank) {
    using net_type = std::remove_reference_t<decltype(rank.net())>;
    if constexpr (chorus::aborting_transport<net_type> && chorus::explaining_transport<net_type>) {
        bytes in(8);
        auto pending = rank.recv((rank.me() + 1) % rank.size(), 12, in);
        for (std::uint32_t i = 1; i < 100 && rank.net().poll(pending) == chorus::progress::idle; ++i) rank.rest(i);
        if (rank.me() == 0) rank.net().abort(chorus::errc::timed_out, rank.size() - 1, "enough of it");
        rank.check(rank.wait(pending) == chorus::progress::failed, "abort does not free a waiting rank");
        rank.check(rank.net().is_aborted(), "is_aborted says no");
        rank.check(rank.net().failure().code() == chorus::errc::timed_out, "wrong code" + rank.reason());
        rank.check(rank.net().failure().peer() == rank.size() - 1, "wrong rank blamed" + rank.reason());
        rank.check(rank.reason().find("enough of it") != std::string::npos, "the reason is lost" + rank.reason());
        rank.net().abort(chorus::errc::aborted, 0, "a later reason");
        auto later = rank.recv(0, 13, in);
        rank.check(rank.wait(later) == chorus::progress::failed, "a later poll does not fail");
        rank.check(rank.net().failure().code() == chorus::errc::timed_out, "the first reason is not kept");
    }
};

// The buffer of a cancelled receive may go away at once. The message it was for comes later, after the cancel.
inline constexpr auto cancelled_buffers_are_free = [](auto& rank) {
    using net_type = std::remove_reference_t<decltype(rank.net())>;
    if constexpr (chorus::cancelling_transport<net_type>) {
        chorus::rank_id const next = (rank.me() + 1) % rank.size();
        chorus::rank_id const before = (rank.me() + rank.size() - 1) % rank.size();
        bytes const out(100, std::byte{1});
        bytes other(100);
        {
            bytes in(100);
            auto pending = rank.recv(before, 14, in);
            rank.check(rank.net().poll(pending) == chorus::progress::idle, "nobody has sent this yet");
            rank.net().cancel(pending);
        }
        rank.meet();
        typename net_type::ticket open[] = {rank.send(next, 14, out), rank.recv(before, 15, other),
                                            rank.send(next, 15, out)};
        rank.finish(std::span{open}.subspan(1), "another stream after a cancel");
        rank.check(other == out, "wrong bytes after a cancel");
        rank.net().cancel(open[0]);
        rank.meet();
    }
};

// Operations of every kind are pending when the endpoint goes away; their buffers outlive it.
inline constexpr auto ends_with_work_pending = [](auto& rank) {
    static bytes const small(8);
    static bytes const large(1u << 20);
    static thread_local std::vector<bytes> in;
    in.assign(3 * rank.size(), bytes(8));
    std::vector<typename std::remove_reference_t<decltype(rank)>::ticket> open;
    for (chorus::rank_id p = 0; p < rank.size(); ++p) {
        open.push_back(rank.send(p, 16, small));
        open.push_back(rank.send(p, 17, large));
        open.push_back(rank.recv(p, 18, in[3 * p]));
        open.push_back(rank.recv(p, 16, in[3 * p + 1]));
        open.push_back(rank.recv(p, 16, in[3 * p + 2]));
    }
    for (auto& t : open) rank.check(rank.net().poll(t) != chorus::progress::failed, "fails before the end");
};

inline constexpr auto bad_peers_are_refused = [](auto& rank) {
    bytes one(1);
    for (chorus::rank_id peer : {rank.size(), chorus::nobody})
        for (bool sending : {true, false}) {
            bool refused = false;
            try {
                if (sending) rank.send(peer, 1, one);
                else rank.recv(peer, 1, one);
            } catch (chorus::error const& failure) {
                refused = failure.code() == chorus::errc::invalid_argument;
            }
            rank.check(refused, "a rank that does not exist is accepted");
        }
    rank.meet();
};

template <class MakeFleet>
void check_transport(MakeFleet const& make, std::vector<chorus::rank_id> const& sizes = {1, 2, 3, 5}) {
    for (chorus::rank_id p : sizes) {
        CAPTURE(p);
        hold("sizes to everybody", make, p, sizes_to_everybody);
        hold("order on a stream", make, p, order_on_a_stream);
        hold("streams cross", make, p, streams_cross);
        hold("many unexpected messages", make, p, many_unexpected);
        hold("HNG-6: both directions at once", make, p, both_directions_at_once);
        hold("ORD-6: back to back", make, p, back_to_back);
        hold("reduces on both sides", make, p, reduces_on_both_sides);
        hold("ORD-1: shorter message", make, p, mismatch_fails<4094, 4096, 0, 0>, ending::may_abort);
        hold("ORD-1: longer message", make, p, mismatch_fails<5, 4, 0, 0>, ending::may_abort);
        hold("ORD-1: long message", make, p, mismatch_fails<100001, 100000, 0, 0>, ending::may_abort);
        hold("ORD-1: empty message", make, p, mismatch_fails<0, 1, 0, 0>, ending::may_abort);
        hold("ORD-2: other fingerprint", make, p, mismatch_fails<8, 8, 1, 2>, ending::may_abort);
        hold("ABT-1: abort frees everybody", make, p, abort_frees_everybody, ending::may_abort);
        hold("cancelled buffers are free", make, p, cancelled_buffers_are_free);
        hold("ends with work pending", make, p, ends_with_work_pending, ending::may_abort);
        hold("bad peers are refused", make, p, bad_peers_are_refused);
    }
}

}  // namespace suites
