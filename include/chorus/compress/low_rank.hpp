// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/compress/compressor.hpp"
#include "chorus/compress/detail/low_rank_kernels.hpp"
#include "chorus/compress/detail/nonfinite_values.hpp"
#include "chorus/compress/detail/state_image.hpp"
#include "chorus/compress/detail/wire_header.hpp"
#include "chorus/compress/detail/wire_words.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace chorus {

/// How a vector is seen as a matrix, row by row; the last row may be shorter.
struct low_rank_shape {
    std::size_t rows = 0;
    std::size_t columns = 0;
    std::uint32_t rank = 0;  ///< at most the smaller of both

    constexpr std::size_t left_count() const noexcept { return rank * rows; }      ///< elements of P
    constexpr std::size_t right_count() const noexcept { return rank * columns; }  ///< elements of Q

    friend bool operator==(low_rank_shape const&, low_rank_shape const&) = default;
};

/// What a low_rank remembers, Q with orthonormal columns, and its scratch.
struct low_rank_memory {
    std::uint64_t draws = 0;  ///< matrices projected so far
    std::size_t columns = 0;
    std::vector<float> warm, left, right, clean;
    std::vector<double> sums;
};

/// Sends a matrix M as P Qᵀ of low rank: P = M Q, made orthonormal, then Q = Mᵀ P. The next matrix begins with this Q, so that over steps it
/// follows the strongest directions (PowerSGD; Vogels, Karimireddy, Jaggi, NeurIPS 2019). Wrap it in error_feedback.
///
/// layout    header: detail 0, number rank + 256 · columns; then P, then Q, column after column, 4 bytes an element. Detail 1: all elements as
///           they are, where that is no longer. Detail 2: no payload, all elements are NaN.
/// bytes     16 + 4 · min(count, rank (rows + columns))
/// time      two passes over the matrix for each iteration, 2 rank count products each; nothing is drawn once it is warm
/// promise   of what is sent as it is: all. Otherwise nothing: M - P Qᵀ is never longer than M, but a matrix may have nothing in the
///           directions of the last ones. In the mean over seeds the first message keeps at least rank / min(rows, columns) of |M|².
/// NaN, Inf  propagate: all elements become NaN, Q is not changed. Elements of P Qᵀ that are too large become the largest float.
/// state     Q, a number of draws, the number of columns. Another shape begins anew.
///
/// Between ranks P, then Q, may be averaged instead of messages exchanged, since both are linear in M:
///     project(gradient, p); all-reduce p; orthogonalise(p, shape); back_project(gradient, p, q); all-reduce q; divide q by the
///     ranks; keep(q, shape); reconstruct(p, q, shape, out)
/// Equal seeds and histories then give all ranks the same bits, if the all-reduce does.
struct low_rank {
    static constexpr std::string_view name = "low_rank";

    std::uint32_t rank = 4;        ///< 1 to 255
    std::size_t columns = 0;       ///< elements of a row; 0: such that the matrix is nearly square
    std::uint32_t iterations = 1;  ///< of P and Q for each message
    std::uint64_t seed = 0;        ///< of directions drawn for the first matrix, and for those that vanished
    nonfinite on_nonfinite = nonfinite::propagate;
    low_rank_memory memory = {};

    low_rank_shape shape(std::size_t count) const {
        detail::expects(rank >= 1 && rank <= 255 && iterations >= 1, [&] {
            return "low_rank was given a rank of " + std::to_string(rank) + " and " + std::to_string(iterations) +
                   " iterations, expected 1 to 255 and at least 1";
        });
        std::size_t wide = columns;
        if (wide == 0) {
            wide = static_cast<std::size_t>(std::sqrt(static_cast<double>(count)));
            while (wide * wide < count) ++wide;
        }
        wide = (std::min)(wide, count);
        std::size_t const rows = wide == 0 ? 0 : (count + wide - 1) / wide;
        return {rows, wide, static_cast<std::uint32_t>((std::min)({std::size_t{rank}, rows, wide}))};
    }

    /// Whether the factors are shorter than the elements. If not, collectives had better reduce the elements.
    bool is_worthwhile(std::size_t count) const {
        low_rank_shape const s = shape(count);
        return s.left_count() + s.right_count() < count && s.columns < std::size_t{1} << 32;
    }

    std::size_t max_wire_bytes(std::size_t count) const {
        low_rank_shape const s = shape(count);
        return header::bytes + 4 * (is_worthwhile(count) ? s.left_count() + s.right_count() : count);
    }
    compression_promise promise(std::size_t count) const {
        if (is_worthwhile(count)) return {};
        return {.is_unbiased = true, .contraction = 1.0, .is_selection = true};
    }

