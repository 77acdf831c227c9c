#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# Our own declarations of OpenCL say what Khronos' headers say: those that are
# installed, and those in each folder of GPUMEM_OPENCL_HEADERS, separated by
# colons, with which all that uses OpenCL compiles, too.

. "${top_srcdir:-.}/tests/tap.sh"

cd "$top_srcdir" || exit 1
. tests/vendor/compare.sh
own=backends/vendor/opencl
own_files="CL/cl_platform.h CL/cl_constants.h CL/cl.h CL/cl_ext.h CL/cl_icd.h
	CL/cl_layer.h"
own_flags="-DCL_TARGET_OPENCL_VERSION=300 -DCL_USE_DEPRECATED_OPENCL_1_1_APIS
	-DCL_USE_DEPRECATED_OPENCL_1_2_APIS"
own_least=50

included()
{
	echo '#include <CL/cl_layer.h>'
	echo '#include <CL/cl_ext.h>'
}

sources()
{
	find backends/opencl tools/layer tests/fake/opencl tests/run/opencl*.c \
		-name '*.c' | xargs
}

compare_all "${GPUMEM_OPENCL_HEADERS-}" CL/cl_layer.h \
	/usr/include /usr/local/include ||
	skip "neither /usr nor /usr/local has OpenCL's with cl_layer.h, and GPUMEM_OPENCL_HEADERS names none" \
		"Khronos' headers"

finds CL/cl_constants.h 's/CL_OUT_OF_RESOURCES (-5)/CL_OUT_OF_RESOURCES (-6)/' \
	"a wrong number"
finds CL/cl_platform.h 's/int32_t cl_int;/int64_t cl_int;/' "a wrong type"
finds CL/cl_ext.h 's/cl_uint pci_bus;/cl_ulong pci_bus;/' "a wrong place"
finds CL/cl_icd.h '/clCreateProgramWithIL/d' "a place that is missing"
finds CL/cl.h 's/clFlush(cl_command_queue/clFlush(cl_event/' \
	"a wrong prototype"
finds CL/cl_ext.h 's/cl_uint alignment/size_t alignment/' \
	"one of an extension"
done_testing
