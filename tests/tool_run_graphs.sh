#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# gpumem-run: memory of graphs is counted when the driver has it, and what a
# captured stream allocates is none. Over the double of NVIDIA's driver.

. "${top_srcdir:-.}/tests/tap.sh"
. "$top_srcdir/tests/tool.sh"

need_run_cuda
for program in graph_nodes graph_limits; do
	check "$program compiles" $CC -w -o "$scratch/$program" \
		"$source/$program.c" "$source/graph.c" "$source/pool.c" \
		-ldl -lpthread
done
nodes=$scratch/graph_nodes
limits=$scratch/graph_limits

# counted CASE FIGURES WHAT: of each device its number; of graphs the peak, what
# is left, allocations, frees and failures; and the same of stream-ordered pools
counted()
{
	is "$("$nodes" "$1" 2>&1)" "done" "$1: without gpumem-run"
	for option in --backend=cuda --no-pool; do
		is "$("$run" $option --json --report="$scratch/out" "$nodes" \
			"$1" 2>&1)" "done" "$1: with $option"
		json_is "[[x['device']] + [[k['peak_bytes'], k['current_bytes'],
			k['allocations'], k['frees'], k['failures']]
			for k in (x['kinds']['graphs'], x['kinds']['async'])]
			for p in d['processes'] for x in p['devices']]" \
			"$2" "$1: $3"
		json_is "[p[n] for p in d['processes'] for n in
			('unknown_frees', 'unhooked', 'untracked')]" \
			"[0, 0, 0]" "$1: nothing is missing"
	done
}

# ---- what is counted ------------------------------------------------------------

none="[0, 0, 0, 0, 0]"
counted nodes "[[0, [67108864, 33554432, 3, 2, 0], $none]]" \
	"what the driver has reserved"
counted resolved "[[0, [67108864, 33554432, 3, 2, 0], $none]]" \
	"by cuGetProcAddress() too"
counted uploads "[[0, [33554432, 33554432, 4, 3, 0], $none]]" \
	"by each call that uploads"
counted third "[[0, [33554432, 33554432, 1, 0, 0], $none]]" \
	"by each function for nodes"
counted captures "[[0, [33554432, 33554432, 1, 0, 0], [4096, 0, 2, 2, 0]]]" \
	"a capture allocates nothing"
counted again "[[0, $none, [4194304, 0, 2, 2, 0]]]" \
	"where a node was is other memory"
counted contexts "[[0, [33554432, 33554432, 1, 0, 0], $none]]" \
	"it outlives contexts"
FAKECUDA_DEVICES=2
export FAKECUDA_DEVICES
counted devices "[[0, [67108864, 67108864, 1, 0, 0], $none], [1, [33554432, 33554432, 1, 0, 0], $none]]" \
	"it is of the node's device"
unset FAKECUDA_DEVICES
counted none "[[0, $none, $none]]" "nothing is asked for without a node"
"$run" --json --report="$scratch/out" "$nodes" again >/dev/null
json_is "[(k['allocations'], k['frees']) for p in d['processes']
	for x in p['devices'] for k in [x['kinds']['allocations']]]" "[(1, 1)]" \
	"again: and of cuMemAlloc()"
"$run" --json --report="$scratch/out" "$nodes" nodes >/dev/null
json_is "[(x['peak_bytes'], x['current_bytes'], x['reserved_peak_bytes'])
	for p in d['processes'] for x in p['devices']]" \
	"[(67108864, 33554432, 67108864)]" "it is in the figures of the device"
is "$("$nodes" twice 2>&1)" "done" "twice: without gpumem-run"
is "$("$run" --adopt --report="$scratch/report" "$nodes" twice 2>&1)" "done" \
	"what is kept where a node was is freed once"
exits 0 "as text" "$run" "$nodes" nodes
check "its line" grep -qE '^    graphs +64 MiB +32 MiB +3 +2 +0$' "$scratch/err"

# ---- without memory -------------------------------------------------------------

FAKECUDA_MEMORY=100663296
export FAKECUDA_MEMORY
for option in --backend=cuda --no-pool; do
	is "$("$run" $option --json --report="$scratch/out" "$limits" full 2>&1)" \
		"done" "$option: what is kept is a graph's if the device is full"
	is "$("$run" $option --json --report="$scratch/out" "$limits" fails 2>&1)" \
		"done" "$option: there is too little"
	json_is "[(k['current_bytes'], k['failures']) for p in d['processes']
		for x in p['devices'] for k in [x['kinds']['graphs']]]" \
		"[(33554432, 1)]" "$option: what a failed launch leaves is counted"
done
unset FAKECUDA_MEMORY
for option in --backend=cuda --no-pool; do
	is "$("$run" $option --limit=64MiB --json --report="$scratch/out" \
		"$limits" limited 2>&1)" "done" "$option: --limit includes graphs"
	json_is "[x['refused'] for p in d['processes'] for x in p['devices']]" \
		"[3]" "$option: and refuses what comes behind them"
done

done_testing
