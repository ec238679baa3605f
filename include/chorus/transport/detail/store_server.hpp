// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/error.hpp"
#include "chorus/transport/detail/frame_stream.hpp"
#include "chorus/transport/detail/store_protocol.hpp"
#include "chorus/transport/tcp_listener.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace chorus::detail {

/// Connections that rank 0 dropped before they had proved that they know the token.
struct stranger_counts {
    std::uint64_t garbage = 0;  ///< sent what is no join
    std::uint64_t wrong_token = 0;
    std::uint64_t slow = 0;     ///< had not joined within the time for that
    std::uint64_t closed = 0;   ///< went away before they joined
    std::uint64_t crowded = 0;  ///< the oldest of too many at once
    std::string last;           ///< where the last one came from

    std::uint64_t total() const noexcept { return garbage + wrong_token + slow + closed + crowded; }
};

inline std::string describe(stranger_counts const& counts) {
    if (counts.total() == 0) return "no stranger came";
    return "strangers dropped: " + std::to_string(counts.wrong_token) + " with another token, " +
           std::to_string(counts.garbage) + " with garbage, " + std::to_string(counts.slow) + " too slow, " +
           std::to_string(counts.closed) + " that closed, " + std::to_string(counts.crowded) +
           " for lack of room, the last one from " + counts.last;
}

/// "2, 3 and 5", at most 64 of them.
inline std::string list_of_ranks(std::vector<rank_id> const& ranks) {
    std::string text;
    for (std::size_t i = 0; i < ranks.size() && i < 64; ++i) text += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
    return ranks.size() > 64 ? text + " and " + std::to_string(ranks.size() - 64) + " more" : text;
}

inline constexpr std::size_t largest_store = std::size_t{256} << 20;

struct store_settings {
    rank_id size = 1;
    std::string token;
    std::size_t largest_value = 0;
    std::chrono::milliseconds stranger_within{0};
};

/// Rank 0's side: keeps the values, and serves whoever asks while one of its own calls blocks. Strangers, at most 64
/// and one for each rank at a time, cost at most 1 KiB each and are dropped when their time is over, or, the oldest,
/// when there are too many.
class store_server {
 public:
    store_server(std::optional<tcp_listener> listener, store_settings settings)
        : listener_{std::move(listener)}, settings_{std::move(settings)}, members_(settings_.size) {
        members_[0].state = standing::here;
    }

    std::vector<rank_id> not_joined() const {
        return ranks_where([](member const& m) { return m.state == standing::absent; });
    }
    stranger_counts const& strangers() const noexcept { return counts_; }
    /// Of the rank with the lowest number that is connected; closed if there is none.
    int some_descriptor() const noexcept {
        for (member const& m : members_)
            if (m.stream) return m.stream->descriptor();
        return -1;
    }

    /// Until every rank has joined; false: the time is over.
    bool gather(clock_point until) {
        if (!serve([&] { return joined_ == settings_.size; }, until, needs::all_alive)) return false;
        if (listener_) listener_->close();
        strangers_.clear();
        tell_all(frame_writer{frame_kind::ready}.finish());
        return true;
    }

    void set(std::string const& key, std::span<std::byte const> value) {
        store(key, value);
        if (pending_failure_) fail(*std::exchange(pending_failure_, std::nullopt));
        answer_questions();
    }

    std::optional<std::vector<std::byte>> get(std::string const& key, clock_point until) {
        auto found = values_.find(key);
        auto const is_there = [&] { return (found = values_.find(key)) != values_.end(); };
        if (!serve(is_there, until, needs::all_alive)) return std::nullopt;
        return found->second;
    }

    /// Nothing: the time was over; then the store is of no more use.
    std::optional<std::vector<std::vector<std::byte>>> exchange(std::span<std::byte const> mine, clock_point until) {
        members_[0].contribution.emplace(mine.begin(), mine.end());
        auto const all_came = [&] { return not_contributed().empty(); };
        if (!serve(all_came, until, needs::all_contributions)) return std::nullopt;
        std::vector<std::vector<std::byte>> all;
        for (member& m : members_) all.push_back(*std::exchange(m.contribution, std::nullopt));
        auto const answer = std::make_shared<std::vector<std::byte> const>(shares_of(all));
        ++round_;
        for (member& m : members_)
            if (m.stream) m.stream->send(answer);
        if (!serve([&] { return is_all_flushed(); }, until, needs::nobody)) return std::nullopt;
        return all;
    }

