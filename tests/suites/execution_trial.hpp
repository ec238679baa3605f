// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/collective/all_gather.hpp"
#include "chorus/collective/all_reduce.hpp"
#include "chorus/collective/all_to_all.hpp"
#include "chorus/collective/broadcast.hpp"
#include "chorus/collective/gather.hpp"
#include "chorus/collective/reduce.hpp"
#include "chorus/collective/reduce_scatter.hpp"
#include "chorus/collective/scan.hpp"
#include "chorus/collective/scatter.hpp"
#include "suites/execution_oracle.hpp"
#include "suites/guarded.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace suites {

/// Where the result goes: elsewhere; over the input; reduce_scatter also: over the own block of the input.
enum class placement { apart, in_place, own_block };

/// One call. `counts`: one per rank for collectives with a block per rank, else a single one. In an uneven all_to_all
/// rank r sends counts[(2r + b) % size] elements to rank b.
struct call_shape {
    chorus::rank_id size = 1;
    std::vector<std::uint64_t> counts;
    chorus::rank_id root = 0;
    placement where = placement::apart;

    std::uint64_t total() const {
        std::uint64_t sum = 0;
        for (std::uint64_t count : counts) sum += count;
        return sum;
    }
    bool is_even() const {
        return std::adjacent_find(counts.begin(), counts.end(), std::not_equal_to{}) == counts.end();
    }
    std::uint64_t exchanged(chorus::rank_id from, chorus::rank_id to) const { return counts[(2 * from + to) % size]; }
};

/// Nothing: `automatic`.
using chosen = std::optional<chorus::any_algorithm>;

