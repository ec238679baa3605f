// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/time_limit.hpp"
#include "chorus/transport/detail/store_client.hpp"
#include "chorus/transport/detail/store_entrance.hpp"
#include "chorus/transport/detail/store_server.hpp"
#include "chorus/transport/network_interface.hpp"
#include "chorus/transport/rendezvous.hpp"
#include "chorus/transport/rendezvous_environment.hpp"
#include "chorus/transport/tcp_listener.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace chorus {

/// Where ranks meet, and who this one is.
struct tcp_meeting {
    std::string address;     ///< of rank 0: a name, or an IPv4 or IPv6 address
    std::uint16_t port = 0;  ///< on which rank 0 listens
    rank_id rank = 0;
    rank_id size = 1;
    std::string token;  ///< the same on all ranks; whoever knows it can take part. "": anybody can
};

/// Limits of time and size for those who meet.
struct tcp_options {
    time_limit deadline = std::chrono::seconds{60};    ///< of the construction, and of each call by itself
    std::size_t largest_value = std::size_t{1} << 20;  ///< bytes that a rank may give at once; the same on all ranks
    std::chrono::milliseconds stranger_within{5'000};  ///< a connection that has not shown the token by then is dropped
};

/// Ranks, one object each, that meet over TCP: everybody connects to rank 0, which keeps a store of values and serves
/// the others.
///
/// There is no hidden thread: rank 0 answers while one of its own calls blocks. So `get` of another rank needs rank 0
/// to come to `exchange`, `barrier` or `get` in time. One thread at a time uses an object. It may be destroyed as soon
/// as the last exchange has returned on this rank. The token is proved, not sent (HMAC-SHA-256 of fresh nonces, both
/// ways); all else travels as it is, neither encrypted nor sealed: for networks where nobody changes packets. Rank 0's
/// port is closed again once all have come. Errors: timed_out, naming the ranks that did not come; peer_lost, naming
/// the rank that ended; mismatch, where ranks disagree about token, size, version or who they are, on both sides; after
/// an error of `exchange` or `barrier`, all later calls are `poisoned`, on every rank.
class tcp_rendezvous {
 public:
    /// Blocks until all ranks have come. Rank 0 may come last, or first.
    explicit tcp_rendezvous(tcp_meeting meeting, tcp_options const& options = {})
        : tcp_rendezvous{std::move(meeting), options, std::nullopt} {}

    /// Rank 0 with a socket that listens already, made with `tcp_listener{address, 0}` to be told a free port.
    tcp_rendezvous(tcp_meeting meeting, tcp_options const& options, tcp_listener listener)
        : tcp_rendezvous{std::move(meeting), options, std::optional{std::move(listener)}} {}

    /// As the launcher says: see launch_from_environment.
    static tcp_rendezvous from_environment(tcp_options const& options = {},
                                           environment_lookup const& lookup = process_environment) {
        launch const found = launch_from_environment(lookup);
        tcp_rendezvous made{{found.address, found.port, found.rank, found.size, found.token}, options};
        made.launcher_ = found.launcher;
        return made;
    }

    tcp_rendezvous(tcp_rendezvous&&) noexcept = default;
    tcp_rendezvous& operator=(tcp_rendezvous&& other) noexcept {
        std::swap(meeting_, other.meeting_);
        std::swap(options_, other.options_);
        std::swap(launcher_, other.launcher_);
        std::swap(server_, other.server_);
        std::swap(client_, other.client_);
        return *this;
    }
    ~tcp_rendezvous() {
        CHORUS_TRY {
            if (server_) server_->say_farewell();
            if (client_) client_->say_farewell();
        }
        CHORUS_CATCH_ALL {}  // no memory: the others see the connection end
    }

    rank_id rank() const noexcept { return meeting_.rank; }
    rank_id size() const noexcept { return meeting_.size; }

    /// Puts a value into the store, in place of an earlier one. Does not wait for rank 0 to take note.
    void set(std::string_view key, std::span<std::byte const> value) {
        expect_sizes(key, value.size());
        if (server_) server_->set(std::string{key}, value);
        else client_->set(std::string{key}, value, until());
    }

    /// The value, once somebody has set it. timed_out does no harm: try again.
    std::vector<std::byte> get(std::string_view key) {
        expect_sizes(key, 0);
        auto value = server_ ? server_->get(std::string{key}, until()) : client_->get(std::string{key}, until());
        if (!value)
            detail::raise(errc::timed_out, me() + " waited " + to_string(options_.deadline) + " for \"" +
                                               std::string{key} +
                                               "\": nobody set it, or rank 0 is in no call that serves");
        return *std::move(value);
    }

    /// See `bootstrap`. Memory on rank 0: what all ranks give, twice.
    std::vector<std::vector<std::byte>> exchange(std::span<std::byte const> mine) {
        expect_sizes({}, mine.size());
        auto all = server_ ? server_->exchange(mine, until()) : client_->exchange(mine, until());
        if (!all) raise_absent("an exchange");
        return *std::move(all);
    }

    /// Returns when all ranks have called it.
    void barrier() { exchange({}); }

    /// Where and how this rank takes part, for people; several lines, among them the interface used and why.
    std::string describe() const {
        std::string text = me() + " of " + std::to_string(size()) + (launcher_.empty() ? "" : ", says " + launcher_) +
                           "; rank 0 at " + meeting_.address + " port " + std::to_string(meeting_.port);
        if (server_) text += "\n" + detail::describe(server_->strangers());
        int const connection = server_ ? server_->some_descriptor() : client_->descriptor();
        if (connection < 0) return text + "\nno connection";
        text += "\nconnection from " + to_string(detail::own_place(connection)) + " to " +
                to_string(detail::peer_place(connection));
        return text + "\ninterface " + chorus::describe(used_interface());
    }

