// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/transport/detail/socket.hpp"
#include "chorus/transport/detail/store_protocol.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <sys/random.h>

namespace chorus::detail {

inline nonce fresh_nonce() {
    nonce made{};
    std::size_t filled = 0;
    while (filled < made.size()) {
        ssize_t const got = ::getrandom(made.data() + filled, made.size() - filled, 0);
        if (got < 0 && errno != EINTR) raise_system("asking the system for random bytes");
        filled += got < 0 ? 0 : static_cast<std::size_t>(got);
    }
    return made;
}

/// A connection that carries frames. Never blocks. Holds at most one frame of the largest allowed size that has not
/// been looked at.
class frame_stream {
 public:
    using shared_frame = std::shared_ptr<std::vector<std::byte> const>;

    explicit frame_stream(owned_descriptor socket)
        : socket_{std::move(socket)}, peer_{to_string(peer_place(socket_.get()))} {}

    int descriptor() const noexcept { return socket_.get(); }
    std::string const& peer() const noexcept { return peer_; }

    /// Nothing more will come.
    bool has_ended() const noexcept { return has_ended_; }
    /// "closed the connection", or what the system said.
    std::string const& ending() const noexcept { return ending_; }

    /// Takes in what has come, as far as one frame of the largest allowed size needs.
    void receive(std::size_t largest_payload) {
        std::array<std::byte, 16 * 1024> piece;
        for (;;) {
            std::size_t const held = came_.size() - begin_;
            std::size_t const most = frame_header_bytes + largest_payload;
            std::size_t const room = held < most ? (std::min)(piece.size(), most - held) : 0;
            if (room == 0 || has_ended_) return;
            ssize_t const got = ::recv(socket_.get(), piece.data(), room, 0);
            if (got > 0) {
                if (begin_ == came_.size() || begin_ > piece.size()) drop_seen();
                came_.insert(came_.end(), piece.begin(), piece.begin() + got);
            } else if (got == 0) {
                return end("closed the connection");
            } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
                return;
            } else if (errno != EINTR) {
                return end(std::strerror(errno));
            }
        }
    }

    /// The first frame that has come, valid until the next call of `receive`.
    frame_view front(std::size_t largest_payload) const noexcept {
        return parse_frame(std::span{came_}.subspan(begin_), largest_payload);
    }
    void pop(frame_view const& seen) noexcept { begin_ += seen.bytes; }

    /// The first bytes that have come, in readable form.
    std::string beginning() const {
        std::string text;
        for (std::size_t i = begin_; i < came_.size() && text.size() < 24; ++i) {
            char const c = static_cast<char>(came_[i]);
            text += c >= ' ' && c <= '~' ? c : '.';
        }
        return text;
    }

    void send(shared_frame frame) {
        leaving_.push_back(std::move(frame));
        flush();
    }
    void send(std::vector<std::byte> frame) { send(std::make_shared<std::vector<std::byte> const>(std::move(frame))); }

    /// Hands the system what it takes. If the connection is broken, what waits is dropped; `receive` will notice the
    /// end.
    void flush() noexcept {
        while (!leaving_.empty()) {
            std::vector<std::byte> const& frame = *leaving_.front();
            ssize_t const sent = ::send(socket_.get(), frame.data() + sent_, frame.size() - sent_, MSG_NOSIGNAL);
            if (sent < 0 && errno == EINTR) continue;
            if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
            sent_ = sent < 0 ? frame.size() : sent_ + static_cast<std::size_t>(sent);
            is_broken_ = is_broken_ || sent < 0;
            if (sent_ == frame.size() || is_broken_) {
                leaving_.pop_front();
                sent_ = 0;
            }
        }
    }
    bool is_flushed() const noexcept { return leaving_.empty(); }
    bool is_broken() const noexcept { return is_broken_; }

    short events() const noexcept { return static_cast<short>(is_flushed() ? POLLIN : POLLIN | POLLOUT); }

 private:
    void drop_seen() {
        came_.erase(came_.begin(), came_.begin() + static_cast<std::ptrdiff_t>(begin_));
        begin_ = 0;
    }
    void end(char const* why) {
        has_ended_ = true;
        ending_ = why;
    }

    owned_descriptor socket_;
    std::string peer_;
    std::vector<std::byte> came_;
    std::size_t begin_ = 0;
    std::deque<shared_frame> leaving_;
    std::size_t sent_ = 0;
    bool is_broken_ = false;
    bool has_ended_ = false;
    std::string ending_;
};

}  // namespace chorus::detail
