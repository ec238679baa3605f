// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/transport/any_transport.hpp"

#include "archetypes/least_transport.hpp"
#include "chorus/transport/recording.hpp"
#include "chorus/transport/self.hpp"
#include "chorus/transport/simulated.hpp"
#include "chorus/transport/thread.hpp"
#include "suites/failure_list.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using chorus::any_transport;
using chorus::progress;

namespace {

std::atomic<long> allocations{0};

void affine(std::byte* out, std::byte const* left, std::byte const* right, std::size_t count, void const*) {
    for (std::size_t i = 0; i < count; ++i)
        out[i] = static_cast<std::byte>((3 * static_cast<unsigned>(left[i]) + static_cast<unsigned>(right[i])) & 0xFFu);
}
chorus::byte_reduction const affine_reduction{.apply = affine, .op = nullptr, .element_bytes = 1};

// Counts how many tickets are alive, so that none is lost or destroyed twice.
class counting_transport {
 public:
    static inline int alive = 0;

    class ticket {
     public:
        ticket() noexcept { ++alive; }
        explicit ticket(chorus::self_transport::ticket inner) noexcept : inner_{inner} { ++alive; }
        ticket(ticket&& other) noexcept : inner_{other.inner_} { ++alive; }
        ticket& operator=(ticket&& other) noexcept = default;
        ~ticket() { --alive; }

     private:
        friend class counting_transport;
        chorus::self_transport::ticket inner_;
    };

    chorus::rank_id rank() const noexcept { return 0; }
    chorus::rank_id size() const noexcept { return 1; }
    ticket post_send(chorus::rank_id peer, chorus::message_tag tag, std::span<std::byte const> out) {
        return ticket{net_.post_send(peer, tag, out)};
    }
    ticket post_recv(chorus::rank_id peer, chorus::message_tag tag, std::span<std::byte> in) {
        return ticket{net_.post_recv(peer, tag, in)};
    }
    progress poll(ticket& pending) noexcept { return net_.poll(pending.inner_); }

 private:
    chorus::self_transport net_;
};

// Both must be polled: a long send to self waits for its receive.
void finish_both(any_transport& net, any_transport::ticket& sending, any_transport::ticket& receiving) {
    for (int done = 0; done < 2;) {
        done = net.poll(sending) == progress::done ? 1 : 0;
        done += net.poll(receiving) == progress::done ? 1 : 0;
    }
}

// Sizes and both sides of a reduction, through `net`, a transport of one rank.
void check_reductions(any_transport& net) {
    for (std::size_t bytes : {0u, 1u, 40u, 41u, 5000u})
        for (bool left : {false, true})
            for (bool in_place : {false, true}) {
                std::vector<std::byte> arriving(bytes);
                std::vector<std::byte> mine(bytes);
                for (std::size_t i = 0; i < bytes; ++i) {
                    arriving[i] = static_cast<std::byte>(i % 251);
                    mine[i] = static_cast<std::byte>((7 * i + 1) % 253);
                }
                std::vector<std::byte> const before = mine;
                std::vector<std::byte> apart(bytes);
                std::vector<std::byte>& out = in_place ? mine : apart;
                auto receiving =
                    net.post_recv_reduce(0, {1, 2}, {out.data(), mine.data(), bytes, left, &affine_reduction});
                CHECK(net.poll(receiving) == progress::idle);
                auto sending = net.post_send(0, {1, 2}, arriving);
                finish_both(net, sending, receiving);
                CHECK(net.poll(receiving) == progress::done);
                std::vector<std::byte> expected(bytes);
                if (left) affine(expected.data(), arriving.data(), before.data(), bytes, nullptr);
                else affine(expected.data(), before.data(), arriving.data(), bytes, nullptr);
                CHECK(out == expected);
            }
}

}  // namespace

// Not inlined, and malloc in pairs with free, so that every allocation of this program is counted.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
    ++allocations;
    if (void* const memory = std::malloc(bytes)) return memory;
    throw std::bad_alloc{};
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
    ++allocations;
    auto const step = static_cast<std::size_t>(alignment);
    if (void* const memory = std::aligned_alloc(step, (bytes + step - 1) / step * step)) return memory;
    throw std::bad_alloc{};
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

