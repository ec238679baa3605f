// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace chorus::detail {

/// First in, first out; intrusive (`Request::next`), so it allocates nothing. A request is in one list at most.
template <class Request>
class list_of {
 public:
    bool empty() const noexcept { return first_ == nullptr; }
    Request& front() noexcept { return *first_; }

    void push_back(Request& r) noexcept {
        r.next = nullptr;
        (last_ == nullptr ? first_ : last_->next) = &r;
        last_ = &r;
    }
    void push_front(Request& r) noexcept {
        r.next = first_;
        first_ = &r;
        if (last_ == nullptr) last_ = &r;
    }
    void pop_front() noexcept {
        first_ = first_->next;
        if (first_ == nullptr) last_ = nullptr;
    }

    /// Removes and returns the earliest one of this stream, or nullptr.
    Request* take_first(std::uint64_t stream) noexcept {
        Request* before = nullptr;
        for (Request* r = first_; r != nullptr; before = r, r = r->next) {
            if (r->tag.stream != stream) continue;
            unlink(before, *r);
            return r;
        }
        return nullptr;
    }
    void remove(Request& wanted) noexcept {
        Request* before = nullptr;
        for (Request* r = first_; r != nullptr; before = r, r = r->next)
            if (r == &wanted) return unlink(before, *r);
    }

    template <class Visit>
    void each(Visit&& visit) const {
        for (Request* r = first_; r != nullptr; r = r->next) visit(*r);
    }

 private:
    void unlink(Request* before, Request& r) noexcept {
        (before == nullptr ? first_ : before->next) = r.next;
        if (last_ == &r) last_ = before;
        r.next = nullptr;
    }

    Request* first_ = nullptr;
    Request* last_ = nullptr;
};

/// Requests are reused; memory is taken only when more are in use than ever before. `Request::is_idle()`: not in use; `Request::reset()`: as new.
template <class Request>
class pool_of {
 public:
    pool_of() { add(); }

    Request& take() {
        if (free_ == nullptr) add();
        Request& r = *free_;
        free_ = r.next;
        r.next = nullptr;
        return r;
    }
    void give_back(Request& r) noexcept {
        r.reset();
        r.next = free_;
        free_ = &r;
    }

    template <class Visit>
    void each(Visit&& visit) const {
        for (auto const& some : all_)
            for (Request& r : *some)
                if (!r.is_idle()) visit(r);
    }

 private:
    using some_requests = std::array<Request, 64>;

    void add() {
        all_.push_back(std::make_unique<some_requests>());
        for (Request& r : *all_.back()) give_back(r);
    }

    std::vector<std::unique_ptr<some_requests>> all_;
    Request* free_ = nullptr;
};

}  // namespace chorus::detail
