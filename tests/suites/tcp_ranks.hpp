// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/transport/rendezvous_tcp.hpp"

#include "suites/failure_list.hpp"
#include "suites/watchdog.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <dirent.h>

#include <doctest/doctest.h>

namespace suites {

/// A port that stays ours while this lives: bound, but nobody listens. Chorus may listen on it.
class reserved_port {
 public:
    reserved_port() : socket_{chorus::detail::stream_socket(AF_INET)} {
        chorus::detail::set_option(socket_.get(), SOL_SOCKET, SO_REUSEADDR, 1);
        auto place = chorus::detail::resolve("127.0.0.1", 0).places.at(0);
        REQUIRE(::bind(socket_.get(), place.get(), place.length) == 0);
        port_ = chorus::detail::own_place(socket_.get()).port();
    }
    std::uint16_t number() const noexcept { return port_; }

 private:
    chorus::detail::owned_descriptor socket_;
    std::uint16_t port_ = 0;
};

/// How many descriptors this process has open.
inline std::size_t open_descriptors() {
    DIR* const all = ::opendir("/proc/self/fd");
    std::size_t count = 0;
    while (all != nullptr && ::readdir(all) != nullptr) ++count;
    if (all != nullptr) ::closedir(all);
    return count;
}

inline chorus::tcp_options within(std::chrono::milliseconds deadline) {
    chorus::tcp_options options;
    options.deadline = deadline;
    return options;
}

inline constexpr std::chrono::milliseconds enough{20'000};

/// Ranks as threads. `body(meet)`, with `meet()` making the rank's rendezvous; what is thrown is noted as a failure of
/// that rank.
struct tcp_rank {
    std::uint16_t port;
    chorus::rank_id rank;
    chorus::rank_id size;
    std::optional<chorus::tcp_listener>& listener;
    failure_list& failures;

    chorus::tcp_rendezvous meet(chorus::tcp_options const& options = within(enough),
                                std::string const& token = "secret") {
        chorus::tcp_meeting const meeting{"127.0.0.1", port, rank, size, token};
        if (rank == 0)
            return chorus::tcp_rendezvous{meeting, options, std::move(*std::exchange(listener, std::nullopt))};
        return chorus::tcp_rendezvous{meeting, options};
    }
    void fail(std::string const& text) const { failures.add("rank " + std::to_string(rank) + ": " + text); }
    void expect(bool holds, std::string const& text) const {
        if (!holds) fail(text);
    }
};

template <class Body> void run_tcp_ranks(chorus::rank_id ranks, Body const& body) {
    watchdog const guard{60};
    failure_list failures;
    std::optional<chorus::tcp_listener> listener{std::in_place, "127.0.0.1"};
    std::uint16_t const port = listener->port();
    {
        std::vector<std::jthread> threads;
        for (chorus::rank_id r = 0; r < ranks; ++r)
            threads.emplace_back([&, r] {
                tcp_rank me{port, r, ranks, listener, failures};
                try {
                    body(me);
                } catch (std::exception const& thrown) { me.fail(std::string{"threw "} + thrown.what()); }
            });
    }
    for (std::string const& text : failures.texts()) FAIL_CHECK(text);
}

/// A connection without any manners, for talking to rank 0 byte by byte.
class raw_client {
 public:
    explicit raw_client(std::uint16_t port) {
        std::string problem;
        auto const place = chorus::detail::resolve("127.0.0.1", port).places.at(0);
        stream_.emplace(chorus::detail::connect_to(place, std::chrono::steady_clock::now() + enough, problem));
    }

    bool is_connected() const { return stream_->descriptor() >= 0; }
    void send(std::vector<std::byte> bytes) { stream_->send(std::move(bytes)); }
    void send(std::string const& text) {
        auto const raw = std::as_bytes(std::span{text.data(), text.size()});
        stream_->send(std::vector<std::byte>(raw.begin(), raw.end()));
    }

    /// The next frame; one of state incomplete: the connection has ended, or nothing came in time.
    chorus::detail::frame_view next(std::chrono::milliseconds in_time = enough) {
        stream_->pop(last_);
        last_ = {};
        auto const until = std::chrono::steady_clock::now() + in_time;
        for (;;) {
            stream_->receive(1 << 20);
            last_ = stream_->front(1 << 20);
            bool const is_over = stream_->has_ended() || std::chrono::steady_clock::now() >= until;
            if (last_.state != chorus::detail::frame_state::incomplete || is_over) return last_;
            pollfd look{.fd = stream_->descriptor(), .events = POLLIN, .revents = 0};
            ::poll(&look, 1, 10);
        }
    }
    bool has_ended() const { return stream_->has_ended(); }

    /// Takes the greeting and answers it. False: there was none.
    bool join(std::string const& token, chorus::rank_id rank, chorus::rank_id size,
              std::uint16_t version = chorus::detail::store_version) {
        auto const greeting = next();
        if (greeting.state != chorus::detail::frame_state::complete ||
            greeting.kind != chorus::detail::frame_kind::greeting)
            return false;
        chorus::detail::nonce theirs{};
        chorus::detail::payload_reader{greeting.payload}.fill(theirs);
        send(chorus::detail::join_frame(token, {rank, size, {}, {}}, theirs, version));
        return true;
    }

 private:
    std::optional<chorus::detail::frame_stream> stream_;
    chorus::detail::frame_view last_;
};

}  // namespace suites