    std::vector<rank_id> not_contributed() const {
        return ranks_where([](member const& m) { return !m.contribution; });
    }
    std::vector<rank_id> not_flushed() const {
        return ranks_where([](member const& m) { return m.stream && !m.stream->is_flushed(); });
    }

    /// Tells everybody, as far as they can be told within a second, and raises.
    [[noreturn]] void fail(error const& why) {
        tell_all(failure_frame(frame_kind::failure, why));
        auto const until = std::chrono::steady_clock::now() + std::chrono::seconds{1};
        broken_ = why;
        while (!is_all_flushed() && std::chrono::steady_clock::now() < until) pump(until);
        raise(why);
    }

    void say_farewell() {
        if (!broken_) tell_all(frame_writer{frame_kind::farewell}.finish());
    }

 private:
    enum class standing : std::uint8_t { absent, here, left, lost };
    enum class needs : std::uint8_t { nobody, all_alive, all_contributions };

    struct question {
        std::uint64_t number = 0;
        std::string key;
    };
    struct member {
        standing state = standing::absent;
        std::optional<frame_stream> stream;
        std::string ending;
        std::optional<question> asked;
        std::optional<std::vector<std::byte>> contribution;
    };
    struct stranger {
        frame_stream stream;
        nonce greeted;
        clock_point until;
        bool is_over = false;
    };

    template <class Holds> std::vector<rank_id> ranks_where(Holds const& holds) const {
        std::vector<rank_id> found;
        for (rank_id r = 0; r < settings_.size; ++r)
            if (holds(members_[r])) found.push_back(r);
        return found;
    }

    bool is_all_flushed() const { return not_flushed().empty(); }

    /// Serves until `is_done`, or raises; false: the time is over.
    template <class Done> bool serve(Done const& is_done, clock_point until, needs who) {
        if (broken_) raise(errc::poisoned, "an earlier call failed: " + std::string{broken_->what()}, broken_->peer());
        for (bool is_last = false;;) {
            check_members(who);
            if (is_done()) return true;
            if (is_last) return false;
            is_last = std::chrono::steady_clock::now() >= until;
            pump(until);
        }
    }

    void check_members(needs who) {
        if (pending_failure_) fail(*std::exchange(pending_failure_, std::nullopt));
        if (who == needs::nobody) return;
        for (rank_id r = 0; r < settings_.size; ++r) {
            member const& m = members_[r];
            std::string const name = "rank " + std::to_string(r);
            if (m.state == standing::lost) fail({errc::peer_lost, name + " ended: it " + m.ending, r});
            if (m.state == standing::left && who == needs::all_contributions && !m.contribution)
                fail({errc::peer_lost, name + " has left and will not come to the exchange", r});
        }
    }

    // One round of poll(2).

    void pump(clock_point until) {
        bool const listens = listener_ && listener_->is_open() && std::chrono::steady_clock::now() >= accept_from_;
        auto wake = (std::min)(until, std::chrono::steady_clock::now() + std::chrono::milliseconds{200});
        if (!listens && listener_ && listener_->is_open()) wake = (std::min)(wake, accept_from_);
        polled_.clear();
        for (member const& m : members_)
            if (m.stream) polled_.push_back({m.stream->descriptor(), m.stream->events(), 0});
        for (stranger const& s : strangers_) {
            polled_.push_back({s.stream.descriptor(), s.stream.events(), 0});
            wake = (std::min)(wake, s.until);
        }
        if (listens) polled_.push_back({listener_->descriptor(), POLLIN, 0});
        if (::poll(polled_.data(), polled_.size(), poll_milliseconds(wake, std::chrono::milliseconds{200})) < 0)
            for (pollfd& one : polled_) one.revents = 0;  // interrupted
        std::size_t at = 0;
        std::size_t const known_strangers = strangers_.size();
        for (rank_id r = 0; r < settings_.size; ++r)
            if (members_[r].stream && polled_[at++].revents != 0) attend(r);
        for (std::size_t i = 0; i < known_strangers; ++i)
            if (polled_[at++].revents != 0) attend(strangers_[i]);
        for (stranger& s : strangers_)
            if (!s.is_over && std::chrono::steady_clock::now() >= s.until) drop(s, counts_.slow);
        std::erase_if(strangers_, [](stranger const& s) { return s.is_over; });
        if (listens && polled_[at].revents != 0) accept_some();
    }

