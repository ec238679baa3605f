// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/compress/bfloat16_cast.hpp"
#include "chorus/cuda/detail/cast_kernel.cuh"

/// chorus::cuda::encode, decode and decode_add take a bfloat16_cast.
template <> struct chorus::detail::device_cast_of<chorus::bfloat16_cast> {
    using type = device_cast<bfloat16, bfloat16_format, wire_format::bfloat16>;
};
