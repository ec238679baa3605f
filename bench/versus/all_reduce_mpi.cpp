// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

// MPI_Allreduce of whatever MPI library this is built with: all_reduce_mpi NAME BYTES...

#include "repeated.hpp"

#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    int ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int wrong = 0;
    for (int i = 2; i < argc; ++i) {
        auto const bytes = static_cast<std::size_t>(std::strtoull(argv[i], nullptr, 10));
        std::vector<float> const in(bytes / sizeof(float), 1.0f);
        std::vector<float> out(in.size(), 0.0f);
        auto const count = static_cast<int>(in.size());
        versus::line const measured = versus::measure(
            bytes, [&] { MPI_Allreduce(in.data(), out.data(), count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); });
        for (float value : out) wrong += value != static_cast<float>(ranks);
        if (rank == 0) versus::print(argv[1], ranks, measured);
    }
    MPI_Finalize();
    return wrong == 0 ? 0 : 1;
}
