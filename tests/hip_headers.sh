#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# Our own declarations of HIP say what AMD's headers say: those that are
# installed, and those in each folder of GPUMEM_HIP_HEADERS, separated by colons,
# with which all that uses HIP compiles, too. The doubles are made of NVIDIA's
# driver, whose headers are those of the build.

. "${top_srcdir:-.}/tests/tap.sh"

cd "$top_srcdir" || exit 1
. tests/vendor/compare.sh
own=backends/vendor/hip
own_files="hip/driver_types.h hip/hip_runtime_api.h"
own_flags=-D__HIP_PLATFORM_AMD__
own_least=50

included()
{
	echo '#include <hip/hip_runtime_api.h>'
	echo '#include <hip/hip_version.h>'
}

# Our own are named as seen from the build.
cuda=$(sed -n -e 's,^CUDA_CPPFLAGS = .*/\(backends/vendor/cuda\)$,-isystem \1,p; t' \
	-e 's/^CUDA_CPPFLAGS = //p' "$top_builddir/Makefile")
sources()
{
	find backends/hip backends/common/gpu -name '*.c' |
		xargs echo -Ibackends/hip
	find tools/preload -name 'hip*.c' | xargs echo -DPRELOAD_HIP
	find tests/fake/hip tests/unit/fake -name 'hip*.c' |
		xargs echo -DFAKEHIP_MAJOR=7 "$cuda"
}

compare_all "${GPUMEM_HIP_HEADERS-}" hip/hip_runtime_api.h \
	/opt/rocm/include /usr/include ||
	skip "neither /opt/rocm nor /usr has HIP's, and GPUMEM_HIP_HEADERS names none" \
		"AMD's headers"

finds hip/driver_types.h 's/hipErrorNotReady = 600/hipErrorNotReady = 601/' \
	"a wrong number"
finds hip/driver_types.h 's/hipStreamNonBlocking 1/hipStreamNonBlocking 2/' \
	"one of a macro"
finds hip/driver_types.h 's/^\tint id;/\tlong id;/' "a wrong size"
finds hip/driver_types.h 's/^\tint isManaged;/\tvoid *isManaged;/' \
	"a wrong place"
finds hip/driver_types.h 's/^\tsize_t xsize;/\tsize_t width;/' "a wrong member"
finds hip/driver_types.h 's/^typedef int hipDevice_t/typedef long hipDevice_t/' \
	"a wrong type"
finds hip/hip_runtime_api.h 's/hipMemUnmap(void \*/hipMemUnmap(int */' \
	"a wrong prototype"
finds hip/hip_runtime_api.h 's/hipMemUnmap(/hipMemNmap(/' "a wrong function"
done_testing
