// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/collective/observer.hpp"

#include <cstdint>
#include <initializer_list>
#include <vector>

namespace chorus {

/// Several observers as one; they must outlive it. Told in the order given.
class observer_list final : public observer {
 public:
    observer_list(std::initializer_list<observer*> watchers) : watchers_{watchers} {}

    void started(operation_record const& record, rank_id me, rank_id size) noexcept override {
        for (observer* one : watchers_) one->started(record, me, size);
    }
    void ended(operation_record const& record, operation_state outcome, std::uint64_t bytes_sent) noexcept override {
        for (observer* one : watchers_) one->ended(record, outcome, bytes_sent);
    }

 private:
    std::vector<observer*> watchers_;
};

}  // namespace chorus
