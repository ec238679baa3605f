// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/schedule/algorithm.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace chorus::detail {

/// What another library calls a collective or an algorithm, and what does most like it here; or why nothing does.
struct foreign_algorithm {
    std::uint64_t collective_id;   // Open MPI's
    std::uint64_t algorithm_id;    // Open MPI's
    std::string_view theirs;
    std::string_view ours;         // empty: there is none
};

struct foreign_collective {
    std::uint64_t id;
    std::string_view theirs;
    std::optional<collective> ours;
};

/// The collectives that Open MPI numbers, as of its version 5. Message sizes there are the caller's whole vector, as
/// here, but for scans, where the elements do not count.
inline constexpr foreign_collective open_mpi_collectives[] = {
    {0, "allgather", collective::all_gather},
    {1, "allgatherv", collective::all_gather},
    {2, "allreduce", collective::all_reduce},
    {3, "alltoall", collective::all_to_all},
    {6, "barrier", collective::barrier},
    {7, "bcast", collective::broadcast},
    {8, "exscan", collective::exclusive_scan},
    {9, "gather", collective::gather},
    {11, "reduce", collective::reduce},
    {12, "reduce_scatter", collective::reduce_scatter},
    {13, "reduce_scatter_block", collective::reduce_scatter},
    {14, "scan", collective::scan},
    {15, "scatter", collective::scatter},
};

/// Algorithms by number, as `ompi_info --param coll tuned` lists them; 0 is the library's own decision.
inline constexpr foreign_algorithm open_mpi_algorithms[] = {
    {0, 1, "linear", "direct"},
    {0, 2, "bruck", "bruck"},
    {0, 3, "recursive_doubling", "recursive_doubling"},
    {0, 4, "ring", "ring"},
    {0, 5, "neighbor", ""},
    {0, 6, "two_proc", "direct"},
    {0, 7, "sparbit", ""},
    {0, 8, "direct-messaging", "direct"},
    {1, 1, "default", ""},
    {1, 2, "bruck", "bruck"},
    {1, 3, "ring", "ring"},
    {1, 4, "neighbor", ""},
    {1, 5, "two_proc", "direct"},
    {1, 6, "sparbit", ""},
    {2, 1, "basic_linear", "direct"},
    {2, 2, "nonoverlapping", "binomial_tree"},
    {2, 3, "recursive_doubling", "recursive_doubling"},
    {2, 4, "ring", "ring"},
    {2, 5, "segmented_ring", "ring(segments=4)"},
    {2, 6, "rabenseifner", "rabenseifner"},
    {2, 7, "allgather_reduce", "all_pairs"},
    {3, 1, "linear", "direct"},
    {3, 2, "pairwise", "pairwise"},
    {3, 3, "modified_bruck", "bruck"},
    {3, 4, "linear_sync", "pairwise"},
    {3, 5, "two_proc", "direct"},
    {6, 1, "linear", ""},
    {6, 2, "double_ring", ""},
    {6, 3, "recursive_doubling", "dissemination"},
    {6, 4, "bruck", "dissemination"},
    {6, 5, "two_proc", "dissemination"},
    {6, 6, "tree", ""},
    {7, 1, "basic_linear", "direct"},
    {7, 2, "chain", "chain"},
    {7, 3, "pipeline", "chain"},
    {7, 4, "split_binary_tree", "double_binary_tree"},
    {7, 5, "binary_tree", "double_binary_tree"},
    {7, 6, "binomial", "binomial_tree"},
    {7, 7, "knomial", "binomial_tree"},
    {7, 8, "scatter_allgather", "scatter_all_gather"},
    {7, 9, "scatter_allgather_ring", "scatter_all_gather"},
    {8, 1, "linear", "direct"},
    {8, 2, "recursive_doubling", "recursive_doubling"},
    {9, 1, "basic_linear", "direct"},
    {9, 2, "binomial", "binomial_tree"},
    {9, 3, "linear_sync", "direct"},
    {11, 1, "linear", "direct"},
    {11, 2, "chain", "chain"},
    {11, 3, "pipeline", "chain"},
    {11, 4, "binary", "double_binary_tree"},
    {11, 5, "binomial", "binomial_tree"},
    {11, 6, "in-order_binary", "binomial_tree"},
    {11, 7, "rabenseifner", "rabenseifner"},
    {11, 8, "knomial", "binomial_tree"},
    {12, 1, "non-overlapping", ""},
    {12, 2, "recursive_halving", "recursive_halving"},
    {12, 3, "ring", "ring"},
    {12, 4, "butterfly", ""},
    {13, 1, "basic_linear", "direct"},
    {13, 2, "recursive_doubling", ""},
    {13, 3, "recursive_halving", "recursive_halving"},
    {13, 4, "butterfly", ""},
    {14, 1, "linear", "direct"},
    {14, 2, "recursive_doubling", "recursive_doubling"},
    {15, 1, "basic_linear", "direct"},
    {15, 2, "binomial", "binomial_tree"},
    {15, 3, "linear_nb", "direct"},
};

struct nccl_algorithm {
    collective operation;
    std::string_view theirs;
    std::string_view ours;
};

inline constexpr std::string_view nccl_algorithm_names[] = {"tree", "ring",      "collnet_direct", "collnet_chain",
                                                            "nvls", "nvls_tree", "pat"};

/// Pairs that have a counterpart. NCCL's trees are double binary ones; its rings of broadcast and reduce are pipelined
/// chains; pat sends as many messages as Bruck's algorithm and recursive halving.
inline constexpr nccl_algorithm nccl_algorithms[] = {
    {collective::all_reduce, "ring", "ring"},         {collective::all_reduce, "tree", "double_binary_tree"},
    {collective::broadcast, "ring", "chain"},         {collective::broadcast, "tree", "double_binary_tree"},
    {collective::reduce, "ring", "chain"},            {collective::reduce, "tree", "double_binary_tree"},
    {collective::all_gather, "ring", "ring"},         {collective::all_gather, "pat", "bruck"},
    {collective::reduce_scatter, "ring", "ring"},     {collective::reduce_scatter, "pat", "recursive_halving"},
};

inline std::optional<collective> nccl_collective(std::string_view theirs) {
    if (theirs == "allreduce") return collective::all_reduce;
    if (theirs == "allgather") return collective::all_gather;
    if (theirs == "reducescatter") return collective::reduce_scatter;
    if (theirs == "broadcast") return collective::broadcast;
    if (theirs == "reduce") return collective::reduce;
    return std::nullopt;
}

}  // namespace chorus::detail
