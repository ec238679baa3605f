// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

#include "measure.hpp"
#include "vectors.hpp"

#include <utility>

namespace bench {

struct collective_call::one_root {
    one_root(endpoint& net, call_shape const& shape, std::string const& algorithm)
        : memory{shape, net.rank()}, plan{net.make_plan(shape, memory.input(), memory.output(), algorithm)} {}

    vectors memory;
    chorus::plan plan;
};

collective_call::collective_call(endpoint& net, call_shape const& shape, std::string const& algorithm,
                                 chorus::rank_id roots) {
    for (chorus::rank_id r = 0; r < roots; ++r) {
        call_shape turn = shape;
        if (roots > 1) turn.root = r;
        roots_.push_back(std::make_unique<one_root>(net, turn, algorithm));
    }
}
collective_call::~collective_call() = default;

chorus::plan& collective_call::plan() { return roots_[turn_]->plan; }
void collective_call::next_root() { turn_ = (turn_ + 1) % roots_.size(); }

void collective_call::run() {
    plan().run();
    next_root();
}
void collective_call::fill(std::uint64_t call) {
    for (auto& each : roots_) each->memory.fill(call);
}
std::uint64_t collective_call::count_wrong(std::uint64_t call) {
    return roots_[(turn_ + roots_.size() - 1) % roots_.size()]->memory.count_wrong(call, told_);
}
void collective_call::spoil() { roots_[(turn_ + roots_.size() - 1) % roots_.size()]->memory.spoil(); }
std::string collective_call::algorithm() const { return algorithm_of(roots_.front()->plan); }
void collective_call::tell(std::function<void(std::uint64_t, double, double)> told) { told_ = std::move(told); }

}  // namespace bench
