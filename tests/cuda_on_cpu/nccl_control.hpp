// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <nccl.h>

#include <cstddef>

// How tests drive the stand-in for NCCL.
namespace cuda_on_cpu {

/// Every communicator that there is reports this from now on, as when the network has failed.
void fail_communicators(ncclResult_t result);

/// How often ncclCommSplit was called since the program started, by all ranks together.
std::size_t splits();

/// Communicators that were made and neither destroyed nor aborted.
std::size_t open_communicators();

}  // namespace cuda_on_cpu