TEST_CASE("it is built from transports only, never copied, and models every refinement") {
    static_assert(std::is_constructible_v<any_transport, archetypes::least_transport&>);
    static_assert(std::is_constructible_v<any_transport, std::unique_ptr<archetypes::least_transport>>);
    static_assert(!std::is_constructible_v<any_transport, any_transport&>);
    static_assert(!std::is_constructible_v<any_transport, int&>);
    static_assert(!std::is_constructible_v<any_transport, std::unique_ptr<any_transport>>);
    static_assert(!std::is_convertible_v<archetypes::least_transport&, any_transport>);
    static_assert(std::is_nothrow_move_constructible_v<any_transport::ticket>);
    CHECK(sizeof(any_transport::ticket) <= 112);
    chorus::simulated_network network{3};
    any_transport simulated{network.endpoint(2)};
    CHECK(simulated.rank() == 2);
    CHECK(simulated.size() == 3);
    CHECK(simulated.is_reducing());
    CHECK(simulated.is_aborting());
    CHECK(simulated.is_explaining());
    CHECK(!simulated.is_resting());
    CHECK(simulated.is_announcing());
    CHECK(simulated.is_cancelling());
    CHECK(!simulated.is_guarded());
    CHECK(!simulated.is_recovering());
    CHECK(simulated.kind() == "simulated");
    chorus::recording_transport recorded{network.endpoint(1)};
    CHECK(recorded.kind() == "simulated");
    CHECK(chorus::kind_of(any_transport{recorded}) == "simulated");
    any_transport least{std::make_unique<archetypes::least_transport>()};
    CHECK(!(least.is_reducing() || least.is_aborting() || least.is_explaining() || least.is_resting() ||
            least.is_announcing() || least.is_cancelling() || least.is_guarded() || least.is_recovering()));
    CHECK(least.kind().empty());
}

TEST_CASE("the cores that ranks share are known through wrappers, and shared out to groups") {
    chorus::thread_fleet{2}.run([](chorus::thread_transport& net) {
        chorus::rank_id const cores = std::thread::hardware_concurrency();
        chorus::recording_transport recorded{net};
        CHECK(net.cores() == cores);
        CHECK(any_transport{recorded}.cores() == cores);
        CHECK(chorus::shared_cores(net, 2) == (cores == 1 ? 1 : 0));
    });
    struct counted : chorus::self_transport {
        chorus::rank_id size() const noexcept { return 8; }
        chorus::rank_id cores() const noexcept { return 4; }
    } const net;
    CHECK(chorus::shared_cores(net, 8) == 4);
    CHECK(chorus::shared_cores(net, 4) == 2);
    CHECK(chorus::shared_cores(net, 1) == 1);
    CHECK(chorus::shared_cores(chorus::self_transport{}, 1) == 0);
}

TEST_CASE("reductions are right where the inner transport reduces and where it cannot") {
    any_transport least{std::make_unique<archetypes::least_transport>()};
    check_reductions(least);
    chorus::simulated_network network{1};
    any_transport simulated{network.endpoint(0)};
    check_reductions(simulated);
    using recorder = chorus::recording_transport<chorus::simulated_transport>;
    any_transport recorded{std::make_unique<recorder>(network.endpoint(0))};
    check_reductions(recorded);
    chorus::thread_fleet{1}.run([](chorus::thread_transport& net) {
        any_transport thread{net};
        check_reductions(thread);
    });
}

TEST_CASE("many bounced reductions at once keep their own scratch") {
    archetypes::least_transport inner;
    any_transport net{inner};
    std::size_t const many = 50;
    std::vector<std::vector<std::byte>> mine(many);
    std::vector<any_transport::ticket> tickets;
    for (std::size_t i = 0; i < many; ++i) {
        mine[i].assign(i + 1, static_cast<std::byte>(i));
        tickets.push_back(net.post_recv_reduce(
            0, {i, 0}, {mine[i].data(), mine[i].data(), mine[i].size(), false, &affine_reduction}));
    }
    for (std::size_t i = many; i-- > 0;) net.post_send(0, {i, 0}, std::vector<std::byte>(i + 1, std::byte{5}));
    for (std::size_t i = 0; i < many; ++i) {
        CHECK(net.poll(tickets[i]) == progress::done);
        CHECK(mine[i] == std::vector<std::byte>(i + 1, static_cast<std::byte>(3 * i + 5)));
    }
}

TEST_CASE("tickets move without leaks, and outlive a move of the transport") {
    REQUIRE(counting_transport::alive == 0);
    {
        any_transport first{std::make_unique<counting_transport>()};
        std::vector<std::byte> in(3);
        std::vector<any_transport::ticket> tickets;
        for (int i = 0; i < 20; ++i) tickets.push_back(first.post_recv(0, {9, 0}, in));
        tickets[3] = std::move(tickets[4]);
        tickets[5] = any_transport::ticket{};
        auto& self = tickets[6];
        tickets[6] = std::move(self);
        any_transport second{std::move(first)};
        for (int i = 0; i < 20; ++i) second.post_send(0, {9, 0}, std::vector<std::byte>(3, std::byte{1}));
        for (auto& ticket : tickets) CHECK(second.poll(ticket) == progress::done);
        CHECK(counting_transport::alive == 18);
    }
    CHECK(counting_transport::alive == 0);
}

