// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

// In chorus-bench-openmpi and chorus-bench-mpich, instead of ranks_without_mpi.cpp.

#include "endpoint_on.hpp"
#include "ranks.hpp"
#include "vectors.hpp"

#include <chorus/transport/mpi.hpp>

#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

namespace {

/// MPI's own blocking collective, as its users call it, on all ranks of MPI_COMM_WORLD.
class mpi_call : public measured_call {
 public:
    mpi_call(call_shape const& shape, chorus::rank_id me) : shape_{shape}, me_{me}, memory_{shape, me}, root_{static_cast<int>(shape.root)} {
        if (shape.count > static_cast<std::uint64_t>((std::numeric_limits<int>::max)()))
            throw chorus::error{chorus::errc::too_large, "MPI counts up to 2^31 - 1 elements"};
        if (shape.in_place && shape.what == chorus::collective::reduce_scatter)
            throw chorus::error{chorus::errc::unsupported, "MPI leaves the block of a reduce_scatter in place elsewhere than chorus"};
        chorus::blocks const cut = shape.cut(me);
        for (chorus::rank_id b = 0; b < shape.ranks; ++b) {
            counts_.push_back(static_cast<int>(cut.length(b)));
            starts_.push_back(static_cast<int>(cut.begin(b)));
        }
        choose_type();
    }
    mpi_call(mpi_call const&) = delete;
    ~mpi_call() override {
        if (owns_type_) MPI_Type_free(&type_);
    }

    void run() override { chorus::detail::expect_mpi(shape_.by_counts ? call_by_counts() : call(), "a native collective"); }
    void fill(std::uint64_t number) override { memory_.fill(number); }
    std::uint64_t count_wrong(std::uint64_t number) override { return memory_.count_wrong(number); }
    void spoil() override { memory_.spoil(); }
    std::string algorithm() const override { return "native"; }

 private:
    void choose_type() {
        if (!chorus::has_reduction(shape_.what)) {
            chorus::detail::expect_mpi(MPI_Type_contiguous(static_cast<int>(shape_.element->bytes), MPI_BYTE, &type_), "making a type");
            owns_type_ = true;
            chorus::detail::expect_mpi(MPI_Type_commit(&type_), "making a type");
            return;
        }
        auto const type = chorus::detail::mpi_type_of(shape_.element->name);
        auto const operation = chorus::detail::mpi_operation_of(to_string(shape_.op), shape_.element->name);
        if (!type || !operation)
            throw chorus::error{chorus::errc::unsupported, "MPI has no " + std::string{to_string(shape_.op)} + " of " +
                                                               std::string{shape_.element->name}};
        type_ = *type;
        operation_ = *operation;
    }

    bool is_root() const noexcept { return me_ == shape_.root; }
    int count() const noexcept { return static_cast<int>(shape_.count); }
    void const* in() { return memory_.input().data(); }
    void* out() { return memory_.output().data(); }
    void const* in_unless_in_place() { return shape_.in_place ? MPI_IN_PLACE : in(); }
    void const* in_of_root() { return shape_.in_place && is_root() ? MPI_IN_PLACE : in(); }
    void* out_of_root() { return shape_.in_place && is_root() ? MPI_IN_PLACE : out(); }

    int call() {
        MPI_Comm const world = MPI_COMM_WORLD;
        int const own = counts_[me_];
        switch (shape_.what) {
            using enum chorus::collective;
            case all_reduce: return MPI_Allreduce(in_unless_in_place(), out(), count(), type_, operation_, world);
            case scan: return MPI_Scan(in_unless_in_place(), out(), count(), type_, operation_, world);
            case exclusive_scan: return MPI_Exscan(in_unless_in_place(), out(), count(), type_, operation_, world);
            case reduce: return MPI_Reduce(in_of_root(), out(), count(), type_, operation_, root_, world);
            case broadcast: return MPI_Bcast(out(), count(), type_, root_, world);
            case barrier: return MPI_Barrier(world);
            case reduce_scatter: return MPI_Reduce_scatter_block(in(), out(), own, type_, operation_, world);
            case all_gather: return MPI_Allgather(in_unless_in_place(), own, type_, out(), own, type_, world);
            case gather: return MPI_Gather(in_of_root(), own, type_, out(), own, type_, root_, world);
            case scatter: return MPI_Scatter(in(), own, type_, out_of_root(), own, type_, root_, world);
            case all_to_all: return MPI_Alltoall(in(), own, type_, out(), own, type_, world);
        }
        return MPI_ERR_OTHER;
    }

    int call_by_counts() {
        MPI_Comm const world = MPI_COMM_WORLD;
        int const own = counts_[me_];
        int const* const counts = counts_.data();
        int const* const starts = starts_.data();
        switch (shape_.what) {
            using enum chorus::collective;
            case reduce_scatter: return MPI_Reduce_scatter(in(), out(), counts, type_, operation_, world);
            case all_gather: return MPI_Allgatherv(in_unless_in_place(), own, type_, out(), counts, starts, type_, world);
            case gather: return MPI_Gatherv(in_of_root(), own, type_, out(), counts, starts, type_, root_, world);
            case scatter: return MPI_Scatterv(in(), counts, starts, type_, out_of_root(), own, type_, root_, world);
            case all_to_all: return MPI_Alltoallv(in(), counts, starts, type_, out(), counts, starts, type_, world);
            default: return call();
        }
    }

    call_shape shape_;
    chorus::rank_id me_;
    vectors memory_;
    int root_;
    std::vector<int> counts_;
    std::vector<int> starts_;
    MPI_Datatype type_ = MPI_BYTE;
    MPI_Op operation_ = MPI_OP_NULL;
    bool owns_type_ = false;
};

class endpoint_on_mpi : public endpoint_on<chorus::mpi_transport> {
 public:
    using endpoint_on::endpoint_on;
    std::unique_ptr<measured_call> native(call_shape const& shape) override { return std::make_unique<mpi_call>(shape, rank()); }
};

}  // namespace

bool has_mpi() { return true; }

int run_on_mpi(start const& asked, rank_program const& program) {
    chorus::mpi::session const session;
    chorus::mpi_transport net{MPI_COMM_WORLD};
    if (asked.ranks != 0 && asked.ranks != net.size())
        throw std::invalid_argument{"MPI has started " + std::to_string(net.size()) + " ranks, not " + std::to_string(asked.ranks) +
                                    ": its launcher is told how many"};
    endpoint_on_mpi mine{net, asked.limit(), net.describe()};
    mine.find_out_about_clocks();
    return program(mine);
}

}  // namespace bench
