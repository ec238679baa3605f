// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/config.hpp"
#include "chorus/base/types.hpp"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace chorus {

/// Why an operation could not be done.
enum class errc : std::uint8_t {
    invalid_argument,  ///< the caller's own arguments; nothing was sent
    mismatch,          ///< ranks disagree about the operation
    timed_out,         ///< the deadline passed
    peer_lost,         ///< a peer ended, or left, before it had done its part
    aborted,           ///< somebody called abort, or another rank failed
    poisoned,          ///< an earlier operation on this group failed
    concurrent_use,    ///< two threads drive one plan, group or endpoint at once
    too_large,         ///< a size does not fit in memory or in 64 bits
    unsupported,       ///< this transport or algorithm cannot do it
    system_failed,     ///< the operating system refused something
    forked,            ///< a child process uses what belongs to its parent
    corrupt            ///< bytes that were received or restored are not what would have been written
};

constexpr std::string_view to_string(errc code) noexcept {
    switch (code) {
        case errc::invalid_argument: return "invalid argument";
        case errc::mismatch: return "mismatch";
        case errc::timed_out: return "timed out";
        case errc::peer_lost: return "peer lost";
        case errc::aborted: return "aborted";
        case errc::poisoned: return "poisoned";
        case errc::concurrent_use: return "concurrent use";
        case errc::too_large: return "too large";
        case errc::unsupported: return "unsupported";
        case errc::system_failed: return "system failed";
        case errc::forked: return "forked";
        case errc::corrupt: return "corrupt";
    }
    return "unknown";
}

/// The one exception of the library. Thrown by construction of objects and by `wait`, never by `advance`.
/// After it, the contents of the operation's output buffers are unspecified; inputs are unchanged unless in place.
class error : public std::runtime_error {
 public:
    error(errc code, std::string const& message, rank_id peer = nobody)
        : std::runtime_error{std::string{to_string(code)} + ": " + message}, code_{code}, peer_{peer} {}

    errc code() const noexcept { return code_; }

    /// `what()` without the code in front.
    std::string_view message() const noexcept {
        return std::string_view{what()}.substr(to_string(code_).size() + 2);
    }

    /// The rank to blame, numbered as in the transport (world rank), or `nobody`.
    rank_id peer() const noexcept { return peer_; }

 private:
    errc code_;
    rank_id peer_;
};

/// Called with the error where exceptions are switched off. Must not return; if it does, the program aborts.
using failure_handler = void (*)(error const&);

namespace detail {

inline void print_failure(error const& failure) {
    std::fprintf(stderr, "chorus: %s\n", failure.what());
}

inline std::atomic<failure_handler>& current_failure_handler() noexcept {
    static std::atomic<failure_handler> handler{&print_failure};
    return handler;
}

[[noreturn]] inline void raise(error const& failure) {
#if CHORUS_HAS_EXCEPTIONS
    throw failure;
#else
    current_failure_handler().load()(failure);
    std::abort();
#endif
}

[[noreturn]] inline void raise(errc code, std::string const& message, rank_id peer = nobody) {
    raise(error{code, message, peer});
}

}  // namespace detail

/// Sets the handler used under -fno-exceptions (the default prints and aborts) and returns the one before.
inline failure_handler set_failure_handler(failure_handler handler) noexcept {
    return detail::current_failure_handler().exchange(handler);
}

}  // namespace chorus
