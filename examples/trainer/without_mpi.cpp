// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "carriers.hpp"

#include <stdexcept>

void trainer::run_over_mpi(rank_program const&) { throw std::runtime_error{"this trainer was built without MPI: trainer_openmpi and trainer_mpich have it"}; }
