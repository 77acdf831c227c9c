#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# The opencl backend as it is installed, through the tools: without an
# implementation, and over each of those that this machine has, all of which
# compute on the host's processor.

. "${top_srcdir:-.}/tests/tap.sh"
. "$top_srcdir/tests/tool.sh"

plugins=$top_builddir/backends/.libs
plugin=$plugins/opencl.so
vendors=${OPENCL_TEST_VENDORS:-/etc/OpenCL/vendors}
trace=$top_srcdir/tests/traces/llama_generate.trace.gz

[ -f "$plugin" ] || skip_all "configured without opencl"
need_tool conform
layer=$top_builddir/tests/fake/opencl/.libs/opencl-layer.so
GPUMEM_PLUGIN_PATH=$plugins
export GPUMEM_PLUGIN_PATH

# over ICD COMMAND...: with that implementation alone
over()
{
	icd=$1
	shift
	env OCL_ICD_VENDORS="$vendors/$icd.icd" "$@"
}

# on_pocl COMMAND...: two devices, of 1 GiB each. Not its device "basic": with
# two threads at one queue that stands still, in PoCL 3.1 itself.
on_pocl()
{
	over pocl env POCL_MEMORY_LIMIT=1 POCL_DEVICES="pthread pthread" "$@"
}

on_rusticl()
{
	over rusticl env RUSTICL_ENABLE=llvmpipe "$@"
}

on_mesa()
{
	over mesa env LP_CL=1 "$@"
}

on_oclgrind()
{
	env OCL_ICD_VENDORS="$scratch/oclgrind.icd" "$@"
}

# ---- the file --------------------------------------------------------------

is "$(nm -D --defined-only "$plugin" | awk '$2 != "A" { print $3 }' |
	sed 's/@.*//')" gpumem_plugin "it exports one function"
needed=$(objdump -p "$plugin" | awk '$1 == "NEEDED" { print $2 }' |
	grep -vE '^(libc|libpthread|libdl|ld-linux[a-z0-9-]*)\.so\.[0-9]+$')
if [ "${SANITIZER:-none}" = none ]; then
	is "$needed" "" "it needs libc only"
	is "$(nm -D --undefined-only "$plugin" | grep -E ' (cl|gm|gpumem)[A-Z_]')" \
		"" "it needs no symbol of the loader or the library"
else
	skip "a sanitizer's runtime is linked" "it needs libc only"
fi

# ---- without an implementation ---------------------------------------------

# absent NAME SENTENCE COMMAND...: gives one line that has the sentence
absent()
{
	name=$1
	sentence=$2
	shift 2
	exits 3 "$name" "$@" "$tools/gpumem-probe" --backend opencl
	is "$(wc -l <"$scratch/err")" 1 "is one line"
	check "that says \"$sentence\"" grep -q "$sentence" "$scratch/err"
}

absent "no loader" 'loader is not installed: on Debian apt install ocl-icd-' \
	with opencl.library:/nonexistent/libOpenCL.so.1
exits 0 "which disturbs nobody else" \
	with opencl.library:/nonexistent/libOpenCL.so.1 \
	env GPUMEM_BACKEND=auto,host "$tools/gpumem-probe"
check "host is chosen" grep -qE '^  host +\* +ok' "$scratch/out"
absent "no loader but another library" 'has no function clGet' \
	with opencl.library:libc.so.6
# What follows needs the real one.
if with '' "$tools/gpumem-probe" --backend opencl 2>&1 |
	grep -q 'loader is not installed'; then
	skip "no OpenCL loader is installed" "over an implementation"
	done_testing
fi
mkdir "$scratch/none" "$scratch/broken"
echo "$scratch/no-such-library.so" >"$scratch/broken/broken.icd"
absent "no implementation" 'on Debian apt install intel-opencl-icd' \
	env OCL_ICD_VENDORS="$scratch/none"
absent "one that cannot be loaded" 'or none can be loaded' \
	env OCL_ICD_VENDORS="$scratch/broken"
for icd in mesa rusticl; do
	if [ -f "$vendors/$icd.icd" ]; then
		absent "a platform without devices" 'have no device of OpenCL' \
			over "$icd" env -u LP_CL -u RUSTICL_ENABLE
	else
		skip "$icd is not installed" "a platform without devices"
	fi
done

# ---- over each implementation ----------------------------------------------

# conforms NAME COMMAND...: with the option in $alone
alone=
conforms()
{
	name=$1
	shift
	# shellcheck disable=SC2086
	exits 0 "$name conforms" "$@" "$tools/gpumem-conform" $alone "$plugin"
	grep -E '^not ok|^Bail' "$scratch/out" | sed 's/^/#   /'
	is "$(cat "$scratch/err")" "" "and prints nothing of its own"
}

if [ -f "$vendors/pocl.icd" ]; then
	conforms "PoCL by pointers" on_pocl env GPUMEM_CONF=opencl.memory:svm
	conforms "PoCL by objects" on_pocl env GPUMEM_CONF=opencl.memory:buffer \
		OPENCL_LAYERS="$layer" FAKECL_CROSSED="$scratch/crossed"
	is "$(cat "$scratch/crossed")" 0 \
		"threads put their commands into one queue one after the other"
	others="1 2"
	[ "${GPUMEM_TEST_SCALE-}" != small ] || others=
	for device in $others; do
		exits 0 "its device $device of 3" over pocl env \
			POCL_DEVICES="pthread pthread pthread" \
			POCL_MEMORY_LIMIT=1 \
			"$tools/gpumem-conform" --device=$device "$plugin"
	done
