// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/transport/rendezvous_tcp.hpp"

#include "suites/expected_error.hpp"
#include "suites/rendezvous_suite.hpp"
#include "suites/tcp_ranks.hpp"

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <doctest/doctest.h>

using chorus::errc;
using chorus::rank_id;
using chorus::tcp_listener;
using chorus::tcp_rendezvous;
using std::chrono::milliseconds;
using suites::run_tcp_ranks;
using suites::tcp_rank;
using suites::within;

namespace {

// The call must fail so, blaming that rank.
template <class Call>
void expect_blame(tcp_rank const& me, errc code, rank_id blamed, std::initializer_list<std::string_view> words,
                  Call const& call) {
    std::optional<chorus::error> const thrown = suites::error_of(call);
    std::string const wrong = suites::unlike(code, words, [&] {
        if (thrown) throw *thrown;
    });
    me.expect(wrong.empty(), wrong);
    if (thrown && thrown->peer() != blamed) me.fail("blames " + std::to_string(thrown->peer()) + ": " + thrown->what());
}

// Rank 0 of `ranks` awaits the others while `other(port)` does as it likes; the error that comes out of rank 0.
template <class Other> std::optional<chorus::error> rank_0_against(rank_id ranks, Other const& other) {
    suites::watchdog const guard{40};
    tcp_listener listener{"127.0.0.1"};
    std::uint16_t const port = listener.port();
    std::jthread const beside{[&] { other(port); }};
    return suites::error_of([&] {
        tcp_rendezvous{{"127.0.0.1", port, 0, ranks, "secret"}, within(suites::enough), std::move(listener)};
    });
}

struct doomed_rank {
    rank_id rank;
    rank_id victim;
    std::uint16_t port;
    bool in_exchange;
};

// The life of one of four processes, of which one will be killed: while rank 3 is awaited, at the beginning or in an
// exchange.
[[noreturn]] void meet_until_somebody_dies(doomed_rank const& one, suites::failure_list& failures) {
    suites::watchdog const guard{30};
    std::optional<tcp_listener> none;
    tcp_rank const me{one.port, one.rank, 4, none, failures};
    if (!one.in_exchange && one.rank == 3) ::_exit(0);  // never comes
    expect_blame(me, errc::peer_lost, one.victim, {"rank " + std::to_string(one.victim)}, [&] {
        tcp_rendezvous meet{{"127.0.0.1", one.port, one.rank, 4, "t"}, within(suites::enough)};
        if (one.rank == 3) std::this_thread::sleep_for(milliseconds{600});
        meet.exchange({});
    });
    ::_exit(0);
}

void check_error(std::optional<chorus::error> const& thrown, errc code, rank_id blamed,
                 std::initializer_list<std::string_view> words) {
    REQUIRE(thrown);
    CHECK(suites::unlike(code, words, [&] { throw *thrown; }) == "");
    CHECK_MESSAGE(thrown->peer() == blamed, thrown->what());
}

}  // namespace

TEST_CASE("HNG-3: ranks that never come are named, to rank 0 and to those that wait with it") {
    run_tcp_ranks(4, [](tcp_rank& me) {
        if (me.rank >= 2) return;
        expect_blame(me, errc::timed_out, 2, {": 2, 3"}, [&] { me.meet(within(milliseconds{400})); });
    });
}

TEST_CASE("HNG-3: if rank 0 never comes, the addresses tried are named, and what came of each") {
    suites::reserved_port const port;
    std::string const where = "127.0.0.1:" + std::to_string(port.number());
    auto const thrown = suites::error_of([&] {
        tcp_rendezvous{{"127.0.0.1", port.number(), 1, 2, ""}, within(milliseconds{200})};
    });
    check_error(thrown, errc::timed_out, 0, {"rank 1", where, "times, last: Connection refused"});
    auto const unknown = suites::error_of([&] {
        tcp_rendezvous{{"no-such-host.invalid", 1, 1, 2, ""}, within(milliseconds{50})};
    });
    check_error(unknown, errc::timed_out, 0, {"no-such-host.invalid", "cannot be resolved"});
}

TEST_CASE("HNG-1: no deadline and a very long one wait, none at all tries once, a negative one is refused") {
    for (chorus::time_limit limit : {chorus::time_limit{}, chorus::time_limit{std::chrono::hours{24 * 365 * 99}},
                                     chorus::time_limit{milliseconds::max()}})
        run_tcp_ranks(2, [&](tcp_rank& me) {
            if (me.rank == 1) std::this_thread::sleep_for(milliseconds{100});
            chorus::tcp_options options;
            options.deadline = limit;
            tcp_rendezvous meet = me.meet(options);
            suites::check_exchanges(meet, 2, me.failures);
        });
    suites::reserved_port const port;
    auto const thrown = suites::error_of([&] {
        tcp_rendezvous{{"127.0.0.1", port.number(), 1, 2, ""}, within(milliseconds{0})};
    });
    check_error(thrown, errc::timed_out, 0, {"1 times"});
    CHECK(suites::unlike(errc::invalid_argument, {"negative"}, [] { within(milliseconds{-1}); }) == "");
}

