// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "endpoint.hpp"

#include <chorus/base/time_limit.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// What every rank does; returns the exit code, the same on all ranks.
using rank_program = std::function<int(endpoint&)>;

/// How ranks come to be.
struct start {
    std::string transport;      ///< of `transports()`; empty: under a launcher its ranks, over the first that can; else threads
    chorus::rank_id ranks = 0;  ///< 0: as many as the launcher started, else 2
    double seconds = 120;       ///< no operation may take longer; 0: for ever

    chorus::time_limit limit() const;
};

/// Whether a launcher (torchrun, Open MPI, MPICH, Slurm) started this process as one of several.
bool has_launcher();

/// thread and self are always there, shm where processes can share memory, ucx and mpi where they were built in.
std::vector<std::string_view> transports();

/// With what is taken where transport or ranks are not given; ranks stay 0 under a launcher.
start completed(start const& asked);

/// Starts the ranks, or becomes one of those that a launcher started, and returns the exit code. Throws what went wrong:
/// chorus::error, std::exception.
int run_ranks(start const& asked, rank_program const& program);

// One function per transport, each in a file of its own: `start.transport` is known to be theirs.
int run_on_self(start const& asked, rank_program const& program);
int run_on_threads(start const& asked, rank_program const& program);
int run_on_processes(start const& asked, rank_program const& program);  ///< a launcher's, or forked
bool has_ucx();
int run_on_ucx(start const& asked, rank_program const& program);  ///< a launcher's, or threads with a UCX of their own each
bool has_mpi();
int run_on_mpi(start const& asked, rank_program const& program);

}  // namespace bench
