#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# What a program of PyTorch's gets under gpumem-run --adopt: parts of larger
# allocations, over the double of NVIDIA's driver, whose streams stand still when
# they are told to and whose memory is the host's. A library of PyTorch's is one
# that has its name.

. "${top_srcdir:-.}/tests/tap.sh"
. "$top_srcdir/tests/tool.sh"

need_tool run
[ -f "$top_builddir/tests/fake/cuda/.libs/libcuda.so.1" ] ||
	skip_all "configured without cuda"
[ "${SANITIZER:-none}" = none ] ||
	skip_all "a sanitizer's runtime has to be loaded before all others"
run=$tools/gpumem-run
source=$top_srcdir/tests/run
LD_LIBRARY_PATH=$top_builddir/tests/fake/cuda/.libs:$scratch${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
FAKECUDA_DEVICES=2
export LD_LIBRARY_PATH FAKECUDA_DEVICES

echo 'int nothing;' >"$scratch/nothing.c"
check "a library of PyTorch's compiles" $CC -w -shared -fPIC \
	-o "$scratch/libc10_cuda.so" "$scratch/nothing.c"
check "the cases compile" $CC -w -O1 -o "$scratch/cases" "$source/pool.c" \
	"$source/pool_cases.c" "$source/pool_order.c" "$source/pool_answers.c" \
	"$source/pool_limits.c" "$source/pool_wholes.c" \
	"$source/pool_wholes_otherwise.c" "$source/pool_early.c" \
	"$source/pool_trim.c" "$source/pool_parts.c" \
	"$source/pool_parts_answers.c" -ldl -lpthread
for program in pool_random parts_random parts_steps; do
	check "$program compiles" $CC -w -O1 -o "$scratch/$program" \
		"$source/pool.c" "$source/$program.c" -ldl -lpthread
done
check "the program of limits compiles" $CC -w -O1 -o "$scratch/limit" \
	"$source/limit.c" "$source/limit_calls.c" "$source/limit_threads.c" \
	"$source/pool.c" -ldl -lpthread

# adopted [OPTION...] COMMAND...: a program of PyTorch's, the report in $scratch/out
adopted()
{
	LD_PRELOAD=libc10_cuda.so "$run" --adopt --json \
		--report="$scratch/out" "$@"
}

# sums NAME: what the report has to say of itself. A part is at most 511 bytes larger
# than its request, a block that is kept whole as much as a page of 2 MiB leaves.
sums()
{
	json_is "[x['device'] for p in d['processes'] for x in p['devices']
		if not 0 <= x['reserved_bytes'] - x['current_bytes']
			- x['pool']['current_bytes'] < 512 * (1 + sum(
			k['allocations'] - k['frees'] for k in x['kinds'].values()))
			+ (x['kinds']['allocations']['allocations']
			- x['pool']['parts'] << 20)
		or x['current_bytes'] != sum(x['kinds'][k]['current_bytes']
			for k in ('allocations', 'async', 'virtual', 'arrays', 'graphs'))
		or x['pool']['parts'] > x['pool']['hits'] + x['pool']['misses']
		or x['kinds']['allocations']['peak_bytes'] > x['reserved_peak_bytes']
		or x['reserved_bytes'] > x['reserved_peak_bytes']]" "[]" \
		"$1: the sums are right"
}

# ---- each promise in a process of its own -------------------------------------

for name in parts_small parts_join parts_best parts_busy parts_many parts_later \
	parts_streams parts_contexts parts_context_ends parts_captured \
	parts_range parts_shared parts_alone parts_tried parts_misuse parts_stopped \
	parts_trimmed; do
	check "$name" adopted "$scratch/cases" $name
	sums "$name"
done
check "a library that wraps the driver compiles" $CC -w -shared -fPIC \
	-o "$scratch/next.so" "$source/next.c" -ldl
check "parts_unknown" adopted "$scratch/cases" parts_unknown "$scratch/next.so"
sums "parts_unknown"
FAKECUDA_MEMORY=128MiB
export FAKECUDA_MEMORY
for name in parts_full full whole_full; do
	check "$name" adopted "$scratch/cases" $name
	sums "$name"
done
unset FAKECUDA_MEMORY
# What holds of whole blocks and does not name them.
for name in reuse context_ends captured_and_destroyed known managed misuse faults \
	free_bytes bound stale many_streams whole_reuse whole_alike whole_sleep; do
	check "parts: $name" adopted "$scratch/cases" $name
	sums "$name"
done
for name in captures_refused lost; do
	"$scratch/cases" $name >"$scratch/without"
	adopted "$scratch/cases" $name >"$scratch/with"
	is "$(cat "$scratch/with")" "$(cat "$scratch/without")" \
		"parts: $name: what the driver says"
done

# ---- the limit -------------------------------------------------------------------

# Parts leave holes in which what fits in sum does not, so not all of `threads'.
for case in kinds kept wholes retained devices churning child; do
	check "a limit: $case" adopted --limit=64MiB "$scratch/limit" $case
	sums "a limit: $case"
done
json_is "[x['reserved_peak_bytes'] for p in d['processes']
	for x in p['devices'] if x['reserved_peak_bytes'] > 1 << 26]" "[]" \
	"and nothing was above it"
FAKECUDA_LATENCY=cuMemFree:200us
export FAKECUDA_LATENCY
check "a limit: frees that take long" adopted --limit=64MiB "$scratch/limit" \
	churning
unset FAKECUDA_LATENCY

# ---- at random -----------------------------------------------------------------

# lives NAME: the program has said how many bytes
lives()
{
	json_is "sum(x['current_bytes'] for p in d['processes']
		for x in p['devices'])" "$(cat "$scratch/live")" \
		"$1: the report has what lives"
	sums "$1"
}

