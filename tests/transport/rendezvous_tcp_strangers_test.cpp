// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/transport/rendezvous_tcp.hpp"

#include "chorus/base/random.hpp"
#include "suites/rendezvous_suite.hpp"
#include "suites/sanitized.hpp"
#include "suites/tcp_ranks.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

using chorus::tcp_rendezvous;
using namespace chorus::detail;
using std::chrono::milliseconds;
using suites::raw_client;
using suites::run_tcp_ranks;
using suites::tcp_rank;

namespace {

using bytes = std::vector<std::byte>;

bytes noise(chorus::counter_random const& random, std::size_t most) {
    bytes made(1 + static_cast<std::size_t>(random.below(1, most)));
    for (std::size_t i = 0; i < made.size(); ++i) made[i] = static_cast<std::byte>(random.bits(2 + i));
    return made;
}

// One stranger, of a kind that its number says; connections that are to stay open are kept in `open`.
void come_as_stranger(std::uint16_t port, std::uint64_t i, std::vector<std::unique_ptr<raw_client>>& open) {
    chorus::counter_random const random{77, i};
    auto client = std::make_unique<raw_client>(port);
    if (!client->is_connected()) return;
    bytes join = join_frame("guessed", {1, 3, nonce{}, {}}, nonce{});
    switch (i % 10) {
        case 0: client->send(noise(random, 3000)); break;
        case 1: break;                                      // closes at once
        case 2: open.push_back(std::move(client)); return;  // says nothing, and stays
        case 3: client->join("guessed", 1, 3); break;       // does not know the token
        case 4: client->send(join); break;                  // answers a greeting it did not hear
        case 5:                                             // a length without end
            client->send(frame_writer{frame_kind::join}.put(bytes(largest_stranger_payload + 1)).finish());
            break;
        case 6:  // a changed byte
            join[random.below(0, join.size())] ^= std::byte{0x40};
            client->send(join);
            client->next(milliseconds{200});
            break;
        case 7:  // byte by byte, never the last
            for (std::size_t k = 0; k < 20; ++k) client->send(bytes{join[k]});
            open.push_back(std::move(client));
            return;
        case 8:  // half a frame, then only half the connection
            join.resize(join.size() / 2);
            client->send(join);
            open.push_back(std::move(client));
            return;
        default:  // what only members may say
            client->send(
                frame_writer{static_cast<frame_kind>(random.below(0, frame_kinds))}.put(noise(random, 60)).finish());
            client->next(milliseconds{200});
    }
}

}  // namespace

