// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/cuda/error.cuh"

#include <doctest/doctest.h>

#include <string>

using namespace chorus;

namespace {

errc code_after(cudaError_t result, std::string* message = nullptr) {
    try {
        cuda::expect_success(result, [] { return "the copy of 8 bytes"; });
    } catch (error const& failure) {
        if (message != nullptr) *message = failure.message();
        return failure.code();
    }
    FAIL("nothing was raised");
    return errc::corrupt;
}

}  // namespace

TEST_CASE("a failed call says what it was, in words and by the name of the error") {
    CHECK_NOTHROW(cuda::expect_success(cudaSuccess, "never composed"));
    std::string message;
    CHECK(code_after(cudaErrorMemoryAllocation, &message) == errc::too_large);
    CHECK(message == "the copy of 8 bytes failed: out of memory (cudaErrorMemoryAllocation)");
    CHECK(code_after(cudaErrorNoDevice) == errc::unsupported);
    CHECK(code_after(cudaErrorInsufficientDriver) == errc::unsupported);
    CHECK(code_after(cudaErrorInvalidValue) == errc::invalid_argument);
    CHECK(code_after(cudaErrorLaunchFailure) == errc::system_failed);
}
