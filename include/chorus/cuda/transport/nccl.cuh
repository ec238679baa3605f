// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/cuda/device_span.cuh"
#include "chorus/cuda/transport/nccl_communicator.cuh"
#include "chorus/cuda/transport/nccl_plan.cuh"
#include "chorus/data/reduction.hpp"
#include "chorus/schedule/native.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace chorus::detail {

/// What NCCL can compute with: not integers of 16 bits.
template <class T> concept nccl_number = number<T> && !std::same_as<T, long double> && (is_narrow_float<T> || sizeof(T) != 2);
template <class Op> concept nccl_reduction =
    std::same_as<Op, sum> || std::same_as<Op, product> || std::same_as<Op, minimum> || std::same_as<Op, maximum> || std::same_as<Op, mean>;

template <nccl_number T> constexpr ncclDataType_t nccl_type() noexcept {
    if constexpr (std::same_as<T, half>) return ncclFloat16;
    else if constexpr (std::same_as<T, bfloat16>) return ncclBfloat16;
    else if constexpr (std::same_as<T, float>) return ncclFloat32;
    else if constexpr (std::same_as<T, double>) return ncclFloat64;
    else if constexpr (sizeof(T) == 1) return std::is_signed_v<T> ? ncclInt8 : ncclUint8;
    else if constexpr (sizeof(T) == 4) return std::is_signed_v<T> ? ncclInt32 : ncclUint32;
    else return std::is_signed_v<T> ? ncclInt64 : ncclUint64;
}

template <nccl_reduction Op> constexpr ncclRedOp_t nccl_operation() noexcept {
    if constexpr (std::same_as<Op, sum>) return ncclSum;
    else if constexpr (std::same_as<Op, product>) return ncclProd;
    else if constexpr (std::same_as<Op, minimum>) return ncclMin;
    else if constexpr (std::same_as<Op, maximum>) return ncclMax;
    else return ncclAvg;
}

inline void expect_times(std::string_view what, std::size_t whole, std::size_t part, rank_id ranks) {
    expects(whole == part * ranks, [&] {
        std::string text{what};
        text += ": " + std::to_string(whole) + " elements, expected ";
        return text + std::to_string(part) + " for each of " + std::to_string(ranks) + " ranks";
    });
}

/// Block r of `input` to rank r, block r of `output` from it. A failure inside of the group is the group's.
inline ncclResult_t all_to_all_by_pairs(std::byte const* input, std::byte* output, std::size_t bytes, int ranks, ncclComm_t communicator, cudaStream_t stream) {
    ncclResult_t first = ncclGroupStart();
    auto const keep = [&](ncclResult_t result) {
        if (first == ncclSuccess && result != ncclInProgress) first = result;
    };
    for (int r = 0; r < ranks; ++r) {
        keep(ncclSend(input + static_cast<std::size_t>(r) * bytes, bytes, ncclUint8, r, communicator, stream));
        keep(ncclRecv(output + static_cast<std::size_t>(r) * bytes, bytes, ncclUint8, r, communicator, stream));
    }
    ncclResult_t const all = ncclGroupEnd();
    return first == ncclSuccess ? all : first;
}

}  // namespace chorus::detail

namespace chorus::cuda {

// NCCL's own collectives. Results of `mean` are NCCL's sum over the ranks, divided: integers wrap before the division. NaN and the order of reduction, and with it the last bits
// of floating-point results, are NCCL's too; the bits are the same on all ranks where it says so. What moves without being reduced may be of any element type, and moves as bytes.

/// In place.
template <chorus::detail::nccl_number T, chorus::detail::nccl_reduction Op>
nccl_plan plan_all_reduce(nccl_communicator const& members, device_span<T> in_out, Op const&, native = {}) {
    return {members.member(), "ncclAllReduce", [in_out](ncclComm_t communicator, cudaStream_t stream) {
                return ncclAllReduce(in_out.data(), in_out.data(), in_out.size(), chorus::detail::nccl_type<T>(), chorus::detail::nccl_operation<Op>(), communicator, stream);
            }};
}

/// Block r of the result to rank r: `input` is as many times as long as `output` as there are ranks. `output` may be this rank's block of `input`.
template <chorus::detail::nccl_number T, chorus::detail::nccl_reduction Op>
nccl_plan plan_reduce_scatter(nccl_communicator const& members, device_span<T const> input, device_span<T> output, Op const&, native = {}) {
    chorus::detail::expect_times("the input of a reduce_scatter", input.size(), output.size(), members.size());
    return {members.member(), "ncclReduceScatter", [input, output](ncclComm_t communicator, cudaStream_t stream) {
                return ncclReduceScatter(input.data(), output.data(), output.size(), chorus::detail::nccl_type<T>(), chorus::detail::nccl_operation<Op>(), communicator, stream);
            }};
}

/// Block r of `output` from rank r. `input` may be this rank's block of `output`.
template <element T>
nccl_plan plan_all_gather(nccl_communicator const& members, device_span<T const> input, device_span<T> output, native = {}) {
    chorus::detail::expect_times("the output of an all_gather", output.size(), input.size(), members.size());
    return {members.member(), "ncclAllGather", [input, output](ncclComm_t communicator, cudaStream_t stream) {
                return ncclAllGather(input.data(), output.data(), input.size_bytes(), ncclUint8, communicator, stream);
            }};
}

/// In place.
template <element T> nccl_plan plan_broadcast(nccl_communicator const& members, device_span<T> in_out, rank_id root, native = {}) {
    chorus::detail::expects(root < members.size(), [&] { return "rank " + std::to_string(root) + " is the root of a broadcast between " + std::to_string(members.size()) + " ranks"; });
    return {members.member(), "ncclBroadcast", [in_out, root](ncclComm_t communicator, cudaStream_t stream) {
                return ncclBroadcast(in_out.data(), in_out.data(), in_out.size_bytes(), ncclUint8, static_cast<int>(root), communicator, stream);
            }};
}

/// Block r of `input` to rank r, block r of `output` from it: sends and receives in one group. The two do not overlap.
template <element T>
nccl_plan plan_all_to_all(nccl_communicator const& members, device_span<T const> input, device_span<T> output, native = {}) {
    chorus::detail::expect_times("the input of an all_to_all", input.size(), input.size() / members.size(), members.size());
    chorus::detail::expect_times("the output of an all_to_all", output.size(), input.size() / members.size(), members.size());
    return {members.member(), "ncclGroupEnd", [input, output, ranks = members.size()](ncclComm_t communicator, cudaStream_t stream) {
                auto const* const from = reinterpret_cast<std::byte const*>(input.data());
                auto* const to = reinterpret_cast<std::byte*>(output.data());
                return chorus::detail::all_to_all_by_pairs(from, to, input.size_bytes() / ranks, static_cast<int>(ranks), communicator, stream);
            }};
}

}  // namespace chorus::cuda