    std::size_t encode(std::span<float const> dense, std::span<std::byte> wire) {
        detail::expect_room(wire, max_wire_bytes(dense.size()), name);
        if (!is_worthwhile(dense.size())) return write_dense(dense, wire);
        float largest = detail::largest_size(dense);
        if (!detail::is_finite(largest)) {
            detail::refuse_nonfinite(dense, on_nonfinite, name);
            if (on_nonfinite == nonfinite::propagate) {
                header{detail::wire_format::low_rank, 2, 0, dense.size()}.write(wire);
                return header::bytes;
            }
            memory.clean.assign(dense.begin(), dense.end());
            for (float& value : memory.clean) value = detail::sanitised(value);
            dense = memory.clean;
            largest = detail::largest_size(dense);
        }
        return write_factors(dense, largest, wire);
    }
    void decode(std::span<std::byte const> received, std::span<float> out) const {
        for_each_element(received, out, [&](std::size_t i, float value) { out[i] = value; });
    }
    void decode_add(std::span<std::byte const> received, std::span<float> out) const {
        for_each_element(received, out, [&](std::size_t i, float value) { out[i] += value; });
    }

    /// P = M Q with the Q kept. `left` has shape(dense.size()).left_count() elements. What is not finite makes P, and so all that follows, NaN on
    /// all ranks under `propagate`; `sanitise` is refused here: clean the gradient itself.
    void project(std::span<float const> dense, std::span<float> left) {
        detail::expects(on_nonfinite != nonfinite::sanitise, [] { return "low_rank cannot sanitise in two rounds"; });
        detail::refuse_nonfinite(dense, on_nonfinite, name);
        low_rank_shape const s = shape(dense.size());
        expect_count(left.size(), s.left_count(), "P");
        warm_up_for(s);
        if (!dense.empty()) detail::matrix_product({dense, s.columns}, memory.warm.data(), s.rank, 1.0, left.data());
    }
    /// Makes the columns of P orthonormal. Those that are zero, or depend on others to 2^-18, become zero: nothing is divided by zero.
    static void orthogonalise(std::span<float> left, low_rank_shape const& s) {
        expect_count(left.size(), s.left_count(), "P");
        detail::orthonormalise(left.data(), s.rank, s.rows);
    }
    /// Q = Mᵀ P.
    void back_project(std::span<float const> dense, std::span<float const> left, std::span<float> right) {
        low_rank_shape const s = shape(dense.size());
        expect_count(left.size(), s.left_count(), "P");
        expect_count(right.size(), s.right_count(), "Q");
        memory.sums.resize(s.right_count());
        if (!dense.empty()) detail::transposed_product({dense, s.columns}, left.data(), s.rank, memory.sums.data(), right.data());
    }
    /// Q is where the next matrix begins.
    void keep(std::span<float const> right, low_rank_shape const& s) {
        expect_count(right.size(), s.right_count(), "Q");
        memory.columns = s.columns;
        memory.warm.assign(right.begin(), right.end());
        detail::orthonormalise(memory.warm.data(), s.rank, s.columns);
    }
    /// out = P Qᵀ.
    static void reconstruct(std::span<float const> left, std::span<float const> right, low_rank_shape const& s, std::span<float> out) {
        expect_count(left.size(), s.left_count(), "P");
        expect_count(right.size(), s.right_count(), "Q");
        if (out.empty()) return;
        detail::for_each_product(std::as_bytes(left).data(), std::as_bytes(right).data(), s.rank, {out, s.columns},
                                 [&](std::size_t i, float value) { out[i] = value; });
    }

    std::size_t state_bytes() const { return detail::state_seal_bytes + 32 + 4 * memory.warm.size(); }
    void save_state(std::span<std::byte> saved) const {
        detail::state_writer writer{saved, state_bytes(), name};
        writer.number(parameters());
        writer.number(memory.draws);
        writer.number(memory.columns);
        writer.number(memory.warm.size());
        writer.floats(memory.warm);
        writer.finish();
    }
    void restore_state(std::span<std::byte const> saved) {
        detail::state_reader reader{saved, name};
        reader.expect(reader.number() == parameters(), [] { return "its rank, columns, iterations or seed are others"; });
        std::uint64_t const draws = reader.number(), wide = reader.number(), count = reader.number();
        std::byte const* const values = reader.floats(count);
        reader.finish();
        reader.expect(wide == 0 ? count == 0 : count % wide == 0 && count / wide <= rank, [] { return "its Q has no such shape"; });
        memory.warm.resize(static_cast<std::size_t>(count));
        detail::load_words(memory.warm.data(), values, memory.warm.size());
        memory.draws = draws;
        memory.columns = static_cast<std::size_t>(wide);
    }

