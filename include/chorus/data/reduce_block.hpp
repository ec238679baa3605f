// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/data/detail/kernel.hpp"
#include "chorus/data/detail/mean_kernel.hpp"
#include "chorus/data/reduction.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>

namespace chorus {

/// A pair (operation, element) with both types forgotten: the one inner loop of every reduction.
///
/// Counts are in elements. Pointers may have any alignment. The kernels of built-in pairs are vectors of the widest
/// instruction set of the running machine, do not allocate and do not throw; a user's function is called element by
/// element and may throw. The same inputs give the same bits on every instruction set (a NaN out of a sum or product
/// is a NaN of unspecified payload).
struct reducer {
    using function = void (*)(std::byte* out, std::byte const* left, std::byte const* right, std::size_t count,
                              void const* op);
    using fold_function = void (*)(std::byte* out, std::byte const* const* inputs, std::size_t many,
                                   std::size_t count, void const* op);
    using convert_function = void (*)(std::byte* out, std::byte const* in, std::size_t count, std::uint64_t ranks);

    /// out = left op right, carrier elements; out is exactly left, exactly right, or overlaps neither.
    function apply = nullptr;

    /// out = inputs[0] op inputs[1] op … from left to right, carrier elements; out is one of the inputs or overlaps
    /// none. Built-in operations on half and bfloat16 are kept in float and rounded once. One input is copied.
    fold_function fold = nullptr;

    /// Elements to carriers, before the first step; null: the carrier is the element as it is.
    /// out is in (where sizes are equal) or does not overlap it.
    convert_function prepare = nullptr;

    /// Carriers to elements, after the last step; null: nothing to do. Overlap as in prepare.
    convert_function finish = nullptr;

    std::shared_ptr<void const> op;  ///< a user's function, passed to apply and fold; null for the built-in ones
    std::size_t carrier_bytes = 0;
    std::size_t element_bytes = 0;
    bool is_commutative = false;
    std::string_view operation;  ///< Op::name, or "user"
    std::string_view element;    ///< element_name
};

namespace detail {

template <class Op> constexpr std::string_view operation_name() noexcept {
    if constexpr (requires { std::string_view{Op::name}; }) return Op::name;
    else return "user";
}

template <class Op, class T> constexpr reducer::function choose_apply(instruction_set level) noexcept {
    using carried = lane_element_t<Op, T>;
    if constexpr (!is_built_in<Op> || std::is_void_v<carried>) return &scalar_kernel<Op, T>::apply;
    else return versions<apply_kernel<lane_operation_t<Op, T>, carried>, reducer::function>::choose(level);
}

template <class Op, class T> constexpr reducer::fold_function choose_fold(instruction_set level) noexcept {
    using carried = lane_element_t<Op, T>;
    if constexpr (!is_built_in<Op> || std::is_void_v<carried>) return &scalar_kernel<Op, T>::fold;
    else return versions<fold_kernel<lane_operation_t<Op, T>, carried>, reducer::fold_function>::choose(level);
}

}  // namespace detail

/// The reducer of `op` on elements of type T. Allocates only to keep a user's function. `level` is for tests.
template <class T, class Op> requires reduction_for<Op, T>
reducer make_reducer(Op const& op, detail::instruction_set level = detail::current_instruction_set()) {
    using carried = carrier_t<Op, T>;
    using combining = std::conditional_t<std::is_same_v<Op, mean>, sum, Op>;
    reducer made;
    made.apply = detail::choose_apply<combining, carried>(level);
    made.fold = detail::choose_fold<combining, carried>(level);
    if constexpr (std::is_same_v<Op, mean>) {
        made.prepare = detail::versions<detail::mean_prepare<T>, reducer::convert_function>::choose(level);
        made.finish = detail::versions<detail::mean_finish<T>, reducer::convert_function>::choose(level);
    }
    if constexpr (!detail::is_built_in<Op>) made.op = std::make_shared<Op const>(op);
    made.carrier_bytes = sizeof(carried);
    made.element_bytes = sizeof(T);
    made.is_commutative = chorus::is_commutative<Op>;
    made.operation = detail::operation_name<Op>();
    made.element = element_name<T>();
    return made;
}

/// inout = inout op other, element by element. The spans are equally long and are the same memory or do not overlap.
/// Throws `invalid_argument` if their lengths differ.
template <class T, class Op> requires reduction_for<Op, T> && (!std::is_same_v<Op, mean>)
void reduce_block(Op const& op, std::span<T> inout, std::span<T const> other) {
    detail::expects(inout.size() == other.size(), [] { return "reduce_block needs two spans of one length"; });
    auto* const out = reinterpret_cast<std::byte*>(inout.data());
    auto const* const right = reinterpret_cast<std::byte const*>(other.data());
    void const* const state = detail::is_built_in<Op> ? nullptr : std::addressof(op);
    detail::choose_apply<Op, T>(detail::current_instruction_set())(out, out, right, inout.size(), state);
}

}  // namespace chorus
