// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

#include "osu.hpp"

int main(int argc, char** argv) { return bench::osu_main(OSU_PROGRAM, argc, argv); }
