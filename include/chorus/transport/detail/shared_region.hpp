// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/transport/detail/mailbox_arena.hpp"
#include "chorus/transport/detail/owned_descriptor.hpp"

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

// Memory shared by processes without a name in any file system: it is gone with the last process that maps it, however that one ends.

namespace chorus::detail {

/// A mapping of anonymous shared memory, zeroed by the system; unmapped by the destructor.
class shared_region {
 public:
    /// Inherited by children forked later.
    static shared_region anonymous(std::size_t bytes) { return map(-1, bytes, MAP_SHARED | MAP_ANONYMOUS); }
    static shared_region of_file(int descriptor, std::size_t bytes) { return map(descriptor, bytes, MAP_SHARED); }

    shared_region() = default;
    shared_region(shared_region&& other) noexcept
        : base_{std::exchange(other.base_, nullptr)}, bytes_{std::exchange(other.bytes_, 0)} {}
    shared_region& operator=(shared_region&& other) noexcept {
        std::swap(base_, other.base_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~shared_region() {
        if (base_ != nullptr) ::munmap(base_, bytes_);
    }

    std::byte* base() const noexcept { return base_; }
    std::size_t bytes() const noexcept { return bytes_; }

 private:
    static shared_region map(int descriptor, std::size_t bytes, int flags) {
        void* const at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, descriptor, 0);
        if (at == MAP_FAILED) raise_system("mapping " + std::to_string(bytes) + " bytes of shared memory");
        shared_region region;
        region.base_ = static_cast<std::byte*>(at);
        region.bytes_ = bytes;
        return region;
    }

    std::byte* base_ = nullptr;
    std::size_t bytes_ = 0;
};

/// The abstract socket on which rank 0 of a session hands out its memory; the system forgets it with the process. Only the same user may connect.
class session_socket {
 public:
    explicit session_socket(std::string_view session) {
        std::string const name = "chorus/" + std::to_string(::geteuid()) + '/' + std::string{session};
        if (name.size() + 1 > sizeof address_.sun_path)
            raise(errc::invalid_argument, "the session name has " + std::to_string(session.size()) +
                                              " characters; at most 80 are possible");
        address_.sun_family = AF_UNIX;
        std::memcpy(address_.sun_path + 1, name.data(), name.size());
        length_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    }

    /// Rank 0: sends `memory` to `ranks - 1` others, or raises timed_out saying how many came.
    void hand_out(int memory, rank_id ranks, std::chrono::steady_clock::time_point until) const {
        owned_descriptor const listener{open()};
        while (::bind(listener.get(), address(), length_) != 0) {
            if (errno != EADDRINUSE) raise_system("binding the session socket");
            if (std::chrono::steady_clock::now() > until)
                raise(errc::timed_out, "another session of the same name is starting and does not end");
            std::this_thread::sleep_for(std::chrono::milliseconds{5});
        }
        if (::listen(listener.get(), 128) != 0) raise_system("listening on the session socket");
        for (rank_id served = 1; served < ranks;) {
            owned_descriptor const client{::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC)};
            if (client.is_open()) {
                if (is_same_user(client.get()) && send_descriptor(client.get(), memory)) ++served;
            } else if (std::chrono::steady_clock::now() > until) {
                raise(errc::timed_out, "only " + std::to_string(served) + " of " + std::to_string(ranks) +
                                           " ranks came to the shared-memory session");
            } else {
                std::this_thread::sleep_for(std::chrono::milliseconds{1});
            }
        }
    }

    /// The others: receives the descriptor, or raises timed_out.
    owned_descriptor fetch(std::chrono::steady_clock::time_point until) const {
        for (;;) {
            owned_descriptor const connection{open()};
            if (::connect(connection.get(), address(), length_) == 0) {
                owned_descriptor received{receive_descriptor(connection.get(), until)};
                if (received.is_open()) return received;
            }
            if (std::chrono::steady_clock::now() > until)
                raise(errc::timed_out, "rank 0 did not open the shared-memory session", 0);
            std::this_thread::sleep_for(std::chrono::milliseconds{2});
        }
    }

 private:
    static int open() {
        int const made = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (made < 0) raise_system("making the session socket");
        return made;
    }
    sockaddr const* address() const noexcept { return reinterpret_cast<sockaddr const*>(&address_); }

    static bool is_same_user(int connection) noexcept {
        ucred peer{};
        socklen_t length = sizeof peer;
        return ::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == ::geteuid();
    }

    static bool send_descriptor(int connection, int descriptor) noexcept {
        alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
        char greeting = 'c';
        iovec text{&greeting, 1};
        msghdr message{};
        message.msg_iov = &text;
        message.msg_iovlen = 1;
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        cmsghdr* const header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int));
        std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
        return ::sendmsg(connection, &message, MSG_NOSIGNAL) == 1;
    }

    static int receive_descriptor(int connection, std::chrono::steady_clock::time_point until) noexcept {
        alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
        char greeting = 0;
        iovec text{&greeting, 1};
        msghdr message{};
        message.msg_iov = &text;
        message.msg_iovlen = 1;
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        ssize_t got = -1;
        while ((got = ::recvmsg(connection, &message, MSG_CMSG_CLOEXEC)) < 0 && (errno == EAGAIN || errno == EINTR) &&
               std::chrono::steady_clock::now() < until)
            std::this_thread::sleep_for(std::chrono::milliseconds{1});
        cmsghdr const* const header = got == 1 ? CMSG_FIRSTHDR(&message) : nullptr;
        if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return -1;
        int descriptor = -1;
        std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
        return descriptor;
    }

    sockaddr_un address_{};
    socklen_t length_ = 0;
};

}  // namespace chorus::detail
