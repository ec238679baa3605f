// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "elements.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include <mpi.h>

// The user's buffers of one call, and what chorus reads and writes in their place where they are not bytes one after another.

namespace preload {

/// MPI refused something in the middle of a call; what it says is returned.
struct mpi_refusal {
    int code;
};

inline void expect_mpi(int code) {
    if (code != MPI_SUCCESS) throw mpi_refusal{code};
}

/// Pieces of one buffer: piece i has counts[i] items (`each` where there are no counts) from starts[i] extents on (one after another where there are none).
struct pieces {
    std::byte* base = nullptr;
    type_facts type{};
    int many = 1;
    int each = 0;
    int const* counts = nullptr;
    int const* starts = nullptr;

    std::uint64_t items(int i) const noexcept { return static_cast<std::uint64_t>(counts != nullptr ? counts[i] : each); }
    std::uint64_t bytes(int i) const noexcept { return items(i) * type.bytes; }
    std::uint64_t bytes() const noexcept {
        std::uint64_t all = 0;
        for (int i = 0; i < many; ++i) all += bytes(i);
        return all;
    }

    /// Of piece i in the user's memory; without starts the pieces must be equally long.
    std::byte* at(int i) const noexcept {
        std::int64_t const start = starts != nullptr ? starts[i] : std::int64_t{i} * each;
        return base + start * type.extent;
    }
    pieces one(int i) const noexcept { return {.base = at(i), .type = type, .each = static_cast<int>(items(i))}; }

    /// The bytes lie one after another, from `begin()` on.
    bool is_straight() const noexcept {
        if (!type.is_basic) return false;
        if (starts == nullptr) return true;
        std::byte const* next = nullptr;
        for (int i = 0; i < many; ++i) {
            if (items(i) == 0) continue;
            if (next != nullptr && at(i) != next) return false;
            next = at(i) + bytes(i);
        }
        return true;
    }
    std::byte* begin() const noexcept {
        for (int i = 0; i < many; ++i)
            if (items(i) > 0) return at(i);
        return base;
    }

    void pack(std::byte* to) const {
        for (int i = 0; i < many; to += bytes(i++)) {
            if (type.is_basic) copy(to, at(i), bytes(i));
            else in_portions(i, [&](std::byte* from, int some, std::byte* packed, int room) {
                int at_byte = 0;
                expect_mpi(PMPI_Pack(from, some, type.handle, packed, room, &at_byte, MPI_COMM_SELF));
            }, to);
        }
    }
    void unpack(std::byte const* from) const {
        for (int i = 0; i < many; from += bytes(i++)) {
            if (type.is_basic) copy(at(i), from, bytes(i));
            else in_portions(i, [&](std::byte* to, int some, std::byte const* packed, int length) {
                int at_byte = 0;
                expect_mpi(PMPI_Unpack(packed, length, &at_byte, to, some, type.handle, MPI_COMM_SELF));
            }, from);
        }
    }

 private:
    static void copy(std::byte* to, std::byte const* from, std::uint64_t bytes) {
        if (bytes > 0) std::memcpy(to, from, bytes);
    }
    /// MPI counts packed bytes with int.
    template <class Move, class Byte>
    void in_portions(int i, Move const& move, Byte* packed) const {
        if (type.bytes == 0) return;
        std::uint64_t const most = (std::max)(std::uint64_t{1}, (std::uint64_t{1} << 30) / type.bytes);
        std::byte* memory = at(i);
        for (std::uint64_t left = items(i); left > 0;) {
            auto const some = static_cast<int>((std::min)(left, most));
            std::uint64_t const length = static_cast<std::uint64_t>(some) * type.bytes;
            if (length > (std::numeric_limits<int>::max)()) throw mpi_refusal{MPI_ERR_COUNT};
            move(memory, some, packed, static_cast<int>(length));
            memory += some * type.extent;
            packed += length;
            left -= static_cast<std::uint64_t>(some);
        }
    }
};

/// Where chorus reads and writes in one call. Copies are made where the user's memory will not do; `finish`, on a thread that may call MPI, brings results home.
class buffers {
 public:
    std::byte const* in = nullptr;
    std::byte* out = nullptr;

    void read(pieces const& from) {
        if (from.is_straight()) in = from.begin();
        else read_copy(from);
    }
    void read_copy(pieces const& from) {
        in_copy_.reset(new std::byte[from.bytes() + 1]);
        from.pack(in_copy_.get());
        in = in_copy_.get();
    }
    void write(pieces const& to) {
        if (to.is_straight()) out = to.begin();
        else write_copy(to);
    }
    void write_copy(pieces const& to) {
        out_copy_.reset(new std::byte[to.bytes() + 1]);
        out = out_copy_.get();
        target_ = to;
    }
    /// The result is wanted by nobody.
    void write_nowhere(std::uint64_t bytes) {
        out_copy_.reset(new std::byte[bytes + 1]);
        out = out_copy_.get();
    }

    /// The caller returns before the end: what describes the target must outlive that.
    void outlive_caller() {
        if (target_.base == nullptr && target_.type.handle == MPI_DATATYPE_NULL) return;
        auto const keep = [&](int const*& list, std::vector<int>& kept) {
            if (list != nullptr) kept.assign(list, list + target_.many);
            if (list != nullptr) list = kept.data();
        };
        keep(target_.counts, counts_);
        keep(target_.starts, starts_);
        if (target_.type.is_basic) return;
        expect_mpi(PMPI_Type_dup(target_.type.handle, &target_.type.handle));
        owns_type_ = true;
    }

    void finish() {
        if (target_.type.handle != MPI_DATATYPE_NULL) target_.unpack(out_copy_.get());
        if (std::exchange(owns_type_, false)) PMPI_Type_free(&target_.type.handle);
    }

 private:
    std::unique_ptr<std::byte[]> in_copy_;
    std::unique_ptr<std::byte[]> out_copy_;
    pieces target_{};
    std::vector<int> counts_;
    std::vector<int> starts_;
    bool owns_type_ = false;
};

}  // namespace preload
