// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/cuda/device_span.cuh"

#include <doctest/doctest.h>

#include <type_traits>

using namespace chorus;

static_assert(std::is_trivially_copyable_v<cuda::device_span<float>>);
static_assert(std::is_convertible_v<cuda::device_span<float>, cuda::device_span<float const>>);
static_assert(!std::is_convertible_v<cuda::device_span<float const>, cuda::device_span<float>>);

TEST_CASE("a device span is an address and a count, and is never looked through") {
    auto* const nowhere = reinterpret_cast<float*>(4096);
    cuda::device_span const span{nowhere, 10};
    CHECK(span.size() == 10);
    CHECK(span.size_bytes() == 40);
    CHECK(span.first(3).size() == 3);
    CHECK(span.first(3).data() == nowhere);
    CHECK(span.subspan(4).data() == nowhere + 4);
    CHECK(span.subspan(4).size() == 6);
    CHECK(span.subspan(4, 2).size() == 2);
    CHECK(cuda::device_span<float const>{span}.data() == nowhere);
    CHECK(cuda::device_span<int>{}.empty());
}