TEST_CASE("thousands of strangers: garbage, half-open, slow, oversize; the ranks meet all the same") {
    constexpr std::uint64_t strangers_each = suites::is_sanitized ? 600 : 2000;
    std::size_t const descriptors = suites::open_descriptors();
    std::atomic<std::uint64_t> came{0};
    std::atomic<std::uint64_t> dropped{0};
    std::atomic<int> storms_over{0};
    run_tcp_ranks(5, [&](tcp_rank& me) {
        std::vector<std::unique_ptr<raw_client>> open;
        if (me.rank == 3 || me.rank == 4) {  // two storms, then two more ranks
            for (std::uint64_t i = 0; i < strangers_each; ++i) {
                come_as_stranger(me.port, i * 2 + me.rank, open);
                if (open.size() > 150) open.erase(open.begin(), open.begin() + 100);
                ++came;
            }
            for (++storms_over; storms_over < 2;) std::this_thread::sleep_for(milliseconds{5});
        }
        auto options = suites::within(milliseconds{40'000});
        options.stranger_within = milliseconds{300};
        tcp_rendezvous meet = me.meet(options);
        suites::check_exchanges(meet, 5, me.failures);
        if (me.rank == 0) dropped = meet.strangers_dropped();
        meet.barrier();
    });
    CHECK(came == 2 * strangers_each);
    // All but those that were there when the last rank joined: at most 64 and one for each rank.
    CHECK(dropped + 64 + 5 >= came);
    CHECK(suites::open_descriptors() == descriptors);
}

TEST_CASE("whoever has not joined in time is dropped, however busy it looks") {
    run_tcp_ranks(2, [](tcp_rank& me) {
        auto options = suites::within(suites::enough);
        options.stranger_within = milliseconds{200};
        if (me.rank == 1) {
            raw_client silent{me.port};
            raw_client slow{me.port};
            silent.next();
            slow.next();
            bytes const join = join_frame("secret", {1, 2, nonce{}, {}}, nonce{});
            bool is_dropped = false;
            for (std::size_t i = 0; i + 1 < join.size() && !is_dropped; ++i) {
                slow.send(bytes{join[i]});
                slow.next(milliseconds{20});
                is_dropped = slow.has_ended();
            }
            me.expect(is_dropped, "the slow one was not dropped");
            silent.next();
            me.expect(silent.has_ended(), "the silent one was not dropped");
        }
        tcp_rendezvous meet = me.meet(options);
        meet.barrier();
        if (me.rank == 0) me.expect(meet.describe().find("2 too slow") != std::string::npos, meet.describe());
    });
}

TEST_CASE("a rank that answers byte by byte joins as well") {
    run_tcp_ranks(2, [](tcp_rank& me) {
        if (me.rank == 0) return me.meet().barrier();
        raw_client slow{me.port};
        nonce theirs{};
        payload_reader{slow.next().payload}.fill(theirs);
        for (std::byte b : join_frame("secret", {1, 2, nonce{}, {}}, theirs)) {
            slow.send(bytes{b});
            std::this_thread::yield();
        }
        me.expect(slow.next().kind == frame_kind::accepted, "was not accepted");
        me.expect(slow.next().kind == frame_kind::ready, "was not told that all are there");
        for (std::byte b : frame_writer{frame_kind::contribution}.put(0, 8).finish()) slow.send(bytes{b});
        me.expect(slow.next().kind == frame_kind::share && slow.next().kind == frame_kind::share, "got no shares");
        slow.send(frame_writer{frame_kind::farewell}.finish());
    });
}

TEST_CASE("a recorded join does not open a second time") {
    run_tcp_ranks(2, [](tcp_rank& me) {
        if (me.rank == 1) {
            raw_client first{me.port};
            raw_client second{me.port};
            nonce greeted_first{};
            payload_reader{first.next().payload}.fill(greeted_first);
            second.next();
            second.send(join_frame("secret", {1, 2, nonce{}, {}}, greeted_first));  // right, but for another connection
            me.expect(second.next().kind == frame_kind::refused, "was let in");
        }
        me.meet().barrier();
    });
}

TEST_CASE("a rank 0 without descriptors to spare drops strangers and lets its ranks in") {
    suites::reserved_port const port;
    pid_t const rank_0 = ::fork();
    if (rank_0 == 0) {
        suites::watchdog const guard{40};
        rlimit const few{suites::open_descriptors() + 8, 4096};
        int code = ::setrlimit(RLIMIT_NOFILE, &few) == 0 ? 0 : 2;
        try {
            tcp_rendezvous meet{{"127.0.0.1", port.number(), 0, 2, "t"}, suites::within(suites::enough)};
            meet.barrier();
            if (meet.strangers_dropped() == 0) code = 3;
        } catch (std::exception const& thrown) {
            std::fprintf(stderr, "rank 0: %s\n", thrown.what());
            code = 1;
        }
        ::_exit(code);
    }
    {
        suites::watchdog const guard{40};
        std::vector<std::unique_ptr<raw_client>> silent;
        while (silent.size() < 50) {
            silent.push_back(std::make_unique<raw_client>(port.number()));
            if (silent.back()->is_connected()) continue;
            silent.pop_back();  // rank 0 does not listen yet
            std::this_thread::sleep_for(milliseconds{5});
        }
        tcp_rendezvous meet{{"127.0.0.1", port.number(), 1, 2, "t"}, suites::within(suites::enough)};
        meet.barrier();
    }
    int status = 0;
    ::waitpid(rank_0, &status, 0);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
}
