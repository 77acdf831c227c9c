#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# The hip backend as it is installed, through the tools: without a runtime,
# with AMD's own and no device, and over the doubles of ROCm 5, 6 and 7, which
# are libamdhip64.so for whoever finds them first. They speak to the double of
# CUDA's driver, so nothing here is proof of AMD's runtime or its devices.

. "${top_srcdir:-.}/tests/tap.sh"
. "$top_srcdir/tests/tool.sh"

plugins=$top_builddir/backends/.libs
plugin=$plugins/hip.so
doubles=$top_builddir/tests/fake/hip
driver=$top_builddir/tests/fake/cuda/.libs

[ -f "$plugin" ] || skip_all "configured without hip"
need_tool conform
GPUMEM_PLUGIN_PATH=$plugins
export GPUMEM_PLUGIN_PATH

# on MAJOR COMMAND...: with the double of that release as the runtime
on()
{
	path=$doubles/$1/.libs:$driver${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
	shift
	env LD_LIBRARY_PATH="$path" "$@"
}

# ---- the file --------------------------------------------------------------

is "$(nm -D --defined-only "$plugin" | awk '$2 != "A" { print $3 }' |
	sed 's/@.*//')" gpumem_plugin "it exports one function"
if [ "${SANITIZER:-none}" = none ]; then
	is "$(objdump -p "$plugin" | awk '$1 == "NEEDED" { print $2 }' |
		grep -vE '^(libc|libpthread|libdl|ld-linux[a-z0-9-]*)\.so\.[0-9]+$')" \
		"" "it needs libc only"
	is "$(nm -D --undefined-only "$plugin" |
		grep -E ' (hip|gm|gpumem)[A-Z_]')" \
		"" "it needs no symbol of the runtime or the library"
else
	skip "a sanitizer's runtime is linked" "it needs libc only"
fi

# ---- without a device ------------------------------------------------------

exits 3 "no runtime" with hip.library:/nonexistent/libamdhip64.so.6 \
	"$tools/gpumem-probe" --backend hip
is "$(wc -l <"$scratch/err")" 1 "is one line"
check "that says what is missing" grep -q 'is not installed' "$scratch/err"
check "and how to get it" grep -q 'apt install libamdhip64-5' "$scratch/err"
exits 3 "not the runtime" with hip.library:libc.so.6 \
	"$tools/gpumem-probe" --backend hip
check "says so" grep -q 'no HIP runtime of AMD' "$scratch/err"

real=$(/sbin/ldconfig -p 2>/dev/null |
	sed -n 's/.*libamdhip64\.so\.[0-9]* .*=> //p' | head -n 1)
if [ -n "$real" ] && [ ! -e /dev/kfd ] && [ "${SANITIZER:-none}" = none ]; then
	exits 3 "AMD's own runtime and no device" with "hip.library:$real" \
		"$tools/gpumem-probe" --backend hip
	is "$(wc -l <"$scratch/err")" 1 "is one line"
	check "that says what to look at" grep -q HIP_VISIBLE_DEVICES \
		"$scratch/err"
	is "$(cat "$scratch/out")" "" "and nothing else is printed"
	exits 0 "which disturbs nobody else" with "hip.library:$real" \
		env GPUMEM_BACKEND=auto,host "$tools/gpumem-probe"
else
	skip "no libamdhip64 of AMD here, or a device, or a sanitizer" \
		"AMD's own runtime and no device"
fi

[ -e "$doubles/6/.libs/libamdhip64.so.6" ] || {
	skip "configured without cuda" "the doubles"
	done_testing
	exit
}

sed -n 's/^\tX(\([A-Za-z0-9_]*\),.*/\1/p' \
	"$top_srcdir/backends/hip/hip_symbols.h" | sort >"$scratch/wanted"
nm -D --defined-only "$doubles/7/.libs/libamdhip64.so.7" |
	awk '{ print $3 }' | sed 's/@.*//' | sort >"$scratch/had"
check "it looks up the runtime's functions" grep -qx hipMalloc "$scratch/wanted"
is "$(comm -23 "$scratch/wanted" "$scratch/had")" "" \
	"the double of ROCm 7 has all of them"

# ---- the contract, by release and level ------------------------------------

# note MAJOR SETTING NOTE: of the device once it is open
note()
{
	exits 0 "opened on ROCm $1, with $2" on "$1" env "$2" \
		"$tools/gpumem-probe" --device hip:0 --json
	json_is "d['backends'][0]['devices'][0]['note']" "$3" "its note"
}

