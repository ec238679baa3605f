#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 the chorus authors
# check_symbols.sh NM LIBRARY: it defines MPI's functions and nothing else, and calls them by their lower names only.
set -e
others=$("$1" -D --defined-only "$2" | grep -vE ' MPI_[A-Z][a-z_]+$' || true)
upper=$("$1" -D --undefined-only "$2" | grep -E ' MPI_[A-Z][a-z_]+$' || true)
test -z "$others" || { echo "it defines more than MPI's functions: $others"; exit 1; }
test -z "$upper" || { echo "it calls MPI by its upper names: $upper"; exit 1; }
echo "$("$1" -D --defined-only "$2" | grep -c MPI_) functions of MPI, and nothing else"
