// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "cuda_on_cpu/device_words.hpp"

namespace chorus::cuda {

/// The stand-in's: memory that each block has for itself, exactly as long as the launch said.
template <class T>
T* dynamic_shared() {
    return static_cast<T*>(cuda_on_cpu::shared_memory());
}

}  // namespace chorus::cuda
