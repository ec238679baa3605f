// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/error.hpp"
#include "chorus/transport/detail/frame_stream.hpp"
#include "chorus/transport/detail/store_protocol.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace chorus::detail {

/// The way of a rank to rank 0: tries all addresses of the name again and again, with pauses from 10 ms growing to half
/// a second, until rank 0 has let it in.
class store_entrance {
 public:
    store_entrance(std::string address, std::uint16_t port, join_request const& self, std::string token)
        : address_{std::move(address)}, port_{port}, self_{self}, token_{std::move(token)} {}

    /// Errors: timed_out, with the addresses tried and what came of each; mismatch, from rank 0, or if what listens
    /// there does not know the token or is not chorus.
    frame_stream enter(clock_point until) {
        for (auto pause = std::chrono::milliseconds{10};;
             pause = (std::min)(2 * pause, std::chrono::milliseconds{500})) {
            resolved_name const found = resolve(address_, port_);
            if (found.places.empty()) note(address_, found.problem);
            is_only_place_ = found.places.size() == 1;
            for (socket_place const& place : found.places)
                if (auto stream = try_place(place, until)) return std::move(*stream);
            auto const now = std::chrono::steady_clock::now();
            if (now >= until) raise_unreached();
            std::this_thread::sleep_for((std::min)(std::chrono::steady_clock::duration{pause}, until - now));
        }
    }

 private:
    struct tried {
        std::uint64_t times = 0;
        std::string last;
    };

    std::optional<frame_stream> try_place(socket_place const& place, clock_point until) {
        std::string const where = to_string(place);
        std::string problem;
        auto const connect_until = (std::min)(until, std::chrono::steady_clock::now() + std::chrono::seconds{3});
        owned_descriptor connected = connect_to(place, connect_until, problem);
        if (!connected.is_open()) return note(where, problem);
        frame_stream stream{std::move(connected)};
        auto const greeted_until = (std::min)(until, std::chrono::steady_clock::now() + std::chrono::seconds{10});
        frame_view const greeting = await(stream, greeted_until);
        nonce theirs{};
        payload_reader from{greeting.payload};
        from.fill(theirs);
        if (greeting.state == frame_state::incomplete) return note_silence(stream, where);
        if (greeting.kind != frame_kind::greeting || !from.is_whole()) return note_foreign(stream, where);
        stream.pop(greeting);
        self_.own = fresh_nonce();
        stream.send(join_frame(token_, self_, theirs));
        frame_view const answer = await(stream, until);
        if (answer.state == frame_state::incomplete) return note_silence(stream, where);
        if (answer.kind == frame_kind::refused) raise_refused(answer, where);
        check_proof(answer, theirs, where);
        stream.pop(answer);
        return stream;
    }

    /// The next frame; incomplete: the time is over or the connection has ended.
    frame_view await(frame_stream& stream, clock_point until) const {
        for (;;) {
            stream.flush();
            stream.receive(largest_stranger_payload);
            frame_view const seen = stream.front(largest_stranger_payload);
            if (seen.state != frame_state::incomplete || stream.has_ended() ||
                std::chrono::steady_clock::now() >= until)
                return seen;
            pollfd look{.fd = stream.descriptor(), .events = stream.events(), .revents = 0};
            ::poll(&look, 1, poll_milliseconds(until, std::chrono::milliseconds{200}));
        }
    }

    void check_proof(frame_view const& answer, nonce const& theirs, std::string const& where) const {
        payload_reader from{answer.payload};
        digest proof{};
        from.fill(proof);
        bool const is_right = answer.state == frame_state::complete && answer.kind == frame_kind::accepted &&
                              from.is_whole() &&
                              is_same(proof, proof_of(token_, "accept", self_, theirs, store_version));
        if (!is_right)
            raise(errc::mismatch,
                  name() + ": what listens at " + where + " does not know this rank's token (see CHORUS_TOKEN)", 0);
    }

    [[noreturn]] void raise_refused(frame_view const& answer, std::string const& where) const {
        auto const why = read_failure(answer.payload);
        raise(errc::mismatch,
              name() + " was refused by rank 0 at " + where + ": " +
                  std::string{why ? why->message() : "without a reason"},
              why ? why->peer() : nobody);
    }

    std::nullopt_t note(std::string const& where, std::string const& problem) {
        ++tried_[where].times;
        tried_[where].last = problem;
        return std::nullopt;
    }

    std::nullopt_t note_silence(frame_stream const& stream, std::string const& where) {
        return note(where, stream.has_ended() ? "connected, but it " + stream.ending()
                                              : "connected, but it says nothing (rank 0 is busy, or it is not chorus)");
    }

    std::nullopt_t note_foreign(frame_stream const& stream, std::string const& where) {
        std::string const problem = "what listens there is not chorus, it says \"" + stream.beginning() + '"';
        if (is_only_place_) raise(errc::mismatch, name() + " at " + where + ": " + problem, 0);
        return note(where, problem);
    }

    std::string name() const { return "rank " + std::to_string(self_.rank); }

    [[noreturn]] void raise_unreached() const {
        std::string text =
            name() + " could not reach rank 0 at " + address_ + " port " + std::to_string(port_) + "; tried";
        for (auto const& [where, outcome] : tried_)
            text += std::string{text.back() == 'd' ? " " : ", "} + where + " (" + std::to_string(outcome.times) +
                    " times, last: " + outcome.last + ')';
        raise(errc::timed_out, text, 0);
    }

    std::string address_;
    std::uint16_t port_;
    join_request self_;
    std::string token_;
    bool is_only_place_ = false;
    std::map<std::string, tried> tried_;
};

}  // namespace chorus::detail
