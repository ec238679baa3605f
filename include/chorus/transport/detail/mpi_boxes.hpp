// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/transport/detail/mpi_library.hpp"
#include "chorus/transport/detail/wire.hpp"

#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <mpi.h>

// Short messages over MPI: places to which they come and slots from which they leave.

namespace chorus::detail {

/// What MPI said about a peer when it refused to send to it or receive from it.
class mpi_failures {
 public:
    explicit mpi_failures(std::size_t ranks) : texts_(ranks) {}

    void note(int peer, int code) noexcept {
        if (peer < 0 || static_cast<std::size_t>(peer) >= texts_.size()) return;
        std::string& text = texts_[static_cast<std::size_t>(peer)];
        if (!text.empty()) return;
        CHORUS_TRY { text = mpi_error_text(code); }
        CHORUS_CATCH_ALL { text = "MPI error"; }  // fits into the string itself
    }
    char const* of(rank_id peer) const noexcept { return texts_[peer].empty() ? nullptr : texts_[peer].c_str(); }

 private:
    std::vector<std::string> texts_;
};

/// Whether the request is over, within so long.
inline bool mpi_ends_within(MPI_Request& request, std::chrono::milliseconds limit, MPI_Status* status = MPI_STATUS_IGNORE) noexcept {
    auto const until = std::chrono::steady_clock::now() + limit;
    for (int turn = 0;; ++turn) {
        int is_over = 0;
        if (MPI_Test(&request, &is_over, status) != MPI_SUCCESS || is_over != 0) return true;
        if (std::chrono::steady_clock::now() > until) return false;
        if (turn > 100) std::this_thread::sleep_for(std::chrono::microseconds{50});
    }
}

/// A ring of receives from anybody that are always posted, looked at in the order of posting: MPI matches them in that order, so
/// the order of each peer is kept. Persistent: restarting one costs less than posting a new one. What was read is restarted when there is
/// nothing to read, so that an answer need not wait for it, or when it is a quarter of the ring.
class mpi_inbox {
 public:
    mpi_inbox(MPI_Comm net, int tag, std::size_t places, std::size_t place_bytes)
        : place_bytes_{place_bytes}, memory_{new std::byte[places * place_bytes]}, places_(places, MPI_REQUEST_NULL) {
        for (std::size_t i = 0; i < places; ++i) {
            expect_mpi(MPI_Recv_init(place(i), static_cast<int>(place_bytes_), MPI_BYTE, MPI_ANY_SOURCE, tag, net, &places_[i]),
                       "making a receive");
            expect_mpi(MPI_Start(&places_[i]), "posting a receive");
        }
    }

    short_message next(mpi_failures& failures) noexcept {
        if (bytes_ < 0 && !look(failures)) return {};
        return {static_cast<rank_id>(source_), {place(head_), static_cast<std::size_t>(bytes_)}};
    }

    void release() noexcept {
        bytes_ = -1;
        head_ = after(head_);
        if (++read_ > places_.size() / 4) restart();
    }

    /// What has not come will not come any more. Bounded: a receive that MPI neither ends nor cancels keeps its memory.
    void close() noexcept {
        bool all_over = true;
        if (bytes_ >= 0) release();
        for (; read_ > 0; --read_, oldest_ = after(oldest_)) MPI_Request_free(&places_[oldest_]);  // not started: nothing to cancel
        for (MPI_Request& request : places_) {
            if (request == MPI_REQUEST_NULL) continue;
            MPI_Cancel(&request);
            bool const is_over = mpi_ends_within(request, std::chrono::milliseconds{all_over ? 200 : 0});
            if (is_over) MPI_Request_free(&request);
            all_over = all_over && is_over;
        }
        if (!all_over) (void)memory_.release();
        places_.clear();
    }

    /// The memory stays where MPI can find it.
    void abandon() noexcept {
        (void)memory_.release();
        places_.clear();
    }

 private:
    std::byte* place(std::size_t i) const noexcept { return memory_.get() + i * place_bytes_; }

    std::size_t after(std::size_t i) const noexcept { return i + 1 == places_.size() ? 0 : i + 1; }

    void restart() noexcept {
        for (; read_ > 0; --read_, oldest_ = after(oldest_)) MPI_Start(&places_[oldest_]);
    }

