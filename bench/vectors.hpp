// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "call_shape.hpp"
#include "pattern.hpp"

#include <chorus/base/byte_buffer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <vector>

namespace bench {

/// Told of an element that came out wrong: its place in the output, what was expected, what is there.
using wrong_element = std::function<void(std::uint64_t place, double expected, double found)>;

/// The memory of one rank for one collective at one size: fills it for each call and counts what came out wrong.
///
/// `input` is what this rank contributes and `output` what it must have afterwards, each a part of the whole vector that
/// starts at some element; either may be empty. In place, the smaller one lies in the larger where it belongs.
class vectors {
 public:
    vectors(call_shape const& shape, chorus::rank_id me)
        : shape_{shape}, pattern_{shape.op, shape.ranks}, me_{me}, width_{shape.element->bytes}, cut_{shape.cut(me)} {
        using chorus::collective;
        bool const is_root = me == shape.root;
        bool const gathers = shape.what == collective::all_gather || shape.what == collective::gather;
        bool const scatters = shape.what == collective::reduce_scatter || shape.what == collective::scatter;
        bool const gives = is_root || (shape.what != collective::broadcast && shape.what != collective::scatter);
        bool const gets = is_root || (shape.what != collective::reduce && shape.what != collective::gather);
        input_at_ = gathers ? cut_.begin(me) : 0;
        output_at_ = scatters ? cut_.begin(me) : 0;
        std::uint64_t const in_count = !gives ? 0 : gathers ? cut_.length(me) : shape.count;
        std::uint64_t const out_count = !gets ? 0 : scatters ? cut_.length(me) : shape.count;
        bool const shared = shape.what == collective::broadcast || (shape.in_place && in_count > 0 && out_count > 0);
        std::span<std::byte> const first = allocate(first_, shared ? (std::max)(in_count, out_count) : in_count);
        if (!shared) {
            input_ = first;
            output_ = allocate(second_, out_count);
            return;
        }
        input_ = gathers ? first.subspan(input_at_ * width_, in_count * width_) : first.first(in_count * width_);
        output_ = scatters ? first.subspan(output_at_ * width_, out_count * width_) : first;
    }
    vectors(vectors const&) = delete;

    std::span<std::byte> input() noexcept { return input_; }
    std::span<std::byte> output() noexcept { return output_; }

    /// Writes the inputs of call number `call`, and 127 where results will be: no result has that value.
    void fill(std::uint64_t call) {
        std::vector<std::byte> const foreign = tabulate([](std::uint64_t) { return 127; });
        write(output_, foreign, 0);
        write(input_, contribution(me_, call), input_at_);
    }

    /// Flips the bits of one byte of the output, if there is any.
    void spoil() {
        if (output_.empty()) return;
        std::byte& victim = output_[output_.size() / width_ / 2 * width_];
        victim = ~victim;
    }

    /// How many elements of the output are not, bit for bit, what call number `call` must give.
    std::uint64_t count_wrong(std::uint64_t call, wrong_element const& told = {}) const {
        using chorus::collective;
        if (output_.empty()) return 0;
        std::uint64_t const count = output_.size() / width_;
        switch (shape_.what) {
            case collective::all_reduce:
            case collective::reduce:
            case collective::reduce_scatter:
                return count_unlike(0, count, output_at_, reduction(shape_.ranks, call), told);
            case collective::scan: return count_unlike(0, count, 0, reduction(me_ + 1, call), told);
            case collective::exclusive_scan:
                return me_ == 0 ? 0 : count_unlike(0, count, 0, reduction(me_, call), told);
            case collective::broadcast:
            case collective::scatter:
                return count_unlike(0, count, output_at_, contribution(shape_.root, call), told);
            case collective::all_gather:
            case collective::gather:
            case collective::all_to_all: return count_wrong_blocks(call, told);
            case collective::barrier: return 0;
        }
        return 0;
    }

 private:
    using table = std::vector<std::byte>;  // one period of elements

    std::span<std::byte> allocate(chorus::byte_buffer& memory, std::uint64_t count) const {
        std::uint64_t const skipped = shape_.unaligned * width_;
        memory.grow(count * width_ + skipped);
        return {memory.data() + skipped, count * width_};
    }

    template <class Value>
    table tabulate(Value value) const {
        table values(pattern::period * width_);
        for (std::uint64_t place = 0; place < pattern::period; ++place)
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
        std::uint64_t start = at % pattern::period * width_;
        for (std::uint64_t done = 0; done < bytes; start = 0) {
            std::uint64_t const piece = (std::min)(bytes - done, pattern::period * width_ - start);
            visit(done, start, piece);
            done += piece;
        }
    }

    void write(std::span<std::byte> memory, table const& values, std::uint64_t at) const {
        in_periods(memory.size(), at, [&](std::uint64_t done, std::uint64_t start, std::uint64_t piece) {
            std::memcpy(memory.data() + done, values.data() + start, piece);
        });
    }

    /// Block b of the output comes from rank b: its own block, or of all_to_all the one meant for this rank.
    std::uint64_t count_wrong_blocks(std::uint64_t call, wrong_element const& told) const {
        std::uint64_t wrong = 0;
        for (chorus::rank_id b = 0; b < shape_.ranks; ++b) {
            chorus::rank_id const theirs = shape_.what == chorus::collective::all_to_all ? me_ : b;
            wrong += count_unlike(cut_.begin(b), cut_.length(b), shape_.cut(b).begin(theirs), contribution(b, call), told);
        }
        return wrong;
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

    call_shape shape_;
    pattern pattern_;
    chorus::rank_id me_;
    std::size_t width_;
    chorus::blocks cut_;
    std::uint64_t input_at_ = 0;
    std::uint64_t output_at_ = 0;
    chorus::byte_buffer first_;
    chorus::byte_buffer second_;
    std::span<std::byte> input_;
    std::span<std::byte> output_;
};

}  // namespace bench
