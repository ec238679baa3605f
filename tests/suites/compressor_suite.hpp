// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/random.hpp"
#include "chorus/compress/compressor.hpp"
#include "chorus/detail/instruction_set.hpp"
#include "suites/compressor_hostile.hpp"
#include "suites/compressor_vectors.hpp"
#include "suites/counted_allocations.hpp"
#include "suites/expected_error.hpp"
#include "suites/guarded.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace suites {

// What every compressor owes; instantiated in one line:
//
//     TEST_CASE("top_k: all laws of a compressor") { suites::compressor_suite(chorus::top_k{.keep = 0.1}); }
//
// One source file of a program includes this, since it counts allocations. A compressor with random choices has a member
// `seed`; one that others are built around has `inner`; what it does with NaN is the member `on_nonfinite` of the innermost.

/// What differs between compressors and is no contract.
struct compressor_facts {
    /// Under nonfinite::propagate, a value that is not finite may take with it the elements of its block of so many; 0: all.
    std::size_t suffering = 1;

    /// Under nonfinite::propagate, a value that is not finite may be left out (decoded as 0), as random choices do.
    bool may_leave_out = false;

    /// Whether 1 Mi elements are tried too.
    bool is_large_tried = true;
};

template <class C>
void set_seed(C& c, std::uint64_t seed) {
    if constexpr (requires { c.seed = seed; }) c.seed = seed;
    if constexpr (requires { c.inner; }) set_seed(c.inner, seed);
}

/// What errors call the compressor.
template <class C>
std::string name_in_messages(C const& c) {
    if constexpr (requires { c.kind(); }) return std::string{c.kind()};
    else return std::string{C::name};
}

template <class C>
consteval bool has_seed() {
    if constexpr (requires(C& c, std::uint64_t seed) { c.seed = seed; }) return true;
    else if constexpr (requires(C& c) { c.inner; }) return has_seed<decltype(C::inner)>();
    else return false;
}

/// False if the compressor has no choice.
template <class C>
bool set_policy(C& c, chorus::nonfinite policy) {
    if constexpr (requires { c.inner; }) return set_policy(c.inner, policy);
    else if constexpr (requires { c.on_nonfinite = policy; }) return c.on_nonfinite = policy, true;
    else return false;
}

template <class C>
C seeded(C c, std::uint64_t seed) {
    set_seed(c, seed);
    return c;
}

template <class C>
message_bytes encoded(C& c, floats const& x) {
    message_bytes wire(c.max_wire_bytes(x.size()));
    wire.resize(c.encode(x, wire));
    return wire;
}

template <class C>
floats decoded(C const& c, message_bytes const& wire, std::size_t count) {
    floats out(count, float_limits::quiet_NaN());
    c.decode(wire, out);
    return out;
}

/// The length of a message for 2^20 elements, of which no two are equal.
template <class C>
std::size_t sent_bytes(C c) {
    return encoded(c, drawn(std::size_t{1} << 20, 9)).size();
}

inline bool same_bits(float a, float b) { return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b); }

inline bool same_bits(floats const& a, floats const& b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

/// Room, guard zones, unaligned messages, decode that overwrites and decode_add that adds.
template <class C>
void check_bytes(C const& prototype, floats const& x, std::size_t shift) {
    C c = prototype, untouched = prototype;
    std::size_t const room = c.max_wire_bytes(x.size());
    guarded<std::byte> wire{room, shift};
    guarded<float> dense{x.size(), shift % 5};
    std::copy(x.begin(), x.end(), dense.span().begin());
    if (room > 0)
        CHECK(unlike(chorus::errc::invalid_argument, {name_in_messages(c), std::to_string(room), std::to_string(room - 1)},
                     [&] { c.encode(dense.span(), wire.span().first(room - 1)); }) == "");
    std::size_t const used = c.encode(dense.span(), wire.span());
    REQUIRE(used <= room);
    message_bytes const message(wire.span().begin(), wire.span().begin() + static_cast<std::ptrdiff_t>(used));
    bool const is_equal = encoded(untouched, x) == message;  // also: the call that was refused changed nothing
    CHECK(is_equal);

    guarded<float> out{x.size(), shift % 3}, sum{x.size(), shift % 7};
    std::fill(out.span().begin(), out.span().end(), float_limits::quiet_NaN());
    c.decode(wire.span().first(used), out.span());
    floats const result(out.span().begin(), out.span().end());
    for (std::size_t i = 0; i < x.size(); ++i) sum.span()[i] = static_cast<float>(i % 7) - 3.0f;
    c.decode_add(wire.span().first(used), sum.span());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < x.size(); ++i) wrong += sum.span()[i] != static_cast<float>(i % 7) - 3.0f + result[i];
    CHECK_MESSAGE(wrong == 0, wrong, " elements are not what was there plus what decode gives");
    bool const is_dense_unchanged = std::equal(x.begin(), x.end(), dense.span().begin(),
                                               [](float a, float b) { return same_bits(a, b); });
    CHECK(is_dense_unchanged);
    CHECK((wire.is_intact() && dense.is_intact() && out.is_intact() && sum.is_intact()));
    bool const is_again_equal = same_bits(decoded(c, message, x.size()), result);
    CHECK(is_again_equal);
}

