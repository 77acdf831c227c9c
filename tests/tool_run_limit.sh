#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# gpumem-run --limit: over the double of NVIDIA's driver, which says how much it
# has given, at each instant and to any number of threads.

. "${top_srcdir:-.}/tests/tap.sh"
. "$top_srcdir/tests/tool.sh"

need_run_cuda
FAKECUDA_DEVICES=2
export FAKECUDA_DEVICES
check "the program compiles" $CC -w -O1 -o "$scratch/limit" "$source/limit.c" \
	"$source/limit_calls.c" "$source/limit_threads.c" "$source/pool.c" -ldl -lpthread

# limited [OPTION...] CASE...: under a limit, the report in $scratch/out
limited()
{
	name="$*"
	check "$name" "$run" --limit=64MiB --json --report="$scratch/out" "$@"
}

# ---- what a program meets -------------------------------------------------------

for case in kinds failures kept retained devices threads child; do
	limited --adopt "$scratch/limit" $case
done
for case in kinds pools failures retained devices threads child; do
	limited "$scratch/limit" $case
done
# Frees that take long: what they free is there until they return.
FAKECUDA_LATENCY=cuMemFree:200us
export FAKECUDA_LATENCY
limited --adopt "$scratch/limit" threads
limited "$scratch/limit" threads
unset FAKECUDA_LATENCY

check "the program of arrays compiles" $CC -w -o "$scratch/array" \
	"$top_srcdir/tests/run/array.c" "$top_srcdir/tests/run/pool.c" \
	-ldl -lpthread
limited "$scratch/array" limited
limited --adopt "$scratch/array" limited
json_is "[(x['refused'], x['peak_bytes'], x['kinds']['arrays']['failures'])
	for p in d['processes'] for x in p['devices']]" \
	"[(12, 67108864, 10)]" "arrays that the limit refuses are counted"
FAKECUDA_LATENCY=cuArrayDestroy:200us,cuMemRelease:200us
export FAKECUDA_LATENCY
limited --adopt "$scratch/array" threads
limited "$scratch/array" threads
unset FAKECUDA_LATENCY

# ---- the report ------------------------------------------------------------------

limited --adopt "$scratch/limit" kinds
json_is "(d['limit_bytes'], [(x['refused'], x['peak_bytes'], [x['kinds'][k]
	['failures'] for k in ('allocations', 'managed', 'async', 'virtual')])
	for p in d['processes'] for x in p['devices']])" \
	"(67108864, [(8, 67108864, [6, 1, 1, 1])])" "what was refused is counted"
limited --adopt "$scratch/limit" threads
json_is "[x['reserved_peak_bytes'] for p in d['processes']
	for x in p['devices'] if x['reserved_peak_bytes'] > 1 << 26]" "[]" \
	"and nothing was above the limit"
limited --adopt "$scratch/limit" child
json_is "[x['current_bytes'] for p in d['processes'] for x in p['devices']]" \
	"[67108864, 67108864]" "each process has all of it"
exits 137 "a program that is killed" "$run" --limit=64MiB --json \
	--report="$scratch/out" "$scratch/limit" kinds killed
json_is "[x['refused'] for p in d['processes'] for x in p['devices']]" "[8]" \
	"its refusals are told"
exits 0 "as text" "$run" --limit=64M "$scratch/limit" kinds
check "the limit" grep -q \
	'^limit of each process on each device: 64 MiB$' "$scratch/err"
check "and how often it refused" grep -q \
	'^    the limit refused 8 of those that failed$' "$scratch/err"
exits 1 "without a limit there is none" "$run" --json --report="$scratch/out" \
	"$scratch/limit" child
json_is "(d['limit_bytes'], [x['refused'] for p in d['processes']
	for x in p['devices']])" "(None, [0])" "and the report says so"
exits 1 "nor of a gpumem-run that has none inside one that has" "$run" \
	--limit=64MiB --report="$scratch/report" "$run" \
	--report="$scratch/out" "$scratch/limit" kinds

# ---- in percent -----------------------------------------------------------------

# part PERCENT MEMORY CASE...: where that is the limit that the program expects
part()
{
	percent=$1
	memory=$2
	shift 2
	check "$percent of $memory: $*" env FAKECUDA_MEMORY="$memory" "$run" \
		--limit="$percent" --json --report="$scratch/out" "$@"
}

for case in kinds pools kept devices threads child; do
	adopt=
	[ $case = pools ] || adopt=--adopt
	part 50% 134217728 $adopt "$scratch/limit" $case
	json_is "d['limit_bytes'], d['limit_percent']" "(None, 50.0)" \
		"the report says so"
	json_is "[x['reserved_peak_bytes'] for p in d['processes']
		for x in p['devices'] if x['reserved_peak_bytes'] > 1 << 26]" \
		"[]" "and nothing was above it"
done
part 12.5% 536870912 "$scratch/limit" kinds
part "100%" 67108864 "$scratch/limit" devices
# Of a device with another size it is not what the program expects.
exits 1 "it is of the device" env FAKECUDA_MEMORY=268435456 "$run" --limit=50% \
	--report="$scratch/report" "$scratch/limit" kinds
exits 0 "as text" env FAKECUDA_MEMORY=134217728 "$run" --limit="50 %" \
	"$scratch/limit" kinds
check "the part" grep -q \
	'^limit of each process on each device: 50 % of its memory$' "$scratch/err"
limited --adopt "$scratch/limit" kinds
json_is "d['limit_bytes'], d['limit_percent']" "(67108864, None)" \
	"bytes are no part"

# ---- wrong ones -----------------------------------------------------------------

for size in 0 -1 nonsense '' 1Q 99999999999999999999 0% 101% % -5% 5%% 80%x 1e1% \
	0.0000000001%; do
	exits 2 "--limit=$size" "$run" --limit="$size" true
	check "says what is right" grep -q '1.5GiB, or a part of .* as 80%$' \
		"$scratch/err"
done

done_testing
