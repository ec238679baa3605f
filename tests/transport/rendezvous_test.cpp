// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/transport/rendezvous.hpp"

#include "suites/expected_error.hpp"
#include "suites/failure_list.hpp"
#include "suites/rendezvous_suite.hpp"
#include "suites/watchdog.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

using chorus::errc;
using chorus::rank_id;
using chorus::self_rendezvous;
using chorus::thread_rendezvous;
using std::chrono::milliseconds;

namespace {

// Every rank as a thread with its own rendezvous; the body may end it early.
template <class Body> void run(rank_id ranks, chorus::time_limit deadline, Body const& body) {
    suites::watchdog const guard{30};
    suites::failure_list failures;
    auto all = thread_rendezvous::of(ranks, deadline);
    {
        std::vector<std::jthread> threads;
        for (rank_id r = 0; r < ranks; ++r)
            threads.emplace_back([&, r] {
                std::optional<thread_rendezvous> mine{std::move(all[r])};
                body(mine, failures);
            });
    }
    for (std::string const& text : failures.texts()) FAIL_CHECK(text);
}

}  // namespace

TEST_CASE("a rendezvous of one gets back what it gave") {
    self_rendezvous meet;
    suites::failure_list failures;
    suites::check_exchanges(meet, 20, failures);
    CHECK(failures.texts().empty());
    CHECK(meet.exchange({}).size() == 1);
}

TEST_CASE("threads get everybody's bytes, round after round") {
    for (rank_id p : {1u, 2u, 3u, 8u, 17u}) {
        CAPTURE(p);
        run(p, milliseconds{20000}, [](auto& mine, auto& failures) { suites::check_exchanges(*mine, 50, failures); });
    }
    CHECK(chorus::bootstrap<thread_rendezvous>);
}

TEST_CASE("HNG-3: threads that do not come to an exchange are named") {
    run(4, milliseconds{100}, [](auto& mine, auto& failures) {
        if (mine->rank() >= 2) return std::this_thread::sleep_for(milliseconds{400});
        std::string const wrong = suites::unlike(errc::timed_out, {"2, 3"}, [&] { mine->exchange({}); });
        if (!wrong.empty()) failures.add(wrong);
        if (suites::error_of([&] { mine->exchange({}); })->code() != errc::timed_out)
            failures.add("is usable after a failure");
    });
}

TEST_CASE("a thread that has left is named to those that wait for it") {
    run(3, milliseconds{20000}, [](auto& mine, auto& failures) {
        mine->exchange({});
        if (mine->rank() == 1) return mine.reset();
        auto const thrown = suites::error_of([&] { mine->exchange({}); });
        if (!thrown || thrown->code() != errc::peer_lost || thrown->peer() != 1) failures.add("does not name rank 1");
    });
}

TEST_CASE("a rendezvous of no threads is refused") {
    CHECK(suites::unlike(errc::invalid_argument, {"at least one rank"}, [] { thread_rendezvous::of(0); }) == "");
}
