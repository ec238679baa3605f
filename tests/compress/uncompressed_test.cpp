// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/compress/uncompressed.hpp"

#include "suites/compressor_suite.hpp"

#include <doctest/doctest.h>

TEST_CASE("uncompressed: all laws of a compressor") { suites::compressor_suite(chorus::uncompressed{}); }
