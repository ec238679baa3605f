// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/transport/mpi.hpp"

#include "networks/conformance.hpp"
#include "networks/end_connections.hpp"

#include <chrono>
#include <memory>

int main(int argc, char** argv) {
    chorus::mpi::session const session{argc, argv};
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int const code = networks::run_conformance(argc, argv, static_cast<chorus::rank_id>(rank), static_cast<chorus::rank_id>(size), [] {
        return chorus::any_transport{std::make_unique<chorus::mpi_transport>(MPI_COMM_WORLD)};
    });
    MPI_Barrier(MPI_COMM_WORLD);
    networks::end_connections_after(std::chrono::seconds{2});
    return code;
}