/// One rank's buffers and plan for one call: fill, run the plan, check; again for the next iteration.
template <chorus::collective What, class T, class Op, class Transport> class trial {
 public:
    trial(chorus::group<Transport> const& members, oracle<T, Op> const& known, call_shape const& shape,
          chosen const& by)
        : me_{members.rank()}, known_{known}, shape_{shape}, cut_{chorus::blocks::of_counts(shape.counts)} {
        arrange();
        plan_.emplace(by ? make_plan(members, *by) : make_plan(members, chorus::automatic{}));
    }

    chorus::plan& plan() { return *plan_; }

    void fill(std::size_t iteration) {
        for (guarded<T>* memory : {&in_, &out_})
            if (!memory->span().empty())
                std::memset(static_cast<void*>(memory->span().data()), 0x5A, memory->span().size_bytes());
        std::vector<T> const own = own_input(iteration);
        std::copy(own.begin(), own.end(), input_.begin());
    }

    /// What is wrong, or nothing.
    std::string check(std::size_t iteration) {
        if (!in_.is_intact() || !out_.is_intact()) return wrong("writes outside of its buffers", iteration);
        if (auto const expected = own_result(iteration); expected && !is_same(*expected, result_))
            return wrong("wrong result", iteration);
        std::vector<T> const own = own_input(iteration);
        for (std::size_t i = 0; i < own.size(); ++i)
            if (!is_output(&input_[i]) && std::memcmp(&own[i], &input_[i], sizeof(T)) != 0)
                return wrong("its input has changed", iteration);
        return {};
    }

 private:
    using enum chorus::collective;
    static constexpr bool is_vector = What == all_reduce || What == reduce || What == scan || What == exclusive_scan;

    bool is_root() const { return me_ == shape_.root; }
    std::string wrong(char const* what, std::size_t iteration) const {
        return std::string{what} + " on rank " + std::to_string(me_) + " in iteration " + std::to_string(iteration) +
               ": " + plan_->describe();
    }
    bool is_output(T const* element) const {
        return !output_.empty() && !std::less<>{}(element, output_.data()) &&
               std::less<>{}(element, output_.data() + output_.size());
    }
    static bool is_same(std::vector<T> const& a, std::span<T const> b) {
        return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), b.size_bytes()) == 0);
    }
    std::span<T> block_of(std::span<T> all) const { return all.subspan(cut_.begin(me_), cut_.length(me_)); }

    // ---- buffers: `input_` and `output_` are what the call reads and writes, `result_` what is specified afterwards
    // ----

    void arrange() {
        bool const apart = shape_.where == placement::apart;
        if constexpr (is_vector || What == broadcast) arrange_vector(apart || What == broadcast);
        else if constexpr (What == reduce_scatter) arrange_reduce_scatter();
        else if constexpr (What == all_gather || What == gather) arrange_gather(apart);
        else if constexpr (What == scatter) arrange_scatter(apart);
        else arrange_exchange();
    }
    void arrange_vector(bool apart) {
        bool const has_result = What != reduce || is_root();
        if (What != broadcast) in_ = guarded<T>{shape_.total(), 1};
        if (apart && has_result) out_ = guarded<T>{shape_.total(), 2};
        input_ = What == broadcast ? (is_root() ? out_.span() : std::span<T>{}) : in_.span();
        if (has_result) output_ = result_ = apart ? out_.span() : in_.span();
        if (What == exclusive_scan && me_ == 0) result_ = {};
    }
    void arrange_reduce_scatter() {
        in_ = guarded<T>{shape_.total()};
        if (shape_.where == placement::apart) out_ = guarded<T>{cut_.length(me_), 1};
        input_ = in_.span();
        result_ = shape_.where == placement::apart ? out_.span() : block_of(in_.span());
        output_ = shape_.where == placement::in_place ? in_.span() : result_;
    }
    void arrange_gather(bool apart) {
        bool const collects = What == all_gather || is_root();
        if (collects) out_ = guarded<T>{shape_.total()};
        if (apart || !collects) in_ = guarded<T>{cut_.length(me_), 1};
        input_ = apart || !collects ? in_.span() : block_of(out_.span());
        output_ = result_ = out_.span();
    }
    void arrange_scatter(bool apart) {
        if (is_root()) in_ = guarded<T>{shape_.total()};
        if (apart || !is_root()) out_ = guarded<T>{cut_.length(me_), 1};
        input_ = in_.span();
        output_ = result_ = apart || !is_root() ? out_.span() : block_of(in_.span());
    }
    void arrange_exchange() {
        std::uint64_t received = 0;
        for (chorus::rank_id r = 0; r < shape_.size; ++r) {
            sends_.push_back(shape_.exchanged(me_, r));
            receives_.push_back(shape_.exchanged(r, me_));
            received += receives_.back();
        }
        in_ = guarded<T>{shape_.total()};
        out_ = guarded<T>{received, 1};
        input_ = in_.span();
        output_ = result_ = out_.span();
    }

    // ---- the call ----

    template <class Algorithm> chorus::plan make_plan(chorus::group<Transport> const& g, Algorithm const& a) {
        std::span<T const> const in = input_;
        bool const whole = shape_.where == placement::in_place;
        if constexpr (What == all_reduce)
            return whole ? plan_all_reduce(g, input_, Op{}, a) : plan_all_reduce(g, in, output_, Op{}, a);
        else if constexpr (What == reduce)
            return whole ? plan_reduce(g, input_, shape_.root, Op{}, a)
                         : plan_reduce(g, in, output_, shape_.root, Op{}, a);
        else if constexpr (What == scan) return plan_scan(g, in, output_, Op{}, a);
        else if constexpr (What == exclusive_scan) return plan_exclusive_scan(g, in, output_, Op{}, a);
        else if constexpr (What == broadcast) return plan_broadcast(g, output_, shape_.root, a);
        else return make_block_plan(g, in, whole, a);
    }

    template <class Algorithm>
    chorus::plan make_block_plan(chorus::group<Transport> const& g, std::span<T const> in, bool whole,
                                 Algorithm const& a) {
        std::span<std::uint64_t const> const counts = shape_.counts;
        bool const even = shape_.is_even();
        if constexpr (What == reduce_scatter) {
            if (whole) return plan_reduce_scatter_v(g, input_, counts, Op{}, a);
            return even ? plan_reduce_scatter(g, in, output_, Op{}, a)
                        : plan_reduce_scatter_v(g, in, output_, counts, Op{}, a);
        } else if constexpr (What == all_gather) {
            if (even && whole) return plan_all_gather(g, output_, a);
            return even ? plan_all_gather(g, in, output_, a) : plan_all_gather_v(g, in, output_, counts, a);
        } else if constexpr (What == gather) {
            return even ? plan_gather(g, in, output_, shape_.root, a)
                        : plan_gather_v(g, in, output_, counts, shape_.root, a);
        } else if constexpr (What == scatter) {
            return even ? plan_scatter(g, in, output_, shape_.root, a)
                        : plan_scatter_v(g, in, output_, counts, shape_.root, a);
        } else {
            static_assert(What == all_to_all);
            return even ? plan_all_to_all(g, in, output_, a) : plan_all_to_all_v(g, in, sends_, output_, receives_, a);
        }
    }

    // ---- what is right ----

    std::vector<T> own_input(std::size_t iteration) const {
        std::vector<T> all = known_.inputs(iteration)[me_];
        if constexpr (What == all_gather || What == gather) return part(all, cut_.begin(me_), cut_.length(me_));
        if constexpr (What == broadcast || What == scatter)
            if (!is_root()) return {};
        return all;
    }

    std::optional<std::vector<T>> own_result(std::size_t iteration) const {
        typename oracle<T, Op>::vectors const& inputs = known_.inputs(iteration);
        if constexpr (What == all_reduce) return known_.total(iteration);
        if constexpr (What == scan) return known_.prefix(iteration, me_);
        if constexpr (What == broadcast) return inputs[shape_.root];
        if constexpr (What == scatter) return part(inputs[shape_.root], cut_.begin(me_), cut_.length(me_));
        if constexpr (What == reduce_scatter) return part(known_.total(iteration), cut_.begin(me_), cut_.length(me_));
        if constexpr (What == exclusive_scan) {
            if (me_ > 0) return known_.prefix(iteration, me_ - 1);
        } else if constexpr (What == reduce) {
            if (is_root()) return known_.total(iteration);
        } else if constexpr (What == all_gather || What == gather) {
            if (What == all_gather || is_root()) return gathered(inputs);
        } else if constexpr (What == all_to_all) {
            return exchanged(inputs);
        }
        return std::nullopt;
    }

    static std::vector<T> part(std::vector<T> const& all, std::uint64_t begin, std::uint64_t length) {
        auto const from = all.begin() + static_cast<std::ptrdiff_t>(begin);
        return {from, from + static_cast<std::ptrdiff_t>(length)};
    }
    std::vector<T> gathered(typename oracle<T, Op>::vectors const& inputs) const {
        std::vector<T> all;
        for (chorus::rank_id r = 0; r < shape_.size; ++r) {
            std::vector<T> const block = part(inputs[r], cut_.begin(r), cut_.length(r));
            all.insert(all.end(), block.begin(), block.end());
        }
        return all;
    }
    std::vector<T> exchanged(typename oracle<T, Op>::vectors const& inputs) const {
        std::vector<T> all;
        for (chorus::rank_id from = 0; from < shape_.size; ++from) {
            std::uint64_t begin = 0;
            for (chorus::rank_id to = 0; to < me_; ++to) begin += shape_.exchanged(from, to);
            std::vector<T> const block = part(inputs[from], begin, shape_.exchanged(from, me_));
            all.insert(all.end(), block.begin(), block.end());
        }
        return all;
    }

    chorus::rank_id me_;
    oracle<T, Op> const& known_;
    call_shape shape_;
    chorus::blocks cut_;
    guarded<T> in_;
    guarded<T> out_;
    std::span<T> input_;
    std::span<T> output_;
    std::span<T> result_;
    std::vector<std::uint64_t> sends_;
    std::vector<std::uint64_t> receives_;
    std::optional<chorus::plan> plan_;
};

}  // namespace suites
