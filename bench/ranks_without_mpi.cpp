// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

#include "ranks.hpp"

#include <stdexcept>

namespace bench {

bool has_mpi() { return false; }

int run_on_mpi(start const&, rank_program const&) {
    throw std::invalid_argument{"no transport 'mpi': built without MPI"};
}

}  // namespace bench
