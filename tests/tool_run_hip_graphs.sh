#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# gpumem-run and graphs of AMD's runtime: what it says that they have is counted,
# once and exactly, limited and recorded, and what a captured stream allocates is
# none of it. Over a runtime of the test's own, and over the doubles of ROCm 5, 6 and
# 7, which speak to NVIDIA's driver. No proof of AMD's runtime or its devices.

. "${top_srcdir:-.}/tests/tap.sh"
. "$top_srcdir/tests/tool.sh"

need_run_hip
check "a runtime compiles" $CC -w -shared -fPIC \
	-o "$plain/libamdhip64.so.9" -Wl,-soname,libamdhip64.so.9 \
	-Wl,--version-script="$source/hip_below.map" \
	"$source"/hip_below*.c -ldl -lpthread
for program in hip_graph_nodes hip_graph_limits; do
	check "$program compiles" $CC -w -o "$scratch/$program" \
		"$source/$program.c" "$source/hip_graph.c" -ldl -lpthread
done
nodes=$scratch/hip_graph_nodes
limits=$scratch/hip_graph_limits
before=$LD_LIBRARY_PATH

# release NUMBER: that of the runtime from here on; false: there is none
release()
{
	release=$1
	folder=$plain
	[ $release = 9 ] || folder=$doubles/$release/.libs
	LD_LIBRARY_PATH=$folder:$driver${before:+:$before}
	export LD_LIBRARY_PATH
	[ -e "$folder/libamdhip64.so.$release" ]
}

# as_without CASE [PROGRAM]: it does what it should, and under gpumem-run the same
as_without()
{
	is "$("${2:-$nodes}" "$1" $release 2>&1)" "done" \
		"ROCm $release, $1: without gpumem-run"
	is "$("$run" --json --report="$scratch/out" "${2:-$nodes}" "$1" \
		$release 2>&1)" "done" "ROCm $release, $1: with it"
}

figures="[[x['device']] + [[k['peak_bytes'], k['current_bytes'],
	k['allocations'], k['frees'], k['failures']]
	for k in (x['kinds']['graphs'], x['kinds']['async'])]
	for p in d['processes'] for x in p['devices']]"

# figures_are FIGURES WHAT: of AMD's runtime alone, and nothing is missing in them
figures_are()
{
	json_is "$figures, [p[n] for p in d['processes'] for n in
		('api', 'unknown_frees', 'unhooked', 'untracked')]" \
		"($1, ['hip', 0, 0, 0])" "$2"
}

# counted CASE FIGURES WHAT: of each device its number; of graphs the peak, what
# is left, allocations, frees and failures; and the same of stream-ordered pools
counted()
{
	as_without "$1"
	figures_are "$2" "ROCm $release, $1: $3"
	"$run" --backend=hip --no-pool --json --report="$scratch/out" "$nodes" \
		"$1" $release >/dev/null 2>&1
	figures_are "$2" "ROCm $release, $1, --no-pool: $3"
}

none="[0, 0, 0, 0, 0]"

# ---- what is counted --------------------------------------------------------------

for number in 9 6 7; do
	release $number || {
		skip "there is no double" "ROCm $number"
		continue
	}
	counted nodes "[[0, [67108864, 33554432, 3, 2, 0], $none]]" \
		"what the runtime has reserved"
	counted uploads "[[0, [33554432, 33554432, 4, 3, 0], $none]]" \
		"by each call that takes some"
	counted captures "[[0, [33554432, 33554432, 1, 0, 0], [4096, 0, 2, 2, 0]]]" \
		"a capture allocates nothing"
	counted none "[[0, $none, [1, 0, 1, 1, 0]]]" \
		"nothing is asked for without a node"
	as_without idle
	json_is "d['processes']" "[]" "ROCm $release, idle: a node is no memory"
	FAKECUDA_DEVICES=2
	export FAKECUDA_DEVICES
	counted devices "[[0, [67108864, 67108864, 1, 0, 0], $none], [1, [100663296, 100663296, 2, 1, 0], $none]]" \
		"it is of the device that the runtime says"
	unset FAKECUDA_DEVICES
	exits 0 "ROCm $release: as text" "$run" "$nodes" nodes $release
	check "its line" grep -qE '^    graphs +64 MiB +32 MiB +3 +2 +0$' \
		"$scratch/err"
	[ $release != 9 ] || continue
	counted again "[[0, $none, [4194304, 0, 2, 2, 0]]]" \
		"where a node was is other memory"
	as_without threads
	json_is "[(k['peak_bytes'], k['current_bytes'],
		k['allocations'] - k['frees']) for p in d['processes']
		for x in p['devices'] for k in [x['kinds']['graphs']]]" \
		"[(201326592, 201326592, 1)]" \
		"ROCm $release: of many threads the last answer counts"
	"$run" --backend=cuda --json --report="$scratch/out" "$nodes" nodes \
		$release >/dev/null 2>&1
	json_is "[p['api'] for p in d['processes']], $figures" \
		"(['cuda'], [[0, [67108864, 33554432, 3, 2, 0], $none]])" \
		"ROCm $release: --backend=cuda, of the driver below it"
