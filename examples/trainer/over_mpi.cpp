// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "carriers.hpp"

#include <chorus/transport/mpi.hpp>

void trainer::run_over_mpi(rank_program const& program) {
    chorus::mpi::session const session{};
    chorus::mpi_transport mpi{MPI_COMM_WORLD};
    chorus::any_transport net{mpi};
    program(net);
}
