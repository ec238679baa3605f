// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

namespace bench {

/// The program of that name ("osu_allreduce"), with the flags and the text of OSU 7; returns the exit code: 0, or 1 if a
/// result was wrong, a floor was missed, an option is not understood or something failed.
int osu_main(char const* program, int argc, char** argv);

}  // namespace bench
