#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# Our own declarations of HIP say what AMD's headers say: those that are
# installed, and those in each folder of GPUMEM_HIP_HEADERS, separated by colons.

. "${top_srcdir:-.}/tests/tap.sh"

cd "$top_srcdir" || exit 1
. tests/vendor/compare.sh
own=backends/vendor/hip
own_files="hip/driver_types.h hip/hip_runtime_api.h"
own_flags=-D__HIP_PLATFORM_AMD__

included()
{
	echo '#include <hip/hip_runtime_api.h>'
	echo '#include <hip/hip_version.h>'
}

compare_all "${GPUMEM_HIP_HEADERS-}" hip/hip_runtime_api.h \
	/opt/rocm/include /usr/include ||
	skip "neither /opt/rocm nor /usr has HIP's, and GPUMEM_HIP_HEADERS names none" \
		"AMD's headers"

is "$(differences "$own" "$own")" "" "our declarations are as they are"
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