/// Finite stays finite; a selection gives the input's own bits or zero; a contraction of what is not random.
template <class C>
void check_values(C const& prototype, floats const& x) {
    C c = prototype;
    chorus::compression_promise const promise = c.promise(x.size());
    floats const result = decoded(c, encoded(c, x), x.size());
    std::size_t not_finite = 0, not_own = 0, nan = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        not_finite += !std::isfinite(result[i]);
        nan += std::isnan(result[i]);
        not_own += !same_bits(result[i], x[i]) && !same_bits(result[i], 0.0f);
    }
    CHECK(nan == 0);
    bool const is_small = std::all_of(x.begin(), x.end(), [&](float v) { return std::abs(v) <= promise.largest; });
    if (is_small) CHECK(not_finite == 0);
    if (promise.is_selection) CHECK(not_own == 0);
    if (has_seed<C>() || promise.contraction == 0 || !is_within(promise, x)) return;
    double const norm = squared_norm(x);
    CHECK_MESSAGE(squared_distance(x, result) <= (1 - promise.contraction) * norm + 1e-9 * norm, "contraction is ",
                  1 - squared_distance(x, result) / norm, ", promised ", promise.contraction);
}

/// The mean over the random choices: contraction, and along some directions the bias, where no choice is too rare for that.
template <class C>
void check_means(C const& prototype, floats const& x, int trials, bool is_bias_measured) {
    chorus::compression_promise const promise = prototype.promise(x.size());
    bool const has_contraction = promise.contraction > 0;
    bool const has_no_bias = promise.is_unbiased && is_bias_measured;
    if (!is_within(promise, x) || (!has_contraction && !has_no_bias)) return;
    double const norm = squared_norm(x);
    std::size_t const probes = (std::min)(x.size(), std::size_t{16});
    sample_mean loss, along_ones, along_signs;
    std::vector<sample_mean> at(probes);
    for (int t = 0; t < trials; ++t) {
        C c = seeded(prototype, 77 + static_cast<std::uint64_t>(t));
        floats const result = decoded(c, encoded(c, x), x.size());
        double ones = 0, signs = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            double const off = static_cast<double>(result[i]) - static_cast<double>(x[i]);
            ones += off;
            signs += x[i] < 0 ? -off : off;
            if (i < probes) at[i].add(off);
        }
        along_ones.add(ones);
        along_signs.add(signs);
        loss.add(squared_distance(x, result));
    }
    if (has_contraction)
        CHECK_MESSAGE(loss.mean() <= (1 - promise.contraction) * norm + 6 * loss.error() + 1e-6 * norm,
                      "contraction is ", 1 - loss.mean() / norm, ", promised ", promise.contraction);
    if (!has_no_bias) return;
    double const root = std::sqrt(norm);
    double const rounding = 1e-4 * root * std::sqrt(static_cast<double>(x.size()));  // and what is too rare to be seen
    CHECK(std::abs(along_ones.mean()) <= 6 * along_ones.error() + rounding);
    CHECK(std::abs(along_signs.mean()) <= 6 * along_signs.error() + rounding);
    // What happened in no trial may still happen: a few parts of the largest step in `trials`.
    for (sample_mean const& each : at) CHECK(std::abs(each.mean()) <= 6 * each.error() + rounding + 12 * root / trials);
}