TEST_CASE("HNG-3: ranks that do not come to an exchange are named to all, also to themselves when they come later") {
    run_tcp_ranks(4, [](tcp_rank& me) {
        tcp_rendezvous meet = me.meet(within(milliseconds{400}));
        meet.barrier();
        if (me.rank >= 2) std::this_thread::sleep_for(milliseconds{1700});
        expect_blame(me, errc::timed_out, 2, {"exchange", ": 2, 3"}, [&] { meet.exchange({}); });
        expect_blame(me, errc::poisoned, 2, {"timed out", "2, 3"}, [&] { meet.exchange({}); });
    });
}

TEST_CASE("if it is rank 0 that does not come to an exchange, it is named") {
    run_tcp_ranks(3, [](tcp_rank& me) {
        tcp_rendezvous meet = me.meet(within(milliseconds{me.rank == 0 ? 10'000 : 300}));
        if (me.rank == 0) std::this_thread::sleep_for(milliseconds{1900});
        auto const thrown = suites::error_of([&] { meet.exchange({}); });
        me.expect(thrown && thrown->code() == errc::timed_out, "is not told of the time-out");
        if (me.rank != 0) me.expect(thrown && thrown->peer() == 0, "rank 0 is not blamed");
    });
}

TEST_CASE("a rank that leaves is named to those that wait for it, rank 0 as well") {
    for (rank_id leaving : {0u, 1u, 2u}) {
        CAPTURE(leaving);
        run_tcp_ranks(3, [&](tcp_rank& me) {
            tcp_rendezvous meet = me.meet();
            meet.barrier();
            if (me.rank == leaving) return;
            expect_blame(me, errc::peer_lost, leaving, {"rank " + std::to_string(leaving), "left"},
                         [&] { meet.exchange({}); });
        });
    }
}

TEST_CASE("a rank killed in an exchange, or before all have come, is named to all others") {
    struct killing {
        rank_id victim;
        bool in_exchange;
    };
    for (killing const& one : {killing{0, true}, killing{2, true}, killing{1, false}}) {
        CAPTURE(one.victim);
        CAPTURE(one.in_exchange);
        suites::reserved_port const port;
        suites::failure_list failures;
        std::vector<pid_t> children;
        for (rank_id r = 0; r < 4; ++r) {
            pid_t const child = ::fork();
            if (child == 0) meet_until_somebody_dies({r, one.victim, port.number(), one.in_exchange}, failures);
            children.push_back(child);
        }
        std::this_thread::sleep_for(milliseconds{300});
        ::kill(children[one.victim], SIGKILL);
        for (rank_id r = 0; r < 4; ++r) {
            int status = 0;
            ::waitpid(children[r], &status, 0);
            CHECK((r == one.victim ? WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL
                                   : WIFEXITED(status) && WEXITSTATUS(status) == 0));
        }
        for (std::string const& text : failures.texts()) FAIL_CHECK(text);
    }
}

TEST_CASE("ranks that disagree about the size are told on both sides") {
    std::optional<chorus::error> other;
    auto const thrown = rank_0_against(2, [&](std::uint16_t port) {
        other = suites::error_of([&] { tcp_rendezvous{{"127.0.0.1", port, 1, 3, "secret"}, within(suites::enough)}; });
    });
    check_error(thrown, errc::mismatch, 1, {"rank 1 at 127.0.0.1:", "3 ranks", "rank 0 says 2"});
    check_error(other, errc::mismatch, 1, {"rank 1 was refused", "3 ranks", "rank 0 says 2"});
}

TEST_CASE("two processes of one rank are told on both sides, and the others as well") {
    std::vector<std::optional<chorus::error>> others(3);
    auto const thrown = rank_0_against(4, [&](std::uint16_t port) {
        auto const come = [&](std::size_t i, rank_id r) {
            others[i] = suites::error_of([&] {
                tcp_rendezvous{{"127.0.0.1", port, r, 4, "secret"}, within(suites::enough)};
            });
        };
        std::jthread const first{[&] { come(0, 2); }};
        std::jthread const third{[&] { come(1, 1); }};
        std::this_thread::sleep_for(milliseconds{300});
        come(2, 2);
    });
    check_error(thrown, errc::mismatch, 2, {"two processes are rank 2"});
    for (auto const& other : others) check_error(other, errc::mismatch, 2, {"two processes are rank 2"});
}

TEST_CASE("another version, and ranks that cannot be, are told on both sides") {
    struct odd {
        rank_id rank;
        std::uint16_t version;
        std::string_view word;
    };
    for (odd const& one :
         {odd{1, 2, "version 2"}, odd{5, 1, "rank 5"}, odd{0, 1, "rank 0 at"}, odd{2, 1, "ranks 1 to 1"}}) {
        CAPTURE(one.word);
        std::string said;
        auto const thrown = rank_0_against(2, [&](std::uint16_t port) {
            suites::raw_client client{port};
            if (!client.join("secret", one.rank, 2, one.version)) return;
            auto const answer = client.next();
            auto const why = chorus::detail::read_failure(answer.payload);
            if (answer.kind == chorus::detail::frame_kind::refused && why) said = why->what();
        });
        check_error(thrown, errc::mismatch, one.rank, {one.word});
        CHECK_MESSAGE(said.find(one.word) != std::string::npos, said);
    }
}

TEST_CASE("a rank with another token is refused and rank 0 goes on; its error counts it") {
    run_tcp_ranks(2, [](tcp_rank& me) {
        if (me.rank == 1)
            expect_blame(me, errc::mismatch, chorus::nobody, {"rank 1 was refused", "token", "CHORUS_TOKEN"},
                         [&] { me.meet(within(suites::enough), "guessed"); });
        tcp_rendezvous meet = me.meet();
        if (me.rank == 0)
            me.expect(meet.strangers_dropped() == 1, "dropped " + std::to_string(meet.strangers_dropped()));
        suites::check_exchanges(meet, 2, me.failures);
    });
    run_tcp_ranks(2, [](tcp_rank& me) {
        if (me.rank == 1) suites::error_of([&] { me.meet(within(suites::enough), "guessed"); });
        else
            expect_blame(me, errc::timed_out, 1, {"1 with another token", "127.0.0.1:"},
                         [&] { me.meet(within(milliseconds{600})); });
    });
}

TEST_CASE("a listener that does not know the token, or is not chorus, is told from rank 0") {
    using namespace chorus::detail;
    auto const against = [](milliseconds deadline, auto const& serve) {
        tcp_listener const listener{"127.0.0.1"};
        std::jthread const server{[&](std::stop_token const& stop) {
            while (!stop.stop_requested()) {
                pollfd look{.fd = listener.descriptor(), .events = POLLIN, .revents = 0};
                if (::poll(&look, 1, 10) <= 0) continue;
                frame_stream stream{
                    owned_descriptor{::accept4(listener.descriptor(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)}};
                serve(stream);
                for (int i = 0; i < 50 && !stream.has_ended(); ++i) {
                    stream.receive(1 << 20);
                    std::this_thread::sleep_for(milliseconds{5});
                }
            }
        }};
        return suites::error_of([&] {
            tcp_rendezvous{{"127.0.0.1", listener.port(), 1, 2, "secret"}, within(deadline)};
        });
    };
    check_error(against(suites::enough, [](frame_stream& s) { s.send(std::vector<std::byte>(30, std::byte{'S'})); }),
                errc::mismatch, 0, {"not chorus", "SSSSSS"});
    check_error(against(suites::enough,
                        [](frame_stream& s) {
                            s.send(failure_frame(frame_kind::failure, {errc::aborted, "x"}));
                        }),
                errc::mismatch, 0, {"not chorus"});
    check_error(against(milliseconds{300}, [](frame_stream&) {}), errc::timed_out, 0, {"says nothing"});
    check_error(against(suites::enough,
                        [](frame_stream& s) {
                            s.send(frame_writer{frame_kind::greeting}.put(nonce{}).finish());
                            s.send(frame_writer{frame_kind::accepted}.put(digest{}).finish());
                        }),
                errc::mismatch, 0, {"does not know this rank's token"});
}

TEST_CASE("a rank that knows the token and then speaks nonsense is named") {
    for (bool too_long : {false, true}) {
        CAPTURE(too_long);
        auto const thrown = rank_0_against(3, [&](std::uint16_t port) {
            suites::raw_client client{port};
            if (!client.join("secret", 1, 3)) return;
            client.next();
            if (too_long)
                client.send(chorus::detail::frame_writer{chorus::detail::frame_kind::set}
                                .put(std::vector<std::byte>(2 << 20))
                                .finish());
            else client.send("nonsense");
            client.next();
        });
        check_error(thrown, errc::peer_lost, 1, {"rank 1", too_long ? "more than 1048576 bytes" : "no request"});
    }
}
