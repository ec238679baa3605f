// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

// mpicxx -std=c++20 -Iinclude examples/11_mpi.cpp -o first && mpirun -n 4 ./first

// [program]
#include <chorus/chorus.hpp>
#include <chorus/transport/mpi.hpp>

#include <stdexcept>
#include <vector>

int main(int argc, char** argv) {
    chorus::mpi::session session{argc, argv};  // or joins an MPI that the program has initialised
    chorus::mpi_transport net{MPI_COMM_WORLD};
    chorus::group world{net};

    std::vector<float> gradient(1 << 20, 1.0f);
    chorus::all_reduce(world, gradient, chorus::sum{});

    if (gradient.back() != static_cast<float>(world.size())) throw std::runtime_error{"the sum is wrong"};
}
// […]
