// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

#include "carried_check.hpp"
#include "measure.hpp"
#include "vectors.hpp"

#include <utility>

namespace bench {

struct collective_call::one_root {
    one_root(endpoint& net, call_shape const& shape, std::string const& algorithm, carried_check* check)
        : contents{check == nullptr ? nullptr : std::make_unique<gradients>(shape, net.rank(), check->bound())},
          memory{contents ? std::unique_ptr<call_memory>{} : std::make_unique<vectors>(shape, net.rank())},
          plan{net.make_plan(shape, of().input(), of().output(), algorithm)} {}

    call_memory& of() { return contents ? static_cast<call_memory&>(*contents) : *memory; }

    std::unique_ptr<gradients> contents;  // of what a compressor carries
    std::unique_ptr<call_memory> memory;  // of all else
    chorus::plan plan;
};

collective_call::collective_call(endpoint& net, call_shape const& shape, std::string const& algorithm,
                                 chorus::rank_id roots) {
    if (shape.carried_by) check_ = std::make_unique<carried_check>(net, shape, algorithm);
    for (chorus::rank_id r = 0; r < roots; ++r) {
        call_shape turn = shape;
        if (roots > 1) turn.root = r;
        roots_.push_back(std::make_unique<one_root>(net, turn, algorithm, check_.get()));
    }
}
collective_call::~collective_call() = default;

chorus::plan& collective_call::plan() { return roots_[turn_]->plan; }
void collective_call::next_root() { turn_ = (turn_ + 1) % roots_.size(); }
collective_call::one_root& collective_call::last() const { return *roots_[(turn_ + roots_.size() - 1) % roots_.size()]; }

void collective_call::run() {
    plan().run();
    next_root();
}
void collective_call::fill(std::uint64_t call) {
    for (auto& each : roots_) each->of().fill(call);
}
std::uint64_t collective_call::count_wrong(std::uint64_t call) {
    if (!check_) return last().of().count_wrong(call, told_);
    is_checked_ = true;
    return check_->count_wrong(*last().contents, call, told_);
}
void collective_call::spoil() {
    last().of().spoil();
    if (check_) check_->spoil();
}
std::string collective_call::algorithm() const { return algorithm_of(roots_.front()->plan); }
void collective_call::tell(wrong_element told) { told_ = std::move(told); }

std::optional<carried_facts> collective_call::carried() const {
    if (!check_) return std::nullopt;
    return check_->facts(last().plan, *last().contents, is_checked_);
}

}  // namespace bench
