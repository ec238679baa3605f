// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/collective/detail/operation.hpp"
#include "chorus/collective/engine.hpp"
#include "chorus/collective/group.hpp"
#include "chorus/collective/plan.hpp"
#include "chorus/data/element.hpp"
#include "chorus/data/reduce_block.hpp"
#include "chorus/data/reduction.hpp"
#include "chorus/schedule/any_algorithm.hpp"
#include "chorus/schedule/automatic.hpp"
#include "chorus/schedule/direct.hpp"
#include "chorus/schedule/dissemination.hpp"
#include "chorus/schedule/native.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

// What all collective calls share: buffers to spans, arguments to checks, algorithm to schedule, all to a plan.

namespace chorus {

/// What the calls take as a buffer: anything whose elements lie one after another in memory.
template <class B> concept buffer = std::ranges::contiguous_range<B> && std::ranges::sized_range<B>;

template <class B> using element_of = std::remove_cv_t<std::remove_reference_t<std::ranges::range_reference_t<B>>>;

/// An algorithm, `native`, `any_algorithm`, or `automatic`.
template <class A> concept algorithm_choice =
    std::same_as<A, automatic> || std::same_as<A, any_algorithm> || named_algorithm<A>;

namespace detail {

template <class B>
constexpr auto source_span(B const& memory) noexcept {
    static_assert(element<element_of<B>>, "chorus: elements must be trivially copyable, and no pointers");
    return std::span<element_of<B> const>{std::ranges::data(memory), std::ranges::size(memory)};
}

template <class B>
constexpr auto target_span(B&& memory) noexcept {
    static_assert(!std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<B>>>,
                  "chorus: the target of a collective must not be const");
    static_assert(element<element_of<B>>, "chorus: elements must be trivially copyable, and no pointers");
    return std::span<element_of<B>>{std::ranges::data(memory), std::ranges::size(memory)};
}

/// `automatic` is asked once per question and group.
inline choice choose_automatically(automatic const& wanted, group_state& members, algorithm_query const& question) {
    for (remembered_choice const& known : members.choices)
        if (known.what == question.operation && known.bytes == question.bytes &&
            known.needs_order == question.needs_order && known.uneven == question.uneven && known.how.is_same(wanted))
            return known.chosen;
    choice found = wanted.choose(question);
    choice chosen{std::move(found.algorithm), std::move(found.why)};
    if (members.choices.size() == group_state::most_choices) members.choices.erase(members.choices.begin());
    members.choices.push_back(
        {wanted, question.operation, question.bytes, question.needs_order, question.uneven, chosen});
    return chosen;
}

template <class A>
choice choose_algorithm(A const& wanted, group_state& members, operation const& asked, std::uint64_t bytes, bool uneven,
                        std::string_view transport_kind, rank_id cores) {
    bool const needs_order = asked.reduction && !asked.reduction->is_commutative;
    if constexpr (std::same_as<A, automatic>) {
        return choose_automatically(wanted, members,
                                    {asked.what, asked.ranks, bytes, transport_kind, needs_order, uneven, cores});
    } else {
        any_algorithm fixed{wanted};
        if (needs_order && has_reduction(asked.what) && !fixed.keeps_order())
            raise(errc::unsupported, std::string{to_string(asked.what)} + ": the operation is not known to commute and " +
                                         fixed.describe() + " does not keep the order of ranks; wrap the operation in "
                                         "commutative{} if it does, or choose an algorithm that keeps order");
        if (uneven && asked.what == collective::all_to_all && !fixed.takes_uneven())
            raise(errc::unsupported, fixed.describe() + " needs blocks of equal length in all_to_all");
        return {std::move(fixed), {}};
    }
}

/// Checks and composes one call's arguments; every message names rank, call and argument.
template <transport Transport>
class collective_call {
 public:
    collective_call(group<Transport> const& members, collective what) : members_{members} {
        asked_.what = what;
        asked_.ranks = members.size();
    }

