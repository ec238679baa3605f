// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/collective/all_gather.hpp"
#include "chorus/collective/all_to_all.hpp"
#include "chorus/collective/detail/sparse_vector.hpp"
#include "chorus/collective/detail/staged_plan.hpp"
#include "chorus/collective/group.hpp"
#include "chorus/compress/compressor.hpp"
#include "chorus/data/blocks.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace chorus {

/// How entries of sparse vectors come together. With k entries per rank of p and little in common, 8 bytes each, a rank sends:
enum class sparse_exchange : std::uint8_t {
    gather,  ///< everybody's entries to everybody: 8k (p - 1) bytes; added in the order of ranks
    merge,   ///< recursive doubling, sums merged at each round: 8k (p - 1) at most, 8k log2 p when supports are equal (Renggli et al., SparCML, SC 2019)
    split    ///< entries to the owner of their region, sums back to everybody: 8k (p - 1) / p + 8k (p - 1) (Li & Hoefler, Ok-Topk, PPoPP 2022, without its second selection)
};

constexpr std::string_view to_string(sparse_exchange how) noexcept {
    constexpr std::string_view names[] = {"gather", "merge", "split"};
    return names[static_cast<int>(how)];
}

namespace detail {

/// One sparse all-reduce of one rank: lengths first, then what they announce, in a group that nobody else uses.
template <transport Transport, compressor Sparsifier>
class sparse_all_reduce {
 public:
    sparse_all_reduce(group<Transport> members, std::span<float> in_out, Sparsifier& select, plan_options const& options)
        : world_{std::move(members)}, in_out_{in_out}, select_{select}, options_{options}, lengths_(world_.size()), regions_{blocks::near_equal(in_out.size(), world_.size())} {}

    std::vector<staged_plan::stage> stages(std::shared_ptr<sparse_all_reduce> const& self, sparse_exchange how) {
        std::vector<staged_plan::stage> all;
        auto const add = [&](auto step) { all.push_back([self, step]() -> plan& { return step(*self); }); };
        if (how == sparse_exchange::gather) {
            add([](auto& me) -> plan& { return me.select_all(), me.tell_length(me.world_, me.mine_.message_bytes()); });
            add([](auto& me) -> plan& { return me.gather(me.world_, me.mine_); });
        } else if (how == sparse_exchange::merge) {
            find_rounds();
            for (std::size_t r = 0; r < rounds_.size(); ++r) {
                add([r](auto& me) -> plan& { return me.begin_round(r), me.tell_length(me.rounds_[r].pair, me.mine_.message_bytes()); });
                add([r](auto& me) -> plan& { return me.gather(me.rounds_[r].pair, me.mine_); });
            }
        } else {
            add([](auto& me) -> plan& { return me.select_all(), me.tell_lengths_of_regions(); });
            add([](auto& me) -> plan& { return me.send_regions(); });
            add([](auto& me) -> plan& { return me.add_messages(me.regions_.length(me.world_.rank())), me.tell_length(me.world_, me.mine_.message_bytes()); });
            add([](auto& me) -> plan& { return me.gather(me.world_, me.mine_); });
        }
        return all;
    }

    void finish(sparse_exchange how) {
        if (how == sparse_exchange::merge) {
            if (rounds_.empty()) select_all();  // the only rank
            else take_round(rounds_.back());
            return mine_.store(in_out_);
        }
        if (how == sparse_exchange::gather) {
            add_messages(in_out_.size());
            return mine_.store(in_out_);
        }
        rank_id r = 0;
        for_messages([&](std::span<std::byte const> message) {
            other_.read(message, regions_.length(r));
            other_.store(in_out_.subspan(regions_.begin(r), regions_.length(r)));
            ++r;
        });
    }

 private:
    /// An exchange with one other rank, after which both have the sum, or what `giver` has.
    struct merging {
        group<Transport> pair;  // the lower rank first
        rank_id giver = nobody;
    };

    void select_all() {
        message_.resize(select_.max_wire_bytes(in_out_.size()));
        std::size_t const length = select_.encode(in_out_, message_);
        CHORUS_TRY { mine_.read(std::span{message_}.first(length), in_out_.size()); }
        CHORUS_CATCH_ALL { raise(errc::unsupported, "sparse_all_reduce by " + std::string{Sparsifier::name} + ": its messages are not entries of a vector"); }
    }

    /// Every member's length of what it will send to all.
    plan& tell_length(group<Transport> const& members, std::size_t bytes) {
        own_length_ = bytes;
        lengths_.resize(members.size());
        return lengths_plan_.emplace(plan_all_gather(members, std::span{&own_length_, 1}, lengths_, automatic{}, options_));
    }

    plan& gather(group<Transport> const& members, sparse_vector const& what) {
        message_.resize(static_cast<std::size_t>(own_length_));
        what.write(message_);
        arrived_.resize(static_cast<std::size_t>(std::accumulate(lengths_.begin(), lengths_.end(), std::uint64_t{0})));
        return messages_plan_.emplace(plan_all_gather_v(members, message_, arrived_, lengths_, automatic{}, options_));
    }

