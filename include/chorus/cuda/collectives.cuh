// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/collective/all_gather.hpp"
#include "chorus/collective/all_reduce.hpp"
#include "chorus/collective/all_to_all.hpp"
#include "chorus/collective/broadcast.hpp"
#include "chorus/collective/reduce_scatter.hpp"
#include "chorus/cuda/device.cuh"
#include "chorus/cuda/device_span.cuh"
#include "chorus/cuda/staged_plan.cuh"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace chorus::cuda {

/// How device memory travels over a transport of the host.
struct staging_options {
    std::size_t part_bytes = std::size_t{4} << 20;  ///< what is copied at once, where an operation may be cut; the same on all ranks
    plan_options network{};
};

}  // namespace chorus::cuda

namespace chorus::detail {

/// Element by element: cut into parts of equal length, the last one shorter. make(span) makes the host's plan for a part.
template <class T, class Make>
cuda::staged_plan staged_in_parts(cuda::device_span<T> values, std::size_t part_bytes, bool is_read, bool is_written, Make const& make) {
    using cuda::staged_plan;
    cuda::expect_device();
    std::size_t const length = (std::max)(part_bytes / sizeof(T), std::size_t{1});
    std::vector<staged_plan::part> parts;
    for (std::size_t first = 0; first == 0 || first < values.size(); first += length) {
        std::size_t const bytes = (std::min)(length, values.size() - first) * sizeof(T);
        auto* const at = reinterpret_cast<std::byte*>(values.data() + first);
        parts.push_back({at, is_read ? bytes : 0, at, is_written ? bytes : 0});
    }
    std::size_t const tail = values.size() - (parts.size() - 1) * length;
    std::size_t const whole = tail == length ? parts.size() : parts.size() - 1;
    std::array<staged_plan::place, staged_plan::slots> places;
    auto const span_of = [&](std::size_t slot, std::size_t count) { return std::span<T>{reinterpret_cast<T*>(places[slot].out), count}; };
    for (std::size_t slot = 0; slot < (std::min)(parts.size(), places.size()); ++slot) {
        places[slot].memory = cuda::pinned_buffer{(std::min)(length, values.size()) * sizeof(T)};
        places[slot].out = places[slot].in = places[slot].memory.data();
        if (slot < whole) places[slot].whole = make(span_of(slot, length));
    }
    std::optional<plan> last;
    if (whole < parts.size()) last = make(span_of(whole % places.size(), tail));
    return {std::move(parts), std::move(places), std::move(last)};
}

/// All at once: make(input, output) makes the host's plan.
template <class T, class Make>
cuda::staged_plan staged_at_once(cuda::device_span<T const> input, cuda::device_span<T> output, Make const& make) {
    using cuda::staged_plan;
    cuda::expect_device();
    std::array<staged_plan::place, staged_plan::slots> places;
    staged_plan::place& only = places[0];
    only.memory = cuda::pinned_buffer{input.size_bytes() + output.size_bytes()};
    only.out = only.memory.data();
    only.in = only.memory.data() + input.size_bytes();
    only.whole = make(std::span<T const>{reinterpret_cast<T const*>(only.out), input.size()}, std::span<T>{reinterpret_cast<T*>(only.in), output.size()});
    staged_plan::part const part{reinterpret_cast<std::byte const*>(input.data()), input.size_bytes(), reinterpret_cast<std::byte*>(output.data()), output.size_bytes()};
    return {{part}, std::move(places), std::nullopt};
}

}  // namespace chorus::detail

namespace chorus::cuda {

/// As chorus::plan_all_reduce in place, of memory of the current device. Cut into parts: bits are those of the parts' all-reduces.
template <transport Transport, class T, class Op, algorithm_choice Algorithm = automatic>
staged_plan plan_all_reduce(group<Transport> const& members, device_span<T> in_out, Op const& op, Algorithm const& algorithm = {}, staging_options const& options = {}) {
    return chorus::detail::staged_in_parts(in_out, options.part_bytes, true, true,
                                           [&](std::span<T> part) { return chorus::plan_all_reduce(members, part, op, algorithm, options.network); });
}

/// As chorus::plan_broadcast, of memory of the current device. Only the root copies out, only the others copy back.
template <transport Transport, class T, algorithm_choice Algorithm = automatic>
staged_plan plan_broadcast(group<Transport> const& members, device_span<T> in_out, rank_id root, Algorithm const& algorithm = {}, staging_options const& options = {}) {
    bool const is_root = members.rank() == root;
    return chorus::detail::staged_in_parts(in_out, options.part_bytes, is_root, !is_root,
                                           [&](std::span<T> part) { return chorus::plan_broadcast(members, part, root, algorithm, options.network); });
}

/// As chorus::plan_all_gather, of memory of the current device. At once: `part_bytes` has no meaning.
template <transport Transport, class T, algorithm_choice Algorithm = automatic>
staged_plan plan_all_gather(group<Transport> const& members, device_span<T const> input, device_span<T> output, Algorithm const& algorithm = {}, staging_options const& options = {}) {
    return chorus::detail::staged_at_once(
        input, output, [&](std::span<T const> in, std::span<T> out) { return chorus::plan_all_gather(members, in, out, algorithm, options.network); });
}

/// As chorus::plan_reduce_scatter, of memory of the current device. At once.
template <transport Transport, class T, class Op, algorithm_choice Algorithm = automatic>
staged_plan plan_reduce_scatter(group<Transport> const& members, device_span<T const> input, device_span<T> output, Op const& op, Algorithm const& algorithm = {},
                                staging_options const& options = {}) {
    return chorus::detail::staged_at_once(
        input, output, [&](std::span<T const> in, std::span<T> out) { return chorus::plan_reduce_scatter(members, in, out, op, algorithm, options.network); });
}

/// As chorus::plan_all_to_all, of memory of the current device. At once.
template <transport Transport, class T, algorithm_choice Algorithm = automatic>
staged_plan plan_all_to_all(group<Transport> const& members, device_span<T const> input, device_span<T> output, Algorithm const& algorithm = {}, staging_options const& options = {}) {
    return chorus::detail::staged_at_once(
        input, output, [&](std::span<T const> in, std::span<T> out) { return chorus::plan_all_to_all(members, in, out, algorithm, options.network); });
}

}  // namespace chorus::cuda
