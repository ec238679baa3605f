// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/compress/compressor.hpp"
#include "chorus/compress/detail/candidates.hpp"
#include "chorus/compress/detail/nonfinite_values.hpp"
#include "chorus/compress/detail/sparse_wire.hpp"
#include "chorus/compress/detail/wire_words.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

namespace chorus::detail {

/// What the compressors that send the elements of largest magnitude have in common: the message and what becomes of values that are not finite.
///
/// Those are the largest of all, so they are sent. propagate: if there are more of them than entries in the message, every element is decoded as NaN; otherwise
/// each keeps its bits and no other element suffers.
template <class Self> class sparsifier {
 public:
    nonfinite on_nonfinite = nonfinite::propagate;
    index_layout indices = index_layout::plain;

    /// Overwrites all of `out`.
    void decode(std::span<std::byte const> wire, std::span<float> out) const {
        sparse_message::read(wire, out.size(), Self::name).decode(out);
    }

    /// Adds to the elements that were sent.
    void decode_add(std::span<std::byte const> wire, std::span<float> out) const {
        sparse_message::read(wire, out.size(), Self::name).decode_add(out);
    }

    /// As `encode`, and leaves in `vector` what was not sent: one step per entry more.
    std::size_t encode_rest(std::span<float> vector, std::span<std::byte> wire) {
        std::size_t const used = static_cast<Self&>(*this).encode(vector, wire);
        auto const sent = sparse_message::read(wire.first(used), vector.size(), Self::name);
        if (sent.is_all_nan()) std::fill(vector.begin(), vector.end(), std::numeric_limits<float>::quiet_NaN());
        sent.for_each_block([&](std::span<std::uint32_t const> block, std::byte const* values) {
            for (std::size_t i = 0; i < block.size(); ++i) vector[block[i]] -= load_word<float>(values, i);
        });
        return used;
    }

 protected:
    /// Before anything of `dense` is read.
    void expect_encodable(std::size_t count, std::span<std::byte> wire, std::size_t max_wire_bytes) const {
        sparse_wire::expect_countable(count, Self::name);
        expect_room(wire, max_wire_bytes, Self::name);
    }

    /// The message of what was picked from `dense`, which is not empty unless `dense` is.
    std::size_t write(std::span<float const> dense, candidates const& picked, std::span<std::byte> wire) const {
        if (!is_whole(dense, picked.values())) return sparse_writer::write_all_nan(wire, dense.size());
        sparse_writer writer{wire, indices, picked.size(), dense.size()};
        writer.add({picked.indices(), picked.size()}, picked.values());
        return writer.finish();
    }

 private:
    /// Whether all that is not finite was picked. Raises for what `refuse` refuses.
    bool is_whole(std::span<float const> dense, std::span<float const> picked) const {
        if (on_nonfinite == nonfinite::sanitise) return true;
        if (first_nonfinite(picked) == picked.size()) return true;
        refuse_nonfinite(dense, on_nonfinite, Self::name);
        if (!std::none_of(picked.begin(), picked.end(), &is_finite)) return true;
        return static_cast<std::size_t>(std::count_if(dense.begin(), dense.end(), [](float value) { return !is_finite(value); })) == picked.size();
    }
};

}  // namespace chorus::detail
