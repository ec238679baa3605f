// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/compress/half_cast.hpp"
#include "chorus/cuda/detail/cast_kernel.cuh"

/// chorus::cuda::encode, decode and decode_add take a half_cast.
template <> struct chorus::detail::device_cast_of<chorus::half_cast> {
    using type = device_cast<half, half_format, wire_format::half>;
};
