#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# The cuda backend as it is installed, through the tools: without a driver, and
# over the double of the driver, which is libcuda.so.1 for whoever finds it
# first.

. "${top_srcdir:-.}/tests/tap.sh"
. "$top_srcdir/tests/tool.sh"

plugins=$top_builddir/backends/.libs
plugin=$plugins/cuda.so
double=$top_builddir/tests/fake/cuda/.libs
trace=$top_srcdir/tests/traces/llama_generate.trace.gz

[ -f "$plugin" ] || skip_all "configured without cuda"
need_tool conform
GPUMEM_PLUGIN_PATH=$plugins
export GPUMEM_PLUGIN_PATH

# on_double COMMAND...: with the double as the driver
on_double()
{
	env LD_LIBRARY_PATH="$double${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$@"
}

# ---- the file --------------------------------------------------------------

is "$(nm -D --defined-only "$plugin" | awk '$2 != "A" { print $3 }' |
	sed 's/@.*//')" gpumem_plugin "it exports one function"
needed=$(objdump -p "$plugin" | awk '$1 == "NEEDED" { print $2 }' |
	grep -vE '^(libc|libpthread|libdl|ld-linux[a-z0-9-]*)\.so\.[0-9]+$')
if [ "${SANITIZER:-none}" = none ]; then
	is "$needed" "" "it needs libc only"
	is "$(nm -D --undefined-only "$plugin" | grep -E ' (cu|gm|gpumem)[A-Z_]')" \
		"" "it needs no symbol of the driver or the library"
else
	skip "a sanitizer's runtime is linked" "it needs libc only"
fi

sed -n 's/^\tX(\([A-Za-z0-9_]*\),.*/\1/p' \
	"$top_srcdir/backends/cuda/cuda_symbols.h" | sort >"$scratch/wanted"
nm -D --defined-only "$double/libcuda.so.1" | awk '{ print $3 }' |
	sed 's/@.*//' | sort >"$scratch/had"
check "it looks up driver functions" grep -qx cuMemAlloc_v2 "$scratch/wanted"
is "$(comm -23 "$scratch/wanted" "$scratch/had")" "" \
	"the double has all of them"

# ---- without a driver ------------------------------------------------------

exits 3 "no driver" with cuda.library:/nonexistent/libcuda.so.1 \
	"$tools/gpumem-probe" --backend cuda
is "$(wc -l <"$scratch/err")" 1 "is one line"
check "that says what is missing" \
	grep -q 'the NVIDIA driver is not installed' "$scratch/err"
check "and how to get it" grep -q 'apt install libcuda1' "$scratch/err"
exits 0 "which disturbs nobody else" \
	with cuda.library:/nonexistent/libcuda.so.1 \
	env GPUMEM_BACKEND=auto,host "$tools/gpumem-probe"
check "host is chosen" grep -qE '^  host +\* +ok' "$scratch/out"
check "the row says its name once" \
	grep -qE '^  cuda +no driver +the NVIDIA driver' "$scratch/out"
exits 3 "no device" on_double env FAKECUDA_INIT=100 \
	"$tools/gpumem-probe" --backend cuda
check "says so" grep -q 'CUDA_VISIBLE_DEVICES' "$scratch/err"

# ---- over the double -------------------------------------------------------

exits 0 "two devices" on_double env FAKECUDA_DEVICES=2 \
	"$tools/gpumem-probe" --backend cuda --json
valid_json "they are described"
exits 0 "chosen before host" on_double env GPUMEM_BACKEND=auto \
	"$tools/gpumem-probe"
check "when there is a driver" grep -qE '^  cuda +\* +ok' "$scratch/out"

exits 0 "who holds what" on_double env FAKENVML_COMPUTE=4 \
	GPUMEM_CONF="cuda.nvml:$double/libnvidia-ml.so.1" \
	"$tools/gpumem-probe" --device cuda:0 --json
json_is "[(p['pid'], p['bytes'], p['name'])
	for b in d['backends'] for x in b['devices'] for p in x['processes']]" \
	"[(1003, None, 'program-1003'), (1002, 1050673152, ''), (1001, 1049624576, 'program-1001'), (1000, 1048576000, 'program-1000')]" \
	"the largest first"
exits 0 "without NVML" on_double env \
	GPUMEM_CONF=cuda.nvml:/nonexistent/libnvidia-ml.so.1 \
	"$tools/gpumem-probe" --device cuda:0
check "nobody can tell" grep -qE '^  held by .*NVML' "$scratch/out"

lesser='FAKECUDA_NO_PEERS=1 FAKECUDA_MEMORY=1GiB FAKECUDA_ASYNC=1
	FAKECUDA_NO_VMM=1 FAKECUDA_VERSION=11000'
if [ "${SANITIZER:-none}" = thread ]; then
	skip "$conform_under_tsan" "it conforms, with less"
	lesser=
fi
for setting in FAKECUDA_DEVICES=2 $lesser; do
	exits 0 "it conforms, with $setting" on_double env "$setting" \
		"$tools/gpumem-conform" "$plugin"
	grep -E '^not ok|^Bail' "$scratch/out" | sed 's/^/#   /'
done

# ---- a recorded program ----------------------------------------------------

# ratio DEVICE [COMMAND...]: what peak reserved is of peak requested
ratio()
{
	device=$1
	shift
	"$@" "$tools/gpumem-replay" --device "$device" --json "$trace" \
		2>"$scratch/err" |
		sed -n 's/.*"reserved_ratio": *\([0-9.]*\).*/\1/p'
}

host_ratio=$(ratio host:0)
cuda_ratio=$(ratio cuda:0 on_double)
check "a trace is replayed" test -n "$host_ratio"
is "$cuda_ratio" "$host_ratio" "and takes what it takes on host"
cat "$scratch/err" | sed 's/^/# /'

done_testing
