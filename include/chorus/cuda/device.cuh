// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/cuda/error.cuh"

#include <cuda_runtime.h>

#include <string>

namespace chorus::cuda {

/// How many GPUs this process may use. Raises `unsupported` and says what is missing where that is none: a driver, a newer driver, a
/// device. The first thing that a program which needs a GPU calls.
inline int expect_device() {
    int count = 0, driver = 0, runtime = 0;
    cudaError_t const result = cudaGetDeviceCount(&count);
    if (result == cudaSuccess && count > 0) return count;
    static_cast<void>(cudaGetLastError());  // it was not the caller's
    expect_success(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
    expect_success(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
    auto const text = [](int version) { return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10); };
    std::string message = "a GPU is needed, but ";
    if (driver == 0) message += "no CUDA driver is installed on this machine";
    else if (result == cudaErrorInsufficientDriver)
        message += "the driver is too old: it can CUDA " + text(driver) + ", this program was built with CUDA " + text(runtime);
    else if (result == cudaSuccess || result == cudaErrorNoDevice)
        message += "the driver, of CUDA " + text(driver) + ", finds no device (CUDA_VISIBLE_DEVICES may hide it)";
    else message += std::string{"cudaGetDeviceCount failed: "} + cudaGetErrorString(result);
    chorus::detail::raise(errc::unsupported, message);
}

/// The calling thread's current device, until this goes out of scope; then the one before is current again. No call is made where it is
/// current already.
class device_scope {
 public:
    explicit device_scope(int device) {
        expect_success(cudaGetDevice(&before_), "cudaGetDevice");
        if (device == before_) return;
        expect_success(cudaSetDevice(device), [&] { return "cudaSetDevice(" + std::to_string(device) + ")"; });
        is_changed_ = true;
    }
    device_scope(device_scope const&) = delete;
    device_scope& operator=(device_scope const&) = delete;
    ~device_scope() {
        if (is_changed_) static_cast<void>(cudaSetDevice(before_));
    }

 private:
    int before_ = 0;
    bool is_changed_ = false;
};

}  // namespace chorus::cuda
