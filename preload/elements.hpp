// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/data/reduce_block.hpp"
#include "chorus/data/reduction.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include <mpi.h>

// MPI's built-in types and operations, and what chorus calls them.

namespace preload {

/// What a built-in type is to a reduction. The names of one kind are one type: MPI_LONG and MPI_LONG_LONG are both int64.
enum class number : std::uint8_t { int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32, float64, boolean, none };
inline constexpr std::size_t numbers = static_cast<std::size_t>(number::none);

template <class T>
constexpr number number_of() noexcept {
    if constexpr (std::is_same_v<T, float>) return number::float32;
    else if constexpr (std::is_same_v<T, double>) return number::float64;
    else if constexpr (std::is_same_v<T, bool>) return number::boolean;
    else if constexpr (std::is_integral_v<T> && sizeof(T) <= 8) {
        int const log = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
        return static_cast<number>(log + (std::is_signed_v<T> ? 0 : 4));
    } else return number::none;
}

/// A datatype as far as moving its bytes needs it. Only a basic one is known to lie in memory as it is moved.
struct type_facts {
    MPI_Datatype handle = MPI_DATATYPE_NULL;
    std::size_t bytes = 0;
    MPI_Aint extent = 0;
    number kind = number::none;
    bool is_basic = false;
};

/// The built-in types of this MPI library without holes, the common ones first: they are looked for in turn, some 15 ns at worst.
class known_types {
 public:
    known_types() {
        add<float>(MPI_FLOAT), add<double>(MPI_DOUBLE), add<int>(MPI_INT), add<std::uint8_t>(MPI_BYTE, 'm');
        add<char>(MPI_CHAR, 'm'), add<long>(MPI_LONG), add<unsigned>(MPI_UNSIGNED), add<unsigned long>(MPI_UNSIGNED_LONG);
        add<long long>(MPI_LONG_LONG), add<unsigned long long>(MPI_UNSIGNED_LONG_LONG), add<short>(MPI_SHORT);
        add<unsigned short>(MPI_UNSIGNED_SHORT), add<signed char>(MPI_SIGNED_CHAR), add<unsigned char>(MPI_UNSIGNED_CHAR);
        add<std::int8_t>(MPI_INT8_T), add<std::int16_t>(MPI_INT16_T), add<std::int32_t>(MPI_INT32_T), add<std::int64_t>(MPI_INT64_T);
        add<std::uint8_t>(MPI_UINT8_T), add<std::uint16_t>(MPI_UINT16_T), add<std::uint32_t>(MPI_UINT32_T);
        add<std::uint64_t>(MPI_UINT64_T), add<bool>(MPI_C_BOOL), add<MPI_Aint>(MPI_AINT), add<MPI_Offset>(MPI_OFFSET);
        add<MPI_Count>(MPI_COUNT), add<wchar_t>(MPI_WCHAR, 'm'), add<std::byte>(MPI_PACKED, 'm');
        for (MPI_Datatype each : {MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_LONG_DOUBLE, MPI_LOGICAL, MPI_CHARACTER, MPI_COMPLEX,
                                  MPI_DOUBLE_COMPLEX})
            add_sized(each, 'm');
        for (MPI_Datatype each : {MPI_INTEGER, MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8}) add_sized(each, 'i');
        for (MPI_Datatype each : {MPI_REAL, MPI_DOUBLE_PRECISION, MPI_REAL4, MPI_REAL8}) add_sized(each, 'f');
    }

    /// Of any type; asks MPI for one that is not basic.
    type_facts of(MPI_Datatype type) const {
        for (type_facts const& each : known_)
            if (each.handle == type) return each;
        type_facts found{.handle = type};
        int bytes = 0;
        MPI_Aint begin = 0;
        PMPI_Type_size(type, &bytes);
        PMPI_Type_get_extent(type, &begin, &found.extent);
        found.bytes = static_cast<std::size_t>(bytes < 0 ? 0 : bytes);
        return found;
    }

 private:
    template <class T>
    void add(MPI_Datatype type, char use = 'n') {  // m: is moved only
        if (type != MPI_DATATYPE_NULL)
            known_.push_back({type, sizeof(T), sizeof(T), use == 'm' && type != MPI_BYTE ? number::none : number_of<T>(), true});
    }
    /// Types of Fortran, as long as the compiler made them; there may be none.
    void add_sized(MPI_Datatype type, char use) {
        int bytes = 0;
        if (type == MPI_DATATYPE_NULL || PMPI_Type_size(type, &bytes) != MPI_SUCCESS || bytes <= 0) return;
        number kind = number::none;
        if (use == 'f') kind = bytes == 4 ? number::float32 : bytes == 8 ? number::float64 : number::none;
        if (use == 'i') kind = bytes == 1 ? number::int8 : bytes == 2 ? number::int16 : bytes == 4 ? number::int32 : number::int64;
        known_.push_back({type, static_cast<std::size_t>(bytes), bytes, kind, true});
    }

    std::vector<type_facts> known_;
};

/// What chorus reduces by, for every built-in operation on every kind of number that MPI defines it for. Sums, products and bits of signed integers are those of
/// unsigned ones, bit for bit.
class known_reductions {
 public:
    known_reductions() {
        offer_integers<chorus::sum>(0), offer_integers<chorus::product>(1);
        offer_floats<chorus::sum>(0), offer_floats<chorus::product>(1);
        offer_floats<chorus::minimum>(2), offer_floats<chorus::maximum>(3);
        offer_each<chorus::minimum, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t,
                   std::uint64_t>(2);
        offer_each<chorus::maximum, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t,
                   std::uint64_t>(3);
        offer_integers<chorus::bit_and>(4), offer_integers<chorus::bit_or>(5), offer_integers<chorus::bit_xor>(6);
        offer_integers<chorus::logical_and>(7), offer_integers<chorus::logical_or>(8), offer_integers<chorus::logical_xor>(9);
        for (std::size_t op : {7u, 8u, 9u}) known_[op][at(number::boolean)] = known_[op][at(number::uint8)];
    }

    /// Null for users' operations, MPI_MINLOC and the like, and types that MPI does not define the operation for, or chorus does not compute with.
    chorus::reducer const* find(MPI_Op op, number kind) const noexcept {
        if (kind == number::none) return nullptr;
        for (std::size_t i = 0; i < operations_.size(); ++i)
            if (operations_[i] == op) return known_[i][at(kind)] ? &*known_[i][at(kind)] : nullptr;
        return nullptr;
    }

 private:
    static constexpr std::size_t at(number kind) noexcept { return static_cast<std::size_t>(kind); }

    template <class Op, class... T>
    void offer_each(std::size_t op) {
        ((known_[op][at(number_of<T>())] = chorus::make_reducer<T>(Op{})), ...);
    }
    template <class Op>
    void offer_floats(std::size_t op) {
        offer_each<Op, float, double>(op);
    }
    template <class Op>
    void offer_integers(std::size_t op) {
        offer_each<Op, std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>(op);
        for (std::size_t log = 0; log < 4; ++log) known_[op][log] = known_[op][log + 4];
    }

    std::array<MPI_Op, 10> operations_{MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR};
    std::array<std::array<std::optional<chorus::reducer>, numbers>, 10> known_;
};

}  // namespace preload
