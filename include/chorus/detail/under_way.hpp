// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

namespace chorus::detail {

class under_way_list;

/// Something started and not over that others may help along.
class under_way_item {
 public:
    under_way_item() = default;
    under_way_item(under_way_item const&) = delete;
    under_way_item& operator=(under_way_item const&) = delete;

    /// Does what can be done now without blocking; may leave the list. False if it could do nothing. `looks`: at the clock, too.
    virtual bool help(bool looks) noexcept = 0;
    /// Lets the peers see this one.
    virtual void show() noexcept {}

 protected:
    ~under_way_item() = default;

 private:
    friend class under_way_list;
    under_way_item* next_ = nullptr;
    under_way_item* previous_ = nullptr;
    bool is_listed_ = false;
};

/// What one rank has under way: on its transport where that keeps a list, else in a group and its subgroups. Whoever waits for one helps the others along; otherwise
/// two ranks that await their plans in different orders would wait for one another. Owns nothing, allocates nothing.
class under_way_list {
 public:
    void add(under_way_item& item) noexcept {
        if (item.is_listed_) return;
        item.is_listed_ = true;
        item.next_ = first_;
        item.previous_ = nullptr;
        if (first_ != nullptr) first_->previous_ = &item;
        first_ = &item;
    }

    void remove(under_way_item& item) noexcept {
        if (!item.is_listed_) return;
        item.is_listed_ = false;
        (item.previous_ == nullptr ? first_ : item.previous_->next_) = item.next_;
        if (item.next_ != nullptr) item.next_->previous_ = item.previous_;
    }

    bool empty() const noexcept { return first_ == nullptr; }

    /// What was begun last, for the peers to see; there is one.
    void show_last() noexcept { first_->show(); }

    /// An item leaves the list by its own help alone.
    bool help_all_but(under_way_item const& one, bool looks) noexcept { return help(&one, looks); }
    bool help_all(bool looks) noexcept { return help(nullptr, looks); }

 private:
    bool help(under_way_item const* but, bool looks) noexcept {
        bool moved = false;
        for (under_way_item* item = first_; item != nullptr;) {
            under_way_item* const next = item->next_;
            if (item != but && item->help(looks)) moved = true;
            item = next;
        }
        return moved;
    }

    under_way_item* first_ = nullptr;
};

}  // namespace chorus::detail
