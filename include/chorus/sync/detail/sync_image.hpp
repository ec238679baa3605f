// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/types.hpp"
#include "chorus/collective/compression.hpp"
#include "chorus/compress/any_compressor.hpp"
#include "chorus/compress/detail/state_image.hpp"
#include "chorus/sync/detail/meetings.hpp"
#include "chorus/sync/detail/policy_text.hpp"
#include "chorus/sync/detail/saved_traits.hpp"
#include "chorus/sync/sync_options.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace chorus::detail {

// The saved state of a synchroniser, sealed as those of compressors are (compress/detail/state_image.hpp); all numbers of 8 bytes:
//
// version      1
// made with    what must be the same, as texts: rank, element, tensors, policy, merge, options, compressor
// counters     steps, exchanges, merges, bytes sent, whether it has joined
// merges       what they keep, tensor by tensor
// under way    how many; of each the step, the members, their average, and what this rank had sent where the merge reads that
// compressors  how many groups and slots; of each a step at which the group meets, slot, whether weighted, and the state of each bucket

/// An average that has arrived and is not merged.
template <class T> struct saved_flight {
    step_id step;
    rank_id members;
    std::vector<T> message, sent;
};

/// What the compressors of one group and slot were.
struct saved_carriers {
    step_id meets_at;
    std::size_t slot;
    bool is_weighted;
    std::vector<std::span<std::byte const>> buckets;
};

struct restored_codec {
    std::shared_ptr<block_codec> codec;
    std::vector<any_compressor> compressors;
};

/// A whole state, read and found sound.
template <class T> struct state_read {
    std::array<std::uint64_t, 5> counters{};  // steps, exchanges, merges, bytes sent, whether it has joined
    std::vector<std::vector<T>> kept;
    std::vector<saved_flight<T>> flights;
    std::vector<restored_codec> carriers;
};

/// Writes and reads what an engine must remember from one step to the next.
template <class Engine>
class sync_image {
    using T = typename Engine::element_type;
    static constexpr std::string_view name = "synchroniser";
    static constexpr std::uint64_t version = 1;

 public:
    explicit sync_image(Engine& of) : engine_{of} {}

    /// Waits for what is under way first.
    std::vector<std::byte> saved() const {
        engine_.await_all();
        growing_state out = state_with(name, version, traits());
        sync_totals const& totals = engine_.totals_;
        for (std::uint64_t n : {totals.steps, totals.exchanges, totals.merges, totals.bytes_sent}) out.number(n);
        out.number(engine_.is_joined_ ? 1 : 0);
        for (std::vector<T> const& kept : engine_.kept_) out.values(std::span<T const>{kept});
        save_flights(out);
        save_carriers(out);
        return std::move(out).finished();
    }

    /// Raises `corrupt`; changes nothing.
    state_read<T> read(std::span<std::byte const> bytes) const {
        state_reader in{bytes, name, "something else"};
        expect_traits(in, version, traits());
        state_read<T> all;
        for (std::uint64_t& n : all.counters) n = in.number();
        for (std::vector<T> const& k : engine_.kept_) all.kept.push_back(in.template values<T>(k.size()));
        all.flights = read_flights(in, all.counters[0]);
        auto const carriers = read_carriers(in, all.counters[0]);
        in.finish();
        all.carriers = restored(carriers);
        return all;
    }

    /// Waits for what is under way first, and forgets it.
    void go_on_with(state_read<T> all) {
        engine_.await_all();
        engine_.totals_ = {.steps = all.counters[0], .exchanges = all.counters[1], .merges = all.counters[2], .bytes_sent = all.counters[3]};
        engine_.is_joined_ = all.counters[4] != 0;
        engine_.report_ = {};
        engine_.kept_.swap(all.kept);
        for (auto& e : engine_.exchanges_) e.is_under_way = false;
        for (saved_flight<T> const& f : all.flights) put_under_way(f);
        forget_carriers_but(all.carriers);
        for (restored_codec& r : all.carriers) r.codec->go_on_with(std::move(r.compressors));
    }

 private:
    std::vector<saved_trait> traits() const {
        synchroniser_options const& o = engine_.options_;
        std::string rank = std::to_string(engine_.world().rank());
        rank += " of " + std::to_string(engine_.world().size());
        return {{"rank", rank},
                element_trait<T>(),
                model_trait(engine_.counts_),
                {"policy", described_policy(engine_.meetings_.policy())},
                {"merge", std::string{Engine::merge_type::name}},
                {"delay", std::to_string(o.delay)},
                {"warm-up", std::to_string(o.warm_up)},
                {"bucket size", std::to_string(o.bucket_bytes)},
                {"joining", o.joins ? o.divisor == join_divisor::all ? "all" : "active" : "none"},
                {"compressor", engine_.carried_by_ ? engine_.carried_by_->describe() : "nothing"}};
    }

    // ---- exchanges under way ----

    std::size_t slot_of(step_id step) const noexcept { return static_cast<std::size_t>(step % engine_.slots_.size()); }

