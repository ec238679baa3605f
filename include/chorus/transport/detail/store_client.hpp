// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/error.hpp"
#include "chorus/transport/detail/frame_stream.hpp"
#include "chorus/transport/detail/store_entrance.hpp"
#include "chorus/transport/detail/store_protocol.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace chorus::detail {

/// The side of all ranks but rank 0: one connection, one question at a time.
class store_client {
 public:
    store_client(frame_stream stream, rank_id ranks, std::size_t largest_value)
        : stream_{std::move(stream)}, ranks_{ranks}, largest_payload_{largest_value + largest_overhead} {}

    int descriptor() const noexcept { return stream_.descriptor(); }
    std::string const& peer() const noexcept { return stream_.peer(); }

    /// Until every rank has joined; false: the time is over.
    bool gather(clock_point until) {
        return serve(until, [&](frame_view const& seen) { return seen.kind == frame_kind::ready; });
    }

    void set(std::string const& key, std::span<std::byte const> value, clock_point until) {
        stream_.send(frame_writer{frame_kind::set}.put(key.size(), 2).put(key).put(value).finish());
        while (!stream_.is_flushed() && std::chrono::steady_clock::now() < until) wait(until);
        if (!stream_.is_flushed()) fail({errc::timed_out, "rank 0 does not take the value of \"" + key + '"', 0});
    }

    std::optional<std::vector<std::byte>> get(std::string const& key, clock_point until) {
        std::uint64_t const number = ++questions_;
        stream_.send(frame_writer{frame_kind::get}.put(number, 8).put(key).finish());
        std::vector<std::byte> value;
        bool const came = serve(until, [&](frame_view const& seen) {
            auto const answer = seen.kind == frame_kind::value ? read_numbered(seen.payload) : std::nullopt;
            if (!answer || answer->number != number) return false;
            value.assign(answer->bytes.begin(), answer->bytes.end());
            return true;
        });
        return came ? std::optional{std::move(value)} : std::nullopt;
    }

    /// Nothing: the time was over; then the store is of no more use.
    std::optional<std::vector<std::vector<std::byte>>> exchange(std::span<std::byte const> mine, clock_point until) {
        stream_.send(frame_writer{frame_kind::contribution}.put(round_, 8).put(mine).finish());
        std::vector<std::vector<std::byte>> all(ranks_);
        rank_id next = 0;  // shares come in the order of ranks
        bool const came = serve(until, [&](frame_view const& seen) {
            auto const share = seen.kind == frame_kind::share ? read_share(seen.payload) : std::nullopt;
            if (!share) return false;
            if (share->round != round_ || share->rank != next)
                fail({errc::mismatch, "rank 0 answers another exchange", 0});
            all[next++].assign(share->bytes.begin(), share->bytes.end());
            return next == ranks_;
        });
        if (!came) return std::nullopt;
        ++round_;
        return all;
    }

    /// Asks rank 0 for whom it waits, and gives it a second to say so. Nothing: it did not.
    std::optional<std::vector<rank_id>> ask_absent() {
        std::uint64_t const number = ++questions_;
        stream_.send(frame_writer{frame_kind::ask_absent}.put(number, 8).finish());
        std::vector<rank_id> absent;
        bool const came =
            serve(std::chrono::steady_clock::now() + std::chrono::seconds{1}, [&](frame_view const& seen) {
                if (seen.kind != frame_kind::absent) return false;
                payload_reader from{seen.payload};
                if (from.number(8) != number) return false;
                while (!from.is_whole() && !from.is_short()) absent.push_back(static_cast<rank_id>(from.number(4)));
                return true;
            });
        return came ? std::optional{std::move(absent)} : std::nullopt;
    }

    /// Tells rank 0, which tells the others, and raises.
    [[noreturn]] void fail(error const& why) {
        stream_.send(failure_frame(frame_kind::failure, why));
        broken_ = why;
        raise(why);
    }

    void say_farewell() {
        if (!broken_) stream_.send(frame_writer{frame_kind::farewell}.finish());
    }

 private:
    /// Reads frames until one satisfies `is_wanted`; what is not wanted, as the late answer to a question given up, is
    /// dropped.
    template <class Wanted> bool serve(clock_point until, Wanted const& is_wanted) {
        if (broken_) raise(errc::poisoned, "an earlier call failed: " + std::string{broken_->what()}, broken_->peer());
        for (bool is_last = false;;) {
            for (;;) {
                stream_.receive(largest_payload_);
                frame_view const seen = stream_.front(largest_payload_);
                if (seen.state == frame_state::incomplete) break;
                check(seen);
                bool const is_done = is_wanted(seen);
                stream_.pop(seen);
                if (is_done) return true;
            }
            if (stream_.has_ended())
                end({errc::peer_lost, "rank 0 at " + stream_.peer() + " ended: it " + stream_.ending(), 0});
            if (is_last) return false;
            is_last = std::chrono::steady_clock::now() >= until;
            wait(until);
        }
    }

    void check(frame_view const& seen) {
        if (seen.state == frame_state::oversize)
            fail({errc::mismatch,
                  "rank 0 sent more than " + std::to_string(largest_payload_ - largest_overhead) +
                      " bytes at once, the largest value of this rank",
                  0});
        if (seen.state != frame_state::complete || seen.version != store_version)
            fail({errc::mismatch, "rank 0 sent what is no answer", 0});
        auto const why = seen.kind == frame_kind::failure ? read_failure(seen.payload) : std::nullopt;
        if (why) end(*why);
        if (seen.kind == frame_kind::farewell) end({errc::peer_lost, "rank 0 at " + stream_.peer() + " has left", 0});
    }

    [[noreturn]] void end(error const& why) {
        broken_ = why;
        raise(why);
    }

    void wait(clock_point until) {
        pollfd look{.fd = stream_.descriptor(), .events = stream_.events(), .revents = 0};
        ::poll(&look, 1, poll_milliseconds(until, std::chrono::milliseconds{200}));
        stream_.flush();
    }

    frame_stream stream_;
    rank_id ranks_;
    std::size_t largest_payload_;
    std::uint64_t questions_ = 0;
    std::uint64_t round_ = 0;  ///< of the exchange that comes next
    std::optional<error> broken_;
};

}  // namespace chorus::detail
