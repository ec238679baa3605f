// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include <cstdio>  // before and after: MPI's header once had names of its own for what stands in it

#include <chorus/transport/mpi.hpp>

#include <cstdio>

int main(int argc, char** argv) {
    chorus::mpi::session session{argc, argv};
    int ranks = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(library, &length);
    std::printf("%.*s\n", length, library);
    return ranks == 1 && sizeof(chorus::mpi_transport) > 0 ? 0 : 1;
}
