// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

// The stand-in's <cuda_runtime.h>: what the library uses of it, for tests on machines without a GPU. See docs/design/device.md.
#include "cuda_on_cpu/device_arithmetic.hpp"
#include "cuda_on_cpu/device_memory.hpp"
#include "cuda_on_cpu/device_words.hpp"
#include "cuda_on_cpu/launch_config.hpp"
#include "cuda_on_cpu/runtime_api.hpp"
