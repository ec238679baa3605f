// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/cuda/global_memory.cuh"
#include "chorus/cuda/launch.cuh"
#include "chorus/cuda/packed_range.cuh"
#include "chorus/data/detail/kernel.hpp"
#include "chorus/data/detail/mean_rules.hpp"
#include "chorus/data/reduction.hpp"

#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>

namespace chorus::detail {

/// The addresses of a fold's inputs, passed to the kernel by value.
struct fold_inputs {
    static constexpr std::size_t most = 256;

    void const* address[most];
    std::size_t many = 0;  ///< as long as an address, so that nothing between is left unset

    template <class T> explicit fold_inputs(std::span<T const* const> inputs) : many{inputs.size()} {
        expects(inputs.size() >= 1 && inputs.size() <= most, [&] {
            return "a fold takes 1 to " + std::to_string(most) + " inputs, not " + std::to_string(inputs.size());
        });
        for (std::size_t i = 0; i < inputs.size(); ++i) address[i] = inputs[i];
        for (std::size_t i = inputs.size(); i < most; ++i) address[i] = nullptr;
    }
};

/// Integers by size, and by sign where it matters; bool as a byte: fewer kernels.
template <class Op, class T>
using device_element_t = std::conditional_t<std::is_void_v<lane_element_t<Op, T>>, T, lane_element_t<Op, T>>;

__device__ inline float multiply_rounded(float a, float b) { return __fmul_rn(a, b); }
__device__ inline double multiply_rounded(double a, double b) { return __dmul_rn(a, b); }

// A way tells what a fold reads, keeps and writes:
// first(x), combine(value, x) and last(value), the rounding and scaling at both ends among them.

template <class Op, class T> struct built_in_way {
    using from = T;
    using to = T;
    using value = wide_t<T>;
    __device__ value first(from x) const { return static_cast<value>(x); }
    __device__ value combine(value so_far, from x) const { return Op{}(so_far, static_cast<value>(x)); }
    __device__ to last(value total) const { return static_cast<to>(total); }
};

template <class Op, class T> struct user_way {
    using from = T;
    using to = T;
    using value = T;
    Op op;
    __device__ value first(from const& x) const { return x; }
    __device__ value combine(value const& so_far, from const& x) const { return static_cast<T>(op(so_far, x)); }
    __device__ to last(value const& total) const { return total; }
};

/// Rounds where the host rounds: to the carrier after the first end, and before the last.
template <class T, bool Before, bool After> struct mean_way {
    using carried = carrier_t<mean, T>;
    using from = std::conditional_t<Before, T, carried>;
    using to = std::conditional_t<After, T, carried>;
    using value = wide_t<carried>;
    using scale = std::conditional_t<integer<T>, float, wide_t<T>>;

    scale factor;
    scale divisor;
    std::uint64_t ranks;

    static mean_way of(std::uint64_t ranks) {
        bool const is_half = std::is_same_v<T, half>;
        return {is_half ? scale{1} : mean_factor<scale>(ranks), is_half ? static_cast<scale>(ranks) : mean_divisor<scale>(ranks), ranks};
    }

    __device__ value first(from x) const {
        if constexpr (!Before || std::is_same_v<T, half>) return static_cast<value>(x);
        else if constexpr (integer<T>) return mean_widened(x);
        else return static_cast<value>(static_cast<carried>(multiply_rounded(static_cast<value>(x), factor)));
    }
    __device__ value combine(value so_far, from x) const { return add_values(so_far, first(x)); }
    __device__ to last(value total) const {
        if constexpr (!After) return static_cast<to>(total);
        else if constexpr (integer<T>) return mean_quotient<T>(total, ranks);
        else return static_cast<to>(static_cast<value>(static_cast<carried>(total)) / divisor);
    }

 private:
    static __device__ value add_values(value a, value b) {
        if constexpr (number<value>) return add(a, b);
        else return a + b;
    }
};

/// So many elements go into accesses of 16 bytes of both arrays.
template <class From, class To>
inline constexpr std::size_t elements_per_pack = [] {
    constexpr std::size_t least = sizeof(From) < sizeof(To) ? sizeof(From) : sizeof(To);
    constexpr bool fits = is_one_word<From> && (is_one_word<To> || sizeof(To) % 16 == 0);
    return fits && least < 16 ? 16 / least : std::size_t{1};
}();

template <class Way> using range_of = cuda::packed_range<elements_per_pack<typename Way::from, typename Way::to>>;

template <class Way>
__global__ void device_fold_kernel(typename Way::to* out, __grid_constant__ fold_inputs const inputs, range_of<Way> range, Way way) {
    using from = typename Way::from;
    using value = typename Way::value;
    constexpr std::size_t per_pack = elements_per_pack<from, typename Way::to>;
    auto const input = [&](std::size_t i) { return static_cast<from const*>(inputs.address[i]); };
    auto const whole = [&](std::size_t at) {
        if constexpr (per_pack > 1) {
            value total[per_pack];
            auto next = cuda::load_pack<per_pack>(input(0) + at);
            for (std::size_t i = 0; i < inputs.many; ++i) {
                auto const current = next;
                if (i + 1 < inputs.many) next = cuda::load_pack<per_pack>(input(i + 1) + at);
                for (std::size_t j = 0; j < per_pack; ++j)
                    total[j] = i == 0 ? way.first(current.element[j]) : way.combine(total[j], current.element[j]);
            }
            cuda::pack<typename Way::to, per_pack> result;
            for (std::size_t j = 0; j < per_pack; ++j) result.element[j] = way.last(total[j]);
            cuda::store_pack(out + at, result);
        }
    };
    range.for_each(whole, [&](std::size_t at) {
        value total = way.first(cuda::load(input(0) + at));
        for (std::size_t i = 1; i < inputs.many; ++i) total = way.combine(total, cuda::load(input(i) + at));
        cuda::store(out + at, way.last(total));
    });
}

template <class Way>
void run_fold(Way way, void* out, fold_inputs const& inputs, std::size_t count, cudaStream_t stream) {
    std::array<cuda::array_place, fold_inputs::most + 1> arrays;
    for (std::size_t i = 0; i < inputs.many; ++i) arrays[i] = {inputs.address[i], sizeof(typename Way::from)};
    arrays[inputs.many] = {out, sizeof(typename Way::to)};
    auto const range = range_of<Way>::over(count, std::span{arrays}.first(inputs.many + 1));
    cuda::launch(device_fold_kernel<Way>, cuda::streaming_grid(range.items()), cuda::threads_of_streaming, 0, stream,
                 static_cast<typename Way::to*>(out), inputs, range, way);
}

inline void copy_on_device(void* to, void const* from, std::size_t bytes, cudaStream_t stream) {
    if (to == from || bytes == 0) return;
    cuda::expect_success(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), [&] { return "a copy of " + std::to_string(bytes) + " bytes"; });
}

template <class T, class Op>
void fold_typed(Op const& op, void* out, fold_inputs const& inputs, std::size_t count, cudaStream_t stream) {
    if (inputs.many == 1) return copy_on_device(out, inputs.address[0], count * sizeof(T), stream);
    if constexpr (is_built_in<Op>) run_fold(built_in_way<lane_operation_t<Op, T>, device_element_t<Op, T>>{}, out, inputs, count, stream);
    else run_fold(user_way<Op, T>{op}, out, inputs, count, stream);
}

template <class T, bool Before, bool After>
void fold_mean_typed(std::byte* out, std::span<std::byte const* const> inputs, std::size_t count, std::uint64_t ranks, cudaStream_t stream) {
    run_fold(mean_way<T, Before, After>::of(ranks), out, fold_inputs{inputs}, count, stream);
}

}  // namespace chorus::detail
