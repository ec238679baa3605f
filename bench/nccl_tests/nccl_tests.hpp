// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

namespace bench {

/// The program of that name ("all_reduce_perf"), with the flags, the text and the JSON of nccl-tests; returns the exit code:
/// 0; 1 if a result was wrong, a floor was missed or an option is not understood; 3 if something failed; 4 if it took longer
/// than -T permits.
int nccl_main(char const* program, int argc, char** argv);

}  // namespace bench
