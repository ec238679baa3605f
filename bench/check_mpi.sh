#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 the chorus authors
# usage: check_mpi.sh LAUNCHER [OPTION…] -n RANKS chorus-bench
# Runs the benchmark beside MPI's own collectives and looks at what it says and how it ends. Prints the first failure and ends with 1.

fail() {
    echo "FAILED: $*"
    exit 1
}

# must_pass TEXT ARGUMENTS: ends with 0 and prints TEXT. must_fail: ends with another code, within a minute, and prints TEXT.
run() {
    out=$(timeout 60 $launch "$@" 2>&1)
    code=$?
}
must_pass() {
    text=$1
    shift
    run "$@"
    [ $code -eq 0 ] || fail "$* ended with $code: $out"
    echo "$out" | grep -qF -e "$text" || fail "$* does not say '$text': $out"
}
must_fail() {
    text=$1
    shift
    run "$@"
    [ $code -ne 0 ] && [ $code -ne 124 ] || fail "$* ended with $code: $out"
    echo "$out" | grep -qF -e "$text" || fail "$* does not say '$text': $out"
}

launch=$*
few="--transport mpi --versus native --bytes 4:4K:x32 --repeat 3 --warm-up 1"
for what in all_reduce reduce_scatter all_gather broadcast reduce gather scatter all_to_all scan exclusive_scan barrier; do
    must_pass "native   ratio" $what $few
    [ "$(echo "$out" | grep -c '[0-9]  *0$')" -ge 1 ] || fail "$what: no row without a wrong element: $out"
done
for what in reduce_scatter_v all_gather_v gather_v scatter_v all_to_all_v; do
    must_pass "native   ratio" $what --uneven --element int16 $few
done
must_pass ", in place, " all_gather --in-place $few
must_fail "MPI has no sum of half" all_reduce --element half $few
must_fail "ranks, not 9" all_reduce --ranks 9 $few
must_fail "elements were wrong" all_reduce --spoil 1 $few
must_pass "(mpi)" all_reduce --bytes 4 --repeat 2
echo "all commands behave"
