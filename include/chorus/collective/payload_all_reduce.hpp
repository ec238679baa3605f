// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/byte_buffer.hpp"
#include "chorus/collective/all_reduce.hpp"
#include "chorus/collective/detail/staged_plan.hpp"
#include "chorus/compress/compressor.hpp"
#include "chorus/compress/detail/wire_header.hpp"
#include "chorus/data/reduction.hpp"

#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace chorus {

/// A plan for: `in_out` becomes the sum, or mean, of what the compressor keeps of all ranks' `in_out`. Payloads are added by an all-reduce in their own type, by any
/// algorithm, and decoded once: nothing is encoded twice, and the error is that of one encoding per rank and of the sum in `payload_type`, which must hold it: a
/// mean is divided after it was decoded.
///
/// collective | each run encodes once with `by`, which all ranks hold in equal state, and which the caller keeps alive and at its place; `in_out` as well |
/// bytes: those of an all-reduce of payload_count(count) elements | same bits on all ranks | throws as all_reduce does, and what encode and decode raise
template <transport Transport, linear_compressor C, class Op, algorithm_choice Algorithm = automatic>
    requires std::same_as<Op, sum> || std::same_as<Op, mean>
plan plan_payload_all_reduce(group<Transport> const& members, std::span<float> in_out, Op const&, C& by, Algorithm const& algorithm = {},
                             plan_options const& options = {}) {
    using payload_type = typename C::payload_type;
    auto wire = std::make_shared<byte_buffer>(by.max_wire_bytes(in_out.size()));
    std::span<payload_type> const payload{reinterpret_cast<payload_type*>(wire->data() + detail::wire_header::bytes), by.payload_count(in_out.size())};
    float const share = std::same_as<Op, mean> ? 1.0f / static_cast<float>(members.size()) : 1.0f;
    auto decode = [wire, in_out, &by, share] {
        by.decode(wire->span().first(by.max_wire_bytes(in_out.size())), in_out);
        if (share != 1.0f)
            for (float& x : in_out) x *= share;
    };
    auto add_up = std::make_shared<plan>(plan_all_reduce(members, payload, sum{}, algorithm, options));
    std::vector<detail::staged_plan::stage> stages;
    stages.push_back([wire, in_out, &by, add_up]() -> plan& {
        by.encode(in_out, wire->span());
        return *add_up;
    });
    std::string title = "all_reduce of " + std::to_string(in_out.size()) + " float as payloads of " + std::string{C::name};
    return plan{std::make_unique<detail::staged_plan>(std::move(title), std::move(stages), std::move(decode), detail::teller_of(members))};
}

}  // namespace chorus
