// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/types.hpp"
#include "chorus/collective/group.hpp"
#include "chorus/compress/compressor.hpp"
#include "chorus/compress/uncompressed.hpp"
#include "chorus/data/blocks.hpp"
#include "chorus/sync/detail/saved_traits.hpp"
#include "chorus/sync/detail/sync_engine.hpp"
#include "chorus/sync/outer_step.hpp"
#include "chorus/sync/policy.hpp"
#include "chorus/sync/spaced.hpp"
#include "chorus/sync/sync_options.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace chorus {

/// How a model is cut, and how often each piece is averaged.
struct fragment_options {
    std::uint32_t fragments = 4;  ///< near-equal pieces of the tensors' elements in order
    step_id period = 32;          ///< steps between two averages of one fragment; no less than there are fragments
};

/// A synchroniser whose model is cut into fragments, each averaged at a step of its own: fragment f after the steps period - 1 + f · period / fragments, and so on, modulo the period. A link
/// carries at a step the fragments-th part of what it would carry all at once; every element is averaged exactly once in a period. With a delay the average is merged that many steps
/// later, while training goes on. One fragment is the synchroniser of `spaced{period, who}`, to the bit.
///
///     chorus::streaming_fragments sync{world, weights, chorus::every_step{}, {.fragments = 8, .period = 64}, chorus::uncompressed{}, chorus::outer_step{}, {.delay = 4}};
///
/// collective, messages, merges, delay, errors: as a synchroniser of each fragment; `who` says who averages in its first, second, … round | fragments cut across tensors, so a message
/// is at most one element longer than the fragments-th part | `joins` is refused
/// Douillard et al., "Streaming DiLoCo with overlapping communication", arXiv 2501.18512; there a late average is blended with the local values, here a merge says what becomes of it.
template <transport Transport, sync_policy Policy, class Merge = outer_step<>, class T = float>
class streaming_fragments {
    using engine = detail::sync_engine<Transport, spaced<Policy>, Merge, T>;

 public:
    template <compressor Compressor = uncompressed>
    streaming_fragments(group<Transport> world, std::vector<std::span<T>> const& tensors, Policy who, fragment_options const& cut, Compressor carried_by = {}, Merge merge = {},
                        synchroniser_options const& options = {}) {
        detail::expects(cut.fragments > 0 && cut.period >= cut.fragments, [&] {
            std::string const many = std::to_string(cut.fragments);
            return "streaming_fragments: " + many + " fragments in a period of " + std::to_string(cut.period) + " steps, expected at least one and a step for each";
        });
        detail::expects(!options.joins, [] { return "streaming_fragments: joins is not served; make a synchroniser"; });
        std::uint64_t elements = 0;
        for (std::span<T> const t : tensors) elements += t.size();
        blocks const pieces = blocks::near_equal(elements, cut.fragments);
        engines_.reserve(cut.fragments);
        for (std::uint32_t f = 0; f < cut.fragments; ++f)
            engines_.emplace_back(world, part(tensors, pieces.begin(f), pieces.begin(f + 1)), spaced<Policy>{cut.period, who, f * cut.period / cut.fragments}, merge, options,
                                  detail::erased_compressor(carried_by));
    }

    /// A whole step, after the local update. Blocks until this step's averages are merged; a delayed exchange is left under way.
    sync_report step() {
        sync_report all{.step = engines_.front().totals().steps};
        for (engine& e : engines_) {
            e.open();
            e.all_ready();
        }
        for (engine& e : engines_) {
            e.close();
            all.members = (std::max)(all.members, e.report().members);
            all.bytes_sent += e.report().bytes_sent;
            all.has_merged |= e.report().has_merged;
        }
        return all;
    }

    /// Between two steps: moves what is under way without blocking; `done` when all of it has arrived.
    progress advance() noexcept {
        progress all = progress::done;
        for (engine& e : engines_) {
            progress const now = e.advance();
            if (now == progress::failed) return now;
            if (now == progress::moved || (now == progress::idle && all == progress::done)) all = now;
        }
        return all;
    }

    /// Merges what is still under way.
    void drain() {
        for (engine& e : engines_) e.drain();
    }

    /// Drains; then every rank's tensors become the plain mean over all ranks.
    void consensus() {
        for (engine& e : engines_) e.agree();
    }

    std::size_t fragments() const noexcept { return engines_.size(); }

    /// As those of a synchroniser.
    std::vector<std::byte> save() {
        auto out = detail::state_with(name, version, traits());
        for (engine& e : engines_) out.part(e.save());
        return std::move(out).finished();
    }
    void restore(std::span<std::byte const> saved) {
        detail::state_reader in{saved, name, "something else"};
        detail::expect_traits(in, version, traits());
        std::vector<detail::state_read<T>> states;
        for (engine& e : engines_) states.push_back(e.read(in.part()));
        in.finish();
        for (std::size_t f = 0; f < states.size(); ++f) engines_[f].go_on_with(std::move(states[f]));
    }

 private:
    static constexpr std::string_view name = "streaming_fragments";
    static constexpr std::uint64_t version = 1;

    std::vector<detail::saved_trait> traits() const { return {{"number of fragments", std::to_string(engines_.size())}}; }

    /// The elements from begin to end of the tensors, as if they lay one behind the other.
    static std::vector<std::span<T>> part(std::vector<std::span<T>> const& tensors, std::uint64_t begin, std::uint64_t end) {
        std::vector<std::span<T>> pieces;
        std::uint64_t first = 0;
        for (std::span<T> const t : tensors) {
            std::uint64_t const from = (std::max)(begin, first), to = (std::min)(end, first + t.size());
            if (from < to) pieces.push_back(t.subspan(static_cast<std::size_t>(from - first), static_cast<std::size_t>(to - from)));
            first += t.size();
        }
        return pieces;
    }

    std::vector<engine> engines_;
};

}  // namespace chorus
