#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# What gpumem-run keeps of a program's memory: over the double of NVIDIA's driver,
# whose streams stand still when they are told to, so that a block which is handed
# out too early is found by the kernel that still uses it.

. "${top_srcdir:-.}/tests/tap.sh"
. "$top_srcdir/tests/tool.sh"

need_run_cuda

check "pool_cases compiles" $CC -w -O1 -o "$scratch/cases" "$source/pool.c" \
	"$source/pool_cases.c" "$source/pool_order.c" "$source/pool_answers.c" \
	"$source/pool_limits.c" "$source/pool_trim.c" -ldl -lpthread
check "pool_random compiles" $CC -w -O1 -o "$scratch/random" \
	"$source/pool.c" "$source/pool_random.c" -ldl -lpthread
check "and a library that wraps the driver" $CC -w -shared -fPIC \
	-o "$scratch/next.so" "$source/next.c" -ldl

# kept [OPTION...] -- COMMAND...: under gpumem-run, the report in $scratch/out
kept()
{
	check "$name" "$run" --adopt --json --report="$scratch/out" "$@"
}

# pool NAME: of device 0
pool()
{
	json "[x['pool']['$1'] for p in d['processes'] for x in p['devices']
		if x['device'] == 0][0]"
}

# ---- each promise in a process of its own -------------------------------------

FAKECUDA_DEVICES=2
export FAKECUDA_DEVICES
for name in reuse busy several destroyed contexts context_ends captures \
	captured_again captured_and_destroyed known known_to_devices managed \
	sizes misuse faults free_bytes \
	bound stale many_streams trim_all trim_elsewhere trim_in_capture; do
	kept "$scratch/cases" $name
done
name="contexts that do not mix"
FAKECUDA_STRICT=1 kept "$scratch/cases" context_ends
name="another library's wrappers"
kept env -u GPUMEM_PLUGIN_PATH -u GPUMEM_BACKEND "$scratch/cases" \
	unknown_variant "$scratch/next.so"
json_is "[p['stopped'] for p in d['processes']]" "['cuStreamCreate']" \
	"are what stops it"
name="a stream that records for graphics"
kept "$scratch/cases" captured_for_graphics
json_is "[p['stopped'] for p in d['processes']]" \
	"['cuStreamBeginCaptureToCig']" "stops it, too"
# The program can write what it likes into its ledger.
exits 0 "and which is not trusted" "$run" --adopt --report="$scratch/report" sh -c \
	'"$1" unknown_variant "$2"; LC_ALL=C sed -i "s/cuStreamC/$3/" \
		"$GPUMEM_RUN_LEDGERS"/*.ledger' \
	- "$scratch/cases" "$scratch/next.so" "$(printf '\033[2J12345')"
check "is printed clean" grep -qF 'because of \x1b[2J12345reate' "$scratch/report"
FAKECUDA_MEMORY=128MiB
export FAKECUDA_MEMORY
for name in full tight; do
	kept "$scratch/cases" $name
done
unset FAKECUDA_MEMORY
for name in captures_refused lost; do
	"$scratch/cases" $name >"$scratch/without"
	"$run" --adopt --report="$scratch/out" "$scratch/cases" $name \
		>"$scratch/with"
	is "$(cat "$scratch/with")" "$(cat "$scratch/without")" \
		"$name: what the driver says"
done

# ---- at random -----------------------------------------------------------------

for seed in 1 2 3; do
	name="streams that stand still, seed $seed"
	kept "$scratch/random" $seed 2000
done
if have_python; then
	check "of which blocks were handed out again" [ "$(pool hits)" -gt 20 ]
	check "and some went back" [ "$(pool returned)" -gt 0 ]
else
	skip "there is no python3" "the figures"
fi
FAKECUDA_ASYNC=1
export FAKECUDA_ASYNC
for seed in 4 5; do
	name="streams that run, and four threads, seed $seed"
	kept "$scratch/random" $seed 2000 4
done
unset FAKECUDA_ASYNC

# ---- the report ------------------------------------------------------------------

name="the figures"
kept "$scratch/cases" reuse
json_is "[(x['pool']['hits'], x['pool']['misses'], x['pool']['returned'],
	x['pool']['peak_bytes'], x['pool']['current_bytes'],
	x['reserved_peak_bytes'], x['reserved_bytes'])
	for p in d['processes'] for x in p['devices']]" \
	"[(200, 2, 0, 3145828, 3145828, 3145828, 3145828)]" "are exact"
exits 0 "as text" "$run" --adopt "$scratch/cases" reuse
check "in a row" grep -q \
	'^    200 of 202 allocations were such blocks; 0 went back$' "$scratch/err"
for options in "" "--adopt --no-pool"; do
	exits 1 "gpumem-run $options" "$run" $options --json \
		--report="$scratch/out" "$scratch/cases" reuse
	json_is "[(x['pool']['hits'], x['pool']['misses'],
		x['pool']['peak_bytes'])
		for p in d['processes'] for x in p['devices']]" "[(0, 0, 0)]" \
		"keeps nothing"
done
exits 1 "a tool that watches the driver" env CUDA_INJECTION64_PATH=/nowhere \
	"$run" --adopt --report="$scratch/out" "$scratch/cases" reuse
echo 'int nothing;' >"$scratch/nothing.c"
check "a library of compute-sanitizer compiles" $CC -w -shared -fPIC \
	-o "$scratch/libsanitizer-collection.so" "$scratch/nothing.c"
exits 1 "under compute-sanitizer" \
	env LD_PRELOAD="libsanitizer-collection.so" \
	LD_LIBRARY_PATH="$scratch:$LD_LIBRARY_PATH" "$run" --adopt --json \
	--report="$scratch/out" "$scratch/cases" reuse
json_is "[(p['stopped'], x['pool']['hits'], x['pool']['peak_bytes'])
	for p in d['processes'] for x in p['devices']]" \
	"[('compute-sanitizer', 0, 0)]" "nothing is kept"
exits 0 "gpumem-run --adopt inside gpumem-run" "$run" \
	--report="$scratch/report" "$run" --adopt --report="$scratch/out" \
	"$scratch/cases" reuse
exits 1 "gpumem-run inside gpumem-run --adopt" "$run" --adopt \
	--report="$scratch/report" "$run" --report="$scratch/out" \
	"$scratch/cases" reuse

done_testing
