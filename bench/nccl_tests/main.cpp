// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

#include "nccl_tests.hpp"

int main(int argc, char** argv) { return bench::nccl_main(NCCL_PROGRAM, argc, argv); }
