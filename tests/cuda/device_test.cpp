// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/cuda/device.cuh"

#include "cuda_on_cpu/control.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace chorus;

namespace {

std::string refusal_of(cuda_on_cpu::machine const& machine) {
    cuda_on_cpu::begin(1, machine);
    std::string message;
    try {
        cuda::expect_device();
    } catch (error const& failure) {
        CHECK(failure.code() == errc::unsupported);
        message = failure.message();
    }
    cuda_on_cpu::begin(1);
    return message;
}

}  // namespace

TEST_CASE("a program that needs a GPU where there is none is told what is missing") {
    CHECK(refusal_of({.driver = 0}) == "a GPU is needed, but no CUDA driver is installed on this machine");
    CHECK(refusal_of({.driver = 12040, .runtime = 13000}) ==
          "a GPU is needed, but the driver is too old: it can CUDA 12.4, this program was built with CUDA 13.0");
    CHECK(refusal_of({.devices = 0}) ==
          "a GPU is needed, but the driver, of CUDA 13.0, finds no device (CUDA_VISIBLE_DEVICES may hide it)");
    CHECK(cuda::expect_device() == 2);
    CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("GPU-6: the current device is that of before, once a scope ends") {
    cuda_on_cpu::begin(1);
    int device = -1;
    {
        cuda::device_scope const other{1};
        cudaGetDevice(&device);
        CHECK(device == 1);
    }
    cudaGetDevice(&device);
    CHECK(device == 0);
    CHECK_THROWS_AS(cuda::device_scope{7}, error);
    cudaGetDevice(&device);
    CHECK(device == 0);
}
