// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

// Built with -fno-exceptions: collectives give the same results, and an error reaches the failure handler, which ends the process.
#include <chorus/chorus.hpp>
#include <chorus/transport/shared_memory.hpp>
#include <chorus/transport/thread.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#if defined(__cpp_exceptions)
#error "this program is about -fno-exceptions"
#endif

namespace {

constexpr int handler_was_called = 42;

void end_with_code(chorus::error const& failure) {
    ::_exit(failure.code() == chorus::errc::invalid_argument ? handler_was_called : 1);
}

/// The exit code of a child process that does this; 128 + number where a signal ends it.
template <class Body>
int exit_code_of(Body const& body) {
    pid_t const child = ::fork();
    if (child == 0) {
        body();
        ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void make_fleet_of_nobody() { chorus::thread_fleet{0}; }

template <class Net>
bool sums_are_right(Net& net, std::size_t count) {
    chorus::group world{net};
    std::vector<std::int64_t> v(count);
    std::iota(v.begin(), v.end(), world.rank());
    chorus::all_reduce(world, v, chorus::sum{});
    std::int64_t const ranks = world.size();
    for (std::size_t i = 0; i < count; ++i)
        if (v[i] != ranks * static_cast<std::int64_t>(i) + ranks * (ranks - 1) / 2) return false;
    return true;
}

}  // namespace

TEST_CASE("sums on threads, 1 to 9 ranks and counts around the ranks") {
    for (chorus::rank_id p = 1; p <= 9; ++p)
        for (std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{p - 1}, std::size_t{p + 1}, std::size_t{1000}}) {
            std::atomic<chorus::rank_id> right{0};
            chorus::thread_fleet{p}.run([&](auto& net) { right += sums_are_right(net, count); });
            CHECK(right == p);
        }
}

TEST_CASE("sums in processes") {
    CHECK(exit_code_of([] {
              chorus::process_fleet{3}.run([](auto& net) {
                  if (!sums_are_right(net, 5000)) ::_exit(1);
              });
          }) == 0);
}

TEST_CASE("a rank's failing exit code reaches the handler of the process that started it") {
    CHECK(exit_code_of([] {
              chorus::set_failure_handler([](chorus::error const& failure) {
                  ::_exit(failure.code() == chorus::errc::peer_lost && failure.peer() == 1 ? handler_was_called : 1);
              });
              chorus::process_fleet{3}.run([](auto& net) {
                  if (net.rank() == 1) ::_exit(7);
              });
          }) == handler_was_called);
}

TEST_CASE("an error reaches the handler") {
    CHECK(exit_code_of([] {
              chorus::set_failure_handler(&end_with_code);
              make_fleet_of_nobody();
          }) == handler_was_called);
}

TEST_CASE("a handler that returns does not make the failure disappear") {
    CHECK(exit_code_of([] {
              chorus::set_failure_handler([](chorus::error const&) {});
              make_fleet_of_nobody();
          }) == 128 + SIGABRT);
}