    void save_flights(growing_state& out) const {
        step_id const end = engine_.totals_.steps, begin = end - (std::min)(end, engine_.options_.delay);
        std::uint64_t many = 0;
        for (step_id s = begin; s < end; ++s) many += engine_.under_way(s) != nullptr ? 1u : 0u;
        out.number(many);
        for (step_id s = begin; s < end; ++s)
            if (auto const* const e = engine_.under_way(s)) {
                out.number(s);
                out.number(e->members);
                out.values(std::span<T const>{engine_.slots_[e->slot].message});
                if constexpr (Engine::merge_type::reads_sent) out.values(std::span<T const>{engine_.slots_[e->slot].sent});
            }
    }

    std::vector<saved_flight<T>> read_flights(state_reader& in, step_id steps) const {
        std::vector<saved_flight<T>> flights;
        std::uint64_t const elements = engine_.buckets_.memory();
        for (std::uint64_t left = in.number(); left > 0; --left) {
            saved_flight<T> f{in.number(), 0, {}, {}};
            std::uint64_t const members = in.number();
            bool const is_later = flights.empty() || flights.back().step < f.step;
            in.expect(f.step < steps && steps - f.step <= engine_.options_.delay && is_later && members >= 1 && members <= engine_.world().size(), [&] {
                return "an exchange of step " + std::to_string(f.step) + " among " + std::to_string(members) + " cannot be under way after " + std::to_string(steps) + " steps";
            });
            f.members = static_cast<rank_id>(members);
            f.message = in.template values<T>(elements);
            if constexpr (Engine::merge_type::reads_sent) f.sent = in.template values<T>(elements);
            flights.push_back(std::move(f));
        }
        return flights;
    }

    void put_under_way(saved_flight<T> const& f) const {
        auto& e = engine_.exchanges_[static_cast<std::size_t>(f.step % engine_.exchanges_.size())];
        e.step = f.step;
        e.members = f.members;
        e.plans = nullptr;  // it has arrived
        e.slot = slot_of(f.step);
        e.is_under_way = true;
        fill(engine_.slots_[e.slot].message, f.message);
        fill(engine_.slots_[e.slot].sent, f.sent);
    }

    /// Where plans may point already, memory stays where it is.
    static void fill(std::vector<T>& memory, std::vector<T> const& with) {
        memory.resize((std::max)(memory.size(), with.size()));
        std::copy(with.begin(), with.end(), memory.begin());
    }

    // ---- compressors ----

    void save_carriers(growing_state& out) const {
        std::uint64_t many = 0;
        for (auto const& m : engine_.meetings_.all())
            for (auto const& set : m->sets) many += set->carried.empty() ? 0u : 1u;
        out.number(many);
        for (auto const& m : engine_.meetings_.all())
            for (auto const& set : m->sets) {
                if (set->carried.empty()) continue;
                out.number(m->last_used);
                out.number(set->slot);
                out.number(set->is_weighted ? 1 : 0);
                for (compression const& c : set->carried) out.part(c.save_state());
            }
    }

    std::vector<saved_carriers> read_carriers(state_reader& in, step_id steps) const {
        std::vector<saved_carriers> all;
        for (std::uint64_t left = in.number(); left > 0; --left) {
            step_id const meets_at = in.number();
            std::uint64_t const slot = in.number(), is_weighted = in.number();
            in.expect(engine_.carried_by_ && meets_at < steps && slot < engine_.slots_.size() && is_weighted <= 1, [&] {
                return "compressors of slot " + std::to_string(slot) + " that met at step " + std::to_string(meets_at) + " cannot be after " + std::to_string(steps) + " steps";
            });
            saved_carriers one{meets_at, static_cast<std::size_t>(slot), is_weighted == 1, {}};
            for (std::size_t b = 0; b < engine_.buckets_.size(); ++b) one.buckets.push_back(in.part());
            all.push_back(std::move(one));
        }
        return all;
    }

    /// Makes the plans, which hold the compressors; they are no state.
    std::vector<restored_codec> restored(std::vector<saved_carriers> const& carriers) const {
        std::vector<restored_codec> all;
        for (saved_carriers const& c : carriers) {
            auto* const with = engine_.meetings_.at(c.meets_at);
            if (with == nullptr) raise(errc::corrupt, std::string{name} + " cannot restore this state: this rank is alone at step " + std::to_string(c.meets_at));
            plan_set const* set = with->find(c.slot, c.is_weighted);
            if (set == nullptr) set = &engine_.make_plans(*with, c.slot, c.is_weighted);
            for (std::size_t b = 0; b < c.buckets.size(); ++b) {
                auto const& codec = set->carried[b].codec();
                all.push_back({codec, codec->restored(c.buckets[b])});
            }
        }
        return all;
    }

    /// What began after the state was saved begins anew.
    void forget_carriers_but(std::vector<restored_codec> const& those) const {
        auto const is_kept = [&](std::unique_ptr<plan_set> const& set) {
            return set->carried.empty() || std::any_of(those.begin(), those.end(), [&](restored_codec const& r) { return r.codec == set->carried[0].codec(); });
        };
        for (auto const& m : engine_.meetings_.all()) std::erase_if(m->sets, [&](auto const& set) { return !is_kept(set); });
    }

    Engine& engine_;
};

}  // namespace chorus::detail
