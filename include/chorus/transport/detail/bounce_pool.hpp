// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/byte_buffer.hpp"
#include "chorus/transport/transport.hpp"

#include <memory>
#include <span>
#include <vector>

namespace chorus::detail {

/// A reduction on behalf of a transport that cannot: the message is received here, then combined.
struct bounced_reduction {
    byte_buffer arrived;
    reduce_target into;

    std::span<std::byte> landing() noexcept { return arrived.span().first(into.bytes); }
};

/// Bounced reductions for use and reuse: allocates only when more, or longer ones, are under way than ever before.
/// Addresses stay while the pool lives, and when it is moved.
class bounce_pool {
 public:
    bounced_reduction& take(reduce_target const& into) {
        if (idle_.empty()) {
            all_.push_back(std::make_unique<bounced_reduction>());
            idle_.reserve(all_.size());  // so that giving one back never allocates
            idle_.push_back(all_.back().get());
        }
        bounced_reduction& bounce = *idle_.back();
        bounce.arrived.grow(into.bytes);
        bounce.into = into;
        idle_.pop_back();
        return bounce;
    }

    /// The message has come.
    void finish(bounced_reduction& bounce) noexcept {
        if (bounce.into.bytes > 0) bounce.into.combine(0, bounce.arrived.data(), bounce.into.bytes);
        give_back(bounce);
    }

    void give_back(bounced_reduction& bounce) noexcept { idle_.push_back(&bounce); }

 private:
    std::vector<std::unique_ptr<bounced_reduction>> all_;
    std::vector<bounced_reduction*> idle_;
};

}  // namespace chorus::detail