    /// The interface over which this rank reaches rank 0, or rank 0 the first other one; none if it is alone.
    interface_choice used_interface() const {
        int const connection = server_ ? server_->some_descriptor() : client_->descriptor();
        interface_wish wish;
        if (connection >= 0) {
            wish.peer = detail::address_of(detail::peer_place(connection).get());
            wish.routed = detail::address_of(detail::own_place(connection).get());
        }
        return decide_interface(network_interfaces(), wish);
    }

    /// Rank 0: the connections dropped because they did not prove that they know the token. Others: none.
    std::uint64_t strangers_dropped() const noexcept { return server_ ? server_->strangers().total() : 0; }

 private:
    tcp_rendezvous(tcp_meeting meeting, tcp_options const& options, std::optional<tcp_listener> listener)
        : meeting_{std::move(meeting)}, options_{options} {
        expect_meeting(listener.has_value());
        if (meeting_.rank == 0) open_store(std::move(listener));
        else join_store();
    }

    void expect_meeting(bool listens) const {
        detail::expects(meeting_.rank < meeting_.size, [&] {
            return "rank " + std::to_string(meeting_.rank) + " of " + std::to_string(meeting_.size) +
                   ": a rank must be below the size";
        });
        detail::expects(meeting_.size <= 1u << 20,
                        [&] { return std::to_string(meeting_.size) + " ranks: at most 2^20 can meet"; });
        detail::expects(meeting_.port != 0 || meeting_.size == 1 || (listens && meeting_.rank == 0), [&] {
            return me() +
                   " was given port 0: the port of rank 0 must be known (rank 0 may take a free one by a tcp_listener)";
        });
        detail::expects(!listens || meeting_.rank == 0,
                        [&] { return me() + " was given a listener; only rank 0 listens"; });
        detail::expects(options_.largest_value <= std::size_t{1} << 30, [&] {
            return "largest_value = " + std::to_string(options_.largest_value) + ": at most 2^30 bytes";
        });
    }

    void open_store(std::optional<tcp_listener> listener) {
        if (meeting_.size > 1 && !listener) listener.emplace(meeting_.address, meeting_.port);
        std::string const where = listener ? to_string(*listener) : "nowhere";
        if (listener) meeting_.port = listener->port();
        server_ = std::make_unique<detail::store_server>(
            std::move(listener),
            detail::store_settings{meeting_.size, meeting_.token, options_.largest_value, options_.stranger_within});
        if (server_->gather(until())) return;
        auto const absent = server_->not_joined();
        server_->fail({errc::timed_out,
                       "these ranks did not come to rank 0 at " + where + " (" + meeting_.address + ") within " +
                           to_string(options_.deadline) + ": " + detail::list_of_ranks(absent) + "; " +
                           detail::describe(server_->strangers()),
                       absent.empty() ? nobody : absent.front()});
    }

    void join_store() {
        auto const by = until();
        detail::store_entrance entrance{
            meeting_.address, meeting_.port, {meeting_.rank, meeting_.size, {}, {}}, meeting_.token};
        client_ = std::make_unique<detail::store_client>(entrance.enter(by), meeting_.size, options_.largest_value);
        if (!client_->gather(by)) raise_absent("the rendezvous");
    }

    detail::clock_point until() const {
        return options_.deadline.is_for_ever() ? (detail::clock_point::max)()
                                               : options_.deadline.after(std::chrono::steady_clock::now());
    }

    std::string me() const { return "rank " + std::to_string(meeting_.rank); }

    [[noreturn]] void raise_absent(char const* what) {
        std::string const late = me() + " waited " + to_string(options_.deadline) + " in " + what;
        if (server_) {
            auto const absent = server_->not_contributed();
            if (absent.empty() || absent.front() == 0)  // everybody came: rank 0's own contribution is used up
                server_->fail({errc::timed_out, late + "; these ranks do not take their answer: " +
                                                    detail::list_of_ranks(server_->not_flushed())});
            server_->fail({errc::timed_out, late + "; these ranks did not come: " + detail::list_of_ranks(absent),
                           absent.front()});
        }
        auto const absent = client_->ask_absent();
        if (!absent || absent->empty())
            client_->fail({errc::timed_out,
                           late + "; rank 0 at " + client_->peer() + " is in no call that serves, or does not answer",
                           0});
        client_->fail(
            {errc::timed_out, late + "; these ranks did not come: " + detail::list_of_ranks(*absent), absent->front()});
    }

    void expect_sizes(std::string_view key, std::size_t value_bytes) const {
        detail::expects(key.size() <= detail::largest_key, [&] {
            return "a key of " + std::to_string(key.size()) + " bytes; at most " + std::to_string(detail::largest_key) +
                   " are possible";
        });
        detail::expects(value_bytes <= options_.largest_value, [&] {
            return me() + " gives " + std::to_string(value_bytes) + " bytes at once; largest_value is " +
                   std::to_string(options_.largest_value);
        });
    }

    tcp_meeting meeting_;
    tcp_options options_;
    std::string launcher_;
    std::unique_ptr<detail::store_server> server_;  ///< rank 0
    std::unique_ptr<detail::store_client> client_;  ///< the others
};
static_assert(bootstrap<tcp_rendezvous>);

}  // namespace chorus
