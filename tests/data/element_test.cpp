// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/data/element.hpp"

#include <doctest/doctest.h>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

using namespace chorus;

namespace {

struct particle {
    float mass;
    std::int32_t cell;
};
struct not_default {
    explicit not_default(int v) : value{v} {}
    int value;
};

}  // namespace

static_assert(element<float> && element<half> && element<bfloat16> && element<bool> && element<std::byte>);
static_assert(element<particle> && element<not_default> && element<std::complex<float>>);
static_assert(!element<float const> && !element<float volatile> && !element<float&> && !element<void>);
static_assert(!element<std::string> && !element<std::unique_ptr<int>>);
static_assert(!element<int*> && !element<int[3]> && !element<int particle::*> && !element<std::nullptr_t>);

static_assert(std::same_as<wide_t<half>, float> && std::same_as<wide_t<bfloat16>, float>);
static_assert(std::same_as<wide_t<double>, double> && std::same_as<wide_t<std::int8_t>, std::int8_t>);

TEST_CASE("element_name: fixed names, integers by size and sign") {
    CHECK(element_name<float>() == "float");
    CHECK(element_name<double>() == "double");
    CHECK(element_name<half>() == "half");
    CHECK(element_name<bfloat16>() == "bfloat16");
    CHECK(element_name<std::int8_t>() == "int8");
    CHECK(element_name<std::int16_t>() == "int16");
    CHECK(element_name<std::int32_t>() == "int32");
    CHECK(element_name<std::int64_t>() == "int64");
    CHECK(element_name<std::uint8_t>() == "uint8");
    CHECK(element_name<std::uint16_t>() == "uint16");
    CHECK(element_name<std::uint32_t>() == "uint32");
    CHECK(element_name<std::uint64_t>() == "uint64");
    CHECK(element_name<long long>() == "int64");
    CHECK(element_name<unsigned long long>() == "uint64");
    CHECK(element_name<bool>() == "bool");
    CHECK(element_name<std::byte>() == "byte");
    CHECK(element_name<particle>() == "user");
}
