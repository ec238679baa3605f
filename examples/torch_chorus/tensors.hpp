// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <chorus/chorus.hpp>

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace torch_chorus {

template <class T> std::span<T> values_of(at::Tensor const& t) { return {static_cast<T*>(t.data_ptr()), static_cast<std::size_t>(t.numel())}; }
inline std::span<std::uint8_t> bytes_of(at::Tensor const& t) { return {static_cast<std::uint8_t*>(t.data_ptr()), t.nbytes()}; }

inline at::Tensor const& expect_dense(at::Tensor const& t) {
    TORCH_CHECK(t.device().is_cpu() && t.is_contiguous() && !t.is_sparse(), "chorus: a contiguous tensor in the processor's memory is needed, got ", t.toString());
    return t;
}
inline at::Tensor const& only(std::vector<at::Tensor> const& list) {
    TORCH_CHECK(list.size() == 1, "chorus: one tensor for each rank is needed, got ", list.size());
    return expect_dense(list[0]);
}

/// Calls body(T{}, op) with the element's type and the reduction.
template <class Body>
void with_reduction(at::ScalarType type, c10d::ReduceOp::RedOpType op, Body const& body) {
    using c10d::ReduceOp;
    auto const with_op = [&]<class T>(T element) {
        switch (op) {
            case ReduceOp::SUM: return body(element, chorus::sum{});
            case ReduceOp::PRODUCT: return body(element, chorus::product{});
            case ReduceOp::MIN: return body(element, chorus::minimum{});
            case ReduceOp::MAX: return body(element, chorus::maximum{});
            default: break;
        }
        if constexpr (std::is_integral_v<T>) {
            if (op == ReduceOp::BAND) return body(element, chorus::bit_and{});
            if (op == ReduceOp::BOR) return body(element, chorus::bit_or{});
            if (op == ReduceOp::BXOR) return body(element, chorus::bit_xor{});
        } else if (op == ReduceOp::AVG) {
            return body(element, chorus::mean{});
        }
        TORCH_CHECK(false, "chorus: this reduction is not defined for ", c10::toString(type));
    };
    switch (type) {
        case at::kFloat: return with_op(float{});
        case at::kDouble: return with_op(double{});
        case at::kHalf: return with_op(chorus::half{});
        case at::kBFloat16: return with_op(chorus::bfloat16{});
        case at::kByte: return with_op(std::uint8_t{});
        case at::kInt: return with_op(std::int32_t{});
        case at::kLong: return with_op(std::int64_t{});
        default: TORCH_CHECK(false, "chorus: ", c10::toString(type), " cannot be reduced; float, double, half, bfloat16, uint8, int32 and int64 can");
    }
}

}  // namespace torch_chorus
