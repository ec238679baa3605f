#!/bin/sh
# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 the chorus authors
# usage: check_commands.sh path/to/chorus-bench
# Runs the benchmark as a user would and looks at what it says and how it ends. Prints the first failure and ends with 1.

bench=$1
folder=$(mktemp -d)
record=$folder/record.json
trap 'rm -rf "$folder"' EXIT

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

# blocks of different lengths, by counts, in place or not, on roots that differ
for what in all_gather_v gather_v scatter_v reduce_scatter_v all_to_all_v; do
    must_pass "# $what, 4 ranks (thread)" $what --ranks 4 --uneven --bytes 1:4K:x64 --element int16 $few
    must_fail "elements were wrong" $what --ranks 4 --uneven --bytes 4K $few --spoil 0
    case $what in all_to_all_v) ;; *)
        must_pass ", in place, " $what --ranks 3 --uneven --bytes 1:4K:x64 --in-place $few ;;
    esac
done
must_pass "root 2," gather_v --ranks 3 --uneven --root 2 --bytes 4K $few
must_pass " 0" all_reduce --ranks 3 --op mean --element uint8 --bytes 1:1K:x32 $few
must_fail "no mean" scan --op mean

# messages between two ranks, the others looking on
for what in latency bandwidth bidirectional; do
    for transport in thread shm; do
        must_pass "# $what, 3 ranks ($transport)" $what --transport $transport --ranks 3 --bytes 0:64K:x64 --element int8 $few
    done
    must_fail "1 elements were wrong" $what --bytes 8 --spoil 1 --repeat 1 --warm-up 0
    must_fail "two ranks" $what --ranks 1
done
must_pass "1 ranks (self)" all_reduce --transport self --bytes 64 $few
must_fail "has one rank" all_reduce --transport self --ranks 2
must_fail "no transport" all_reduce --transport pigeon

# floors; more samples until the median is known
must_fail "expected at least" all_reduce --bytes 4 $few --at-least 1000000
must_fail "expected at most" all_reduce --transport shm --bytes 4 $few --at-most 0.000001
must_pass " 0" all_reduce --bytes 4 $few --at-least 0.000000001 --at-most 100000000
must_pass " 0" all_reduce --bytes 4 --repeat 3 --warm-up 0 --within 100 --json "$record"
grep -qE '"samples": ([6-9]|[1-9][0-9]+)' "$record" || fail "a median of three samples is taken for known: $(grep samples "$record")"
must_pass "caches displaced" all_reduce --bytes 4 $few --off-cache
must_fail "no all_reduce of its own" all_reduce --versus native --bytes 4 $few

# tables of algorithms: measured, added to, used, explained, made of others' rules
table=$folder/table.txt
must_pass "barrier thread 2 * dissemination" tune --transport thread --collectives barrier,all_reduce --bytes 4:64:x16 \
    --repeat 2 --seconds 10 --write "$table"
must_pass "barrier shm 3 * " tune --transport shm --ranks 3 --collectives barrier --repeat 2 --seconds 10 --write "$table"
grep -q '^barrier thread 2 \* dissemination' "$table" || fail "rows of other ranks were not kept: $(cat "$table")"
must_pass "chorus-table 1" tune --transport thread --collectives barrier --repeat 1 --seconds 10
must_pass "  measured  " explain all_reduce --transport thread --bytes 8 --table "$table"
must_pass "no row of" explain all_reduce --transport mpi --bytes 8 --table "$table"
must_pass " 0" all_reduce --algorithm "automatic($table)" --bytes 4 $few
must_pass "cost model" explain all_reduce --ranks 8 --bytes 1K:1M:x32
must_fail "no collective" explain all_redcue
must_fail "no collective" tune --collectives all_redcue
must_fail "no algorithm" tune --algorithm rign
echo "1 2 1 4 1 0 4 0 0" > "$folder/rules"
must_pass "all_reduce * 4..* * ring" import open_mpi "$folder/rules"
must_fail "line 1: found" import nccl "$folder/rules"
must_fail "line 1: found" explain all_reduce --table "$folder/rules"
must_fail "line 1: found" tune --collectives barrier --write "$folder/rules"

# carried by compressors: bit for bit where inputs allow it, the same bits on all ranks, bytes and errors in the record
for carry in half_cast 'block_integer(bits=4)' sign_bit qsgd 'error_feedback(top_k)' random_k; do
    must_pass "carried by $carry" all_reduce --ranks 3 --carry "$carry" --bytes 4:16K:x64 $few --json "$record" --csv "$folder/rows.csv"
    for key in wire_bytes_of_ranks relative_error '"checked": "each result finite'; do
        grep -qF -e "$key" "$record" || fail "no $key in the record of $carry"
    done
done
must_pass "  0.16 " broadcast --ranks 3 --carry float8_e4m3_cast --bytes 4 $few
for what in reduce reduce_scatter all_gather gather scatter all_to_all all_gather_v; do
    must_pass " 0" $what --ranks 3 --carry block_integer --bytes 1K:4K $few
done
must_fail "elements were wrong" all_reduce --ranks 3 --carry half_cast --bytes 1K $few --spoil 1
must_fail "cannot be carried" scan --carry half_cast
must_fail "compressors take float" all_reduce --carry half_cast --element int32
must_fail "operation maximum cannot be carried" all_reduce --carry half_cast --op maximum
must_fail 'no compressor "hlf"' all_reduce --carry hlf
must_fail "bits of its own" all_reduce --ranks 4 --carry half_cast --algorithm recursive_doubling --bytes 64 $few
must_pass "half_cast pays" explain all_reduce --ranks 4 --bytes 1M --carry half_cast --link 1Mbit
must_pass "use half_cast" compress half_cast,uncompressed --bytes 1K:64K:x64 --repeat 1 --link 1Mbit --json "$record" --csv "$folder/rows.csv" --plot "$folder/plot.svg"
grep -qF effective_gigabytes_per_second "$record" || fail "no effective bandwidth in the record"
[ "$(wc -l < "$folder/rows.csv")" = 6 ] || fail "the rows are not four with a heading: $(cat "$folder/rows.csv")"
must_pass "send as they are" compress top_k --bytes 64K --repeat 1 --link 100000000GB --latency 0
must_pass "use top_k" compress top_k --bytes 64K --repeat 1 --link 100000000GB --latency 0 --insist
must_pass "two_centroids" compress --bytes 4K --repeat 1
must_fail "is not the rate of a link" compress top_k --link 5

# other mistakes
must_fail "no algorithm" all_reduce --algorithm nope
must_fail "does not offer" all_reduce --algorithm bruck
must_fail "no element" all_reduce --element string
must_fail "no operation" all_reduce --op plus
must_fail "cannot write" all_reduce --bytes 4 $few --json /nonexistent/file

# the list and the record
must_pass "rabenseifner" list
must_pass "# reduce" reduce --ranks 2 --bytes 4:64:x4 --json "$record" --csv "$folder/rows.csv" --plot "$folder/plot.svg" $few --no-check
[ "$(wc -l < "$folder/rows.csv")" = 5 ] || fail "the rows are not three with a heading: $(cat "$folder/rows.csv")"
grep -qF "</svg>" "$folder/plot.svg" || fail "no plot"
for key in processor compiler flags commit median p99 skew_microseconds slowest_rank interval_of_median bus_gigabytes_per_second '"checked": false' '"wrong": null'; do
    grep -qF -e "$key" "$record" || fail "no $key in the record"
done
echo "all commands behave"
