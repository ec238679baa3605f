#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 the chorus authors
# usage: check_commands.sh path/to/chorus-bench
# Runs the benchmark as a user would and looks at what it says and how it ends. Prints the first failure and ends with 1.

bench=$1
record=$(mktemp)
trap 'rm -f "$record"' EXIT

fail() {
    echo "FAILED: $*"
    exit 1
}

# must_pass TEXT ARGUMENTS: ends with 0 and prints TEXT.
must_pass() {
    text=$1
    shift
    out=$("$bench" "$@" 2>&1) || fail "$* ended with $?: $out"
    echo "$out" | grep -qF -e "$text" || fail "$* does not say '$text': $out"
}

# must_fail TEXT ARGUMENTS: ends with another code than 0 within 20 s and prints TEXT.
must_fail() {
    text=$1
    shift
    out=$(timeout 20 "$bench" "$@" 2>&1) && fail "$* ended with 0: $out"
    [ $? -eq 124 ] && fail "$* hangs"
    echo "$out" | grep -qF -e "$text" || fail "$* does not say '$text': $out"
}

rows() {
    echo "$out" | grep -v '^#' | grep -c '[0-9]$'
}

few="--repeat 2 --warm-up 1"

# BEN-7: every collective, in place or not, first and last root, 1 to 3 ranks, no byte and one byte
for what in all_reduce reduce_scatter all_gather broadcast reduce gather scatter all_to_all scan exclusive_scan barrier; do
    for ranks in 1 2 3; do
        must_pass "# $what, $ranks ranks (thread)" $what --ranks $ranks --bytes 0:1 --element int8 $few
        case $what in all_to_all) ;; *)
            must_pass ", in place, " $what --ranks $ranks --bytes 0:1 --in-place --element int8 $few ;;
        esac
        case $what in broadcast | reduce | gather | scatter)
            must_pass "root $((ranks - 1))," $what --ranks $ranks --root $((ranks - 1)) --bytes 0:1K:x32 $few
            must_pass "root $((ranks - 1))," $what --ranks $ranks --root $((ranks - 1)) --bytes 0:1K:x32 $few --in-place
            must_fail "root" $what --ranks $ranks --root $ranks ;;
        esac
    done
done
must_fail "cannot be in place" all_to_all --in-place

# BEN-2: results that fit every element; a flipped byte is found, and BEN-6: all ranks end, the row names it, the code is not 0
for element in int8 uint8 bfloat16 half int16 uint64 double; do
    for op in sum product minimum maximum; do
        must_pass " 0" all_reduce --ranks 5 --element $element --op $op --bytes 1:1K:x32 $few
    done
    must_fail ": 9 elements were wrong" all_reduce --ranks 3 --element $element --bytes 1:1K:x32 $few --spoil 1
done
for transport in thread shm; do
    must_fail ": 16 elements were wrong" all_gather --transport $transport --ranks 3 --bytes 8:64 --repeat 2 --warm-up 0 \
        --spoil 1 --algorithm ring,direct
    must_pass " 0" all_reduce --transport $transport --ranks 3 --algorithm 'ring, direct' --bytes 1K:64K:x8 $few
done

# BEN-1: as many calls as asked for
must_fail ": 7 elements were wrong" all_reduce --bytes 4 --repeat 4 --warm-up 3 --spoil 0
must_fail ": 1 elements were wrong" all_reduce --bytes 4 --repeat 1 --warm-up 0 --spoil 0
must_fail "--repeat" all_reduce --repeat 0

# BEN-9: sizes
must_pass "    1048576" all_reduce --bytes 1:1M --element int8 $few
[ "$(rows)" = 21 ] || fail "1:1M gives $(rows) rows: $out"
must_pass "       1024         256" all_reduce --bytes 1K:1K $few
[ "$(rows)" = 1 ] || fail "1K:1K gives $(rows) rows: $out"
must_pass "         20           5" all_reduce --bytes 3:17 $few
must_fail "4:2" all_reduce --bytes 4:2
must_fail "unit" all_reduce --bytes 1KiB

# BEN-4: one rank has no bus bandwidth
must_pass " 0.000       0" all_reduce --ranks 1 --bytes 1K:1M:x32 $few
echo "$out" | grep -qiE 'nan|inf' && fail "not a number: $out"

# other mistakes
must_fail "no algorithm" all_reduce --algorithm nope
must_fail "does not offer" all_reduce --algorithm bruck
must_fail "no element" all_reduce --element string
must_fail "no operation" all_reduce --op plus
must_fail "cannot write" all_reduce --bytes 4 $few --json /nonexistent/file

# the list and the record
must_pass "rabenseifner" list
must_pass "# reduce" reduce --ranks 2 --bytes 4:64:x4 --json "$record" $few --no-check
for key in processor compiler flags commit median p99 bus_gigabytes_per_second '"checked": false' '"wrong": null'; do
    grep -qF -e "$key" "$record" || fail "no $key in the record"
done
echo "all commands behave"
