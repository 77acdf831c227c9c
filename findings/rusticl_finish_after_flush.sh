#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# In rusticl of Mesa 22.3 clFinish() returns at once if clFlush() came before it: it
# waits for what was queued after the flush alone, so a host that then reads what a
# command wrote, or frees what it reads, is too early. Without the flush it waits. A
# program that flushes to start work early, as many do, loses its only wait. Nothing
# of gpumem is used here; no test and no build runs this. gpumem waits for the event
# of a marker instead (backends/opencl/opencl_stream.c).
#
# OpenCL 1.2, clFinish(): it "blocks until all previously queued OpenCL commands in
# command_queue are issued to the associated device and have completed".
#
# Behaviour seen, 2026-11-29, x86_64, a fill of 256 MiB, 20 times: how many were not
# CL_COMPLETE when clFinish() had returned.
#
#                                  clFinish()   clFlush(), clFinish()
#     rusticl 22.3.6 (Debian 12)   0            20
#     rusticl 25.0.7 (Debian 13)   0            0
#     PoCL 3.1                     0            0
#
# Exit 0: the first line is as written above, for at least half of the 20; 1: it
# differs, and this file should be looked at again; 2: it could not be had. Needs no
# GPU, but Debian 12, a C compiler, dpkg-dev, and OpenCL's headers and loader
# (ocl-icd-opencl-dev). It downloads the pinned package to a temporary folder that it
# removes, and installs nothing.
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
cat >finish.c <<'END'
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

enum { BYTES = 256 << 20, TURNS = 20 };

static void must(cl_int result, const char *what)
{
	if (result == CL_SUCCESS)
		return;
	fprintf(stderr, "%s: %d\n", what, (int)result);
	exit(3);
}

static cl_command_queue queue;
static cl_mem memory;

/* Whether a fill was still not complete when clFinish() had returned. */
static int early(int flush)
{
	static const unsigned char one = 1;
	cl_int status = CL_COMPLETE;
	cl_event event;

	must(clEnqueueFillBuffer(queue, memory, &one, 1, 0, BYTES, 0, NULL,
				 &event),
	     "clEnqueueFillBuffer");
	if (flush)
		must(clFlush(queue), "clFlush");
	must(clFinish(queue), "clFinish");
	must(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS,
			    sizeof(status), &status, NULL),
	     "clGetEventInfo");
	must(clWaitForEvents(1, &event), "clWaitForEvents");
	must(clReleaseEvent(event), "clReleaseEvent");
	return status != CL_COMPLETE;
}

int main(void)
{
	int unflushed = 0, flushed = 0;
	cl_platform_id platform;
	cl_device_id device;
	cl_context context;
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
	queue = clCreateCommandQueue(context, device, 0, &result);
	must(result, "clCreateCommandQueue");
	memory = clCreateBuffer(context, CL_MEM_READ_WRITE, BYTES, NULL,
				&result);
	must(result, "clCreateBuffer");
	for (int i = 0; i < TURNS; i++) {
		unflushed += early(0);
		flushed += early(1);
	}
	printf("%d %d\n", unflushed, flushed);
	return 0;
}
END
${CC:-cc} -w -O1 finish.c -o finish -lOpenCL || {
	echo "no OpenCL headers or loader: install ocl-icd-opencl-dev"
	exit 2
}
seen=$(OCL_ICD_VENDORS=$scratch/vendors RUSTICL_ENABLE=llvmpipe \
	LD_LIBRARY_PATH=$libraries ./finish) || exit 2
echo "not complete after clFinish(): ${seen% *}; and with clFlush() before: ${seen#* }"
{ [ "${seen% *}" = 0 ] && [ "${seen#* }" -ge 10 ]; } || {
	echo "expected: 0, and at least 10 of 20"
	exit 1
}
