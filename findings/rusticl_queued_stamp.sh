#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# In rusticl of Mesa 22.3 the stamp CL_PROFILING_COMMAND_QUEUED is taken when the
# command runs, not when the host queues it: a command that waits for 100 ms seems to
# have waited for nothing, so no profile shows that a queue was held up. Nothing of
# gpumem is used here; no test and no build runs this.
#
# OpenCL 1.2, clGetEventProfilingInfo(): QUEUED is "when the command ... is enqueued in
# a command-queue by the host", and START when it starts execution.
#
# Behaviour seen, 2026-11-29, x86_64, a fill that a user event holds for 100 ms, START
# after QUEUED:
#
#     rusticl 22.3.6 (Debian 12)   0.0 ms
#     rusticl 25.0.7 (Debian 13)   100.2 ms
#     PoCL 3.1                     100.1 ms
#     PoCL 6.0                     105.1 ms
#
# Exit 0: the first line is as written above; 1: it differs, and this file should be
# looked at again; 2: it could not be had. Needs no GPU, but Debian 12, a C compiler,
# dpkg-dev, and OpenCL's headers and loader (ocl-icd-opencl-dev). It downloads the
# pinned package to a temporary folder that it removes, and installs nothing.
set -u

mesa=22.3.6-1+deb12u2
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
trap 'exit 2' HUP INT TERM

# What Mesa needs besides comes from the packages too, if it is not installed.
cd "$scratch" || exit 2
apt-get download -q "mesa-opencl-icd=$mesa" libclc-15 libclang-cpp15 libllvm15 \
	libllvmspirvlib15 libdrm2 libdrm-nouveau2 libdrm-radeon1 libdrm-amdgpu1 \
	libelf1 libsensors5 libz3-4 >/dev/null 2>&1 || {
	echo "no Mesa $mesa in the archives of this machine: it is Debian 12's"
	exit 2
}
for package in *.deb; do
	dpkg -x "$package" root || exit 2
done
libraries=$scratch/root/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
mkdir vendors
echo "$libraries/libRusticlOpenCL.so.1" >vendors/rusticl.icd
cat >stamp.c <<'END'
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BYTES = 4096, HELD_US = 100000 };

static void must(cl_int result, const char *what)
{
	if (result == CL_SUCCESS)
		return;
	fprintf(stderr, "%s: %d\n", what, (int)result);
	exit(3);
}

static cl_ulong stamp(cl_event event, cl_profiling_info which)
{
	cl_ulong ns = 0;

	must(clGetEventProfilingInfo(event, which, sizeof(ns), &ns, NULL),
	     "clGetEventProfilingInfo");
	return ns;
}

int main(void)
{
	static const unsigned char one = 1;
	cl_platform_id platform;
	cl_device_id device;
	cl_command_queue queue;
	cl_context context;
	cl_event start, event;
	cl_mem memory;
	cl_int result;
	char text[256];

	must(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
	must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL),
	     "clGetDeviceIDs");
	must(clGetDeviceInfo(device, CL_DRIVER_VERSION, sizeof(text), text,
			     NULL),
	     "clGetDeviceInfo");
	fprintf(stderr, "driver %s\n", text);
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &result);
	must(result, "clCreateContext");
	queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE,
				     &result);
	must(result, "clCreateCommandQueue");
	memory = clCreateBuffer(context, CL_MEM_READ_WRITE, BYTES, NULL,
				&result);
	must(result, "clCreateBuffer");
	start = clCreateUserEvent(context, &result);
	must(result, "clCreateUserEvent");
	must(clEnqueueFillBuffer(queue, memory, &one, 1, 0, BYTES, 1, &start,
				 &event),
	     "clEnqueueFillBuffer");
	must(clFlush(queue), "clFlush");
	usleep(HELD_US);
	must(clSetUserEventStatus(start, CL_COMPLETE), "clSetUserEventStatus");
	must(clFinish(queue), "clFinish");
	printf("%.1f ms\n", (double)(stamp(event, CL_PROFILING_COMMAND_START) -
				     stamp(event, CL_PROFILING_COMMAND_QUEUED)) /
				    1e6);
	return 0;
}
END
${CC:-cc} -w -O1 stamp.c -o stamp -lOpenCL || {
	echo "no OpenCL headers or loader: install ocl-icd-opencl-dev"
	exit 2
}
seen=$(OCL_ICD_VENDORS=$scratch/vendors RUSTICL_ENABLE=llvmpipe \
	LD_LIBRARY_PATH=$libraries ./stamp) || exit 2
echo "$seen"
# Far less than the 100 ms.
[ "${seen%.*}" -lt 50 ] || {
	echo "expected: far less than the 100 ms that it was held"
	exit 1
}
