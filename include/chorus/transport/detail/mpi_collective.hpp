// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/transport/detail/messenger.hpp"
#include "chorus/transport/detail/mpi_boxes.hpp"
#include "chorus/transport/detail/mpi_library.hpp"
#include "chorus/transport/detail/mpi_members.hpp"
#include "chorus/transport/detail/mpi_reductions.hpp"
#include "chorus/transport/detail/mpi_wire.hpp"
#include "chorus/transport/transport.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <mpi.h>

namespace chorus::detail {

/// One collective of MPI's own, in its non-blocking form, started again and again. MPI reads the counts while it is under way: it stays where it is.
class mpi_collective_state {
 public:
    mpi_collective_state(messenger<mpi_wire>& net, mpi_member_lists& lists, native_call const& asked)
        : net_{net}, asked_{asked}, root_{asked.root == nobody ? 0 : static_cast<int>(asked.root)}, count_{narrow(asked.count)} {
        cut(asked.counts, counts_, starts_);
        cut(asked.sent_counts, sent_counts_, sent_starts_);
        choose_type();
        bind();
        members_ = lists.find(net.net().communicator(), asked.members);
    }

    mpi_collective_state(mpi_collective_state const&) = delete;
    mpi_collective_state& operator=(mpi_collective_state const&) = delete;

    ~mpi_collective_state() {
        if (owns_type_ && net_.net().is_open()) MPI_Type_free(&type_);
    }

    void start() noexcept {
        net_.net().stay_awake();
        looks_ = 0;
        code_ = net_.net().is_open() && net_.recoveries() == 0 ? post() : MPI_ERR_OTHER;
    }

    progress poll() noexcept {
        if (net_.is_aborted()) {
            net_.serve();
            return progress::failed;
        }
        int is_over = 0;
        if (code_ == MPI_SUCCESS) code_ = net_.net().is_open() ? MPI_Test(&request_, &is_over, MPI_STATUS_IGNORE) : MPI_ERR_OTHER;
        if (code_ != MPI_SUCCESS) return progress::failed;
        if (is_over == 0) {
            if ((++idle_polls_ & 0x3Fu) == 0) look_around();
            return progress::idle;
        }
        if (!landing_.empty()) std::memcpy(asked_.output, landing_.data(), landing_.size() - 1);
        net_.net().stay_awake();
        return progress::done;
    }

    /// Waits for its end, for a second. MPI takes none back: then the communicator is never freed, since its number must not be given to another one.
    bool give_up() noexcept {
        if (code_ != MPI_SUCCESS || !net_.net().is_open() || mpi_ends_within(request_, std::chrono::seconds{1})) return true;
        if (members_->own.get() == MPI_COMM_NULL) net_.net().keep_name();
        members_->own.release();
        return false;
    }

    std::string why() const {
        if (!net_.net().is_open()) return "MPI was finalised";
        if (net_.recoveries() > 0) return "MPI's own collectives do not go on without the ranks that were lost";
        return "MPI says \"" + mpi_error_text(code_) + '"';
    }

 private:
    bool is_root() const noexcept { return static_cast<int>(asked_.me) == root_; }
    bool has_blocks() const noexcept { return has_block_per_rank(asked_.what); }

    void choose_type() {
        std::string const call = std::string{to_string(asked_.what)} + " by native: ";
        if (!asked_.reduction.empty()) {
            auto const type = mpi_type_of(asked_.element);
            if (!type) raise(errc::unsupported, call + "MPI has no type for elements of " + std::string{asked_.element});
            auto const operation = mpi_operation_of(asked_.reduction, asked_.element);
            if (!operation)
                raise(errc::unsupported, call + "MPI has no operation " + std::string{asked_.reduction} + " on " + std::string{asked_.element});
            type_ = *type;
            operation_ = *operation;
        } else if (asked_.element_bytes != 1) {
            expect_mpi(MPI_Type_contiguous(static_cast<int>(asked_.element_bytes), MPI_BYTE, &type_), "making a type");
            owns_type_ = true;
            expect_mpi(MPI_Type_commit(&type_), "making a type");
        }
    }

    static int narrow(std::uint64_t count) {
        if (count > static_cast<std::uint64_t>((std::numeric_limits<int>::max)()))
            raise(errc::too_large, "native: MPI counts up to 2^31 - 1 elements; asked for " + std::to_string(count));
        return static_cast<int>(count);
    }

    static void cut(std::vector<std::uint64_t> const& counts, std::vector<int>& narrowed, std::vector<int>& starts) {
        std::uint64_t at = 0;
        for (std::uint64_t count : counts) {
            narrowed.push_back(narrow(count));
            starts.push_back(narrow(at));
            at += count;
        }
    }

    /// In place is what has its place in the other buffer. Where a reduce-scatter in place leaves its block is MPI's own idea: it lands aside and is copied.
    void bind() {
        if (asked_.input == nullptr || asked_.output == nullptr) return;
        std::size_t const own_place = has_blocks() ? static_cast<std::size_t>(starts_[asked_.me]) * asked_.element_bytes : 0;
        if (asked_.what == collective::reduce_scatter) {
            std::size_t const whole = (static_cast<std::size_t>(starts_.back()) + static_cast<std::size_t>(counts_.back())) * asked_.element_bytes;
            std::less<std::byte const*> const before{};
            bool const is_inside = !before(asked_.output, asked_.input) && before(asked_.output, asked_.input + whole);
            if (is_inside) landing_.resize(static_cast<std::size_t>(counts_[asked_.me]) * asked_.element_bytes + 1);
        } else if (asked_.what == collective::scatter) {
            is_in_place_ = asked_.output == asked_.input + own_place;
        } else {
            is_in_place_ = asked_.what != collective::all_to_all && asked_.input == asked_.output + own_place;
        }
    }