else
	skip "PoCL is not installed" "PoCL conforms"
fi
if [ "${SANITIZER:-none}" = thread ]; then
	# Two implementations whose locks and threads it does not see.
	skip "ThreadSanitizer takes its own work for races" "rusticl conforms"
elif [ -f "$vendors/rusticl.icd" ]; then
	conforms "rusticl" on_rusticl
else
	skip "rusticl is not installed" "rusticl conforms"
fi
if [ "${SANITIZER:-none}" = thread ]; then
	skip "ThreadSanitizer takes its own work for races" "Clover conforms"
elif no_device on_mesa; then
	skip "Clover takes no processor for a device in this version" \
		"Clover conforms"
elif [ -f "$vendors/mesa.icd" ]; then
	conforms "Clover" on_mesa
else
	skip "Clover is not installed" "Clover conforms"
fi
# Its program is not asked: it comes between a program and the loader, and so
# between nobody and the loader that the plugin opens itself.
oclgrind_icd=${OCLGRIND_ICD:-/usr/lib/oclgrind/liboclgrind-rt-icd.so}
if [ "${SANITIZER:-none}" = thread ]; then
	skip "ThreadSanitizer takes its own work for races" "oclgrind conforms"
elif [ -f "$oclgrind_icd" ]; then
	echo "$oclgrind_icd" >"$scratch/oclgrind.icd"
	# Two threads that enqueue at once crash it, in one run of six.
	alone=--one-thread
	conforms "oclgrind" on_oclgrind
	alone=
else
	skip "oclgrind is not installed" "oclgrind conforms"
fi

# What an untouched block takes of the host, as far as it is known; gpumem-conform
# has measured it above.
for row in pocl:True rusticl:False mesa:True oclgrind:False; do
	icd=${row%:*}
	[ -f "$vendors/$icd.icd" ] || [ -f "$scratch/$icd.icd" ] || continue
	! no_device on_"$icd" || continue
	exits 0 "$icd is described" on_"$icd" "$tools/gpumem-probe" \
		--backend opencl --json
	json_is "['LATE_COMMIT' in str(x['capabilities']).upper()
		for b in d['backends'] for x in b['devices']][0]" \
		"${row#*:}" "whether it commits at the first use"
done

[ -f "$vendors/pocl.icd" ] || done_testing

# ---- devices ---------------------------------------------------------------

exits 0 "two devices" on_pocl "$tools/gpumem-probe" --backend opencl --json
valid_json "they are described"
json_is "[x['name'] for b in d['backends'] for x in b['devices']]" \
	"['opencl:0', 'opencl:1']" "and numbered"
exits 0 "all implementations at once" env \
	OCL_ICD_VENDORS="$vendors" LP_CL=1 RUSTICL_ENABLE=llvmpipe \
	POCL_DEVICES=pthread "$tools/gpumem-probe" --backend opencl --json
json_is "[x['product'].split(', ')[-1] for b in d['backends']
	for x in b['devices']] == sorted([x['product'].split(', ')[-1]
	for b in d['backends'] for x in b['devices']])" True \
	"are in the order of their names"
exits 0 "a processor is not chosen" on_pocl env GPUMEM_BACKEND=auto,host \
	"$tools/gpumem-probe"
check "before host" grep -qE '^  host +\* +ok' "$scratch/out"
exits 0 "unless by name" on_pocl env GPUMEM_BACKEND=opencl,host \
	"$tools/gpumem-probe"
check "then it is" grep -qE '^  opencl +\* +ok' "$scratch/out"
for memory in svm buffer; do
	exits 0 "the tests of the probe, $memory" on_pocl env \
		GPUMEM_CONF=opencl.memory:$memory "$tools/gpumem-probe" \
		--device opencl:0 --test
done
exits 0 "a smaller device" on_pocl env GPUMEM_CONF=opencl.capacity:96MiB \
	"$tools/gpumem-probe" --device opencl:1 --json
json_is "[x['total_bytes'] for b in d['backends'] for x in b['devices']]" \
	"[100663296]" "is as small as that"
exits 1 "a program that is too large" on_pocl env \
	GPUMEM_CONF=opencl.capacity:1GiB "$tools/gpumem-replay" \
	--device opencl:0 "$trace"
check "is told so" grep -q 'opencl:0 is out of memory' "$scratch/err"

# ---- a recorded program ----------------------------------------------------

# stats DEVICE COMMAND...: what the pool counts of the trace, with blocks of a size
# that every machine has memory for. Not times, nor what a trim leaves: which
# segments the last blocks lie in goes by the addresses that the device gives.
stats()
{
	device=$1
	shift
	"$@" "$tools/gpumem-replay" --device "$device" --scale=1/32 --json \
		"$trace" 2>"$scratch/err" | grep -E \
		'"((peak|final)_[a-z_]*|blocks|hits|misses|retries|[a-z_]*ratio)"' |
		grep -v after_trim
}

stats host:0 with vm:off,host.page:64KiB >"$scratch/host"
check "a trace is replayed" grep -q reserved_ratio "$scratch/host"
for memory in svm buffer; do
	stats opencl:0 on_pocl env OPENCL_LAYERS="$layer" FAKECL_PROMPT=1 \
		GPUMEM_CONF=opencl.memory:$memory >"$scratch/$memory"
	check "$memory counts what host counts" \
		diff "$scratch/host" "$scratch/$memory"
	sed 's/^/# /' "$scratch/err"
done

done_testing
