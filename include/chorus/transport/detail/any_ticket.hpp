// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace chorus::detail {

/// A ticket of any transport in 64 bytes of its own; never allocates. Whoever filled it knows what is inside.
class any_ticket {
 public:
    static constexpr std::size_t capacity = 64;

    any_ticket() noexcept = default;

    template <class Ticket>
    explicit any_ticket(std::in_place_type_t<Ticket>, Ticket&& inner) noexcept : relocate_{&relocate<Ticket>} {
        static_assert(sizeof(Ticket) <= capacity && alignof(Ticket) <= alignof(std::max_align_t),
                      "a ticket may hold at most 64 bytes");
        static_assert(std::is_nothrow_move_constructible_v<Ticket>, "a ticket must move without throwing");
        ::new (static_cast<void*>(memory_)) Ticket{std::move(inner)};
    }

    any_ticket(any_ticket&& other) noexcept { take(other); }
    any_ticket& operator=(any_ticket&& other) noexcept {
        if (this == std::addressof(other)) return *this;
        reset();
        take(other);
        return *this;
    }
    ~any_ticket() { reset(); }

    bool is_empty() const noexcept { return relocate_ == nullptr; }

    template <class Ticket>
    Ticket& as() noexcept {
        return *std::launder(static_cast<Ticket*>(static_cast<void*>(memory_)));
    }

    void reset() noexcept {
        if (auto const destroy = std::exchange(relocate_, nullptr)) destroy(memory_, nullptr);
    }

 private:
    // Moves to `to`, if any, then destroys.
    template <class Ticket>
    static void relocate(void* from, void* to) noexcept {
        Ticket& inner = *std::launder(static_cast<Ticket*>(from));
        if (to != nullptr) ::new (to) Ticket{std::move(inner)};
        inner.~Ticket();
    }

    void take(any_ticket& other) noexcept {
        relocate_ = std::exchange(other.relocate_, nullptr);
        if (relocate_ != nullptr) relocate_(other.memory_, memory_);
    }

    alignas(std::max_align_t) std::byte memory_[capacity];
    void (*relocate_)(void* from, void* to) noexcept = nullptr;
};

}  // namespace chorus::detail