    void accept_some() {
        for (int i = 0; i < 64; ++i) {
            owned_descriptor taken{::accept4(listener_->descriptor(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
            if (!taken.is_open()) {
                bool const is_short = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
                if (is_short) accept_from_ = std::chrono::steady_clock::now() + std::chrono::milliseconds{20};
                if (is_short && !strangers_.empty()) make_room();
                return;
            }
            if (strangers_.size() >= std::size_t{64} + settings_.size) make_room();
            set_option(taken.get(), IPPROTO_TCP, TCP_NODELAY, 1);
            stranger& fresh =
                strangers_.emplace_back(stranger{frame_stream{std::move(taken)}, fresh_nonce(),
                                                 std::chrono::steady_clock::now() + settings_.stranger_within});
            fresh.stream.send(frame_writer{frame_kind::greeting}.put(fresh.greeted).finish());
        }
    }

    void make_room() {
        drop(strangers_.front(), counts_.crowded);
        strangers_.erase(strangers_.begin());
    }

    void drop(stranger& who, std::uint64_t& count) {
        ++count;
        counts_.last = who.stream.peer();
        who.is_over = true;
    }

    // Strangers.

    void attend(stranger& who) {
        who.stream.flush();
        who.stream.receive(largest_stranger_payload);
        frame_view const seen = who.stream.front(largest_stranger_payload);
        if (seen.state == frame_state::incomplete) {
            if (who.stream.has_ended()) drop(who, counts_.closed);
            return;
        }
        auto const asked = seen.state == frame_state::complete && seen.kind == frame_kind::join
                               ? read_join(seen.payload)
                               : std::nullopt;
        if (!asked) return drop(who, counts_.garbage);
        if (!is_same(asked->proof, proof_of(settings_.token, "join", *asked, who.greeted, seen.version))) {
            refuse(who, {errc::mismatch, "its token is not that of rank 0 (see CHORUS_TOKEN)"});
            return drop(who, counts_.wrong_token);
        }
        who.is_over = true;
        std::uint16_t const version = seen.version;
        who.stream.pop(seen);
        admit(std::move(who.stream), *asked, who.greeted, version);
    }

    static void refuse(stranger& who, error const& why) { who.stream.send(failure_frame(frame_kind::refused, why)); }

    /// It knows the token, so it is of this job: what is wrong with it is an error of the job, on both sides.
    void admit(frame_stream stream, join_request const& asked, nonce const& greeted, std::uint16_t version) {
        std::string const problem = problem_with(stream, asked, version);
        if (!problem.empty()) {
            error const why{errc::mismatch, problem, asked.rank};
            stream.send(failure_frame(frame_kind::refused, why));
            if (!pending_failure_) pending_failure_ = why;
            return;
        }
        digest const proof = proof_of(settings_.token, "accept", asked, greeted, store_version);
        stream.send(frame_writer{frame_kind::accepted}.put(proof).finish());
        member& joined = members_[asked.rank];
        joined.state = standing::here;
        joined.stream.emplace(std::move(stream));
        ++joined_;
    }

    std::string problem_with(frame_stream const& stream, join_request const& asked, std::uint16_t version) const {
        std::string const who = "rank " + std::to_string(asked.rank) + " at " + stream.peer();
        if (version != store_version)
            return who + " speaks version " + std::to_string(version) + " of the rendezvous, rank 0 version " +
                   std::to_string(store_version);
        if (asked.size != settings_.size)
            return who + " says there are " + std::to_string(asked.size) + " ranks, rank 0 says " +
                   std::to_string(settings_.size);
        if (asked.rank == 0 || asked.rank >= settings_.size)
            return who + " joined rank 0; ranks 1 to " + std::to_string(settings_.size - 1) + " were expected";
        if (members_[asked.rank].state != standing::absent)
            return "two processes are rank " + std::to_string(asked.rank) + ": one at " +
                   (members_[asked.rank].stream ? members_[asked.rank].stream->peer()
                                                : std::string{"a closed connection"}) +
                   ", one at " + stream.peer();
        return {};
    }

    // Members.

    std::size_t largest_payload() const noexcept { return settings_.largest_value + largest_overhead; }

    void attend(rank_id r) {
        member& from = members_[r];
        from.stream->flush();
        from.stream->receive(largest_payload());
        for (;;) {
            frame_view const seen = from.stream->front(largest_payload());
            if (seen.state == frame_state::incomplete) break;
            if (seen.state == frame_state::oversize)
                return lose(r, "sent more than " + std::to_string(settings_.largest_value) +
                                   " bytes at once, the largest value of rank 0");
            if (seen.state != frame_state::complete || seen.version != store_version || !understand(r, seen))
                return lose(r, "sent something that is no request");
            if (from.state == standing::left) return from.stream.reset();
            from.stream->pop(seen);
            from.stream->receive(largest_payload());
        }
        if (from.stream->has_ended()) lose(r, from.stream->ending());
    }

    void lose(rank_id r, std::string const& why) {
        members_[r].state = standing::lost;
        members_[r].ending = why;
        members_[r].asked.reset();
        members_[r].stream.reset();
    }

    /// False: it makes no sense.
    bool understand(rank_id r, frame_view const& seen) {
        member& from = members_[r];
        auto const numbered = read_numbered(seen.payload);
        if (seen.kind == frame_kind::set) {
            auto const pair = read_set(seen.payload);
            if (!pair || pair->value.size() > settings_.largest_value) return false;
            store(pair->key, pair->value);
            answer_questions();
        } else if (seen.kind == frame_kind::get && numbered) {
            if (numbered->bytes.size() > largest_key) return false;
            from.asked = question{numbered->number,
                                  {reinterpret_cast<char const*>(numbered->bytes.data()), numbered->bytes.size()}};
            answer_questions();
        } else if (seen.kind == frame_kind::contribution && numbered) {
            if (from.contribution || numbered->number != round_ || numbered->bytes.size() > settings_.largest_value)
                return false;
            from.contribution.emplace(numbered->bytes.begin(), numbered->bytes.end());
        } else if (seen.kind == frame_kind::ask_absent && numbered) {
            frame_writer answer{frame_kind::absent};
            answer.put(numbered->number, 8);
            auto const absent = joined_ < settings_.size ? not_joined() : not_contributed();
            for (std::size_t i = 0; i < absent.size() && i < 64; ++i) answer.put(absent[i], 4);
            from.stream->send(answer.finish());
        } else if (seen.kind == frame_kind::failure) {
            auto const why = read_failure(seen.payload);
            if (why && !pending_failure_) pending_failure_ = why;
            return why.has_value();
        } else if (seen.kind == frame_kind::farewell) {
            from.state = standing::left;
        } else {
            return false;
        }
        return true;
    }

    void store(std::string const& key, std::span<std::byte const> value) {
        auto& place = values_[key];
        held_bytes_ += value.size() + key.size() - place.size();
        place.assign(value.begin(), value.end());
        if (held_bytes_ > largest_store && !pending_failure_)
            pending_failure_ = error{
                errc::too_large, "the store on rank 0 has grown beyond " + std::to_string(largest_store) + " bytes"};
    }

    void answer_questions() {
        for (member& m : members_) {
            if (!m.asked || !m.stream) continue;
            auto const found = values_.find(m.asked->key);
            if (found == values_.end()) continue;
            m.stream->send(frame_writer{frame_kind::value}.put(m.asked->number, 8).put(found->second).finish());
            m.asked.reset();
        }
    }

    std::vector<std::byte> shares_of(std::vector<std::vector<std::byte>> const& all) const {
        std::vector<std::byte> frames;
        for (rank_id r = 0; r < all.size(); ++r) {
            auto const one = frame_writer{frame_kind::share}.put(round_, 8).put(r, 4).put(all[r]).finish();
            frames.insert(frames.end(), one.begin(), one.end());
        }
        return frames;
    }

    void tell_all(std::vector<std::byte> frame) {
        auto const shared = std::make_shared<std::vector<std::byte> const>(std::move(frame));
        for (member& m : members_)
            if (m.stream) m.stream->send(shared);
    }

    std::optional<tcp_listener> listener_;
    store_settings settings_;
    std::vector<member> members_;
    rank_id joined_ = 1;  ///< rank 0 itself
    std::vector<stranger> strangers_;
    stranger_counts counts_;
    clock_point accept_from_{};
    std::vector<pollfd> polled_;
    std::map<std::string, std::vector<std::byte>> values_;
    std::size_t held_bytes_ = 0;  ///< of keys and values, about
    std::uint64_t round_ = 0;     ///< of the exchange that comes next
    std::optional<error> pending_failure_;
    std::optional<error> broken_;
};

}  // namespace chorus::detail
