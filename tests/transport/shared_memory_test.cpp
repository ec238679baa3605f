// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/transport/shared_memory.hpp"

#include "suites/recovery_suite.hpp"
#include "suites/transport_loops.hpp"
#include "suites/transport_suite.hpp"

#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

using chorus::process_fleet;
using chorus::progress;
using chorus::rank_id;
using chorus::shared_memory_transport;

namespace {

auto const make = [](rank_id p) { return process_fleet{p}; };

// Long messages go through shared chunks, as where a peer's memory cannot be read.
auto const make_streaming = [](rank_id p) { return process_fleet{p, {.attach_from_bytes = ~std::uint64_t{0}}}; };
// Long messages are read from the peer's memory, however short they are.
auto const make_attaching = [](rank_id p) { return process_fleet{p, {.attach_from_bytes = 0}}; };

std::string session_name(char const* topic) { return std::string{"chorus_test_"} + topic + std::to_string(::getpid()); }

suites::bytes numbered(std::size_t bytes, std::uint64_t seed) {
    suites::bytes made(bytes);
    for (std::size_t i = 0; i < bytes; ++i) made[i] = static_cast<std::byte>((i * 7 + i / 251 + seed * 13) & 0xFFu);
    return made;
}

// What the waiting rank 0 must see when rank 1 ends in some way while it is awaited.
template <class End>
void check_lost_peer(End const& end) {
    suites::outcome const seen = suites::observe(make, 2, [&](auto& rank) {
        suites::bytes in(8);
        suites::bytes const out(8);
        if (rank.me() == 1) {
            auto told = rank.recv(0, 2, in);
            rank.finish(told, "wait until rank 0 is ready");
            return end();
        }
        auto pending = rank.recv(1, 1, in);
        rank.send(1, 2, out);
        auto const begin = std::chrono::steady_clock::now();
        rank.check(rank.wait(pending) == progress::failed, "waits for a dead rank");
        rank.check(std::chrono::steady_clock::now() - begin < std::chrono::seconds{4}, "is told late");
        rank.check(rank.net().failure().code() == chorus::errc::peer_lost, "wrong code" + rank.reason());
        rank.check(rank.net().failure().peer() == 1, "wrong rank blamed" + rank.reason());
    });
    for (std::string const& text : seen.failures) FAIL_CHECK(text);
    CHECK_MESSAGE(seen.thrown.find("rank 1") != std::string::npos, seen.thrown);
}

std::size_t files_in_shared_memory() {
    std::size_t files = 0;
    std::error_code ignored;
    for (auto const& file : std::filesystem::directory_iterator{"/dev/shm", ignored})
        files += file.path().filename().string().find("chorus") != std::string::npos ? 1u : 0u;
    return files;
}

}  // namespace

TEST_CASE("the laws of a transport hold between processes") { suites::check_transport(make); }

TEST_CASE("the laws of a transport hold between processes, whichever way long messages go") {
    suites::check_transport(make_streaming, {2, 3});
    suites::check_transport(make_attaching, {2, 3});
}