for seed in 1 2 3; do
	name="streams that stand still, seed $seed"
	check "$name" adopted "$scratch/pool_random" $seed 2000
	sums "$name"
	check "$name, marked" adopted sh -c '"$@" >"$0"' "$scratch/live" \
		"$scratch/parts_random" $seed 3000
	lives "$name"
done
if have_python; then
	check "of which many were handed out again" [ "$(json "[x['pool']['hits']
		for p in d['processes'] for x in p['devices']][0]")" -gt 300 ]
else
	skip "there is no python3" "the figures"
fi
FAKECUDA_ASYNC=1
export FAKECUDA_ASYNC
for seed in 4 5; do
	name="streams that run, and four threads, seed $seed"
	check "$name" adopted "$scratch/pool_random" $seed 2000 4
	sums "$name"
	check "$name, marked" adopted sh -c '"$@" >"$0"' "$scratch/live" \
		"$scratch/parts_random" $seed 3000 4
	lives "$name"
done
unset FAKECUDA_ASYNC
name="eight threads that meet"
check "$name" adopted sh -c '"$@" >"$0"' "$scratch/live" \
	"$scratch/parts_random" 6 20000 8
lives "$name"

# ---- who gets parts ----------------------------------------------------------------

if have_python; then
	check "a training program" adopted "$scratch/parts_steps" 1
	sums "a training program"
	with_parts=$(json "d['processes'][0]['devices'][0]['pool']['misses']")
	json_is "[x['pool']['parts'] == x['kinds']['allocations']['allocations']
		for p in d['processes'] for x in p['devices']]" "[True]" \
		"gets nothing else"
	LD_PRELOAD=libc10_cuda.so "$run" --adopt=whole --json \
		--report="$scratch/out" "$scratch/parts_steps" 1
	without=$(json "d['processes'][0]['devices'][0]['pool']['misses']")
	check "the driver allocates $with_parts times, $without with whole blocks" \
		[ $((10 * with_parts)) -lt "$without" ]
	json_is "[x['pool']['parts'] for p in d['processes']
		for x in p['devices']]" "[0]" "--adopt=whole makes none"
	"$run" --adopt --json --report="$scratch/out" "$scratch/parts_steps" 1
	json_is "[x['pool']['parts'] for p in d['processes']
		for x in p['devices']]" "[0]" "nor is there one in other programs"
	LD_PRELOAD=libc10_cuda.so "$run" --json --report="$scratch/out" \
		"$scratch/parts_steps" 1
	json_is "[x['pool']['parts'] for p in d['processes']
		for x in p['devices']]" "[0]" "nor without --adopt"
	cp "$scratch/libc10_cuda.so" "$scratch/libsanitizer-collection.so"
	LD_PRELOAD="libc10_cuda.so libsanitizer-collection.so" "$run" --adopt \
		--json --report="$scratch/out" "$scratch/parts_steps" 1
	json_is "[(p['stopped'], x['pool']['parts'], x['pool']['hits'])
		for p in d['processes'] for x in p['devices']]" \
		"[('compute-sanitizer', 0, 0)]" "nor under compute-sanitizer"
	adopted --no-pool "$scratch/parts_steps" 1
	json_is "[(x['pool']['parts'], x['pool']['hits']) for p in d['processes']
		for x in p['devices']]" "[(0, 0)]" "nor with --no-pool"
	LD_PRELOAD=libc10_cuda.so "$run" --adopt --report="$scratch/report" \
		"$run" --json --report="$scratch/out" "$scratch/parts_steps" 1
	json_is "[x['pool']['parts'] for p in d['processes']
		for x in p['devices']]" "[0]" \
		"nor in a gpumem-run without it inside one that has it"
	adopted --record="$scratch/recording" "$scratch/parts_steps" 1
	is "$("$tools/gpumem-trace" --json "$scratch/recording" |
		sed -n 's/^  "peak_requested_bytes": \([0-9]*\),$/\1/p')" \
		"$(json "d['processes'][0]['devices'][0]['peak_bytes']")" \
		"a recording has what the program asked for"
else
	skip "there is no python3" "who gets parts"
fi
exits 2 "--adopt=all" "$run" --adopt=all true

# ---- the report --------------------------------------------------------------------

check "a program that shares a part" adopted "$scratch/cases" parts_shared
json_is "[(p['parts_ended'], p['not_shared']) for p in d['processes']]" \
	"[('cuIpcGetMemHandle', 3)]" "is told of"
check "one that asks where a block begins" adopted "$scratch/cases" parts_range
json_is "[(p['parts_ended'], p['not_shared']) for p in d['processes']]" \
	"[('cuMemGetAddressRange', 0)]" "too"
check "one that does neither" adopted "$scratch/cases" parts_small
json_is "[(p['parts_ended'], p['not_shared'], x['pool']['parts'],
	x['pool']['hits'], x['pool']['misses'], x['reserved_bytes'],
	x['pool']['current_bytes'])
	for p in d['processes'] for x in p['devices']]" \
	"[(None, 0, 350, 349, 1, 2097152, 2097152)]" "is not, and its figures are exact"
check "as text" env LD_PRELOAD=libc10_cuda.so "$run" --adopt \
	--report="$scratch/text" "$scratch/cases" parts_shared
check "the parts" grep -q '^    5 were parts of larger ones$' "$scratch/text"
check "what ended them" grep -q '^  there were no new parts any more because of cuIpcGetMemHandle$' \
	"$scratch/text"
check "and what failed" grep -q '^  3 calls failed because they share parts: --adopt=whole makes none$' \
	"$scratch/text"

done_testing