/// Equal bytes in every instruction set, and the next message too.
template <class C>
void check_instruction_sets(C const& prototype, floats const& x) {
    using chorus::detail::force_instruction_set;
    auto const widest = chorus::detail::widest_instruction_set();
    C first = prototype;
    message_bytes const one = encoded(first, x), two = encoded(first, x);
    floats const result = decoded(first, one, x.size());
    for (int level = 0; level < static_cast<int>(widest); ++level) {
        force_instruction_set(static_cast<chorus::detail::instruction_set>(level));
        C c = prototype;
        bool const is_equal = encoded(c, x) == one && encoded(c, x) == two;
        CHECK(is_equal);
        bool const decodes_equal = same_bits(decoded(c, one, x.size()), result);
        CHECK(decodes_equal);
        floats sum(x.size(), 0.7f), expected(x.size(), 0.7f);
        c.decode_add(one, sum);
        force_instruction_set(widest);
        c.decode_add(one, expected);
        bool const adds_equal = same_bits(sum, expected);
        CHECK(adds_equal);
    }
}

/// One value that is not finite, in some places, under each policy.
template <class C>
void check_policy(C const& prototype, chorus::nonfinite policy, float bad, std::size_t count, std::size_t place,
                  compressor_facts const& facts) {
    C c = prototype;
    if (!set_policy(c, policy)) return;
    floats x = drawn(count, 5);
    x[place] = bad;
    INFO(std::string{to_string(policy)}, " of ", bad, " at ", place, " of ", count);
    C other = c;
    if (policy == chorus::nonfinite::refuse) {
        CHECK(unlike(chorus::errc::invalid_argument, {std::to_string(place)}, [&] { encoded(c, x); }) == "");
        bool const is_state_unchanged = encoded(c, sanitised(x)) == encoded(other, sanitised(x));
        CHECK(is_state_unchanged);
        return;
    }
    message_bytes const wire = encoded(c, x);
    floats const result = decoded(c, wire, count);
    if (policy == chorus::nonfinite::sanitise) {
        bool const is_as_sanitised = wire == encoded(other, sanitised(x));
        bool const is_finite = std::all_of(result.begin(), result.end(), [](float v) { return std::isfinite(v); });
        CHECK(is_finite);
        CHECK(is_as_sanitised);
        return;
    }
    bool const survives = std::isnan(bad) ? std::isnan(result[place]) : !std::isfinite(result[place]);
    CHECK((survives || (facts.may_leave_out && result[place] == 0)));
    bool const keeps_sign = !std::isinf(result[place]) || (result[place] > 0) == (bad > 0);
    CHECK(keeps_sign);
    if (facts.suffering == 0) return;
    std::size_t others = 0;
    for (std::size_t i = 0; i < count; ++i)
        others += i / facts.suffering != place / facts.suffering && !std::isfinite(result[i]);
    CHECK_MESSAGE(others == 0, others, " elements outside the block suffer");
}

template <class C>
void check_policies(C const& prototype, compressor_facts const& facts) {
    for (auto policy : {chorus::nonfinite::propagate, chorus::nonfinite::sanitise, chorus::nonfinite::refuse})
        for (float bad : {float_limits::quiet_NaN(), float_limits::infinity(), -float_limits::infinity()})
            for (std::size_t count : {std::size_t{1}, std::size_t{9}, std::size_t{1023}})
                for (std::size_t place : {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{8}, count / 2, count - 1})
                    if (place < count) check_policy(prototype, policy, bad, count, place, facts);
}

/// Nothing is allocated after the first call with a count, for counts up to it.
template <class C>
void check_allocations(C const& prototype) {
    floats const x = drawn(4097, 3);
    C c = prototype;
    floats out(x.size());
    message_bytes wire(c.max_wire_bytes(x.size()));
    std::size_t used = c.encode(x, wire);
    CHECK(allocations_in([&] {
              used = c.encode(x, wire);
              c.decode(std::span{wire}.first(used), out);
              c.decode_add(std::span{wire}.first(used), out);
              static_cast<void>(c.promise(x.size()));
          }) == 0);
}

