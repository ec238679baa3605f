// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <optional>
#include <string_view>

#include <mpi.h>

// Elements and operations by their names here, and what MPI calls them.

namespace chorus::detail {

/// The type that MPI reduces by; none for half, bfloat16, bytes and users' own.
inline std::optional<MPI_Datatype> mpi_type_of(std::string_view element) noexcept {
    struct row { std::string_view name; MPI_Datatype type; };
    row const known[] = {{"int8", MPI_INT8_T},     {"int16", MPI_INT16_T},   {"int32", MPI_INT32_T},   {"int64", MPI_INT64_T},
                         {"uint8", MPI_UINT8_T},   {"uint16", MPI_UINT16_T}, {"uint32", MPI_UINT32_T}, {"uint64", MPI_UINT64_T},
                         {"float", MPI_FLOAT},     {"double", MPI_DOUBLE},   {"bool", MPI_C_BOOL}};
    for (row const& each : known)
        if (each.name == element) return each.type;
    return std::nullopt;
}

/// The operation, if MPI applies it to such elements: numbers add, multiply and compare; integers have bits; integers and bool are true or false.
inline std::optional<MPI_Op> mpi_operation_of(std::string_view reduction, std::string_view element) noexcept {
    struct row { std::string_view name; MPI_Op operation; bool on_floats, on_integers, on_bool; };
    row const known[] = {{"sum", MPI_SUM, true, true, false},          {"product", MPI_PROD, true, true, false},
                         {"minimum", MPI_MIN, true, true, false},      {"maximum", MPI_MAX, true, true, false},
                         {"bit_and", MPI_BAND, false, true, false},    {"bit_or", MPI_BOR, false, true, false},
                         {"bit_xor", MPI_BXOR, false, true, false},    {"logical_and", MPI_LAND, false, true, true},
                         {"logical_or", MPI_LOR, false, true, true},   {"logical_xor", MPI_LXOR, false, true, true}};
    bool const is_float = element == "float" || element == "double";
    bool const is_bool = element == "bool";
    for (row const& each : known)
        if (each.name == reduction && (is_float ? each.on_floats : is_bool ? each.on_bool : each.on_integers)) return each.operation;
    return std::nullopt;
}

}  // namespace chorus::detail