    bool look(mpi_failures& failures) noexcept {
        int has_come = 0;
        MPI_Status status;
        int const code = MPI_Test(&places_[head_], &has_come, &status);
        if (code != MPI_SUCCESS) {
            failures.note(status.MPI_SOURCE, code);
            if (has_come != 0) release();
            return false;
        }
        if (has_come == 0) {
            if (read_ > 0) restart();
            return false;
        }
        MPI_Get_count(&status, MPI_BYTE, &bytes_);
        source_ = status.MPI_SOURCE;
        return true;
    }

    std::size_t place_bytes_;
    std::unique_ptr<std::byte[]> memory_;
    std::vector<MPI_Request> places_;
    std::size_t head_ = 0;    // the next to read
    std::size_t oldest_ = 0;  // the first of those read and not restarted
    std::size_t read_ = 0;    // how many those are
    int bytes_ = -1;  // of the message at the head; negative: none has come
    int source_ = 0;
};

/// Slots from which short messages are sent. A peer that takes none in occupies a quarter of them at most.
class mpi_outbox {
 public:
    mpi_outbox(MPI_Comm net, int tag, std::size_t slots, std::size_t slot_bytes, std::size_t ranks)
        : net_{net}, tag_{tag}, slots_per_peer_{slots / 4}, memory_{new std::byte[slots * slot_bytes]},
          used_by_peer_(ranks, 0) {
        for (std::size_t i = 0; i < slots; ++i) free_.push_back(memory_.get() + i * slot_bytes);
        busy_.reserve(slots);
    }

    bool send(rank_id peer, std::span<std::byte const> header, std::span<std::byte const> payload, mpi_failures& failures) noexcept {
        if (free_.empty() || used_by_peer_[peer] == slots_per_peer_) {
            sweep();
            if (free_.empty() || used_by_peer_[peer] == slots_per_peer_) return false;
        }
        std::byte* const slot = free_.back();
        std::memcpy(slot, header.data(), header.size());
        if (!payload.empty()) std::memcpy(slot + header.size(), payload.data(), payload.size());
        MPI_Request request = MPI_REQUEST_NULL;
        int const code = MPI_Isend(slot, static_cast<int>(header.size() + payload.size()), MPI_BYTE, static_cast<int>(peer), tag_,
                                   net_, &request);
        if (code != MPI_SUCCESS) {
            failures.note(static_cast<int>(peer), code);
            return true;  // nobody is there to hear it
        }
        int has_left = 0;
        if (MPI_Test(&request, &has_left, MPI_STATUS_IGNORE) != MPI_SUCCESS || has_left != 0) return true;
        free_.pop_back();
        busy_.push_back({request, slot, peer});
        ++used_by_peer_[peer];
        return true;
    }

    bool is_quiet() noexcept {
        if (!busy_.empty()) sweep();
        return busy_.empty();
    }

    /// What was sent has so long to leave; after that the memory of the slots stays MPI's.
    void close(std::chrono::milliseconds limit) noexcept {
        auto const until = std::chrono::steady_clock::now() + limit;
        while (!is_quiet()) {
            if (std::chrono::steady_clock::now() > until) return abandon();
            std::this_thread::sleep_for(std::chrono::microseconds{50});
        }
    }

    void abandon() noexcept {
        (void)memory_.release();
        busy_.clear();
    }

 private:
    struct slot_in_use {
        MPI_Request request;
        std::byte* slot;
        rank_id peer;
    };

    void sweep() noexcept {
        std::erase_if(busy_, [&](slot_in_use& sent) {
            int has_left = 0;
            if (MPI_Test(&sent.request, &has_left, MPI_STATUS_IGNORE) == MPI_SUCCESS && has_left == 0) return false;
            free_.push_back(sent.slot);
            --used_by_peer_[sent.peer];
            return true;
        });
    }

    MPI_Comm net_;
    int tag_;
    std::size_t slots_per_peer_;
    std::unique_ptr<std::byte[]> memory_;
    std::vector<std::byte*> free_;
    std::vector<slot_in_use> busy_;
    std::vector<std::size_t> used_by_peer_;
};

}  // namespace chorus::detail