    rank_id me() const noexcept { return members_.rank(); }
    rank_id ranks() const noexcept { return members_.size(); }
    operation& asked() noexcept { return asked_; }

    std::string here() const { return std::string{to_string(asked_.what)} + " on rank " + std::to_string(me()) + ": "; }

    template <class T>
    void of_elements(std::uint64_t count) {
        asked_.count = count;
        asked_.element_bytes = sizeof(T);
        asked_.element = element_name<T>();
        if (count > (std::numeric_limits<std::ptrdiff_t>::max)() / sizeof(T))
            raise(errc::too_large, here() + std::to_string(count) + " elements of " + std::to_string(sizeof(T)) +
                                       " bytes do not fit in memory");
    }

    template <class T, class Op>
    void reducing_by(Op const& op) {
        asked_.reduction = make_reducer<T>(op);
        asked_.element += ' ';
        asked_.element += asked_.reduction->operation;
    }

    void rooted_at(rank_id root) {
        expects(root < ranks(), [&] {
            return here() + "root " + std::to_string(root) + " is not below the group's size " + std::to_string(ranks());
        });
        asked_.root = root;
    }

    template <class T>
    void expect_memory(std::span<T> memory, char const* argument) const {
        expects(memory.data() != nullptr || memory.empty(), [&] {
            return here() + argument + " is null and its count is " + std::to_string(memory.size());
        });
    }
    template <class T>
    void expect_count(std::span<T> memory, std::uint64_t wanted, char const* argument) const {
        expects(memory.size() == wanted, [&] {
            return here() + argument + " has " + std::to_string(memory.size()) + " elements, expected " +
                   std::to_string(wanted);
        });
    }
    void expect_counts(std::span<std::uint64_t const> counts, char const* argument) const {
        expects(counts.size() == ranks(), [&] {
            return here() + argument + " has " + std::to_string(counts.size()) + " entries, expected one per rank: " +
                   std::to_string(ranks());
        });
    }

    /// Input and output are apart, or the input lies exactly where its elements belong in the output.
    template <class T>
    void expect_apart(std::span<T const> input, std::span<T> output, std::ptrdiff_t in_place_at) const {
        if (input.empty() || output.empty()) return;
        std::less<T const*> const before{};
        bool const apart = !before(input.data(), output.data() + output.size()) ||
                           !before(output.data(), input.data() + input.size());
        expects(apart || input.data() - output.data() == in_place_at, [&] {
            return here() + "input and output overlap by part; they must be apart or, in place, the same elements";
        });
    }

    void cut_at_will(std::uint64_t count) { whole_ = count; }
    void cut_by(blocks cut) { asked_.cut = std::move(cut); }

    /// Chooses the algorithm, makes the schedule, and hands all to an engine. `bytes` must be equal on all ranks.
    template <class A>
    plan finish(A const& wanted, plan_options const& options, bool uneven = false) {
        std::uint64_t const bytes =
            uneven && asked_.what == collective::all_to_all ? std::uint64_t{ranks()} * 4096
                                                            : asked_.count * asked_.element_bytes;
        choice chosen =
            choose_algorithm(wanted, *members_.state(), asked_, bytes, uneven, kind_of(members_.net()), shared_cores(members_.net(), ranks()));
        if (options.carried_by) expect_one_sum<A>(chosen);
        asked_.algorithm = chosen.algorithm.describe();
        asked_.reason = std::move(chosen.why);
        if (options.carried_by) compress_by(options.carried_by);
        asked_.is_native = chosen.algorithm.name() == native::name;
        if (asked_.is_native) prepare_natively(options.deadline);
        else asked_.program = chosen.algorithm.make(asked_.what, me(), ranks(), asked_.root == nobody ? 0 : asked_.root);
        if (whole_) {
            asked_.cut = blocks::near_equal(*whole_, asked_.program.blocks());
            if (asked_.input.count != 0) asked_.input.count = asked_.program.blocks();
            if (asked_.output.count != 0) asked_.output.count = asked_.program.blocks();
            if (asked_.result.count != 0) asked_.result.count = asked_.program.blocks();
        }
        return plan{std::make_unique<engine<Transport>>(members_, std::move(asked_), options.deadline)};
    }