    template <class Visit>
    void for_messages(Visit const& visit) {
        std::size_t at = 0;
        for (std::uint64_t const length : lengths_) {
            visit(std::span<std::byte const>{arrived_}.subspan(at, static_cast<std::size_t>(length)));
            at += static_cast<std::size_t>(length);
        }
    }

    /// What has arrived, added up in the order of ranks.
    void add_messages(std::size_t count) {
        mine_.reset(count);
        for_messages([&](std::span<std::byte const> message) {
            other_.read(message, count);
            mine_.add(other_, true);
        });
    }

    // ---- merge ----

    /// Ranks beyond the largest power of two give theirs to a partner before, and get the sum from it after.
    void find_rounds() {
        rank_id const core = std::bit_floor(world_.size()), me = world_.rank();
        rank_id const low = me < core ? me : me - core;
        bool const has_partner = low + core < world_.size();
        auto const pair_of = [&](rank_id a, rank_id b) { return world_.subgroup(std::vector<rank_id>{(std::min)(a, b), (std::max)(a, b)}); };
        if (has_partner) rounds_.push_back({pair_of(low, low + core), nobody});
        for (rank_id bit = 1; me < core && bit < core; bit *= 2) rounds_.push_back({pair_of(me, me ^ bit), nobody});
        if (has_partner) rounds_.push_back({pair_of(low, low + core), low});
    }

    void begin_round(std::size_t r) {
        if (r == 0) select_all();
        else take_round(rounds_[r - 1]);
        bool const is_taker = rounds_[r].giver != nobody && rounds_[r].giver != world_.rank();
        if (is_taker) mine_.reset(in_out_.size());  // not needed any more
    }

    void take_round(merging const& past) {
        bool const is_low = past.pair.rank() == 0;
        rank_id from = 0;
        for_messages([&](std::span<std::byte const> message) {
            if (from++ == past.pair.rank()) return;
            other_.read(message, in_out_.size());
            if (past.giver == nobody) mine_.add(other_, is_low);
            else if (past.giver != world_.rank()) std::swap(mine_, other_);
        });
    }

    // ---- split ----

    plan& tell_lengths_of_regions() {
        message_.clear();
        send_lengths_.clear();
        for (rank_id r = 0; r < world_.size(); ++r) {
            mine_.cut(other_, regions_.begin(r), regions_.begin(r + 1));
            std::size_t const at = message_.size();
            send_lengths_.push_back(other_.message_bytes());
            message_.resize(at + other_.message_bytes());
            other_.write(std::span{message_}.subspan(at));
        }
        return lengths_plan_.emplace(plan_all_to_all(world_, send_lengths_, lengths_, automatic{}, options_));
    }

    plan& send_regions() {
        arrived_.resize(static_cast<std::size_t>(std::accumulate(lengths_.begin(), lengths_.end(), std::uint64_t{0})));
        return messages_plan_.emplace(plan_all_to_all_v(world_, message_, send_lengths_, arrived_, lengths_, automatic{}, options_));
    }


    group<Transport> world_;
    std::span<float> in_out_;
    Sparsifier& select_;
    plan_options options_;
    sparse_vector mine_, other_;
    std::vector<std::byte> message_, arrived_;
    std::uint64_t own_length_ = 0;
    std::vector<std::uint64_t> lengths_, send_lengths_;  // of messages, in bytes, by member
    blocks regions_;
    std::vector<merging> rounds_;
    std::optional<plan> lengths_plan_, messages_plan_;
};

}  // namespace detail

/// A plan for: `in_out` becomes the sum of the entries that `select` picks of every rank's `in_out`, and zero elsewhere. Nothing is selected twice, so nothing but what
/// `select` left out is missing; wrap it in error_feedback to send that later. Where the sum of some ranks has filled up, its elements travel instead of entries.
///
/// collective, equal counts | select: a compressor whose messages are entries (top_k, threshold, sampled_top_k, gaussian_top_k, also inside adaptors), which the caller keeps alive and at
/// its place; any number of entries, also none, on any rank | `gather`: added in the order of ranks; all: the same bits on all ranks |
/// rounds: lengths, then entries, twice for `split`, log2 p times for `merge` | allocates, as lengths are known only then | throws as all_reduce does
template <transport Transport, compressor Sparsifier>
plan plan_sparse_all_reduce(group<Transport> const& members, std::span<float> in_out, Sparsifier& select, sparse_exchange how = sparse_exchange::split,
                            plan_options const& options = {}) {
    detail::expects(!options.carried_by, [] { return "sparse_all_reduce: its messages are compressed already"; });
    auto const apart = members.duplicate(detail::next_plan(members.net(), *members.state()));
    auto self = std::make_shared<detail::sparse_all_reduce<Transport, Sparsifier>>(apart, in_out, select, options);
    auto stages = self->stages(self, how);
    std::string title = "sparse_all_reduce of " + std::to_string(in_out.size()) + " float by " + std::string{to_string(how)} + " of " + std::string{Sparsifier::name};
    return plan{std::make_unique<detail::staged_plan>(std::move(title), std::move(stages), [self, how] { self->finish(how); }, detail::teller_of(members))};
}

}  // namespace chorus
