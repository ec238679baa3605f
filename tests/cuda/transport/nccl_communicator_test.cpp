// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/cuda/transport/nccl_communicator.cuh"

#include "chorus/cuda/transport/nccl.cuh"
#include "cuda_on_cpu/device_buffer.hpp"
#include "cuda_on_cpu/nccl_ranks.hpp"
#include "suites/expected_error.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <vector>

namespace cuda = chorus::cuda;
using chorus::errc;
using chorus::rank_id;
using cuda_on_cpu::device_buffer;
using cuda_on_cpu::require;
using namespace std::chrono_literals;

namespace {

int sum_in(cuda::nccl_communicator const& group, rank_id me) {
    cuda_on_cpu::test_stream const stream;
    device_buffer<int> const value{std::vector<int>(1, 1 << me)};
    cuda::plan_all_reduce(group, value.span(), chorus::sum{}).run(stream);
    return value.values(stream)[0];
}

}  // namespace

TEST_CASE("a group of an NCCL communicator is split once, and sums among its members alone") {
    std::size_t const before = cuda_on_cpu::splits();
    cuda_on_cpu::on_nccl_ranks(1, 4, [](auto& meet) {
        cuda::nccl_communicator world{meet};
        using partition = cuda::nccl_communicator::partition;
        partition const pairs{{0, 1}, {2, 3}}, crossed{{2, 0}, {1, 3}}, half_known{{0, 1}, {2}, {3}}, some{{1, 2}};
        for (int period = 0; period < 3; ++period)
            for (partition const& groups : {pairs, crossed, half_known, some}) {
                auto* const mine = world.split(groups);
                int expected = 0;
                for (auto const& group : groups)
                    for (rank_id each : group)
                        if (each == world.rank())
                            for (rank_id member : group) expected |= 1 << member;
                require((mine == nullptr) == (expected == 0), "who is in a group");
                if (mine != nullptr) require(sum_in(*mine, world.rank()) == expected, "the sum of a group");
            }
        require(world.rank() != 0 || world.split(crossed)->rank() == 1, "members are numbered as they are listed");
        require(suites::unlike(errc::invalid_argument, {"rank 1", "two groups"}, [&] { world.split({{0, 1}, {1}}); }) == "", "a rank in two groups");
    });
    CHECK(cuda_on_cpu::splits() - before == 4 * 4);
}

TEST_CASE("a rank that does not come is an error when an NCCL communicator is made") {
    cuda_on_cpu::on_nccl_ranks(2, 3, [](auto& meet) {
        if (meet.rank() == 2) {
            std::array<std::byte, sizeof(chorus::detail::nccl_invitation)> mine{};  // exchanges, and stays away
            chorus::detail::nccl_invitation const invited{NCCL_VERSION_CODE, {}};
            std::memcpy(mine.data(), &invited, sizeof invited);
            meet.exchange(mine);
            return;
        }
        std::string const wrong = suites::unlike(errc::timed_out, {"ncclCommInitRankConfig", "of 3"}, [&] { cuda::nccl_communicator{meet, 200ms}; });
        require(wrong.empty(), wrong);
    });
}

TEST_CASE("what NCCL reports is an error on all ranks, and the communicator is of no use afterwards") {
    cuda_on_cpu::on_nccl_ranks(3, 3, [](auto& meet) {
        cuda::nccl_communicator world{meet};
        cuda_on_cpu::test_stream const stream;
        device_buffer<int> const values{8};
        auto sum = cuda::plan_all_reduce(world, values.span(), chorus::sum{});
        if (world.rank() != 0) sum.enqueue(stream);
        meet.exchange({});
        if (world.rank() == 0) {
            cuda_on_cpu::fail_communicators(ncclRemoteError);
            std::string const wrong = suites::unlike(errc::peer_lost, {"rank 0 of 3", "ncclAllReduce", "said by"}, [&] { sum.enqueue(stream); });
            require(wrong.empty(), wrong);
        } else {
            std::string const wrong = suites::unlike(errc::peer_lost, {"of 3", "ncclAllReduce", "network error"}, [&] { sum.finish(); });
            require(wrong.empty(), wrong);
        }
        require(suites::unlike(errc::poisoned, {"has failed"}, [&] { sum.enqueue(stream); }) == "", "poisoned");
        require(cudaStreamSynchronize(stream) == cudaSuccess, "the stream goes on");
    });
}

TEST_CASE("a rank that has another call is timed_out at all, and abort ends what is under way") {
    cuda_on_cpu::on_nccl_ranks(4, 2, [](auto& meet) {
        cuda::nccl_communicator late{meet, 300ms}, aborted{meet};
        cuda_on_cpu::test_stream const stream;
        device_buffer<int> const values{8};
        auto sum = cuda::plan_all_reduce(late, values.span().first(late.rank() + 1), chorus::sum{});
        std::string wrong = suites::unlike(errc::timed_out, {"ncclAllReduce"}, [&] { sum.run(stream); });
        require(wrong.empty(), wrong);
        meet.exchange({});
        auto other = cuda::plan_all_reduce(aborted, values.span(), chorus::sum{});
        if (aborted.rank() == 0) other.enqueue(stream);
        aborted.abort("enough");
        if (aborted.rank() == 0) {
            wrong = suites::unlike(errc::aborted, {"enough"}, [&] { other.finish(); });
            require(wrong.empty(), wrong);
        }
        require(suites::unlike(errc::poisoned, {"enough"}, [&] { other.enqueue(stream); }) == "", "poisoned");
        require(cudaStreamSynchronize(stream) == cudaSuccess, "the stream goes on");
    });
}