done

release 9
counted gives_back "[[0, [100663296, 33554432, 3, 2, 0], $none]]" \
	"a free may give some back"
counted reset "[[0, [67108864, 0, 1, 1, 0], $none]]" "a reset ends it"
BELOW_VERSION=60032830
export BELOW_VERSION
counted idle "[[0, [67108864, 67108864, 1, 0, 0], $none]]" \
	"some take memory with the node"
counted captures "[[0, [33554432, 33554432, 2, 1, 0], [4096, 0, 2, 2, 0]]]" \
	"and in a capture"
counted nodes "[[0, [67108864, 33554432, 3, 2, 0], $none]]" "and no other after it"
for BELOW_VERSION in 50422804 50522804; do
	counted old "[[0, $none, [8388608, 0, 1, 1, 0]]]" \
		"$BELOW_VERSION does not say what graphs have: it counts as ever"
	check "$BELOW_VERSION: and is limited as ever" "$run" --limit=64MiB \
		--report="$scratch/report" "$limits" old $release
done
unset BELOW_VERSION
if release 5; then
	counted old "[[0, $none, [8388608, 0, 1, 1, 0]]]" \
		"what is not captured counts as ever"
else
	skip "there is no double" "ROCm 5"
fi
release 9
BELOW_DEAF=1
export BELOW_DEAF
for BELOW_VERSION in 60443484 70125424; do
	export BELOW_VERSION
	as_without deaf
	json_is "[(x['kinds']['graphs']['allocations'], p['unknown_frees'])
		for p in d['processes'] for x in p['devices']]" "[(0, 0)]" \
		"$BELOW_VERSION: a runtime that does not answer is left alone"
done
unset BELOW_DEAF BELOW_VERSION

# ---- without memory, and errors ---------------------------------------------------

for number in 9 6 7; do
	release $number || continue
	FAKECUDA_MEMORY=100663296
	export FAKECUDA_MEMORY
	left=33554432
	[ $release != 9 ] || left=536870912
	for case in fails fails_twice; do
		failures=1
		[ $case = fails ] || failures=2
		as_without $case "$limits"
		figures_are "[[0, [$left, $left, 1, 0, $failures], $none]]" \
			"ROCm $release, $case: what a failed launch leaves is counted"
	done
	unset FAKECUDA_MEMORY
	as_without errors "$limits"
	for option in --backend=hip --no-pool; do
		is "$("$run" $option --limit=64MiB --json \
			--report="$scratch/out" "$limits" limited $release \
			2>&1)" "done" "ROCm $release, $option: --limit includes graphs"
		json_is "[(x['refused'], x['kinds']['graphs']['failures'])
			for p in d['processes'] for x in p['devices']]" \
			"[(5, 0)]" "ROCm $release: and refuses what comes behind them"
	done
done
release 9
BELOW_VERSION=70125424
export BELOW_VERSION
as_without errors "$limits"
unset BELOW_VERSION
is "$("$run" --limit=64MiB --report="$scratch/report" "$limits" waits $release \
	2>&1)" "done" "what goes back while the program waits is not refused"
BELOW_CALLS_BACK=1
export BELOW_CALLS_BACK
is "$("$run" --limit=64MiB --report="$scratch/report" "$limits" waits $release \
	2>&1)" "done" "a thread of the runtime's own is not kept waiting"
BELOW_CALLS_BACK=trim
"$run" --json --report="$scratch/out" "$nodes" overtaken $release >"$scratch/text" \
	2>&1
is "$(cat "$scratch/text")" "done" "and may be faster than an answer"
figures_are "[[0, [67108864, 0, 1, 1, 0], $none]]" "which counts no more then"
unset BELOW_CALLS_BACK

# ---- the recording ----------------------------------------------------------------

if have_python && [ -x "$tools/gpumem-trace" ]; then
	"$run" --report="$scratch/report" --record="$scratch/recording" \
		"$nodes" nodes $release >/dev/null 2>&1
	"$tools/gpumem-trace" --json "$scratch/recording" >"$scratch/out"
	json_is "[(p['name'], p['device'], p['peak_requested_bytes'],
		p['live_bytes'], p['allocations']) for p in d['pools']]" \
		"[('graphs', 'hip:0', 67108864, 33554432, 3)]" "they are recorded"
else
	skip "no python3 or no gpumem-trace" "the recording"
fi

done_testing
