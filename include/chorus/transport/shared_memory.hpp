// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/transport/detail/mailbox.hpp"
#include "chorus/transport/detail/process_platform.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/wait.h>

namespace chorus {

/// How processes of one host come together.
struct shared_memory_options {
    std::chrono::milliseconds join_within{30'000};
    /// Messages at least this long are read from the peer's memory by the receiver (process_vm_readv, where permitted) instead of being
    /// streamed through shared chunks. Measured on two cores: see docs/design/host_path.md.
    std::uint64_t attach_from_bytes = 32 * 1024;
};

/// One process of several on one host: a transport over shared memory (Linux).
///
/// matching: peer, stream, order | one thread at a time per endpoint; `abort` from any | copies: one through a shared chunk up to 8 KiB (two copies
/// in all), one where the peer's memory can be read, else two, pipelined | no pins | largest message 2^56 - 1 bytes | tags: all 64 bits |
/// a peer that ended (exit, crash, SIGKILL) is `peer_lost` within a few milliseconds of somebody waiting for it.
/// The memory has no name: nothing is left behind, whenever and however processes end. A forked child that uses the endpoint it
/// inherited is refused (`forked`); the parent's session does not notice.
class shared_memory_transport : public detail::mailbox<detail::process_platform> {
 public:
    /// The name in tables of algorithms.
    static constexpr std::string_view kind() noexcept { return "shm"; }

    /// Joins the session `name` of this user on this host as rank `me` of `ranks`; blocks until all have come or `join_within` is over
    /// (timed_out, naming who is absent). A name may be used again at once.
    shared_memory_transport(std::string_view name, rank_id me, rank_id ranks, shared_memory_options const& options = {})
        : shared_memory_transport{join(name, me, ranks, options), me, ranks, options} {}

    /// From memory inherited through fork; see process_fleet.
    shared_memory_transport(std::shared_ptr<detail::shared_region const> region, rank_id me, rank_id ranks,
                            shared_memory_options const& options = {})
        : mailbox{detail::mailbox_arena{region->base(), shape_of(ranks)}, me, detail::waiting_style_for(ranks),
                  detail::process_platform{region, detail::mailbox_arena{region->base(), shape_of(ranks)}, me,
                                           options.attach_from_bytes}} {
        platform().wait_for_all(std::chrono::steady_clock::now() + options.join_within);
    }

    ~shared_memory_transport() {
        if (platform().owner().is_forked()) return;
        arena().member_of(rank()).presence.store(detail::presence_left, std::memory_order_release);
    }

    static detail::mailbox_shape shape_of(rank_id ranks) { return {.ranks = ranks}; }

 private:
    static std::shared_ptr<detail::shared_region const> join(std::string_view name, rank_id me, rank_id ranks,
                                                             shared_memory_options const& options) {
        detail::expects(me < ranks, [&] {
            return "shared_memory_transport: rank " + std::to_string(me) + " is not below " + std::to_string(ranks);
        });
        auto const until = std::chrono::steady_clock::now() + options.join_within;
        std::size_t const bytes = detail::mailbox_arena::bytes_needed(shape_of(ranks));
        detail::session_socket const session{name};
        if (me != 0) {
            auto const memory = session.fetch(until);
            struct stat facts {};
            if (::fstat(memory.get(), &facts) != 0) detail::raise_system("looking at the session's memory");
            if (static_cast<std::size_t>(facts.st_size) != bytes)
                detail::raise(errc::mismatch, "rank 0 opened the session for another number of ranks than " +
                                                  std::to_string(ranks) + ", or with another version of chorus", 0);
            return std::make_shared<detail::shared_region>(detail::shared_region::of_file(memory.get(), bytes));
        }
        detail::owned_descriptor const memory{::memfd_create("chorus", MFD_CLOEXEC)};
        if (!memory.is_open() || ::ftruncate(memory.get(), static_cast<off_t>(bytes)) != 0)
            detail::raise_system("making shared memory for the session");
        auto region = std::make_shared<detail::shared_region>(detail::shared_region::of_file(memory.get(), bytes));
        detail::mailbox_arena{region->base(), shape_of(ranks)}.initialise();
        session.hand_out(memory.get(), ranks, until);
        return region;
    }
};
static_assert(transport<shared_memory_transport> && reducing_transport<shared_memory_transport> &&
              aborting_transport<shared_memory_transport> && explaining_transport<shared_memory_transport> &&
              resting_transport<shared_memory_transport> && announcing_transport<shared_memory_transport> &&
              cancelling_transport<shared_memory_transport> && guarded_transport<shared_memory_transport> &&
              counting_transport<shared_memory_transport> && recovering_transport<shared_memory_transport>);

/// p ranks as child processes of this one, for programs that have no launcher.
class process_fleet {
 public:
    explicit process_fleet(rank_id ranks, shared_memory_options const& options = {}) : ranks_{ranks}, options_{options} {
        detail::expects(ranks > 0, [] { return "a process fleet needs at least one rank"; });
    }

