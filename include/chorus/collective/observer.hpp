// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/types.hpp"
#include "chorus/transport/transport.hpp"

#include <cstdint>

namespace chorus {

/// Is told of every run of the plans of a group that reports to it (`group::observed_by`), blocking calls included.
///
/// Called by the thread that drives the plan, inside `start`, `advance` or `wait`: it must be quick, and must not start or await operations.
/// Every `started` is followed by one `ended` of the same record (stream and run); destroying the plan counts as failing.
class observer {
 public:
    /// `me` and `size`: of the group.
    virtual void started(operation_record const& record, rank_id me, rank_id size) noexcept = 0;
    /// `outcome`: done or failed; `bytes_sent`: payload, 0 if it failed.
    virtual void ended(operation_record const& record, operation_state outcome, std::uint64_t bytes_sent) noexcept = 0;

 protected:
    observer() = default;
    observer(observer const&) = default;
    observer& operator=(observer const&) = default;
    ~observer() = default;
};

/// What a rank did in a group, counted whether anybody observes or not.
struct operation_counters {
    std::uint64_t started = 0;
    std::uint64_t finished = 0;
    std::uint64_t failed = 0;
    std::uint64_t bytes_sent = 0;  ///< payload of the finished ones

    friend constexpr bool operator==(operation_counters const&, operation_counters const&) = default;
};

}  // namespace chorus
