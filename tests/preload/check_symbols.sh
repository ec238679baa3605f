#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 the chorus authors
# check_symbols.sh NM LIBRARY: it defines MPI's functions and nothing else, and calls them by their lower names only.
set -e
defined=$("$1" -D --defined-only "$2")  # ends here with nm's own code if it cannot read the library
called=$("$1" -D --undefined-only "$2")
mpi=' MPI_[A-Z][a-z_]+$'
if others=$(echo "$defined" | grep -vE "$mpi"); then echo "it defines more than MPI's functions: $others"; exit 1; fi
if upper=$(echo "$called" | grep -E "$mpi"); then echo "it calls MPI by its upper names: $upper"; exit 1; fi
echo "$called" | grep -q ' PMPI_' || { echo "it calls nothing of MPI"; exit 1; }
echo "$(echo "$defined" | grep -cE "$mpi") functions of MPI, and nothing else"
