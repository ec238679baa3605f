// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/transport/rendezvous_tcp.hpp"

#include "suites/expected_error.hpp"
#include "suites/rendezvous_suite.hpp"
#include "suites/tcp_ranks.hpp"

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

using chorus::errc;
using chorus::rank_id;
using chorus::tcp_listener;
using chorus::tcp_rendezvous;
using std::chrono::milliseconds;
using suites::run_tcp_ranks;
using suites::tcp_rank;

namespace {

std::vector<std::byte> bytes_of(std::string_view text) {
    auto const raw = std::as_bytes(std::span{text.data(), text.size()});
    return {raw.begin(), raw.end()};
}

bool has_ipv6() {
    return chorus::detail::stream_socket(AF_INET6).is_open() &&
           suites::error_of([] { tcp_listener{"::1"}; }) == std::nullopt;
}

// Runs `body(rank)` in a process for each rank; their exit codes.
template <class Body> std::vector<int> run_processes(rank_id ranks, Body const& body) {
    std::vector<pid_t> children;
    for (rank_id r = 0; r < ranks; ++r) {
        pid_t const child = ::fork();
        if (child == 0) {
            suites::watchdog const guard{40};
            int code = 1;
            try {
                code = body(r);
            } catch (std::exception const& thrown) { std::fprintf(stderr, "rank %u: %s\n", r, thrown.what()); }
            ::_exit(code);
        }
        children.push_back(child);
    }
    std::vector<int> codes;
    for (pid_t child : children) {
        int status = 0;
        ::waitpid(child, &status, 0);
        codes.push_back(WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status));
    }
    return codes;
}

}  // namespace

TEST_CASE("everybody's bytes, round after round, for 1, 2, 3, 8 and 17 ranks") {
    for (rank_id p : {1u, 2u, 3u, 8u, 17u}) {
        CAPTURE(p);
        run_tcp_ranks(p, [](tcp_rank& me) {
            tcp_rendezvous meet = me.meet();
            me.expect(meet.rank() == me.rank && meet.size() == me.size, "is somebody else");
            suites::check_exchanges(meet, 20, me.failures);
            meet.barrier();
        });
    }
}

TEST_CASE("exchanges of the largest size, by ranks of unequal speed") {
    run_tcp_ranks(3, [](tcp_rank& me) {
        auto options = suites::within(suites::enough);
        options.largest_value = 3'000'000;
        tcp_rendezvous meet = me.meet(options);
        for (int round = 0; round < 3; ++round) {
            std::this_thread::sleep_for(milliseconds{static_cast<int>(me.rank) * 10});
            auto const all = meet.exchange(
                std::vector<std::byte>(options.largest_value - me.rank, static_cast<std::byte>(me.rank + 1)));
            for (rank_id r = 0; r < me.size; ++r)
                me.expect(all[r] == std::vector<std::byte>(options.largest_value - r, static_cast<std::byte>(r + 1)),
                          "got something else");
        }
        std::vector<std::byte> const too_much(options.largest_value + 1);
        std::string const wrong = suites::unlike(errc::invalid_argument, {"3000001", "largest_value is 3000000"},
                                                 [&] { meet.exchange(too_much); });
        me.expect(wrong.empty(), wrong);
        meet.barrier();  // a refused argument harms nobody
    });
}

TEST_CASE("a value is got as soon as anybody has set it, by everybody") {
    run_tcp_ranks(4, [](tcp_rank& me) {
        tcp_rendezvous meet = me.meet();
        std::string const own = "of " + std::to_string(me.rank);
        if (me.rank == 3) std::this_thread::sleep_for(milliseconds{50});
        meet.set(own, bytes_of(own));
        for (rank_id r = 0; r < me.size; ++r) {
            std::string const name = "of " + std::to_string(r);
            me.expect(meet.get(name) == bytes_of(name), "got something else for " + name);
        }
        meet.barrier();
        if (me.rank == 2) meet.set(own, bytes_of("new"));
        if (me.rank == 2) meet.set("empty", {});
        meet.barrier();
        me.expect(meet.get("of 2") == bytes_of("new"), "got the old value");
        me.expect(meet.get("empty").empty(), "got something for nothing");
        meet.barrier();
    });
}

TEST_CASE("a value that nobody sets is waited for until the deadline, which harms nothing") {
    run_tcp_ranks(2, [](tcp_rank& me) {
        tcp_rendezvous meet = me.meet(suites::within(milliseconds{1500}));
        std::string const own = "nothing of " + std::to_string(me.rank);
        auto const wrong = suites::unlike(errc::timed_out, {"rank " + std::to_string(me.rank), '"' + own + '"'},
                                          [&] { meet.get(own); });
        me.expect(wrong.empty(), wrong);
        meet.set(own, bytes_of(own));  // answers the question that was given up: late, for nobody
        suites::check_exchanges(meet, 3, me.failures);
        me.expect(meet.get(own) == bytes_of(own), "a late answer was taken for another");
        meet.barrier();
        auto const refused =
            suites::unlike(errc::invalid_argument, {"2000", "1024"}, [&] { meet.get(std::string(2000, 'k')); });
        me.expect(refused.empty(), refused);
    });
}

TEST_CASE("rank 0 may come last, others may come late") {
    for (rank_id late : {0u, 1u, 2u}) {
        CAPTURE(late);
        suites::reserved_port const port;
        run_tcp_ranks(3, [&](tcp_rank& me) {
            if (me.rank == late) std::this_thread::sleep_for(milliseconds{250});
            tcp_rendezvous meet{{"127.0.0.1", port.number(), me.rank, me.size, "t"}, suites::within(suites::enough)};
            suites::check_exchanges(meet, 2, me.failures);
        });
    }
}

