// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

// The MPI library that this is built with: mpirun -n RANKS collectives_mpi FOLDER

#include "turns.hpp"

#include <mpi.h>

#include <exception>

namespace {

class mpi_library {
 public:
    mpi_library() {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    }

    std::size_t rank() const { return static_cast<std::size_t>(rank_); }
    std::size_t ranks() const { return static_cast<std::size_t>(ranks_); }
    void barrier() { MPI_Barrier(MPI_COMM_WORLD); }

    versus::prepared prepare(versus::command const& asked, float* in, float* out) {
        versus::shape const of{asked, ranks()};
        auto const given = static_cast<int>(of.given);
        auto const got = static_cast<int>(of.got);
        int const ranks = ranks_;
        if (asked.operation == "all_reduce")
            return [=](std::size_t) { MPI_Allreduce(in, out, got, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); };
        if (asked.operation == "broadcast")
            return [=, root = 0](std::size_t) mutable {
                MPI_Bcast(out, got, MPI_FLOAT, root, MPI_COMM_WORLD);
                if (++root == ranks) root = 0;
            };
        if (asked.operation == "reduce")
            return [=, root = 0](std::size_t) mutable {
                MPI_Reduce(in, out, got, MPI_FLOAT, MPI_SUM, root, MPI_COMM_WORLD);
                if (++root == ranks) root = 0;
            };
        if (asked.operation == "all_gather")
            return [=](std::size_t) { MPI_Allgather(in, given, MPI_FLOAT, out, given, MPI_FLOAT, MPI_COMM_WORLD); };
        if (asked.operation == "reduce_scatter")
            return [=, counts = std::vector<int>(this->ranks(), got)](std::size_t) {
                MPI_Reduce_scatter(in, out, counts.data(), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
            };
        if (asked.operation == "all_to_all")
            return [=](std::size_t) { MPI_Alltoall(in, given / ranks, MPI_FLOAT, out, given / ranks, MPI_FLOAT, MPI_COMM_WORLD); };
        if (asked.operation == "barrier") return [](std::size_t) { MPI_Barrier(MPI_COMM_WORLD); };
        throw versus::unknown(asked);
    }

 private:
    int rank_ = 0;
    int ranks_ = 1;
};

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    try {
        mpi_library library;
        versus::player{library, argc > 1 ? argv[1] : "."}.play();
    } catch (std::exception const& problem) {
        std::fprintf(stderr, "%s\n", problem.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
}
