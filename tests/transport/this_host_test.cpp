// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/transport/this_host.hpp"

#include <cstdint>
#include <string_view>
#include <thread>

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

namespace {

constexpr int not_permitted = 3;

/// What a child process says of its host after `change`: 0 the same as here, 1 another one.
template <class Change>
int compared_in_child(Change const& change) {
    std::uint64_t const here = chorus::this_host();
    pid_t const child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) ::_exit(!change() ? not_permitted : chorus::this_host() == here ? 0 : 1);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    return WEXITSTATUS(status);
}

}  // namespace

TEST_CASE("threads and child processes are on one host, whenever they ask") {
    std::uint64_t const here = chorus::this_host();
    CHECK(chorus::this_host() == here);
    std::uint64_t in_thread = 0;
    std::thread{[&] { in_thread = chorus::this_host(); }}.join();
    CHECK(in_thread == here);
    CHECK(compared_in_child([] { return true; }) == 0);
}

TEST_CASE("another host name, or a network of its own, is another host") {
    constexpr std::string_view name = "some-other-host";
    int const renamed = compared_in_child([&] {
        return ::unshare(CLONE_NEWUTS) == 0 && ::sethostname(name.data(), name.size()) == 0;
    });
    int const isolated = compared_in_child([] { return ::unshare(CLONE_NEWNET) == 0; });
    CHECK((renamed == 1 || renamed == not_permitted));
    CHECK((isolated == 1 || isolated == not_permitted));
}
