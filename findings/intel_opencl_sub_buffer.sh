#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# Intel's OpenCL runtime for processors gives a wrong host pointer for a sub-buffer of
# memory of the program's own (CL_MEM_USE_HOST_PTR): CL_MEM_HOST_PTR is the pointer
# plus the sub-buffer's size, where it is the pointer plus its origin. CL_MEM_OFFSET
# and what clEnqueueMapBuffer() returns are right. Who computes where a sub-buffer
# lies by CL_MEM_HOST_PTR writes into other memory. Nothing of gpumem is used here;
# no test and no build runs this.
#
# OpenCL 1.2 to 3.0, clGetMemObjectInfo(), CL_MEM_HOST_PTR: "If memobj is created with
# clCreateSubBuffer, return the host_ptr + origin value specified when memobj is
# created."
#
# Behaviour seen, 2026-11-29, x86_64, parts of 64 KiB:
#
#     origin, size   intel-opencl-rt 2026.2.0   PoCL 3.1, rusticl 22.3 and 25.0
#     2048, 1024     +1024                      +2048
#     4096, 512      +512                       +4096
#     0, 100         +100                       +0
#
# (Of PoCL all three, of rusticl the first.) Exit 0: the second column is as written
# above; 1: it differs, and this file should be looked at again; 2: it could not be
# had. Needs no GPU, but a C compiler, OpenCL's headers and loader (Debian:
# ocl-icd-opencl-dev), pip and unzip. It downloads 265 MB of pinned wheels to a
# temporary folder that it removes, and installs nothing.
set -u

scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
trap 'exit 2' HUP INT TERM

python3 -m pip download -q --no-deps --only-binary=:all: -d "$scratch/wheels" \
	intel-opencl-rt==2026.2.0 intel-cmplr-lib-rt==2026.2.0 \
	intel-cmplr-lic-rt==2026.2.0 tbb==2023.2.0 tcmlib==1.6.0 || exit 2
for wheel in "$scratch"/wheels/*.whl; do
	unzip -q -o "$wheel" -d "$scratch/intel" || exit 2
done
libraries=$(find "$scratch/intel" -type d -name lib | tr '\n' ':')
mkdir "$scratch/vendors"
find "$scratch/intel" -name 'libintelocl.so.[0-9]*' >"$scratch/vendors/intel.icd"
[ -s "$scratch/vendors/intel.icd" ] || exit 2

cat >"$scratch/part.c" <<'END'
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void must(cl_int result, const char *what)
{
	if (result == CL_SUCCESS)
		return;
	fprintf(stderr, "%s: %d\n", what, (int)result);
	exit(3);
}

enum { BYTES = 65536 };

static char memory[BYTES] __attribute__((aligned(4096)));

/* ORIGIN SIZE...: where the host pointer of each such part is. */
int main(int argc, char **argv)
{
	cl_platform_id platform;
	cl_device_id device;
	cl_context context;
	cl_mem whole, part;
	cl_int result;
	char text[256];
	void *at = NULL;
	int i;

	must(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
	must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL),
	     "clGetDeviceIDs");
	must(clGetDeviceInfo(device, CL_DRIVER_VERSION, sizeof(text), text,
			     NULL),
	     "clGetDeviceInfo");
	fprintf(stderr, "driver %s\n", text);
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &result);
	must(result, "clCreateContext");
	whole = clCreateBuffer(context, CL_MEM_USE_HOST_PTR, BYTES, memory,
			       &result);
	must(result, "clCreateBuffer");
	for (i = 1; i + 1 < argc; i += 2) {
		cl_buffer_region region = {strtoul(argv[i], NULL, 10),
					   strtoul(argv[i + 1], NULL, 10)};

		part = clCreateSubBuffer(whole, CL_MEM_READ_WRITE,
					 CL_BUFFER_CREATE_TYPE_REGION, &region,
					 &result);
		must(result, "clCreateSubBuffer");
		must(clGetMemObjectInfo(part, CL_MEM_HOST_PTR, sizeof(at), &at,
					NULL),
		     "clGetMemObjectInfo");
		printf("%s, %s: +%ld\n", argv[i], argv[i + 1],
		       (long)((char *)at - memory));
		must(clReleaseMemObject(part), "clReleaseMemObject");
	}
	return 0;
}
END
${CC:-cc} -w -O1 "$scratch/part.c" -o "$scratch/part" -lOpenCL || {
	echo "no OpenCL headers or loader: install ocl-icd-opencl-dev"
	exit 2
}
seen=$(OCL_ICD_VENDORS=$scratch/vendors LD_LIBRARY_PATH=$libraries \
	"$scratch/part" 2048 1024 4096 512 0 100) || exit 2
echo "$seen"
[ "$seen" = "2048, 1024: +1024
4096, 512: +512
0, 100: +100" ] || {
	echo "expected: the size of each, not its origin"
	exit 1
}