TEST_CASE("what is pushed arrives as what is sent does, whatever its length and its elements") {
    // Of elements of an odd length, each byte is added: 1 to 4 pieces, a whole one, one byte or one element more.
    auto const add = [](std::byte* out, std::byte const* left, std::byte const* right, std::size_t count, void const* bytes) {
        for (std::size_t i = 0; i < count * *static_cast<std::size_t const*>(bytes); ++i)
            out[i] = static_cast<std::byte>(std::to_integer<unsigned>(left[i]) + std::to_integer<unsigned>(right[i]));
    };
    suites::outcome const seen = suites::observe(make, 2, [&](auto& rank) {
        rank_id const other = 1 - rank.me();
        std::uint64_t stream = 1;
        for (std::size_t element : {1u, 4u, 12u, 40'000u})
            for (std::size_t count : {0u, 1u, 3000u, 32768u, 32769u, 140'000u}) {
                if (element > 12 && count > 3) continue;
                for (rank_id sender : {0u, 1u}) {
                    suites::bytes const out = numbered(element * count, stream);
                    suites::bytes in = numbered(element * count, stream + 1);
                    suites::bytes expected = in;
                    add(expected.data(), out.data(), in.data(), count, &element);
                    chorus::byte_reduction const by{add, &element, element};
                    for (bool reduces : {false, true}) {
                        ++stream;
                        if (rank.me() == sender) {
                            auto pushed = rank.net().post_push(other, {stream, 0}, out, element);
                            rank.finish(pushed, "push");
                            continue;
                        }
                        suites::bytes got = in;
                        auto coming = reduces ? rank.net().post_recv_reduce(sender, {stream, 0}, {got.data(), got.data(), got.size(), true, &by})
                                              : rank.net().post_recv(sender, {stream, 0}, got);
                        rank.finish(coming, "receive");
                        rank.check(got == (reduces ? expected : out), std::to_string(count) + " elements of " + std::to_string(element) + " bytes");
                    }
                }
            }
    });
    for (std::string const& text : seen.failures) FAIL_CHECK(text);
    CHECK(seen.thrown == "");
}

TEST_CASE("THR-1: more processes than cores do not collapse") {
    suites::hold("300 barriers", make, 8, [](auto& rank) {
        for (std::uint64_t number = 0; number < 300; ++number) suites::numbered_barrier(rank, number);
    });
}

TEST_CASE("HNG-2, ABT-5: a rank that is killed, exits or leaves is lost to whoever waits for it") {
    check_lost_peer([] { ::raise(SIGKILL); });
    check_lost_peer([] { ::_exit(3); });
    check_lost_peer([] {});
}

TEST_CASE("processes go on without those that were killed or left") {
    suites::check_recovery(make, [](auto&) { ::raise(SIGKILL); });
    suites::check_recovery(make_streaming, [](auto&) { ::raise(SIGKILL); });
    suites::check_recovery(make, [](auto&) {});
}

TEST_CASE("FRK-1: a forked child is refused, and its parent does not notice") {
    suites::hold("fork", make, 2, [](auto& rank) {
        suites::exchange_among(rank, {0, 1}, 1);
        pid_t const child = ::fork();
        if (child == 0) {
            suites::bytes in(8);
            auto pending = rank.recv(1 - rank.me(), 1, in);
            bool const refused = rank.net().poll(pending) == progress::failed && rank.net().is_aborted() &&
                                 rank.net().failure().code() == chorus::errc::forked;
            rank.net().abort(chorus::errc::aborted, 0, "by a child");
            ::_exit(refused ? 0 : 1);
        }
        int status = 0;
        rank.check(::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0,
                   "a child is not refused");
        suites::exchange_among(rank, {0, 1}, 2);
    });
}

TEST_CASE("an exception in a child comes out of the fleet with its text") {
    suites::outcome const seen = suites::observe(make, 3, [](auto& rank) {
        if (rank.me() == 2) throw std::runtime_error{"out of cheese"};
    });
    CHECK(seen.thrown.find("out of cheese") != std::string::npos);
}

TEST_CASE("ABT-3: killed in the middle of long messages, nothing stays behind") {
    std::size_t const before = files_in_shared_memory();
    for (int run = 0; run < 10; ++run) {
        suites::observe(make, 2, [&](auto& rank) {
            suites::bytes const out(16u << 20);
            suites::bytes in(out.size());
            typename std::remove_reference_t<decltype(rank)>::ticket open[] = {rank.send(1 - rank.me(), 1, out),
                                                                                rank.recv(1 - rank.me(), 1, in)};
            for (int polls = 0; polls < run * 3; ++polls) rank.net().poll(open[polls % 2]);
            if (rank.me() == 1) ::raise(SIGKILL);
            rank.wait_all(open);
        });
    }
    CHECK(files_in_shared_memory() == before);
}

TEST_CASE("processes meet under a name, which can be used again at once") {
    std::string const name = session_name("meet");
    for (int run = 0; run < 3; ++run) {
        std::vector<pid_t> children;
        for (rank_id r = 0; r < 3; ++r) {
            pid_t const child = ::fork();
            REQUIRE(child >= 0);
            if (child == 0) {
                int code = 1;
                try {
                    shared_memory_transport net{name, r, 3, {.join_within = std::chrono::seconds{20}}};
                    suites::failure_list failures;
                    suites::rank_of rank{net, failures};
                    suites::sizes_to_everybody(rank);
                    code = failures.texts().empty() ? 0 : 2;
                } catch (...) {
                    code = 3;
                }
                ::_exit(code);
            }
            children.push_back(child);
        }
        for (pid_t child : children) {
            int status = 0;
            REQUIRE(::waitpid(child, &status, 0) == child);
            CHECK(WIFEXITED(status));
            CHECK(WEXITSTATUS(status) == 0);
        }
    }
}

TEST_CASE("HNG-3: whoever joins alone is told so after the time given") {
    for (rank_id me : {0u, 1u}) {
        try {
            shared_memory_transport net{session_name("alone"), me, 2, {.join_within = std::chrono::milliseconds{200}}};
            FAIL_CHECK("joined a session of two alone");
        } catch (chorus::error const& failure) {
            CHECK(failure.code() == chorus::errc::timed_out);
        }
    }
    CHECK_THROWS_AS((shared_memory_transport{session_name("alone"), 2, 2}), chorus::error);
    CHECK_THROWS_AS(process_fleet{0}, chorus::error);
}
