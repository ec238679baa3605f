// expect: net.poll(pending)
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
// What is no transport is refused where it is used, with the requirement that it misses.
#include <chorus/collective/group.hpp>

#include <cstddef>
#include <span>

struct own_transport {
    struct ticket {};
    chorus::rank_id rank() const noexcept { return 0; }
    chorus::rank_id size() const noexcept { return 1; }
    ticket post_send(chorus::rank_id, chorus::message_tag, std::span<std::byte const>) { return {}; }
    ticket post_recv(chorus::rank_id, chorus::message_tag, std::span<std::byte>) { return {}; }
#ifdef CONTROL
    chorus::progress poll(ticket&) noexcept { return chorus::progress::done; }
#else
    chorus::progress poll(ticket&) { return chorus::progress::done; }
#endif
};

chorus::group<own_transport> everybody(own_transport& net) { return chorus::group<own_transport>{net}; }
