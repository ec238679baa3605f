// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/transport/detail/mpi_boxes.hpp"
#include "chorus/transport/detail/mpi_library.hpp"
#include "chorus/transport/detail/process_watch.hpp"
#include "chorus/transport/detail/wire.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <mpi.h>
#include <unistd.h>

namespace chorus::detail {

/// MPI as a wire: one communicator for everything; tag 0 carries short messages, the others bulk.
///
/// A bulk transfer is one MPI message, or several of `largest_chunk` bytes under one tag. Its tag is 1 + number + generation * bulk_numbers: whatever was
/// under way before a recovery cannot be taken for what comes after it. The standard promises 15 bits of tag, enough for 15 generations.
///
/// MPI cannot take a send back, and no receive that has begun. `cancel` waits for them for a second, in which a living peer ends them: a rank that gives up
/// a receive takes what comes for it later into no memory at all. What is not over then is `abandoned()`, and its memory must stay mapped until MPI is
/// finalised; this takes a peer that was stopped, or died in the middle of a transfer.
///
/// MPI does not wake anybody: `sleep` naps, each nap an eighth longer than the last one until something comes, so that waiting for it takes at most about an
/// eighth longer than it must.
///
/// When MPI is finalised first, the wire is closed in the course of that and says nothing any more.
class mpi_wire {
 public:
    /// The requests of one transfer, the ones after the first only if it is longer than `largest_chunk`.
    struct transfer {
        MPI_Request first = MPI_REQUEST_NULL;
        std::vector<MPI_Request> more{};
        int peer = 0;
        int tag = 0;
        bool is_receive = false;
        bool has_failed = false;
    };

    static constexpr std::uint32_t bulk_numbers = 2048;

