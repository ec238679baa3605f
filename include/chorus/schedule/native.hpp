// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/error.hpp"
#include "chorus/schedule/any_algorithm.hpp"

#include <string>
#include <string_view>

namespace chorus {

/// In the place of an algorithm: the collective of the library that the transport stands on, MPI_Iallreduce for one. Every collective.
///
/// `unsupported` where the transport has none (`mpi_transport` has), and for what the library cannot do: users' operations, `mean`, half and bfloat16 are
/// refused where they are reduced. The library chooses how: its order of reduction is its own, and with it the last bits of floating-point results.
/// Members *start* the native plans of one list of ranks in one order. Counts, types and operations are compared only while an operation is stuck.
/// There is no schedule: it is no part of a hierarchy, `automatic` does not come to it, and what it sends is not counted.
/// An operation that fails or is late cannot be taken back: the library may write its buffers until it ends; the error says so.
struct native {
    static constexpr std::string_view name = "native";

    friend constexpr bool operator==(native, native) = default;
};

namespace detail {

template <>
class algorithm_model_of<native> final : public algorithm_model {
 public:
    explicit algorithm_model_of(native) {}

    std::string_view name() const override { return native::name; }
    std::string describe() const override { return std::string{native::name}; }
    bool offers(collective) const override { return true; }
    bool keeps_order() const override { return false; }
    bool takes_uneven() const override { return true; }
    schedule make(collective operation, rank_id, rank_id, rank_id) const override { refuse(operation); }
    cost cost_of(collective operation, rank_id, double) const override { refuse(operation); }

 private:
    [[noreturn]] static void refuse(collective operation) {
        raise(errc::unsupported, "native has no schedule and no cost for " + std::string{to_string(operation)} +
                                     ": the library that the transport stands on does all of it");
    }
};

}  // namespace detail
}  // namespace chorus