TEST_CASE("where the inner transport lacks a refinement, the fallback is sensible") {
    archetypes::least_transport inner;
    any_transport net{inner};
    std::vector<std::byte> in(1);
    auto pending = net.post_recv(0, {1, 0}, in);
    CHECK(net.poll(pending) == progress::idle);
    for (std::uint32_t n : {0u, 100u, 5000u}) net.rest(n);
    CHECK(net.try_enter());
    CHECK(!net.try_enter());
    net.leave();
    CHECK(net.try_enter());
    net.leave();
    chorus::operation_record record;
    record.sequence = 3;
    net.announce(record);
    CHECK(net.view_of(0).sequence == 3);
    auto mismatched = net.post_recv(0, {2, 0}, in);
    net.post_send(0, {2, 0}, std::vector<std::byte>(2));
    CHECK(net.poll(mismatched) == progress::failed);
    CHECK(net.poll(mismatched) == progress::failed);
    CHECK(net.failure().code() == chorus::errc::aborted);
    CHECK(!net.is_aborted());
    net.abort(chorus::errc::timed_out, 0, "first");
    net.abort(chorus::errc::aborted, 0, "second");
    CHECK(net.is_aborted());
    CHECK(net.poll(pending) == progress::failed);
    CHECK(std::string{net.failure().what()} == "timed out: first");
}

TEST_CASE("refinements of the inner transport are reached") {
    chorus::simulated_network network{2};
    any_transport net{network.endpoint(0)};
    std::vector<std::byte> in(2, std::byte{9});
    auto cancelled = net.post_recv(1, {1, 0}, in);
    net.cancel(cancelled);
    CHECK(net.poll(cancelled) == progress::done);
    auto pending = net.post_recv(1, {2, 0}, in);
    network.endpoint(1).post_send(0, {2, 7}, in);
    CHECK(net.poll(pending) == progress::failed);
    CHECK(net.failure().code() == chorus::errc::mismatch);
    chorus::operation_record record;
    record.sequence = 8;
    net.announce(record);
    CHECK(network.endpoint(1).view_of(0).sequence == 8);
    network.endpoint(1).abort(chorus::errc::aborted, 1, "over");
    CHECK(net.is_aborted());
    CHECK(net.failure().peer() == 1);
}

TEST_CASE("the survivors go on, and where the inner transport cannot that is said") {
    suites::failure_list failures;
    chorus::thread_fleet{3}.run([&](chorus::thread_transport& inner) {
        any_transport net{inner};
        auto const expect = [&](bool holds, char const* what) {
            if (!holds) failures.add(std::string{what} + " on rank " + std::to_string(net.rank()));
        };
        expect(net.is_recovering() && net.recoveries() == 0, "at first");
        chorus::rank_id const right = (net.rank() + 1) % 3;
        chorus::rank_id const left = (net.rank() + 2) % 3;
        auto const out = static_cast<std::byte>(net.rank());
        std::byte in{9};
        auto never = net.post_recv(left, {40, 0}, std::span{&in, 1});
        net.abort(chorus::errc::aborted, net.rank(), "enough");
        net.cancel(never);
        expect(net.recover(std::chrono::seconds{20}) == std::vector<chorus::rank_id>{0, 1, 2}, "all live");
        expect(net.recoveries() == 1 && inner.recoveries() == 1, "counted");
        auto receiving = net.post_recv(left, {41, 0}, std::span{&in, 1});
        auto sending = net.post_send(right, {41, 0}, std::span{&out, 1});
        finish_both(net, sending, receiving);
        expect(in == static_cast<std::byte>(left), "it works again");
    });
    CHECK(failures.texts().empty());
    archetypes::least_transport least;
    any_transport net{least};
    CHECK(net.recoveries() == 0);
    try {
        net.recover(std::chrono::seconds{1});
        FAIL_CHECK("it said nothing");
    } catch (chorus::error const& refusal) {
        CHECK(refusal.code() == chorus::errc::unsupported);
        CHECK(std::string{refusal.what()}.find("recover on rank 0") != std::string::npos);
    }
}

TEST_CASE("no post allocates once scratch has grown") {
    chorus::thread_fleet{1}.run([](chorus::thread_transport& inner) {
        any_transport net{inner};
        std::vector<std::byte> const out(1000, std::byte{1});
        std::vector<std::byte> in(1000);
        auto exchange = [&] {
            auto receiving = net.post_recv(0, {1, 0}, in);
            auto sending = net.post_send(0, {1, 0}, out);
            finish_both(net, sending, receiving);
        };
        exchange();
        long const before = allocations;
        for (int i = 0; i < 100; ++i) exchange();
        CHECK(allocations == before);
    });
    archetypes::least_transport inner;
    any_transport net{inner};
    std::vector<std::byte> mine(1000);
    chorus::reduce_target const into{mine.data(), mine.data(), mine.size(), false, &affine_reduction};
    auto allocations_of_a_reduction = [&](std::uint64_t stream) {
        long const before = allocations;
        auto plain = inner.post_recv(0, {stream, 0}, mine);
        long const between = allocations;
        auto bounced = net.post_recv_reduce(0, {stream + 1, 0}, into);
        long const after = allocations;
        inner.post_send(0, {stream, 0}, mine);
        inner.post_send(0, {stream + 1, 0}, mine);
        CHECK(inner.poll(plain) == progress::done);
        CHECK(net.poll(bounced) == progress::done);
        return (after - between) - (between - before);
    };
    CHECK(allocations_of_a_reduction(10) > 0);
    CHECK(allocations_of_a_reduction(20) == 0);
    CHECK(allocations_of_a_reduction(30) == 0);
}
