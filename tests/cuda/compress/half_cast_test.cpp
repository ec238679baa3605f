// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/cuda/compress/half_cast.cuh"

#include "cuda_on_cpu/compressor_twin.hpp"

#include <doctest/doctest.h>

TEST_CASE("half_cast on a device makes the bytes of the host, each element read and written once") { cuda_on_cpu::check_cast<chorus::half_cast>(); }

TEST_CASE("half_cast on a device refuses what it cannot take") { cuda_on_cpu::check_refusals(chorus::half_cast{}); }
