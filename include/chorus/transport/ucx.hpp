// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/transport/detail/messenger.hpp"
#include "chorus/transport/detail/ucx_wire.hpp"
#include "chorus/transport/rendezvous.hpp"
#include "chorus/transport/transport.hpp"

#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace chorus {

/// Memory registered with the network for as long as this lives. May outlive the transport; used and destroyed by its thread.
class ucx_pin {
 public:
    ucx_pin() = default;
    ucx_pin(std::shared_ptr<detail::ucx_registrations> known, std::span<std::byte> memory) : known_{std::move(known)} {
        if (!memory.empty()) handle_ = known_->add(memory);
    }
    ucx_pin(ucx_pin&& other) noexcept : known_{std::move(other.known_)}, handle_{std::exchange(other.handle_, nullptr)} {}
    ucx_pin& operator=(ucx_pin&& other) noexcept {
        std::swap(known_, other.known_);
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~ucx_pin() {
        if (handle_ != nullptr) known_->remove(handle_);
    }

 private:
    std::shared_ptr<detail::ucx_registrations> known_;
    ucp_mem_h handle_ = nullptr;
};

/// One process of several, on one host or many: a transport over UCX 1.13 or newer, which chooses the way to each peer (`describe`).
///
/// matching: peer, stream, order | one thread at a time; `abort` from any | copies: two up to 8 KiB, above that what UCX needs: none over
/// InfiniBand, one within a host (cma), two over TCP | pins: UCX registers memory, once per plan | largest message 2^56 - 1 bytes |
/// tags: all 64 bits | a peer that ended is `peer_lost`: at once, noticed by whoever waits for it; a peer whose host or link is dead
/// after `ucx_options::silence` if nothing was on its way to it, else at the operation's deadline (docs/design/networks.md).
/// Waiting spins, then yields, then sleeps until UCX has something: an idle rank burns no core.
/// fork: a child may not use the endpoint that it inherited, and its destructor does nothing there. A child that lives on without `exec`
/// holds the parent's TCP connections, so that peers on other hosts do not notice the parent's end before the child's.
class ucx_transport : public detail::messenger<detail::ucx_wire> {
 public:
    /// The name in tables of algorithms.
    static constexpr std::string_view kind() noexcept { return "ucx"; }

    using pin_type = ucx_pin;

    /// Collective over `meet`, which is not used any more afterwards; blocks as long as its deadline allows.
    template <bootstrap Bootstrap>
    explicit ucx_transport(Bootstrap& meet, ucx_options const& options = {})
        : ucx_transport{detail::ucx_introduction{meet, options}} {
        if (size() <= options.connect_all_up_to) net().connect_all(options.connect_within);
    }

    /// Memory that fits in short messages is not registered: those are copied.
    ucx_pin pin(std::span<std::byte> memory) {
        if (memory.size() <= net().largest_short()) return {};
        return {net().registrations(), memory};
    }

    /// Registrations ever made by `pin`.
    std::uint64_t pins_made() noexcept { return net().registrations()->made(); }

 private:
    explicit ucx_transport(detail::ucx_introduction known)
        : messenger{detail::waiting_style_for(known.ranks_on_host()), std::move(known)} {}
};
static_assert(transport<ucx_transport> && aborting_transport<ucx_transport> && explaining_transport<ucx_transport> &&
              resting_transport<ucx_transport> && announcing_transport<ucx_transport> && cancelling_transport<ucx_transport> &&
              guarded_transport<ucx_transport> && counting_transport<ucx_transport> && recovering_transport<ucx_transport> &&
              registering_transport<ucx_transport>);

/// p ranks as threads of this process, each with its own UCX context and worker: for tests, and for programs that have no launcher.
class ucx_fleet {
 public:
    explicit ucx_fleet(rank_id ranks, ucx_options options = {}) : ranks_{ranks}, options_{std::move(options)} {
        detail::expects(ranks > 0, [] { return "a UCX fleet needs at least one rank"; });
    }

    rank_id size() const noexcept { return ranks_; }

    /// Calls `body(ucx_transport&)` once per rank, each in a thread of its own, and returns when all have returned. If one throws, the others'
    /// operations fail, and the first exception comes out of here.
    template <class Body>
    void run(Body&& body) const {
        std::vector<thread_rendezvous> meetings = thread_rendezvous::of(ranks_);
        std::mutex guard;
        std::exception_ptr first;
        auto const note = [&] {
            std::lock_guard const hold{guard};
            if (!first) first = std::current_exception();
        };
        auto const rank_body = [&](thread_rendezvous meet) {
            CHORUS_TRY {
                ucx_transport net{meet, options_};
                CHORUS_TRY { body(net); }
                CHORUS_CATCH_ALL {
                    note();
                    net.abort(errc::aborted, net.rank(), "the function of rank " + std::to_string(net.rank()) + " threw an exception");
                }
            }
            CHORUS_CATCH_ALL { note(); }
        };
        {
            std::vector<std::jthread> threads;
            threads.reserve(ranks_);
            CHORUS_TRY {
                for (thread_rendezvous& meet : meetings) threads.emplace_back(rank_body, std::move(meet));
            }
            CHORUS_CATCH_ALL {
                note();
                meetings.clear();  // those that run must not wait for the missing ones
            }
        }
        if (first) std::rethrow_exception(first);
    }

 private:
    rank_id ranks_;
    ucx_options options_;
};

}  // namespace chorus