 private:
    using header = detail::wire_header;

    static void expect_count(std::size_t given, std::size_t expected, std::string_view factor) {
        detail::expects(given == expected, [&] {
            return "low_rank was given " + std::to_string(given) + " elements for " + std::string{factor} + ", expected " + std::to_string(expected);
        });
    }

    std::uint64_t parameters() const noexcept {
        auto const mix = [](std::uint64_t before, std::uint64_t next) { return counter_random::mix(before + 1) ^ next; };
        return mix(mix(mix(rank, columns), iterations), seed);
    }

    /// Q for a matrix of this shape: what was kept, and new directions where there is none.
    void warm_up_for(low_rank_shape const& s) {
        if (memory.columns != s.columns || memory.warm.size() != s.right_count()) memory.warm.assign(s.right_count(), 0.0f);
        memory.columns = s.columns;
        detail::replace_dead_columns(memory.warm.data(), s.rank, s.columns, seed, memory.draws++);
    }

    std::size_t write_dense(std::span<float const> dense, std::span<std::byte> wire) const {
        detail::refuse_nonfinite(dense, on_nonfinite, name);
        header{detail::wire_format::low_rank, 1, 0, dense.size()}.write(wire);
        std::byte* const payload = wire.data() + header::bytes;
        detail::store_words(payload, dense.data(), dense.size());
        if (on_nonfinite == nonfinite::sanitise) detail::sanitise_in(payload, dense.size());
        return header::bytes + 4 * dense.size();
    }

    /// P is of a matrix scaled by a power of two, for only its directions matter: nothing overflows or vanishes in it.
    std::size_t write_factors(std::span<float const> dense, float largest, std::span<std::byte> wire) {
        low_rank_shape const s = shape(dense.size());
        memory.left.resize(s.left_count());
        memory.right.resize(s.right_count());
        double const scale = largest > 0.0f ? std::ldexp(1.0, -std::ilogb(largest)) : 1.0;
        for (std::uint32_t i = 0; i < iterations; ++i) {
            warm_up_for(s);
            detail::matrix_product({dense, s.columns}, memory.warm.data(), s.rank, scale, memory.left.data());
            orthogonalise(memory.left, s);
            back_project(dense, memory.left, memory.right);
            keep(memory.right, s);
        }
        header{detail::wire_format::low_rank, 0, s.rank | std::uint64_t{s.columns} << 8, dense.size()}.write(wire);
        std::byte* const payload = wire.data() + header::bytes;
        detail::store_words(payload, memory.left.data(), memory.left.size());
        detail::store_words(payload + 4 * memory.left.size(), memory.right.data(), memory.right.size());
        return header::bytes + 4 * (memory.left.size() + memory.right.size());
    }

    /// emit(index, value) for each element, after the message was found whole.
    template <class Emit>
    static void for_each_element(std::span<std::byte const> received, std::span<float> out, Emit const& emit) {
        std::size_t const count = out.size();
        header const h = header::read(received, detail::wire_format::low_rank, count, name);
        header::expect_whole(h.detail <= 2 && (h.detail == 0 || h.number == 0), name, [] { return "it is of an unknown kind"; });
        std::byte const* const payload = received.data() + header::bytes;
        if (h.detail != 0) {
            header::expect_payload(received, h.detail == 1 ? 4 * count : 0, name);
            constexpr float nan = std::numeric_limits<float>::quiet_NaN();
            for (std::size_t i = 0; i < count; ++i) emit(i, h.detail == 1 ? detail::load_word<float>(payload, i) : nan);
            return;
        }
        auto const rank = static_cast<std::uint32_t>(h.number & 0xFF);
        auto const wide = static_cast<std::size_t>(h.number >> 8);
        std::size_t const rows = wide == 0 ? 0 : (count + wide - 1) / wide;
        header::expect_whole(rank >= 1 && rank <= rows && rank <= wide && wide <= count && rank * (rows + wide) < count, name, [&] {
            return "a rank of " + std::to_string(rank) + " in rows of " + std::to_string(wide) + " fits no matrix of its elements";
        });
        header::expect_payload(received, 4 * rank * (rows + wide), name);
        detail::for_each_product(payload, payload + 4 * rank * rows, rank, {out, wide}, emit);
    }
};
static_assert(stateful_compressor<low_rank>);

}  // namespace chorus
