// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

// mpicxx -std=c++20 -Iinclude examples/mpi_program.cpp -o heat && mpirun -n 4 ./heat
//
// A program that has used MPI all along: two teams of ranks, each with a communicator of its own, cool rods of different lengths. Its messages stay
// as they were; what a team agrees on in every step goes through chorus, over the same communicator, by a plan that is made once.

#include <chorus/chorus.hpp>
#include <chorus/transport/mpi.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <vector>

namespace {

/// A rank's part of the rod, between two cells that mirror its neighbours'.
class rod {
 public:
    rod(MPI_Comm team, std::size_t cells) : team_{team}, heat_(cells + 2), next_(cells + 2) {
        MPI_Comm_rank(team, &rank_);
        MPI_Comm_size(team, &ranks_);
        if (rank_ == 0) std::fill_n(heat_.begin() + 1, 10, 1.0F);  // one end is hot
    }

    /// One step of time; the largest change of a cell.
    float step() {
        exchange_ends();
        float change = 0;
        for (std::size_t i = 1; i + 1 < heat_.size(); ++i) {
            next_[i] = heat_[i] + 0.25F * (heat_[i - 1] - 2 * heat_[i] + heat_[i + 1]);
            change = (std::max)(change, std::fabs(next_[i] - heat_[i]));
        }
        std::swap(heat_, next_);
        return change;
    }

 private:
    void exchange_ends() {  // the program's own messages, on the communicator that chorus uses, too
        int const left = rank_ > 0 ? rank_ - 1 : MPI_PROC_NULL;
        int const right = rank_ + 1 < ranks_ ? rank_ + 1 : MPI_PROC_NULL;
        heat_.front() = heat_[1];
        heat_.back() = heat_[heat_.size() - 2];
        MPI_Sendrecv(&heat_[1], 1, MPI_FLOAT, left, 0, &heat_.back(), 1, MPI_FLOAT, right, 0, team_, MPI_STATUS_IGNORE);
        MPI_Sendrecv(&heat_[heat_.size() - 2], 1, MPI_FLOAT, right, 1, &heat_.front(), 1, MPI_FLOAT, left, 1, team_, MPI_STATUS_IGNORE);
    }

    MPI_Comm team_;
    int rank_ = 0;
    int ranks_ = 1;
    std::vector<float> heat_;
    std::vector<float> next_;
};

/// The steps until no cell of the team changes by more than `still`; 0 if MPI would have said otherwise about one of them.
int cool(MPI_Comm team, rod part, float still) {
    chorus::mpi_transport net{team};  // gone before the program frees the communicator and finalises MPI
    chorus::group members{net};
    std::array<float, 1> change{};
    auto agree = chorus::plan_all_reduce(members, change, chorus::maximum{});

    for (int step = 1;; ++step) {
        float const mine = change[0] = part.step();
        agree.run();
        float by_mpi = 0;
        MPI_Allreduce(&mine, &by_mpi, 1, MPI_FLOAT, MPI_MAX, team);
        if (by_mpi != change[0]) return 0;
        if (change[0] <= still) return step;
    }
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm team;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &team);

    int const steps = cool(team, rod{team, rank % 2 ? 40U : 20U}, 1e-4F);
    if (rank < 2) std::printf("team %d: still after %d steps\n", rank, steps);

    MPI_Comm_free(&team);
    MPI_Finalize();
    return steps > 0 ? 0 : 1;
}
