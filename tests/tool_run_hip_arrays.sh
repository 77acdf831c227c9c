#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# gpumem-run and arrays of AMD's runtime: counted once and exactly, limited and
# recorded. Over a runtime of the test's own, and over the doubles of ROCm 5, 6 and
# 7, which speak to NVIDIA's driver. No proof of AMD's runtime or its devices.

. "${top_srcdir:-.}/tests/tap.sh"
. "$top_srcdir/tests/tool.sh"

need_run_hip
check "a runtime compiles" $CC -w -shared -fPIC \
	-o "$plain/libamdhip64.so.9" -Wl,-soname,libamdhip64.so.9 \
	-Wl,--version-script="$source/hip_below.map" \
	"$source"/hip_below*.c -ldl -lpthread
check "a program does" $CC -w -o "$scratch/array" "$source/hip_array.c" \
	-ldl -lpthread
before=$LD_LIBRARY_PATH

# arrays_are CASE FIGURES WHAT: of the runtime with number $release
arrays_are()
{
	is "$("$scratch/array" "$1" $release 2>&1)" "done" \
		"ROCm $release, $1: without gpumem-run"
	for option in --backend=hip --no-pool ""; do
		is "$("$run" $option --json --report="$scratch/out" \
			"$scratch/array" "$1" $release 2>&1)" "done" \
			"ROCm $release, $1: with $option"
		json_is "[(p['api'], x['peak_bytes'], x['current_bytes'],
			k['allocations'], k['frees'], k['failures'],
			x['kinds']['allocations']['allocations'],
			p['unknown_frees'], p['unhooked'], p['untracked'])
			for p in d['processes'] for x in p['devices']
			for k in [x['kinds']['arrays']]]" "$2" \
			"ROCm $release, $1: $3"
	done
}

limited()
{
	is "$("$run" --limit=64MiB --json --report="$scratch/out" \
		"$scratch/array" "$1" $release 2>&1)" "done" \
		"ROCm $release: --limit, $1"
}

# ---- a runtime of the test's own, and the doubles ---------------------------------

for release in 9 5 6 7; do
	folder=$plain
	[ $release = 9 ] || folder=$doubles/$release/.libs
	[ -e "$folder/libamdhip64.so.$release" ] || {
		skip "there is no double" "ROCm $release"
		continue
	}
	LD_LIBRARY_PATH=$folder:$driver${before:+:$before}
	export LD_LIBRARY_PATH
	arrays_are sizes "[('hip', 832058, 0, 8, 8, 0, 0, 0, 0, 0)]" \
		"in each way, by their elements"
	arrays_are ends "[('hip', 8192, 2048, 2, 1, 2, 0, 0, 0, 0)]" \
		"what is left of them"
	limited limited
	json_is "[(x['refused'], x['peak_bytes'], x['current_bytes'],
		x['kinds']['arrays']['failures']) for p in d['processes']
		for x in p['devices']]" "[(14, 67108864, 0, 13)]" \
		"ROCm $release: what is refused is counted"
	"$run" --json --report="$scratch/out" "$scratch/array" unknown \
		$release >/dev/null 2>&1
	json_is "[(p['devices'], p['unknown_frees'], p['untracked'])
		for p in d['processes']]" "[([], 1, 1)]" \
		"ROCm $release: one of an unknown size is told, and not counted"
done

# ---- a reset, threads, and the recording ---------------------------------------------------

release=9
LD_LIBRARY_PATH=$plain${before:+:$before}
arrays_are reset "[('hip', 2048, 2048, 1, 0, 0, 0, 0, 0, 0)]" \
	"one outlives a reset of its device"
limited threads
BELOW_SLOW=1
export BELOW_SLOW
limited threads
unset BELOW_SLOW
if have_python && [ -x "$tools/gpumem-trace" ]; then
	"$run" --report="$scratch/report" --record="$scratch/recording" \
		"$scratch/array" sizes $release >/dev/null 2>&1
	"$tools/gpumem-trace" --json "$scratch/recording" >"$scratch/out"
	json_is "[(p['name'], p['device'], p['peak_requested_bytes'],
		p['live_bytes'], p['allocations']) for p in d['pools']]" \
		"[('arrays', 'hip:0', 832058, 0, 8)]" "they are recorded"
else
	skip "no python3 or no gpumem-trace" "the recording"
fi

done_testing