    explicit mpi_wire(mpi_introduction known, std::size_t largest_chunk = std::size_t{1} << 30)
        : communicator_{std::move(known.communicator)}, me_{known.me}, size_{static_cast<rank_id>(known.identities.size())},
          owner_{::getpid()}, largest_chunk_{largest_chunk}, generations_{generations_of_library()},
          watch_{known.identities, known.me}, failures_{known.identities.size()},
          inbox_{communicator_.get(), 0, inbox_places, largest_short_bytes},
          outbox_{communicator_.get(), 0, outbox_slots, largest_short_bytes, known.identities.size()} {
        expect_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &when_finalised, &finalise_key_, nullptr), "making a key");
        expect_mpi(MPI_Comm_set_attr(MPI_COMM_SELF, finalise_key_, this), "asking to be told of MPI_Finalize");
    }

    mpi_wire(mpi_wire const&) = delete;
    mpi_wire& operator=(mpi_wire const&) = delete;

    /// What was sent has half a second to leave.
    ~mpi_wire() {
        if (owner_ != ::getpid()) {  // a forked child: all of it is the parent's
            inbox_.abandon();
            outbox_.abandon();
            return;
        }
        if (!is_open_) return;
        MPI_Comm_delete_attr(MPI_COMM_SELF, finalise_key_);  // closes
        MPI_Comm_free_keyval(&finalise_key_);
    }

    rank_id rank() const noexcept { return me_; }
    rank_id size() const noexcept { return size_; }
    std::size_t largest_short() const noexcept { return largest_short_bytes; }

    bool send_short(rank_id peer, std::span<std::byte const> header, std::span<std::byte const> payload) noexcept {
        return !is_open_ || outbox_.send(peer, header, payload, failures_);
    }

    short_message next_short() noexcept {
        if (!is_open_) return {};
        short_message const first = inbox_.next(failures_);
        if (first.peer != nobody) nap_ = shortest_nap;
        return first;
    }
    void release_short() noexcept {
        if (is_open_) inbox_.release();
    }
    bool is_quiet() noexcept { return !is_open_ || outbox_.is_quiet(); }

    transfer send_bulk(rank_id peer, std::uint32_t number, std::span<std::byte const> out) noexcept {
        return begin(peer, number, {const_cast<std::byte*>(out.data()), out.size()}, false);  // MPI does not write into it
    }
    transfer receive_bulk(rank_id peer, std::uint32_t number, std::span<std::byte> in) noexcept {
        return begin(peer, number, in, true);
    }

    progress poll(transfer& moving) noexcept {
        while (moving.first != MPI_REQUEST_NULL || !moving.more.empty()) {
            MPI_Request& request = moving.first != MPI_REQUEST_NULL ? moving.first : moving.more.back();
            int is_over = 0;
            int const code = is_open_ ? MPI_Test(&request, &is_over, MPI_STATUS_IGNORE) : MPI_ERR_OTHER;
            if (code != MPI_SUCCESS) {
                failures_.note(moving.peer, code);
                moving.has_failed = true;
                request = MPI_REQUEST_NULL;
            } else if (is_over == 0) {
                return progress::idle;
            }
            if (&request != &moving.first) moving.more.pop_back();
        }
        nap_ = shortest_nap;
        return moving.has_failed ? progress::failed : progress::done;
    }

    void cancel(transfer& moving) noexcept {
        if (is_open_) {
            auto const until = std::chrono::steady_clock::now() + std::chrono::seconds{1};
            end(moving.first, moving, until);
            for (MPI_Request& request : moving.more) end(request, moving, until);
        }
        moving.first = MPI_REQUEST_NULL;
        moving.more.clear();
    }

    void sleep(std::chrono::milliseconds at_most) noexcept {
        std::this_thread::sleep_for((std::min)(std::chrono::nanoseconds{at_most}, nap_));
        nap_ = (std::min)(nap_ + nap_ / 8, longest_nap);
    }

    /// The next nap is a short one.
    void stay_awake() noexcept { nap_ = shortest_nap; }

    char const* failure_of(rank_id peer) noexcept {
        if (!is_open_) return "MPI was finalised";
        return watch_.is_alive(peer) ? failures_.of(peer) : "its process ended";
    }

    /// "Open MPI v4.1.4, …: rank 0 of 4, short messages up to 4096 bytes".
    std::string describe() const {
        char version[MPI_MAX_LIBRARY_VERSION_STRING + 1] = {};
        int length = 0;
        MPI_Get_library_version(version, &length);
        std::string text{version, version + length};
        text = text.substr(0, text.find('\n'));
        while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\0')) text.pop_back();
        std::replace(text.begin(), text.end(), '\t', ' ');
        return text + ": rank " + std::to_string(me_) + " of " + std::to_string(size_) + ", short messages up to " +
               std::to_string(largest_short_bytes) + " bytes" +
               (abandoned_ == 0 ? "" : "; transfers that could not be taken back: " + std::to_string(abandoned_));
    }

    /// After a recovery: numbers begin anew, and what is still under way from before does not count.
    void begin_generation(std::uint32_t recoveries) noexcept { generation_ = static_cast<int>(recoveries % generations_); }

    /// Something of this communicator's may still be under way: it is never freed, or MPI would give its context, and those messages, to another one.
    void keep_name() noexcept { communicator_.release(); }

    /// Transfers that `cancel` could not end.
    std::size_t abandoned() const noexcept { return abandoned_; }

    MPI_Comm communicator() const noexcept { return communicator_.get(); }
    bool is_open() const noexcept { return is_open_; }

 private:
    static constexpr std::size_t largest_short_bytes = 8192;
    static constexpr std::size_t inbox_places = 32;
    static constexpr std::size_t outbox_slots = 64;
    static constexpr std::chrono::nanoseconds shortest_nap = std::chrono::microseconds{10};
    static constexpr std::chrono::nanoseconds longest_nap = std::chrono::milliseconds{2};

    static std::uint32_t generations_of_library() {
        int const largest_tag = mpi_largest_tag();
        if (largest_tag < 32767)
            raise(errc::unsupported, "mpi_transport: the MPI library's largest tag is " + std::to_string(largest_tag) +
                                         "; 32767 is what the standard promises and what is needed");
        return (std::min)(static_cast<std::uint32_t>(largest_tag) / bulk_numbers, std::uint32_t{256});
    }

    transfer begin(rank_id peer, std::uint32_t number, std::span<std::byte> bytes, bool is_receive) noexcept {
        transfer made{.peer = static_cast<int>(peer), .tag = 1 + static_cast<int>(number) + generation_ * int{bulk_numbers},
                      .is_receive = is_receive, .has_failed = !is_open_};
        CHORUS_TRY {
            if (bytes.size() > largest_chunk_) made.more.reserve((bytes.size() - 1) / largest_chunk_);
        }
        CHORUS_CATCH_ALL { made.has_failed = true; }
        for (std::size_t at = 0; at < bytes.size() && !made.has_failed; at += largest_chunk_) {
            MPI_Request request = MPI_REQUEST_NULL;
            int const code = post(made, bytes.subspan(at, (std::min)(largest_chunk_, bytes.size() - at)), request);
            if (code == MPI_SUCCESS && at == 0) made.first = request;
            else if (code == MPI_SUCCESS) made.more.push_back(request);
            else made.has_failed = true;
            if (made.has_failed) failures_.note(made.peer, code);
        }
        return made;
    }

    int post(transfer const& made, std::span<std::byte> chunk, MPI_Request& request) const noexcept {
        int const bytes = static_cast<int>(chunk.size());
        if (made.is_receive) return MPI_Irecv(chunk.data(), bytes, MPI_BYTE, made.peer, made.tag, communicator_.get(), &request);
        return MPI_Isend(chunk.data(), bytes, MPI_BYTE, made.peer, made.tag, communicator_.get(), &request);
    }

    void end(MPI_Request& request, transfer const& of, std::chrono::steady_clock::time_point until) noexcept {
        if (request == MPI_REQUEST_NULL) return;
        if (of.is_receive) MPI_Cancel(&request);
        auto const left = std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
        MPI_Status status;
        if (!mpi_ends_within(request, (std::max)(left, std::chrono::milliseconds{0}), &status)) {
            ++abandoned_;
            return;
        }
        int was_cancelled = 0;
        if (of.is_receive && MPI_Test_cancelled(&status, &was_cancelled) == MPI_SUCCESS && was_cancelled != 0) swallow(of);
    }

    /// Takes one message of a transfer that was given up, whenever it comes, into no memory: MPI calls that an error, and the sender is free.
    void swallow(transfer const& of) noexcept {
        CHORUS_TRY {
            swallowing_.push_back(MPI_REQUEST_NULL);
            MPI_Irecv(nullptr, 0, MPI_BYTE, of.peer, of.tag, communicator_.get(), &swallowing_.back());
        }
        CHORUS_CATCH_ALL {}  // no memory: the sender waits for its second
    }

    /// From inside MPI_Finalize, or from the destructor.
    static int when_finalised(MPI_Comm, int, void* wire, void*) {
        static_cast<mpi_wire*>(wire)->close();
        return MPI_SUCCESS;
    }

    void close() noexcept {
        if (!std::exchange(is_open_, false)) return;
        outbox_.close(std::chrono::milliseconds{500});
        for (MPI_Request& request : swallowing_) {
            if (request == MPI_REQUEST_NULL) continue;
            MPI_Cancel(&request);
            mpi_ends_within(request, std::chrono::milliseconds{50});
        }
        inbox_.close();
        communicator_.free();
    }

    mpi_communicator communicator_;
    rank_id me_;
    rank_id size_;
    pid_t owner_;
    std::size_t largest_chunk_;
    std::uint32_t generations_;
    process_watch watch_;
    mpi_failures failures_;
    mpi_inbox inbox_;
    mpi_outbox outbox_;
    std::vector<MPI_Request> swallowing_;  // receives that keep peers from waiting for ones that were given up
    std::chrono::nanoseconds nap_ = shortest_nap;
    std::size_t abandoned_ = 0;
    int generation_ = 0;
    int finalise_key_ = MPI_KEYVAL_INVALID;
    bool is_open_ = true;
};
static_assert(wire<mpi_wire>);

}  // namespace chorus::detail