TEST_CASE("a port serves again at once, and no descriptor stays open") {
    suites::reserved_port const port;
    std::size_t const before = suites::open_descriptors();
    for (int again = 0; again < 20; ++again)
        run_tcp_ranks(3, [&](tcp_rank& me) {
            tcp_rendezvous meet{{"127.0.0.1", port.number(), me.rank, me.size, "t" + std::to_string(again)},
                                suites::within(suites::enough)};
            meet.barrier();
        });
    CHECK(suites::open_descriptors() == before);
}

TEST_CASE("names and both families of addresses lead to rank 0") {
    std::vector<std::string> addresses{"127.0.0.1", "localhost"};
    if (has_ipv6()) addresses.push_back("::1");
    for (std::string const& address : addresses) {
        CAPTURE(address);
        tcp_listener listener{address};
        std::uint16_t const port = listener.port();
        suites::watchdog const guard{30};
        suites::failure_list failures;
        {
            std::jthread const other{[&] {
                tcp_rendezvous meet{{address, port, 1, 2, ""}, suites::within(suites::enough)};
                suites::check_exchanges(meet, 2, failures);
            }};
            tcp_rendezvous meet{{address, 0, 0, 2, ""}, suites::within(suites::enough), std::move(listener)};
            suites::check_exchanges(meet, 2, failures);
        }
        CHECK(failures.texts().empty());
    }
}

TEST_CASE("separate processes meet as their launcher's variables say, rank 0 last") {
    suites::reserved_port const port;
    auto const codes = run_processes(4, [&](rank_id r) {
        if (r == 0) std::this_thread::sleep_for(milliseconds{100});
        std::map<std::string, std::string> const variables{{"OMPI_COMM_WORLD_RANK", std::to_string(r)},
                                                           {"OMPI_COMM_WORLD_SIZE", "4"},
                                                           {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                                                           {"MASTER_PORT", std::to_string(port.number())},
                                                           {"CHORUS_TOKEN", "s3cret"}};
        tcp_rendezvous meet =
            tcp_rendezvous::from_environment(suites::within(suites::enough), [&](std::string const& name) {
                auto const found = variables.find(name);
                return found == variables.end() ? std::nullopt : std::optional{found->second};
            });
        suites::failure_list failures;
        suites::check_exchanges(meet, 10, failures);
        bool const says_who = meet.describe().find("Open MPI") != std::string::npos;
        return failures.texts().empty() && says_who ? 0 : 1;
    });
    CHECK(codes == std::vector<int>(4, 0));
}

TEST_CASE("which interface was used and why is told on request") {
    run_tcp_ranks(2, [](tcp_rank& me) {
        tcp_rendezvous meet = me.meet();
        std::string const text = meet.describe();
        for (char const* word : {"rank ", "of 2", "rank 0 at 127.0.0.1",
                                 "connection from 127.0.0.1:", "interface lo 127.0.0.1: the kernel's way"})
            me.expect(text.find(word) != std::string::npos, std::string{"no \""} + word + "\" in " + text);
        me.expect(meet.used_interface().is_made(), "used no interface");
        meet.barrier();
    });
    tcp_rendezvous const alone{{"127.0.0.1", 0, 0, 1, ""}, {}};
    CHECK(alone.describe().find("no connection") != std::string::npos);
}

TEST_CASE("descriptors are not inherited by programs that are started") {
    run_tcp_ranks(2, [](tcp_rank& me) {
        tcp_listener const extra{"127.0.0.1"};
        me.expect((::fcntl(extra.descriptor(), F_GETFD) & FD_CLOEXEC) != 0, "the listener is");
        tcp_rendezvous meet = me.meet();
        // All sockets of this process but the standard ones, which a test runner may have opened.
        for (int descriptor = 3; descriptor < 64; ++descriptor) {
            int type = 0;
            socklen_t length = sizeof type;
            sockaddr_storage name{};
            socklen_t name_length = sizeof name;
            if (::getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &length) != 0 || type != SOCK_STREAM) continue;
            if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&name), &name_length) != 0 ||
                name.ss_family != AF_INET)
                continue;
            me.expect((::fcntl(descriptor, F_GETFD) & FD_CLOEXEC) != 0, "a connection is");
        }
        meet.barrier();
    });
}

TEST_CASE("a rendezvous moves") {
    run_tcp_ranks(2, [](tcp_rank& me) {
        tcp_rendezvous first = me.meet();
        tcp_rendezvous second = std::move(first);
        suites::check_exchanges(second, 2, me.failures);
    });
}

TEST_CASE("arguments that cannot be right are refused at once") {
    auto const refused = [](chorus::tcp_meeting const& meeting, std::initializer_list<std::string_view> words) {
        return suites::unlike(errc::invalid_argument, words, [&] { tcp_rendezvous{meeting}; });
    };
    CHECK(refused({"127.0.0.1", 1, 2, 2, ""}, {"rank 2 of 2", "below the size"}) == "");
    CHECK(refused({"127.0.0.1", 1, 0, 0, ""}, {"rank 0 of 0"}) == "");
    CHECK(refused({"127.0.0.1", 0, 1, 2, ""}, {"rank 1", "port 0"}) == "");
    CHECK(refused({"127.0.0.1", 0, 0, 2, ""}, {"rank 0", "port 0", "tcp_listener"}) == "");
    CHECK(suites::unlike(errc::invalid_argument, {"rank 1", "only rank 0 listens"}, [] {
              tcp_rendezvous{{"127.0.0.1", 1, 1, 2, ""}, {}, tcp_listener{"127.0.0.1"}};
          }) == "");
}
