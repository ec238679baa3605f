// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/types.hpp"
#include "chorus/collective/all_reduce.hpp"
#include "chorus/collective/group.hpp"
#include "chorus/collective/plan.hpp"
#include "chorus/data/element.hpp"
#include "chorus/data/reduction.hpp"
#include "chorus/sync/detail/joined_spans.hpp"
#include "chorus/sync/index_mask.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace chorus {

/// How late averages are merged, and where masks go on.
struct sparse_options {
    std::uint32_t delay = 0;   ///< steps from sending to merging; 0: `step` waits
    step_id first_step = 0;    ///< where the masks go on after a restart
};

/// Averages a few elements at each step, the same on all ranks: those of the step's mask are copied together, averaged by one all-reduce and put back. What a link
/// carries falls by 1/keep, and after a mask's period every element was averaged. SPARTA, and AsyncMesh along the data axis.
///
/// Delayed by δ ≥ 1, what arrives is merged with what this rank did since it was sent: w ← a + (w - s). That keeps the mean over the ranks. An element whose average
/// is on its way is left out of the masks until it has arrived: merged twice it would be corrected twice for one difference, and swing instead of settle.
///
/// collective: every rank calls `step` equally often with equal masks, options and counts | `step` after the local update; blocks (δ ≥ 1: for what was sent δ steps ago)
/// | the tensors are the caller's and stay in place; with δ ≥ 1 they are free between steps | memory: per step under way two copies of its elements, from δ = 2 on one
/// bit for each element | makes a plan where a mask's count changes, else allocates nothing | δ = 0, keep = 1: the plain mean | throws as all_reduce does
template <transport Transport, index_mask Mask, class Element>
    requires detail::real<Element>
class sparse_averaging {
 public:
    sparse_averaging(group<Transport> const& members, std::vector<std::span<Element>> tensors, Mask const& mask, sparse_options const& options = {})
        : members_{members}, tensors_{std::move(tensors)}, mask_{mask}, options_{options}, steps_{options.first_step},
          on_its_way_(options.delay >= 2 ? static_cast<std::size_t>(tensors_.size()) : 0), flights_((std::max)(options.delay, 1u)) {}

    sparse_averaging(group<Transport> const& members, std::span<Element> tensor, Mask const& mask, sparse_options const& options = {})
        : sparse_averaging{members, std::vector{tensor}, mask, options} {}

    /// Merges what was sent `delay` steps ago and sends this step's elements.
    void step() {
        flight& next = flights_[static_cast<std::size_t>(steps_ % flights_.size())];
        if (options_.delay > 0) merge(next);
        send(next);
        if (options_.delay == 0) merge(next);
        ++steps_;
    }

    /// Helps along what is under way, without blocking.
    void advance() noexcept {
        for (flight& sent : flights_)
            if (sent.is_under_way) sent.average->advance();
    }

    /// Merges what is still on its way, in the order sent.
    void finish() {
        for (std::size_t i = 0; i < flights_.size(); ++i) merge(flights_[static_cast<std::size_t>((steps_ + i) % flights_.size())]);
    }

    step_id steps() const noexcept { return steps_; }
    std::uint64_t elements_sent() const noexcept { return elements_; }  ///< averaged so far, each time counted
    std::uint64_t bytes_sent() const noexcept { return bytes_; }        ///< by this rank, from the schedules

 private:
    struct flight {
        std::vector<std::uint64_t> indices{};
        std::vector<Element> sent{};
        std::vector<Element> average_of{};  // what the plan works on
        std::optional<plan> average{};
        bool is_under_way = false;
    };

    void send(flight& next) {
        mask_.at(steps_, tensors_.size(), next.indices);
        if (!on_its_way_.empty()) {
            std::erase_if(next.indices, [&](std::uint64_t i) { return on_its_way_[static_cast<std::size_t>(i)]; });
            for (std::uint64_t i : next.indices) on_its_way_[static_cast<std::size_t>(i)] = true;
        }
        if (next.indices.empty()) return;
        next.sent.clear();
        for (std::uint64_t i : next.indices) next.sent.push_back(tensors_[i]);
        if (!next.average || next.average_of.size() != next.sent.size()) {
            next.average_of = next.sent;
            next.average.emplace(plan_all_reduce(members_, next.average_of, mean{}));
        } else {
            std::copy(next.sent.begin(), next.sent.end(), next.average_of.begin());
        }
        next.average->start();
        next.is_under_way = true;
        elements_ += next.indices.size();
        bytes_ += next.average->bytes_sent();
    }

    void merge(flight& arrived) {
        if (!arrived.is_under_way) return;
        arrived.average->wait();
        arrived.is_under_way = false;
        for (std::size_t k = 0; k < arrived.indices.size(); ++k) {
            Element& mine = tensors_[arrived.indices[k]];
            mine = options_.delay == 0 ? arrived.average_of[k] : merged(arrived.average_of[k], mine, arrived.sent[k]);
        }
        if (!on_its_way_.empty())
            for (std::uint64_t i : arrived.indices) on_its_way_[static_cast<std::size_t>(i)] = false;
    }

    static Element merged(Element average, Element mine, Element sent) noexcept {
        using wide = wide_t<Element>;
        return static_cast<Element>(static_cast<wide>(average) + (static_cast<wide>(mine) - static_cast<wide>(sent)));
    }

    group<Transport> members_;
    detail::joined_spans<Element> tensors_;
    Mask mask_;
    sparse_options options_;
    step_id steps_;
    std::uint64_t elements_ = 0;
    std::uint64_t bytes_ = 0;
    std::vector<bool> on_its_way_;
    std::vector<flight> flights_;
};

}  // namespace chorus
