// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "calls.hpp"
#include "pieces.hpp"
#include "settings.hpp"
#include "transports.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace preload {

struct pending_call;

/// A plan that is made once for all calls of one key.
class bound_plan {
 public:
    bound_plan(call asked, std::string algorithm, chorus::plan plan)
        : made_for_{std::move(asked)}, algorithm_{std::move(algorithm)}, plan_{std::move(plan)} {}

    call_key const& key() const noexcept { return made_for_; }
    std::string const& algorithm() const noexcept { return algorithm_; }
    chorus::plan& plan() noexcept { return plan_; }

    /// Whether a rank works in place is its own affair; the plan goes on as it was made.
    void start(call const& asked) {
        std::byte const* in = asked.in;
        if (asked.in_place && !made_for_.in_place) {
            aside_.assign(in, in + asked.in_bytes);
            in = aside_.data();
        } else if (!asked.in_place && made_for_.in_place) {
            std::byte* const place = asked.out + asked.in_place_at;
            if (asked.in_bytes > 0) std::memcpy(place, in, asked.in_bytes);
            in = place;
        }
        if (in != made_for_.in || asked.out != made_for_.out) plan_.rebind(in, asked.out);
        made_for_.in = in;
        made_for_.out = asked.out;
        plan_.start();
    }

    std::deque<std::shared_ptr<pending_call>> waiting{};  ///< the first one is under way

 private:
    call made_for_;
    std::string algorithm_;
    chorus::plan plan_;
    std::vector<std::byte> aside_;
};

/// What chorus knows of one communicator: an attribute of it.
class communicator {
 public:
    communicator(transports::group members, labels* given_back_to, std::vector<rank_id> ranks, std::uint64_t label, bool may_overlap)
        : members_{std::move(members)}, labels_{given_back_to}, ranks_{std::move(ranks)}, label_{label}, may_overlap_{may_overlap} {}

    /// All calls are MPI's own.
    communicator() = default;

    communicator(communicator const&) = delete;
    communicator& operator=(communicator const&) = delete;
    ~communicator() {
        if (labels_ != nullptr) labels_->give_back(ranks_, label_);
    }

    bool is_carried() const noexcept { return members_.index() != 0; }
    /// Whether a call may be under way while its caller does something else: chorus must be able to go on by itself.
    bool may_overlap() const noexcept { return may_overlap_; }
    rank_id rank() const noexcept { return rank_; }
    rank_id size() const noexcept { return static_cast<rank_id>(ranks_.size()); }

    /// Before the first call.
    void know_rank(int rank) noexcept { rank_ = static_cast<rank_id>(rank); }

    std::uint32_t next_lane() noexcept { return 1 + calls_without_waiting_++ % lanes; }

    /// The plan for such a call. Members make the same calls in the same order, and so keep and give up the same plans.
    std::shared_ptr<bound_plan> plan_for(call const& asked, settings const& given) {
        if (asked.knows_own_alone) return make(asked, given);
        for (std::size_t i = 0; i < plans_.size(); ++i) {
            if (!(plans_[i]->key() == asked)) continue;
            if (i > 0) std::rotate(plans_.begin(), plans_.begin() + static_cast<std::ptrdiff_t>(i), plans_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
            return plans_.front();
        }
        make_room(asked.bytes(size()));
        plans_.insert(plans_.begin(), make(asked, given));
        return plans_.front();
    }

 private:
    static constexpr std::uint32_t lanes = 4;
    static constexpr std::size_t most_plans = 48;
    static constexpr std::uint64_t most_bytes = std::uint64_t{1} << 28;  ///< of the vectors that plans were made for; scratch is about as much at most

    void make_room(std::uint64_t bytes) {
        kept_bytes_ += bytes;
        while (!plans_.empty() && (plans_.size() >= most_plans || kept_bytes_ > most_bytes)) {
            call last;
            static_cast<call_key&>(last) = plans_.back()->key();
            kept_bytes_ -= last.bytes(size());
            plans_.pop_back();
        }
    }

    std::shared_ptr<bound_plan> make(call const& asked, settings const& given) {
        return std::visit([&](auto const& members) -> std::shared_ptr<bound_plan> {
            if constexpr (std::is_same_v<decltype(members), std::monostate const&>) return nullptr;
            else {
                chorus::plan_options options;
                bool const is_carried = given.carry && asked.reduction != nullptr && asked.reduction->operation == chorus::sum::name &&
                                        asked.reduction->element == chorus::element_name<float>();
                if (is_carried) options.carried_by = chorus::compression{*given.carry};
                auto const algorithm = algorithm_for(members, asked, given.algorithm);
                std::string name = algorithm.describe();
                if (is_carried) name += " carried by " + given.carry->describe();
                return std::make_shared<bound_plan>(asked, std::move(name), preload::plan_for(members, asked, algorithm, options));
            }
        }, members_);
    }

    transports::group members_{};
    labels* labels_ = nullptr;
    std::vector<rank_id> ranks_{};
    std::uint64_t label_ = 0;
    rank_id rank_ = 0;
    bool may_overlap_ = false;
    std::uint32_t calls_without_waiting_ = 0;
    std::uint64_t kept_bytes_ = 0;
    std::vector<std::shared_ptr<bound_plan>> plans_{};  ///< the last used first
};

}  // namespace preload
