// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

// Every macro of the library. Nothing here has to be set by the user.

#if !defined(_MSVC_LANG) && __cplusplus < 202002L
#error "chorus needs C++20: compile with -std=c++20 or newer"
#endif

// Marks the few arithmetic helpers that host and device code share.
#if defined(__CUDACC__)
#define CHORUS_HOST_DEVICE __host__ __device__
#else
#define CHORUS_HOST_DEVICE
#endif

// Exceptions may be switched off (-fno-exceptions); errors then reach the failure handler of base/error.hpp.
#if defined(__cpp_exceptions)
#define CHORUS_HAS_EXCEPTIONS 1
#define CHORUS_TRY try
#define CHORUS_CATCH_ALL catch (...)
#else
#define CHORUS_HAS_EXCEPTIONS 0
#define CHORUS_TRY if constexpr (true)
#define CHORUS_CATCH_ALL else
#endif

// x86-64 with per-function instruction sets: reductions choose the widest one of the running machine.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__CUDACC__)
#define CHORUS_HAS_X86_TARGETS 1
#define CHORUS_TARGET(list) __attribute__((target(list)))
#else
#define CHORUS_HAS_X86_TARGETS 0
#define CHORUS_TARGET(list)
#endif
