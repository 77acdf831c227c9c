# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# What the tests share that run programs over the OpenCL implementations of this
# machine, one at a time. Sourced after tool.sh; skips all without the plugin.

vendors=${OPENCL_TEST_VENDORS:-/etc/OpenCL/vendors}
oclgrind_icd=${OCLGRIND_ICD:-/usr/lib/oclgrind/liboclgrind-rt-icd.so}
layer=$top_builddir/tests/fake/opencl/.libs/opencl-layer.so
nothing="contexts 0 queues 0 memory 0 svm 0 events 0"

[ -f "$top_builddir/backends/.libs/opencl.so" ] ||
	skip_all "configured without opencl"
GPUMEM_PLUGIN_PATH=$top_builddir/backends/.libs
LSAN_OPTIONS=detect_leaks=0 # implementations leak; the layer counts ours
export GPUMEM_PLUGIN_PATH LSAN_OPTIONS

# As an implementation for the loader: the program `oclgrind` would come between
# a program and the loader, but not between the plugin and the loader.
mkdir "$scratch/icd"
[ ! -f "$oclgrind_icd" ] || echo "$oclgrind_icd" >"$scratch/icd/oclgrind.icd"
for icd in pocl rusticl mesa; do
	[ ! -f "$vendors/$icd.icd" ] ||
		cp "$vendors/$icd.icd" "$scratch/icd/$icd.icd"
done

# can_use ICD NAME: else says why not, as a test of that name
can_use()
{
	if [ ! -f "$scratch/icd/$1.icd" ]; then
		skip "$1 is not installed" "$2"
	elif [ "${SANITIZER:-none}" = thread ] && [ "$1" != pocl ]; then
		skip "ThreadSanitizer takes its own work for races" "$2"
	elif no_device over "$1"; then
		skip "$1 takes no processor for a device in this version" "$2"
	else
		return 0
	fi
	return 1
}

# over ICD [NAME=VALUE...] COMMAND...: with that implementation alone, whose
# devices have 1 or 2 GiB
over()
{
	icd=$1
	shift
	env OCL_ICD_VENDORS="$scratch/icd/$icd.icd" POCL_MEMORY_LIMIT=1 \
		POCL_DEVICES=pthread RUSTICL_ENABLE=llvmpipe LP_CL=1 \
		OCLGRIND_GLOBAL_MEM_SIZE=1073741824 "$@"
}

# audited ICD [NAME=VALUE...] COMMAND...: the same; what is held when it ends is
# written to $scratch/held
audited()
{
	rm -f "$scratch/held"
	icd=$1
	shift
	over "$icd" OPENCL_LAYERS="$layer" FAKECL_AUDIT="$scratch/held" "$@"
}
