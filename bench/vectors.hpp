// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "call_memory.hpp"
#include "pattern.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace bench {

/// The memory of one rank for one collective at one size, filled by a pattern and compared with it bit for bit.
class vectors final : public call_memory {
 public:
    vectors(call_shape const& shape, chorus::rank_id me, entries of = {}) : call_memory{shape, me}, pattern_{shape.op, shape.ranks, of} {}

    /// Writes the inputs of call number `call`, and where results will be a value that no result has.
    void fill(std::uint64_t call) override {
        table const foreign = tabulate([this](std::uint64_t) { return pattern_.foreign(); });
        write(output_, foreign, 0);
        write(input_, contribution(me_, call), input_at_);
    }

    std::uint64_t count_wrong(std::uint64_t call, wrong_element const& told = {}) override {
        std::uint64_t wrong = 0;
        for_results([&](result_piece const& p) {
            table const right = p.from == chorus::nobody ? reduction(p.reduced, call) : contribution(p.from, call);
            wrong += count_unlike(p.first, p.count, p.at, right, told);
        });
        return wrong;
    }

 private:
    using table = std::vector<std::byte>;  // one period of elements

    template <class Value>
    table tabulate(Value value) const {
        table values(pattern_.length() * width_);
        for (std::uint64_t place = 0; place < pattern_.length(); ++place)
            shape_.element->write(value(place), values.data() + place * width_);
        return values;
    }
    table reduction(chorus::rank_id ranks, std::uint64_t call) const {
        return tabulate([&](std::uint64_t place) { return pattern_.reduced(0, ranks, place, call); });
    }
    table contribution(chorus::rank_id rank, std::uint64_t call) const {
        return tabulate([&](std::uint64_t place) { return pattern_.value(rank, place, call); });
    }

    /// Visits `bytes` of memory piece by piece as they lie in the periods of a table, the first element being the `at`-th.
    template <class Visit>
    void in_periods(std::uint64_t bytes, std::uint64_t at, Visit visit) const {
        std::uint64_t start = at % pattern_.length() * width_;
        for (std::uint64_t done = 0; done < bytes; start = 0) {
            std::uint64_t const piece = (std::min)(bytes - done, pattern_.length() * width_ - start);
            visit(done, start, piece);
            done += piece;
        }
    }

    void write(std::span<std::byte> memory, table const& values, std::uint64_t at) const {
        in_periods(memory.size(), at, [&](std::uint64_t done, std::uint64_t start, std::uint64_t piece) {
            std::memcpy(memory.data() + done, values.data() + start, piece);
        });
    }

    /// Compares output[first ... first + count - 1] with the pattern from element `at` of the whole on.
    std::uint64_t count_unlike(std::uint64_t first, std::uint64_t count, std::uint64_t at, table const& right,
                               wrong_element const& told) const {
        std::uint64_t wrong = 0;
        std::byte const* const memory = output_.data() + first * width_;
        in_periods(count * width_, at, [&](std::uint64_t done, std::uint64_t start, std::uint64_t piece) {
            if (std::memcmp(memory + done, right.data() + start, piece) == 0) return;
            for (std::uint64_t i = 0; i < piece; i += width_) {
                std::byte const* const found = memory + done + i;
                std::byte const* const expected = right.data() + start + i;
                if (std::memcmp(found, expected, width_) == 0) continue;
                ++wrong;
                if (told) told(first + (done + i) / width_, shape_.element->read(expected), shape_.element->read(found));
            }
        });
        return wrong;
    }

    pattern pattern_;
};

}  // namespace bench