    rank_id size() const noexcept { return ranks_; }

    /// Forks one child per rank, calls `body(shared_memory_transport&)` in each, and returns when all have ended. Children end with this process.
    /// If one throws, is killed or exits with a code other than 0, the others' operations fail, and an `error` that names it comes out of here.
    /// Nothing else comes back from the children: pass results through the collectives, a pipe or a file. Fork before starting threads.
    template <class Body>
    void run(Body&& body) const {
        auto const region = std::make_shared<detail::shared_region>(detail::shared_region::anonymous(
            detail::mailbox_arena::bytes_needed(shared_memory_transport::shape_of(ranks_))));
        detail::mailbox_arena const arena{region->base(), shared_memory_transport::shape_of(ranks_)};
        arena.initialise();
        std::fflush(nullptr);
        std::vector<pid_t> children;
        pid_t const parent = ::getpid();
        for (rank_id r = 0; r < ranks_; ++r) {
            pid_t const child = ::fork();
            if (child == 0) be_rank(region, arena, r, parent, body);
            if (child < 0) {
                arena_abort(arena, errc::system_failed, nobody, "a rank could not be started", 0);
                wait_for(children, arena);
                detail::raise_system("forking rank " + std::to_string(r));
            }
            children.push_back(child);
        }
        std::optional<error> const lost = wait_for(children, arena);
        if (arena.header().stage() != detail::abort_none) detail::raise(detail::read_abort(arena.header(), nobody));
        if (lost) detail::raise(*lost);
    }

 private:
    template <class Body>
    [[noreturn]] void be_rank(std::shared_ptr<detail::shared_region const> region, detail::mailbox_arena const& arena,
                              rank_id me, pid_t parent, Body& body) const {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != parent) ::_exit(1);
        int code = 0;
        CHORUS_TRY {
            shared_memory_transport net{std::move(region), me, ranks_, options_};
            CHORUS_TRY { body(net); }
            CHORUS_CATCH_ALL {
                report(arena, me);
                code = 1;
            }
        }
        CHORUS_CATCH_ALL {
            report(arena, me);
            code = 1;
        }
        std::fflush(nullptr);
        ::_exit(code);
    }

    static void arena_abort(detail::mailbox_arena const& arena, errc code, rank_id by, std::string_view why,
                            std::uint32_t recoveries) {
        if (!detail::write_abort(arena.header(), code, by, by, why, recoveries)) return;
        for (rank_id p = 0; p < arena.shape().ranks; ++p) detail::process_platform::ring(arena.member_of(p));
    }

    static void report(detail::mailbox_arena const& arena, rank_id me) noexcept {
#if CHORUS_HAS_EXCEPTIONS
        try {
            throw;
        } catch (error const& failure) {
            arena_abort(arena, failure.code(), me, failure.message(), arena.header().recoveries());
        } catch (std::exception const& failure) {
            arena_abort(arena, errc::aborted, me, failure.what(), arena.header().recoveries());
        } catch (...) {
            arena_abort(arena, errc::aborted, me, "an exception of unknown type", arena.header().recoveries());
        }
#else
        arena_abort(arena, errc::aborted, me, "failed", arena.header().recoveries());
#endif
    }

    /// The first loss, if any; the others are told of it unless they have gone on without that rank already.
    /// A child whose status the system keeps to itself (SIGCHLD ignored) counts as ended well.
    static std::optional<error> wait_for(std::vector<pid_t> children, detail::mailbox_arena const& arena) {
        constexpr pid_t ended = 0;
        std::optional<error> first;
        for (std::size_t left = children.size(); left > 0;) {
            for (std::size_t r = 0; r < children.size(); ++r) {
                if (children[r] == ended) continue;
                int status = 0;
                pid_t const seen = ::waitpid(children[r], &status, WNOHANG);
                if (seen == 0 || (seen < 0 && errno == EINTR)) continue;
                children[r] = ended;
                --left;
                if (seen < 0) continue;
                std::string const how = ending_of(status);
                if (how.empty()) continue;
                error const loss{errc::peer_lost, "rank " + std::to_string(r) + how, static_cast<rank_id>(r)};
                if (!first) first = loss;
                std::uint32_t const recoveries = arena.header().recoveries();
                if (arena.member_of(loss.peer()).survives.load() < recoveries) continue;  // left behind
                arena_abort(arena, loss.code(), loss.peer(), loss.message(), recoveries);
            }
            if (left > 0) std::this_thread::sleep_for(std::chrono::milliseconds{1});
        }
        return first;
    }

    /// Empty: it ended well.
    static std::string ending_of(int status) {
        if (WIFSIGNALED(status)) return " was ended by signal " + std::to_string(WTERMSIG(status));
        return WEXITSTATUS(status) == 0 ? std::string{} : " exited with code " + std::to_string(WEXITSTATUS(status));
    }

    rank_id ranks_;
    shared_memory_options options_;
};

}  // namespace chorus