# conforms MAJOR SETTING NOTE
conforms()
{
	note "$@"
	case ${SANITIZER:-none}:$1:$2 in
	thread:6:FAKECUDA_DEVICES=2 | thread:*:GPUMEM_CONF=*) ;;
	thread:*)
		skip "$conform_under_tsan" "ROCm $1 conforms, with $2"
		return
		;;
	esac
	exits 0 "ROCm $1 conforms, with $2" on "$1" env "$2" \
		"$tools/gpumem-conform" "$plugin"
	grep -E '^not ok|^Bail|SKIP /' "$scratch/out" | sed 's/^/#   /'
	check "and is not skipped" grep -q '^ok 50 ' "$scratch/out"
}

trial='virtual memory: %s (hip.vm), as a trial showed that %s'
twice='second mappings: off, as %s'
stays='memory that was given back stays taken'
access='memory cannot be mapped, or access not given'
none='no allocation can be made of it'
forced='virtual memory: %s, as hip.vm says, without a trial'
conforms 5 FAKECUDA_DEVICES=2 'virtual memory: off, as this runtime, 5.2.21153, has none; ROCm 6.1 and later may'
conforms 6 FAKECUDA_DEVICES=2 ""
conforms 7 FAKECUDA_DEVICES=2 ""
# Two devices, so that none of these is spared the other as a peer.
FAKECUDA_DEVICES=2
export FAKECUDA_DEVICES
# shellcheck disable=SC2059
{
	conforms 6 FAKEHIP_QUIRKS=joint_unmap "$(printf "$trial" single 'what was unmapped cannot be mapped again')"
	conforms 6 FAKEHIP_QUIRKS=once "$(printf "$twice" 'a page is mapped once only')"
	note 6 FAKEHIP_QUIRKS=copies "$(printf "$twice" 'two mappings of a page differ')"
	note 7 FAKEHIP_QUIRKS=together "$(printf "$twice" 'a mapping goes with another')"
	note 6 FAKEHIP_QUIRKS=twice_taken "$(printf "$twice" "$stays")"
	note 6 FAKEHIP_QUIRKS=joint_access,copies "$(printf "$trial" single "$access"); $(printf "$twice" 'two mappings of a page differ')"
	conforms 6 GPUMEM_CONF=hip.alias:off "$(printf "$twice" 'hip.alias says so')"
	note 6 FAKEHIP_QUIRKS=joint_access "$(printf "$trial" single "$access")"
	note 6 FAKEHIP_QUIRKS=no_access "$(printf "$trial" off "$access, then that $none")"
	conforms 6 FAKEHIP_QUIRKS=stuck "$(printf "$trial" reserve "$stays")"
	note 6 FAKEHIP_QUIRKS=never "$(printf "$trial" off "$stays")"
	conforms 7 GPUMEM_CONF=hip.vm:reserve "$(printf "$forced" reserve)"
	note 7 FAKEHIP_QUIRKS=stuck "$(printf "$trial" reserve "$stays")"
	note 6 FAKEHIP_QUIRKS=stuck,never "$(printf "$trial" off "$stays")"
	conforms 6 GPUMEM_CONF=hip.vm:off "$(printf "$forced" off)"
	note 6 GPUMEM_CONF=hip.vm:full "$(printf "$forced" full)"
	note 6 GPUMEM_CONF=hip.vm:single "$(printf "$forced" single)"
}
unset FAKECUDA_DEVICES
exits 0 "as text" on 6 env GPUMEM_CONF=hip.vm:off "$tools/gpumem-probe" \
	--device hip:0
check "the note is a line" \
	grep -q '^  note  *virtual memory: off, as hip.vm says' "$scratch/out"
exits 3 "a release that is too old" on 5 env FAKEHIP_VERSION=49999999 \
	"$tools/gpumem-probe" --backend hip
check "is told so" grep -q 'is of ROCm 4.99, and 5.0 or later' "$scratch/err"
exits 2 "a level that is none" on 6 env GPUMEM_CONF=hip.vm:most \
	"$tools/gpumem-probe" --device hip:0
check "is told" grep -q 'has to be auto, full' "$scratch/err"

# ---- what the kernel says --------------------------------------------------

sys=$scratch/sys
kfd=$sys/class/kfd/kfd
pci=$sys/bus/pci/devices/0000:41:00.0
mkdir -p "$kfd/topology/nodes/0" "$kfd/topology/nodes/1" \
	"$kfd/topology/nodes/2" "$kfd/proc/101" "$kfd/proc/102" \
	"$kfd/proc/103" "$pci"
printf 'cpu_cores_count 8\nlocation_id 0\ndomain 0\n' \
	>"$kfd/topology/nodes/0/properties"
