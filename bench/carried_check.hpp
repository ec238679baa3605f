// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "carry.hpp"
#include "endpoint.hpp"
#include "gradients.hpp"
#include "vectors.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace bench {

/// Looks at the results of a collective that a compressor carries. Two calls of the same shape, by a plan of their own, have
/// inputs that come out bit for bit, where there are such; of every call with gradients the error is within what the contract
/// allows, where it says so, and ranks that must have the same bits have them. Collective throughout.
class carried_check {
 public:
    carried_check(endpoint& net, call_shape const& shape, std::string algorithm);

    double bound() const noexcept { return bound_; }
    void spoil() noexcept { spoils_ = true; }  ///< the next call of its own too

    /// Elements of the result of a call with gradients, and of a call of its own the first two times.
    std::uint64_t count_wrong(gradients& of, std::uint64_t call, wrong_element const& told);

    std::string in_words() const;

    /// `made` has run.
    carried_facts facts(chorus::plan const& made, gradients const& of, bool is_checked) const;

 private:
    std::uint64_t count_wrong_of_own(wrong_element const& told);
    bool is_same_everywhere(gradients const& of) const;

    endpoint& net_;
    call_shape shape_;
    std::string algorithm_;
    double bound_;
    std::optional<entries> exact_;
    std::uint64_t own_calls_ = 0;
    bool spoils_ = false;
};

}  // namespace bench
