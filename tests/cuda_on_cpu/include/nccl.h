// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

// The stand-in's <nccl.h>: what the library uses of it, between threads of one process. What each function promises is in NVIDIA's documentation.
// Every member of a communicator takes part in every group of sends and receives.
#include <cuda_runtime.h>

#include <cstddef>

#define NCCL_VERSION(major, minor, patch) ((major) * 10000 + (minor) * 100 + (patch))
#define NCCL_VERSION_CODE NCCL_VERSION(2, 18, 0)
#define NCCL_SPLIT_NOCOLOR -1
#define NCCL_CONFIG_INITIALIZER {sizeof(ncclConfig_t), 1}

using ncclComm_t = struct ncclComm*;
struct ncclUniqueId {
    char internal[128];
};
struct ncclConfig_t {
    std::size_t size;
    int blocking;
};
enum ncclResult_t {
    ncclSuccess = 0, ncclUnhandledCudaError = 1, ncclSystemError = 2, ncclInternalError = 3, ncclInvalidArgument = 4, ncclInvalidUsage = 5, ncclRemoteError = 6, ncclInProgress = 7
};
enum ncclRedOp_t { ncclSum = 0, ncclProd = 1, ncclMax = 2, ncclMin = 3, ncclAvg = 4 };
enum ncclDataType_t {
    ncclInt8 = 0, ncclUint8 = 1, ncclInt32 = 2, ncclUint32 = 3, ncclInt64 = 4, ncclUint64 = 5, ncclFloat16 = 6, ncclFloat32 = 7, ncclFloat64 = 8, ncclBfloat16 = 9
};

ncclResult_t ncclGetVersion(int* version);
ncclResult_t ncclGetUniqueId(ncclUniqueId* key);
ncclResult_t ncclCommInitRankConfig(ncclComm_t* made, int ranks, ncclUniqueId key, int rank, ncclConfig_t* config);
ncclResult_t ncclCommSplit(ncclComm_t from, int colour, int key, ncclComm_t* made, ncclConfig_t* config);
ncclResult_t ncclCommFinalize(ncclComm_t communicator);
ncclResult_t ncclCommDestroy(ncclComm_t communicator);
ncclResult_t ncclCommAbort(ncclComm_t communicator);
ncclResult_t ncclCommGetAsyncError(ncclComm_t communicator, ncclResult_t* result);
char const* ncclGetErrorString(ncclResult_t result);
char const* ncclGetLastError(ncclComm_t communicator);

ncclResult_t ncclAllReduce(void const* in, void* out, std::size_t count, ncclDataType_t type, ncclRedOp_t op, ncclComm_t communicator, cudaStream_t stream);
ncclResult_t ncclReduceScatter(void const* in, void* out, std::size_t count, ncclDataType_t type, ncclRedOp_t op, ncclComm_t communicator, cudaStream_t stream);
ncclResult_t ncclAllGather(void const* in, void* out, std::size_t count, ncclDataType_t type, ncclComm_t communicator, cudaStream_t stream);
ncclResult_t ncclBroadcast(void const* in, void* out, std::size_t count, ncclDataType_t type, int root, ncclComm_t communicator, cudaStream_t stream);
ncclResult_t ncclSend(void const* in, std::size_t count, ncclDataType_t type, int peer, ncclComm_t communicator, cudaStream_t stream);
ncclResult_t ncclRecv(void* out, std::size_t count, ncclDataType_t type, int peer, ncclComm_t communicator, cudaStream_t stream);
ncclResult_t ncclGroupStart();
ncclResult_t ncclGroupEnd();
