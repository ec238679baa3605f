// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

// Ranks that disagree about a count, under MPI_ERRORS_RETURN: with the library all are told, by an error of MPI's class and chorus' text.

#include <mpi.h>

#include <cstdio>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int in[4] = {1, 2, 3, 4};
    int out[4] = {};
    int const code = MPI_Allreduce(in, out, rank == 0 ? 3 : 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    char text[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    int of_class = 0;
    MPI_Error_class(code, &of_class);
    MPI_Error_string(code, text, &length);
    if (code != MPI_SUCCESS) std::printf("rank %d: class %s: %s\n", rank, of_class == MPI_ERR_TRUNCATE ? "MPI_ERR_TRUNCATE" : "another", text);
    std::fflush(stdout);
    MPI_Finalize();
    return code == MPI_SUCCESS ? 0 : 1;
}