    int post() noexcept {
        MPI_Comm const net = members_->net;
        void const* const in = is_in_place_ && asked_.what != collective::scatter ? MPI_IN_PLACE : asked_.input;
        void* const out = asked_.output;
        switch (asked_.what) {
            case collective::all_reduce: return MPI_Iallreduce(in, out, count_, type_, operation_, net, &request_);
            case collective::scan: return MPI_Iscan(in, out, count_, type_, operation_, net, &request_);
            case collective::exclusive_scan: return MPI_Iexscan(in, out, count_, type_, operation_, net, &request_);
            case collective::reduce:
                return MPI_Ireduce(is_root() ? in : asked_.input, out, count_, type_, operation_, root_, net, &request_);
            case collective::broadcast: return MPI_Ibcast(out, count_, type_, root_, net, &request_);
            case collective::barrier: return MPI_Ibarrier(net, &request_);
            default: break;
        }
        void* const into = is_in_place_ && asked_.what == collective::scatter ? MPI_IN_PLACE : !landing_.empty() ? landing_.data() : out;
        return asked_.is_even ? post_even(in, into) : post_uneven(in, into);
    }

    int post_even(void const* in, void* out) noexcept {
        int const own = counts_[asked_.me];
        MPI_Comm const net = members_->net;
        switch (asked_.what) {
            case collective::all_gather: return MPI_Iallgather(in, own, type_, out, own, type_, net, &request_);
            case collective::gather: return MPI_Igather(in, own, type_, out, own, type_, root_, net, &request_);
            case collective::scatter: return MPI_Iscatter(in, own, type_, out, own, type_, root_, net, &request_);
            case collective::reduce_scatter: return MPI_Ireduce_scatter_block(in, out, own, type_, operation_, net, &request_);
            case collective::all_to_all: return MPI_Ialltoall(in, own, type_, out, own, type_, net, &request_);
            default: return MPI_ERR_OTHER;
        }
    }

    int post_uneven(void const* in, void* out) noexcept {
        int const own = counts_[asked_.me];
        int const* const counts = counts_.data();
        int const* const starts = starts_.data();
        MPI_Comm const net = members_->net;
        switch (asked_.what) {
            case collective::all_gather: return MPI_Iallgatherv(in, own, type_, out, counts, starts, type_, net, &request_);
            case collective::gather: return MPI_Igatherv(in, own, type_, out, counts, starts, type_, root_, net, &request_);
            case collective::scatter: return MPI_Iscatterv(in, counts, starts, type_, out, own, type_, root_, net, &request_);
            case collective::reduce_scatter: return MPI_Ireduce_scatter(in, out, counts, type_, operation_, net, &request_);
            case collective::all_to_all:
                return MPI_Ialltoallv(in, sent_counts_.data(), sent_starts_.data(), type_, out, counts, starts, type_, net, &request_);
            default: return MPI_ERR_OTHER;
        }
    }

    /// The transport hears aborts and answers questions; a member that is gone is believed lost at the third look in a row, 50 ms apart.
    void look_around() noexcept {
        net_.serve();
        auto const now = std::chrono::steady_clock::now();
        if (now - last_look_ < std::chrono::milliseconds{50}) return;
        last_look_ = now;
        auto const lost = std::find_if(asked_.members.begin(), asked_.members.end(), [&](rank_id p) { return net_.has_lost(p); });
        looks_ = lost == asked_.members.end() ? 0 : looks_ + 1;
        if (looks_ < 3) return;
        CHORUS_TRY { net_.abort(errc::peer_lost, *lost, "rank " + std::to_string(*lost) + " is gone"); }
        CHORUS_CATCH_ALL { net_.abort(errc::peer_lost, *lost, "a rank is gone"); }
    }

    messenger<mpi_wire>& net_;
    native_call asked_;
    std::shared_ptr<mpi_members> members_;
    int root_;
    int count_;
    std::vector<int> counts_;
    std::vector<int> starts_;
    std::vector<int> sent_counts_;
    std::vector<int> sent_starts_;
    std::vector<std::byte> landing_;  // of a reduce-scatter into its own input, and a byte, so that it is somewhere
    MPI_Datatype type_ = MPI_BYTE;
    MPI_Op operation_ = MPI_OP_NULL;
    MPI_Request request_ = MPI_REQUEST_NULL;
    std::chrono::steady_clock::time_point last_look_{};
    int code_ = MPI_SUCCESS;
    int looks_ = 0;                   // in a row at which a member was gone
    std::uint32_t idle_polls_ = 0;
    bool owns_type_ = false;
    bool is_in_place_ = false;
};

/// What a plan holds of it; what MPI does not end stays MPI's.
class mpi_collective {
 public:
    mpi_collective() = default;
    mpi_collective(messenger<mpi_wire>& net, mpi_member_lists& lists, native_call const& asked)
        : state_{std::make_unique<mpi_collective_state>(net, lists, asked)} {}

    void start() noexcept {
        if (state_) state_->start();
    }
    progress poll() noexcept { return state_ ? state_->poll() : progress::failed; }
    std::string why() const { return state_ ? state_->why() : "it was given up"; }
    bool give_up() noexcept {
        if (!state_ || state_->give_up()) return true;
        (void)state_.release();
        return false;
    }

 private:
    std::unique_ptr<mpi_collective_state> state_;
};

}  // namespace chorus::detail