/// What was saved and restored goes on with the same bytes; what was not saved by this kind is refused, changing nothing.
template <class C>
void check_state(C const& prototype) {
    C c = prototype;
    floats const x = drawn(257, 1), y = drawn(257, 2);
    encoded(c, x);
    encoded(c, y);
    message_bytes saved(c.state_bytes());
    c.save_state(saved);
    C restored = prototype, fresh = prototype, unchanged = prototype;
    restored.restore_state(saved);
    for (auto const& next : {y, x, x}) {
        bool const goes_on = encoded(restored, next) == encoded(c, next);
        CHECK(goes_on);
    }
    auto refused = [&](message_bytes const& wrong) {
        return unlike(chorus::errc::corrupt, {name_in_messages(c)}, [&] { fresh.restore_state(wrong); });
    };
    for (std::size_t length : {std::size_t{0}, std::size_t{1}, saved.size() / 2, saved.size() - 1})
        if (length < saved.size()) CHECK(refused(message_bytes(saved.begin(), saved.begin() + static_cast<std::ptrdiff_t>(length))) == "");
    message_bytes longer = saved, other = saved;
    longer.push_back(std::byte{0});
    CHECK(refused(longer) == "");
    if (!other.empty()) {
        other[0] ^= std::byte{0x5A};
        CHECK(refused(other) == "");
        CHECK(refused(message_bytes(saved.size(), std::byte{0})) == "");
    }
    bool const is_unchanged = encoded(fresh, x) == encoded(unchanged, x);
    CHECK(is_unchanged);
    if (saved.empty()) return;
    message_bytes little(saved.size() - 1);
    CHECK(unlike(chorus::errc::invalid_argument, {name_in_messages(c)}, [&] { c.save_state(little); }) == "");
}

/// decode(header, a + b) = decode(a) + decode(b), but for the rounding of the payload's type.
template <class C>
void check_linear(C const& prototype) {
    using payload = typename C::payload_type;
    floats x = drawn(257, 1), y = drawn(257, 2);
    C a = prototype, b = prototype;
    message_bytes sum = encoded(a, x);
    message_bytes const other = encoded(b, y);
    std::size_t const many = a.payload_count(x.size());
    REQUIRE(sum.size() == other.size());
    REQUIRE(sum.size() >= many * sizeof(payload));
    floats expected = decoded(a, sum, x.size());
    b.decode_add(other, expected);
    std::size_t const header = sum.size() - many * sizeof(payload);
    for (std::size_t i = 0; i < many; ++i) {
        payload p, q;
        std::memcpy(&p, sum.data() + header + i * sizeof(payload), sizeof(payload));
        std::memcpy(&q, other.data() + header + i * sizeof(payload), sizeof(payload));
        p = static_cast<payload>(static_cast<float>(p) + static_cast<float>(q));
        std::memcpy(sum.data() + header + i * sizeof(payload), &p, sizeof(payload));
    }
    floats const result = decoded(a, sum, x.size());
    double const unit = std::ldexp(1.0, 1 - std::numeric_limits<payload>::digits);
    CHECK(std::sqrt(squared_distance(result, expected)) <= 4 * unit * std::sqrt(squared_norm(x) + squared_norm(y)));
}

template <class C>
    requires chorus::compressor<C>
void compressor_suite(C const& prototype, compressor_facts const& facts = {}) {
    for (std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{8}, std::size_t{9},
                              std::size_t{1023}, std::size_t{4097}}) {
        double const delta = prototype.promise(count).contraction;
        CHECK((delta >= 0 && delta <= 1));
        std::size_t shift = 0;
        for (auto const& vectors : {hard_vectors(count), worst_vectors(count)})
            for (named_vector const& each : vectors) {
                INFO(std::string{C::name}, ", ", count, " elements, ", each.name);
                check_bytes(prototype, each.values, ++shift);
                check_values(prototype, each.values);
                if (has_seed<C>() && count < 4097) check_means(prototype, each.values, count < 10 ? 100 : 20, false);
            }
        floats const x = drawn(count, 4);
        INFO(std::string{C::name}, ", ", count, " elements");
        check_instruction_sets(prototype, x);
        if (has_seed<C>()) check_means(prototype, x, count < 10 ? 2000 : 100, true);
        check_hostile(prototype, x);
    }
    if (facts.is_large_tried) {
        floats const x = drawn(std::size_t{1} << 20, 6);
        check_bytes(prototype, x, 1);
        check_values(prototype, x);
        check_instruction_sets(prototype, x);
    }
    check_policies(prototype, facts);
    check_allocations(prototype);
    if constexpr (chorus::stateful_compressor<C>) check_state(prototype);
    if constexpr (chorus::linear_compressor<C>) check_linear(prototype);
}

}  // namespace suites
