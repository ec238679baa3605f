// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/error.hpp"
#include "chorus/base/types.hpp"

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace chorus::detail {

/// A short message that has come; nobody: none has.
struct short_message {
    rank_id peer = nobody;
    std::span<std::byte const> bytes{};
};

/// What a network library must be able to do; `messenger` makes a whole transport of it, the same for every library.
///
/// Short messages, at most `largest_short()` bytes (header and payload together; at least 512), are copied or gone when `send_short` returns, and come in
/// the order sent per peer. `send_short` says false when there is no place at present: try again later. It never blocks.
/// `next_short` shows the next one that has come, again and again until `release_short`; it makes the library progress, too.
///
/// Bulk transfers are matched by (sender, number), numbers being 0 … bulk_numbers - 1, and never two at a time with one number between the same
/// two ranks in one direction. The receiver has called `receive_bulk` before the sender calls `send_bulk`; lengths agree. Any length from 1 byte on.
/// A `transfer` is a small movable value, default-constructed it is done; `poll` never blocks.
/// After `cancel` the library does not touch the buffer any more; it may block for a second at most.
///
/// `is_quiet`: every short message has left, as far as this side can know.
/// `sleep` returns when something may have come, and after `at_most` at the latest.
/// `failure_of(peer)`: a text once it is known that nothing will ever come from that peer again, nullptr before. One system call at most.
/// `peer` is never this rank itself. One thread at a time.
///
/// Two more functions are called where they are there: `begin_generation(n)` after the n-th recovery: what was under way before does not count any more; and
/// `keep_name()` before the end if messages of peers may still be on their way, so that a successor must not be mistaken for this one.
template <class W> concept wire =
    requires(W& net, W const& known, rank_id peer, std::span<std::byte const> header, std::span<std::byte const> payload,
             std::span<std::byte> in, std::uint32_t number, typename W::transfer& moving, std::chrono::milliseconds at_most) {
        { known.rank() } noexcept -> std::same_as<rank_id>;
        { known.size() } noexcept -> std::same_as<rank_id>;
        { known.largest_short() } noexcept -> std::same_as<std::size_t>;
        { W::bulk_numbers } -> std::convertible_to<std::uint32_t>;
        { net.send_short(peer, header, payload) } noexcept -> std::same_as<bool>;
        { net.next_short() } noexcept -> std::same_as<short_message>;
        { net.release_short() } noexcept;
        { net.is_quiet() } noexcept -> std::same_as<bool>;
        { net.send_bulk(peer, number, payload) } noexcept -> std::same_as<typename W::transfer>;
        { net.receive_bulk(peer, number, in) } noexcept -> std::same_as<typename W::transfer>;
        { net.poll(moving) } noexcept -> std::same_as<progress>;
        { net.cancel(moving) } noexcept;
        { net.sleep(at_most) } noexcept;
        { net.failure_of(peer) } noexcept -> std::same_as<char const*>;
        { known.describe() } -> std::same_as<std::string>;
    } && std::movable<typename W::transfer> && std::default_initializable<typename W::transfer>;

}  // namespace chorus::detail
