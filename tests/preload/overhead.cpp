// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

// What one MPI_Allreduce costs with the library preloaded beside the plan of chorus that does it, and beside MPI's own: nanoseconds per call, the median of turns
// in which the three follow one another. It takes care that it is preloaded: mpirun -n 2 with LD_PRELOAD, on ranks that have a core each.
//
//     overhead [elements] [turns] [calls per turn]

#include "chorus/chorus.hpp"
#include "chorus/transport/shared_memory.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <mpi.h>
#include <unistd.h>

namespace {

template <class Call>
double nanoseconds_per_call(int calls, Call const& call) {
    PMPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < calls / 10; ++i) call();
    auto const begin = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) call();
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count() / calls;
}

double median(std::vector<double> all) {
    std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2), all.end());
    return all[all.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
    int const count = argc > 1 ? std::atoi(argv[1]) : 1;
    int const turns = argc > 2 ? std::atoi(argv[2]) : 31;
    int const calls = argc > 3 ? std::atoi(argv[3]) : 20'000;
    MPI_Init(&argc, &argv);
    int rank = 0;
    int size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int token = static_cast<int>(::getpid());
    PMPI_Bcast(&token, 1, MPI_INT, 0, MPI_COMM_WORLD);
    {
        chorus::shared_memory_transport net{"overhead." + std::to_string(token), static_cast<chorus::rank_id>(rank),
                                            static_cast<chorus::rank_id>(size)};
        chorus::group const world{net};
        std::vector<float> in(static_cast<std::size_t>(count), 1.0F);
        std::vector<float> out(in.size());
        auto plan = chorus::plan_all_reduce(world, in, out, chorus::sum{});
        std::vector<double> own, direct, interposed, more;
        for (int turn = 0; turn < turns; ++turn) {
            own.push_back(nanoseconds_per_call(calls, [&] { PMPI_Allreduce(in.data(), out.data(), count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); }));
            direct.push_back(nanoseconds_per_call(calls, [&] { plan.run(); }));
            interposed.push_back(nanoseconds_per_call(calls, [&] { MPI_Allreduce(in.data(), out.data(), count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); }));
            more.push_back(interposed.back() - direct.back());
        }
        if (rank == 0)
            std::printf("all_reduce of %d bytes on %d ranks, ns: MPI's own %.0f, a plan of chorus %.0f, MPI_Allreduce %.0f, more than the plan %.0f\n",
                        4 * count, size, median(own), median(direct), median(interposed), median(more));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
}