echo 0 >"$kfd/topology/nodes/0/gpu_id"
printf 'simd_count 8\nlocation_id %d\ndomain 0\n' $((0x41 << 8)) \
	>"$kfd/topology/nodes/1/properties"
echo 4711 >"$kfd/topology/nodes/1/gpu_id"
printf 'simd_count 8\nlocation_id %d\ndomain 1\n' $((0x41 << 8)) \
	>"$kfd/topology/nodes/2/properties"
echo 4712 >"$kfd/topology/nodes/2/gpu_id"
echo 1048576 >"$kfd/proc/101/vram_4711"
echo 4096 >"$kfd/proc/102/vram_4711"
echo 9999 >"$kfd/proc/102/vram_4712"
echo 5555 >"$kfd/proc/103/vram_4712"
exits 0 "who holds what" on 6 env GPUMEM_CONF="hip.sysfs:$sys" \
	"$tools/gpumem-probe" --device hip:0 --json
json_is "[(p['pid'], p['bytes'])
	for b in d['backends'] for x in b['devices'] for p in x['processes']]" \
	"[(101, 1048576), (102, 4096)]" "of this device only"
echo 17179869184 >"$pci/mem_info_vram_total"
echo 16106127360 >"$pci/mem_info_vram_used"
exits 0 "where the runtime knows this process only" on 5 \
	env GPUMEM_CONF="hip.sysfs:$sys" "$tools/gpumem-probe" --device hip:0
check "the kernel's word counts" grep -qE '^  free memory +1 GiB' \
	"$scratch/out"
exits 0 "the last of which is 5.6" on 5 env FAKEHIP_VERSION=50699999 \
	GPUMEM_CONF="hip.sysfs:$sys" "$tools/gpumem-probe" --device hip:0
check "too" grep -qE '^  free memory +1 GiB' "$scratch/out"
exits 0 "where it knows the device, from 5.7 on" on 5 \
	env FAKEHIP_VERSION=50700000 GPUMEM_CONF="hip.sysfs:$sys" \
	"$tools/gpumem-probe" --device hip:0
check "its own does" grep -qE '^  free memory +16 GiB' "$scratch/out"
exits 0 "in 7" on 7 \
	env GPUMEM_CONF="hip.sysfs:$sys,hip.vm:full" "$tools/gpumem-probe" \
	--device hip:0
check "too" grep -qE '^  free memory +16 GiB' "$scratch/out"

# ---- recorded programs -----------------------------------------------------

# ratio DEVICE TRACE [COMMAND...]: what peak reserved is of peak requested
ratio()
{
	device=$1
	trace=$top_srcdir/tests/traces/$2
	shift 2
	"$@" "$tools/gpumem-replay" --device "$device" --json "$trace" \
		2>"$scratch/err" |
		sed -n 's/.*"reserved_ratio": *\([0-9.]*\).*/\1/p'
}

on_cuda()
{
	env LD_LIBRARY_PATH="$driver${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$@"
}

# near A B MOST: they differ by less
near()
{
	awk -v a="${1:-0}" -v b="${2:-9}" -v most="$3" \
		'BEGIN { d = a - b; exit !(d < most && d > -most) }'
}

# as_cuda MAJOR TRACE RATIO
as_cuda()
{
	hip=$(ratio hip:0 "$2" on "$1")
	check "$2 on ROCm $1 takes $hip, on cuda $3" near "$hip" "$3" 0.005
}

# One of those that were recorded takes more than the double has.
FAKECUDA_MEMORY=64GiB
export FAKECUDA_MEMORY
for name in $(recorded); do
	trace=$name.trace.gz
	as_cuda 6 "$trace" "$(ratio cuda:0 "$trace" on_cuda)"
done

# as_off MAJOR TRACE: raw allocations made of virtual memory or by hipMalloc().
# With some of the traces it matters where they lie, and no two runs are equal.
as_off()
{
	case $2 in
	llm_serving.*) most=0.2 ;;
	threads_inference.*) most=0.1 ;;
	*) most=0.02 ;;
	esac
	off=$(ratio hip:0 "$2" on "$1" env GPUMEM_CONF=hip.vm:off)
	hip=$(ratio hip:0 "$2" on "$1" env GPUMEM_CONF=hip.vm:reserve)
	check "$2 on ROCm $1 takes $hip at reserve, at off $off" \
		near "$hip" "$off" $most
}

for name in $(recorded); do
	as_off 6 "$name.trace.gz"
done
trace=llama_generate.trace.gz
as_off 7 $trace
as_cuda 7 $trace "$(ratio cuda:0 $trace on_cuda)"
as_cuda 5 $trace "$(ratio cuda:0 $trace on_cuda env FAKECUDA_NO_VMM=1)"

done_testing
