// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/transport/self.hpp"
#include "chorus/transport/transport.hpp"

#include <cstddef>
#include <span>

namespace archetypes {

/// Models `transport` and nothing more: no copies, no moves of the endpoint, a move-only ticket, no refinement.
/// What a template accepts it with, it accepts every transport with. One rank, which talks to itself.
class least_transport {
 public:
    class ticket {
     public:
        ticket() = default;
        ticket(ticket&& other) noexcept = default;
        ticket& operator=(ticket&& other) noexcept = default;
        ticket(ticket const&) = delete;
        ticket& operator=(ticket const&) = delete;

     private:
        friend class least_transport;
        explicit ticket(chorus::self_transport::ticket inner) : inner_{inner} {}
        chorus::self_transport::ticket inner_;
    };

    least_transport() = default;
    least_transport(least_transport const&) = delete;
    least_transport& operator=(least_transport const&) = delete;

    chorus::rank_id rank() const noexcept { return 0; }
    chorus::rank_id size() const noexcept { return 1; }

    ticket post_send(chorus::rank_id peer, chorus::message_tag tag, std::span<std::byte const> out) {
        return ticket{net_.post_send(peer, tag, out)};
    }
    ticket post_recv(chorus::rank_id peer, chorus::message_tag tag, std::span<std::byte> in) {
        return ticket{net_.post_recv(peer, tag, in)};
    }
    chorus::progress poll(ticket& pending) noexcept { return net_.poll(pending.inner_); }

 private:
    chorus::self_transport net_;
};
static_assert(chorus::transport<least_transport>);

}  // namespace archetypes
