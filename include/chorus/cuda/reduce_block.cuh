// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/cuda/detail/fold_kernel.cuh"
#include "chorus/cuda/device_span.cuh"
#include "chorus/data/reduction.hpp"

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

namespace chorus::cuda {

/// Which ends of `mean` happen in the same pass; other operations have none. Before: elements become carriers. After: carriers become
/// elements, divided by the number of ranks.
enum class mean_ends : unsigned { none = 0, before = 1, after = 2, both = 3 };

/// A pair (operation, element) with both types forgotten, for the device: the twin of chorus::reducer, with the same bits.
///
/// fold  out = inputs[0] op inputs[1] op …, in one pass over memory: each input is read once, `out` written once. 1 to `most_inputs`
///       inputs; `out` is one of them (with equal sizes) or overlaps none. The addresses are of device memory, aligned to their
///       elements; 16 bytes are moved at once where all arrays lie equally to an address divisible by 16. Half and bfloat16 are kept in
///       float and rounded once. Enqueues on `stream`, whose device is current, and returns at once.
struct device_reducer {
    using function = void (*)(std::byte* out, std::span<std::byte const* const> inputs, std::size_t count, mean_ends ends,
                              std::uint64_t ranks, cudaStream_t stream);
    static constexpr std::size_t most_inputs = chorus::detail::fold_inputs::most;

    function fold = nullptr;
    std::size_t carrier_bytes = 0;
    std::size_t element_bytes = 0;
    std::string_view operation;
    std::string_view element;
};

/// out = inputs[0] op inputs[1] op … of elements T; as device_reducer::fold. `op` is built in, or an empty or trivially copyable function
/// that device code may call.
template <class T, class Op> requires reduction_for<Op, T> && (!std::is_same_v<Op, mean>)
void fold(Op const& op, device_span<T> out, std::span<T const* const> inputs, cudaStream_t stream) {
    chorus::detail::fold_typed<T>(op, out.data(), chorus::detail::fold_inputs{inputs}, out.size(), stream);
}

/// inout = inout op other, element by element.
template <class T, class Op> requires reduction_for<Op, T> && (!std::is_same_v<Op, mean>)
void reduce_block(Op const& op, device_span<T> inout, device_span<T const> other, cudaStream_t stream) {
    chorus::detail::expects(inout.size() == other.size(), [] { return "reduce_block needs two spans of one length"; });
    T const* const inputs[] = {inout.data(), other.data()};
    fold(op, inout, std::span<T const* const>{inputs}, stream);
}

/// The sum of the inputs of T, or of its carriers, divided by `ranks` where the end is in `ends`.
template <class T> requires reduction_for<mean, T>
void fold_mean(std::byte* out, std::span<std::byte const* const> inputs, std::size_t count, mean_ends ends, std::uint64_t ranks,
               cudaStream_t stream) {
    switch (ends) {
        case mean_ends::none: return chorus::detail::fold_mean_typed<T, false, false>(out, inputs, count, ranks, stream);
        case mean_ends::before: return chorus::detail::fold_mean_typed<T, true, false>(out, inputs, count, ranks, stream);
        case mean_ends::after: return chorus::detail::fold_mean_typed<T, false, true>(out, inputs, count, ranks, stream);
        case mean_ends::both: return chorus::detail::fold_mean_typed<T, true, true>(out, inputs, count, ranks, stream);
    }
}

/// The reducer of a built-in operation, or of a function that has no state, on elements of type T.
template <class T, class Op> requires reduction_for<Op, T> && std::is_empty_v<Op>
device_reducer make_device_reducer(Op const&) {
    device_reducer made;
    if constexpr (std::is_same_v<Op, mean>) {
        made.fold = &fold_mean<T>;
    } else {
        made.fold = [](std::byte* out, std::span<std::byte const* const> inputs, std::size_t count, mean_ends, std::uint64_t,
                       cudaStream_t stream) {
            chorus::detail::fold_typed<T>(Op{}, out, chorus::detail::fold_inputs{inputs}, count, stream);
        };
    }
    made.carrier_bytes = sizeof(carrier_t<Op, T>);
    made.element_bytes = sizeof(T);
    made.element = element_name<T>();
    if constexpr (chorus::detail::is_built_in<Op>) made.operation = Op::name;
    else made.operation = "user";
    return made;
}

}  // namespace chorus::cuda
