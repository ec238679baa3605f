// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <cstdint>
#include <type_traits>

namespace archetypes {

/// An element with what is demanded of one and nothing more: trivially copyable, no default constructor, no operators.
class least_element {
 public:
    least_element(std::uint32_t multiplier, std::uint32_t addend) : a_{multiplier}, b_{addend} {}

    static bool same(least_element const& x, least_element const& y) { return x.a_ == y.a_ && x.b_ == y.b_; }

 private:
    friend struct least_reduction;
    std::uint32_t a_;
    std::uint32_t b_;
};
static_assert(std::is_trivially_copyable_v<least_element> && !std::is_default_constructible_v<least_element>);

/// A reduction functor with what is demanded and nothing more: a const call, no identity, no trait that calls it
/// commutative. It composes the affine maps x → a·x + b modulo 2^32: associative, not commutative, exact.
struct least_reduction {
    least_element operator()(least_element const& left, least_element const& right) const {
        return least_element{left.a_ * right.a_, left.a_ * right.b_ + left.b_};
    }
};

}  // namespace archetypes
