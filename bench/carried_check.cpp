// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

#include "carried_check.hpp"
#include "carried_exactly.hpp"

#include <fmt/core.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace bench {

namespace {

constexpr std::uint64_t calls_of_its_own = 2;

double bound_of(call_shape const& shape) {
    if (shape.uneven) return std::numeric_limits<double>::infinity();  // its blocks are not those that the bound was found for
    return error_bound(shape.carried_by, shape.what, shape.ranks, shape.count);
}

}  // namespace

carried_check::carried_check(endpoint& net, call_shape const& shape, std::string algorithm)
    : net_{net}, shape_{shape}, algorithm_{std::move(algorithm)}, bound_{bound_of(shape)},
      exact_{carried_exactly(shape.carried_by.codec()->prototype(), shape.op, shape.ranks, chorus::has_reduction(shape.what), shape.count)} {}

std::uint64_t carried_check::count_wrong(gradients& of, std::uint64_t call, wrong_element const& told) {
    std::uint64_t wrong = of.count_wrong(call, told);
    if (gives_all_the_same(shape_.what) && !is_same_everywhere(of)) ++wrong;
    if (exact_ && own_calls_ < calls_of_its_own) wrong += count_wrong_of_own(told);
    spoils_ = false;
    return wrong;
}

std::uint64_t carried_check::count_wrong_of_own(wrong_element const& told) {
    vectors memory{shape_, net_.rank(), *exact_};
    memory.fill(own_calls_);
    net_.make_plan(shape_, memory.input(), memory.output(), algorithm_).run();
    if (spoils_) memory.spoil();
    return memory.count_wrong(own_calls_++, told);
}

bool carried_check::is_same_everywhere(gradients const& of) const {
    auto const mine = static_cast<std::int64_t>(of.digest() >> 2);
    std::int64_t bounds[] = {mine, -mine};
    agree(net_, bounds, operation::maximum);
    return bounds[0] == -bounds[1];
}

std::string carried_check::in_words() const {
    std::string words = "each result finite";
    if (bound_ < 1) words += fmt::format(", off by at most {:.2g} of the norms put in, as the contract says", bound_);
    if (gives_all_the_same(shape_.what)) words += ", the same bits on all ranks";
    if (!exact_) return words;
    words += "; two more calls bit for bit, on inputs that it keeps: ";
    if (exact_->spacing == 0) return words + "small whole numbers";
    return words + fmt::format("{}{} at every {} of {}", exact_->has_signs ? "+-" : "", exact_->value,
                               exact_->spacing == 1 ? "element" : fmt::format("{}th element", exact_->spacing),
                               exact_->of_one_rank ? "one rank" : "some rank");
}

carried_facts carried_check::facts(chorus::plan const& made, gradients const& of, bool is_checked) const {
    call_shape dense = shape_;
    dense.carried_by = {};
    vectors memory{dense, net_.rank()};
    std::uint64_t const uncompressed = net_.make_plan(dense, memory.input(), memory.output(), algorithm_).bytes_sent();
    std::vector<std::int64_t> told(net_.size() + 1, 0);
    told[net_.rank()] = static_cast<std::int64_t>(made.bytes_sent());
    told.back() = static_cast<std::int64_t>(uncompressed);
    agree(net_, told, operation::sum);
    std::int64_t error[] = {std::llround(1e12 * (std::min)(of.error(), 1e6))};
    agree(net_, error, operation::maximum);
    carried_facts found{.compressor = shape_.carried_by.describe(), .checked = in_words()};
    std::uint64_t all = 0;
    for (std::size_t r = 0; r < net_.size(); ++r) {
        found.wire_bytes.push_back(static_cast<std::uint64_t>(told[r]));
        all += found.wire_bytes.back();
    }
    if (all > 0) found.ratio = static_cast<double>(told.back()) / static_cast<double>(all);
    if (is_checked) found.error = 1e-12 * static_cast<double>(error[0]);
    return found;
}

}  // namespace bench
