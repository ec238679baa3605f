// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "call_shape.hpp"

#include <chorus/base/byte_buffer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace bench {

/// Told of an element that came out wrong: its place in the output, what was expected, what is there.
using wrong_element = std::function<void(std::uint64_t place, double expected, double found)>;

/// Output [first, first + count) must be what lies from element `at` of the whole vector on: that of rank `from`, or, from
/// nobody, the reduction over ranks 0 … reduced - 1.
struct result_piece {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
    std::uint64_t at = 0;
    chorus::rank_id from = chorus::nobody;
    chorus::rank_id reduced = 0;
};

/// The memory of one rank for one collective at one size. `input` is what this rank contributes and `output` what it must
/// have afterwards, each a part of the whole vector that starts at some element; either may be empty. In place, the smaller
/// one lies in the larger where it belongs. What is written there and what is right, the classes on top know.
class call_memory {
 public:
    call_memory(call_shape const& shape, chorus::rank_id me)
        : shape_{shape}, me_{me}, width_{shape.element->bytes}, cut_{shape.cut(me)} {
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
    call_memory(call_memory const&) = delete;
    virtual ~call_memory() = default;

    std::span<std::byte> input() noexcept { return input_; }
    std::span<std::byte> output() noexcept { return output_; }

    /// Writes the inputs of call number `call`, and something foreign where results will be.
    virtual void fill(std::uint64_t call) = 0;

    /// How many elements of the output are not what call number `call` must give.
    virtual std::uint64_t count_wrong(std::uint64_t call, wrong_element const& told) = 0;

    /// Flips the bits of one byte of the output, if there is any.
    void spoil() {
        if (output_.empty()) return;
        std::byte& victim = output_[output_.size() / width_ / 2 * width_];
        victim = ~victim;
    }

 protected:
    /// What the output is made of. Of all_to_all block b comes from rank b and is the one meant for this rank.
    template <class Visit>
    void for_results(Visit visit) const {
        using chorus::collective;
        if (output_.empty()) return;
        std::uint64_t const count = output_.size() / width_;
        switch (shape_.what) {
            case collective::all_reduce:
            case collective::reduce:
            case collective::reduce_scatter: return visit(result_piece{0, count, output_at_, chorus::nobody, shape_.ranks});
            case collective::scan: return visit(result_piece{0, count, 0, chorus::nobody, me_ + 1});
            case collective::exclusive_scan:
                if (me_ > 0) visit(result_piece{0, count, 0, chorus::nobody, me_});
                return;
            case collective::broadcast:
            case collective::scatter: return visit(result_piece{0, count, output_at_, shape_.root});
            case collective::all_gather:
            case collective::gather:
            case collective::all_to_all:
                for (chorus::rank_id b = 0; b < shape_.ranks; ++b) {
                    chorus::rank_id const theirs = shape_.what == collective::all_to_all ? me_ : b;
                    visit(result_piece{cut_.begin(b), cut_.length(b), shape_.cut(b).begin(theirs), b});
                }
                return;
            case collective::barrier: return;
        }
    }

    call_shape shape_;
    chorus::rank_id me_;
    std::size_t width_;
    chorus::blocks cut_;
    std::uint64_t input_at_ = 0;
    std::uint64_t output_at_ = 0;
    std::span<std::byte> input_;
    std::span<std::byte> output_;

 private:
    std::span<std::byte> allocate(chorus::byte_buffer& memory, std::uint64_t count) const {
        std::uint64_t const skipped = shape_.unaligned * width_;
        memory.grow(count * width_ + skipped);
        return {memory.data() + skipped, count * width_};
    }

    chorus::byte_buffer first_;
    chorus::byte_buffer second_;
};

}  // namespace bench