    template <class T>
    static std::byte const* bytes_of(std::span<T const> memory) noexcept {
        return reinterpret_cast<std::byte const*>(memory.data());
    }
    template <class T>
    static std::byte* bytes_of(std::span<T> memory) noexcept {
        return reinterpret_cast<std::byte*>(memory.data());
    }

 private:
    /// The library's own first call of a list of ranks waits for ever: the members meet before it, with a deadline.
    void prepare_natively(time_limit deadline) const {
        expect_native();
        if constexpr (native_transport<Transport>) {
            if (members_.net().has_met(members_.state()->members)) return;
            collective_call meeting{members_, collective::barrier};
            meeting.cut_at_will(0);
            meeting.asked().element = "nothing";
            meeting.finish(dissemination{}, {.deadline = deadline}).run();
        }
    }

    void expect_native() const {
        std::string const kind{kind_of(members_.net())};
        if constexpr (!native_transport<Transport>)
            raise(errc::unsupported, here() + "there is no native one: the transport" + (kind.empty() ? "" : " \"" + kind + '"') +
                                         " stands on no library with collectives of its own, as mpi_transport does; choose another algorithm");
        if (asked_.codec) raise(errc::unsupported, here() + "the messages of a native one are the library's and cannot be compressed");
    }

    /// Where several ranks add up the same block in more than one round, what they add is encoded by several: compressed, they would end with
    /// different bits. Refused; `automatic` takes `direct` instead.
    template <class A>
    void expect_one_sum(choice& chosen) const {
        if (asked_.what != collective::all_reduce || !chosen.algorithm.adds_up_everywhere() ||
            chosen.algorithm.make(asked_.what, me(), ranks()).rounds() <= 1)
            return;
        if constexpr (!std::same_as<A, automatic>)
            raise(errc::unsupported, here() + "with " + chosen.algorithm.describe() +
                                         " several ranks add up the same elements, and compressed each would end with bits of its own; choose ring, "
                                         "direct, rabenseifner, or another where one rank adds up and hands on");
        chosen.why += "; compressed, one rank must add up and hand on: direct";
        chosen.algorithm = direct{};
    }

    /// The compressor counts as part of the algorithm: ranks with different ones disagree.
    void compress_by(compression const& how) {
        bool const is_sum = !asked_.reduction || asked_.reduction->operation == sum::name || asked_.reduction->operation == mean::name;
        bool const is_offered = asked_.what != collective::scan && asked_.what != collective::exclusive_scan && asked_.what != collective::barrier;
        if (!is_offered || !is_sum || !asked_.element.starts_with(element_name<float>()))
            raise(errc::unsupported, here() + asked_.element + " cannot be compressed by " + how.describe() +
                                         ": that is for sum, mean and no reduction, of float");
        asked_.codec = how.codec();
        asked_.algorithm += " carried by " + how.describe();
    }

    group<Transport> const& members_;
    operation asked_;
    std::optional<std::uint64_t> whole_;  // elements to be cut into as many blocks as the schedule likes
};

/// Runs `compose`. If this rank's arguments are refused, the other members would wait for it: they are told by an abort.
template <transport Transport, class Compose>
plan compose_plan(group<Transport> const& members, collective what, Compose const& compose) {
    members.state()->expect_usable(to_string(what));
#if CHORUS_HAS_EXCEPTIONS
    try {
        collective_call<Transport> asked{members, what};
        return compose(asked);
    } catch (error const& refused) {
        if (members.size() > 1) {
            members.state()->failure = refused;
            if constexpr (aborting_transport<Transport>)
                members.net().abort(refused.code(), members.net().rank(), refused.message());
        }
        throw;
    }
#else
    collective_call<Transport> asked{members, what};
    return compose(asked);
#endif
}

}  // namespace detail
}  // namespace chorus
