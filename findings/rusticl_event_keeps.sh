#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# In rusticl of Mesa 22.3 a finished event keeps the memory that its command used:
# a buffer that the program has released, with all work on it over, goes only when
# the last event is released whose command named it. Nothing of gpumem is used here;
# no test and no build runs this.
#
# OpenCL 1.2, clReleaseMemObject(): an object is deleted once its reference count is
# zero and the commands that use it have finished. Programs keep events, for
# profiling or as dependencies, and hold so much more memory than they know of.
#
# Behaviour seen, 2026-11-29, x86_64, a buffer of 64 MiB that a finished fill used
# ("gone": its destructor's callback has run; resident memory of the process):
#
#     implementation             released       its event released too
#     rusticl 22.3.6 (Debian 12) kept, +65 MiB  gone, +1 MiB
#     rusticl 25.0.7 (Debian 13) gone, +1 MiB   gone, +1 MiB
#     intel-opencl-rt 2026.2.0   kept, +64 MiB  gone, +0 MiB
#     PoCL 3.1, 6.0              gone, +0 MiB   gone, +0 MiB
#
# Exit 0: the first line is as written above (the others were seen by the same
# program); 1: it differs, and this file and
# docs/backends.md should be looked at again; 2: it could not be had. Needs no GPU,
# but Debian 12, a C compiler, dpkg-dev, and OpenCL's headers and loader
# (ocl-icd-opencl-dev). It downloads the pinned package to a temporary folder that
# it removes, and installs nothing.
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
cat >keeps.c <<'END'
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BYTES = 64 << 20 };

static int gone;

static void CL_CALLBACK ends(cl_mem memory, void *user)
{
	(void)memory;
	(void)user;
	gone = 1;
}

static void must(cl_int result, const char *what)
{
	if (result == CL_SUCCESS)
		return;
	fprintf(stderr, "%s: %d\n", what, (int)result);
	exit(3);
}

static long resident_mib(void)
{
	long all = 0, resident = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	if (!file || fscanf(file, "%ld %ld", &all, &resident) != 2)
		exit(3);
	fclose(file);
	return resident * sysconf(_SC_PAGESIZE) >> 20;
}

static void tell(cl_command_queue queue, long before)
{
	must(clFinish(queue), "clFinish");
	usleep(200000);
	printf("%s %s\n", gone ? "gone" : "kept",
	       resident_mib() - before > 32 ? "resident" : "free");
}

int main(void)
{
	static const unsigned char one = 1;
	cl_platform_id platform;
	cl_device_id device;
	cl_command_queue queue;
	cl_context context;
	cl_event event;
	cl_mem memory;
	cl_int result;
	char text[256];
	long before;

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
	must(clFinish(queue), "clFinish");
	before = resident_mib();
	memory = clCreateBuffer(context, CL_MEM_READ_WRITE, BYTES, NULL,
				&result);
	must(result, "clCreateBuffer");
	must(clSetMemObjectDestructorCallback(memory, ends, NULL),
	     "clSetMemObjectDestructorCallback");
	must(clEnqueueFillBuffer(queue, memory, &one, 1, 0, BYTES, 0, NULL,
				 &event),
	     "clEnqueueFillBuffer");
	must(clFinish(queue), "clFinish");
	must(clReleaseMemObject(memory), "clReleaseMemObject");
	tell(queue, before);
	must(clReleaseEvent(event), "clReleaseEvent");
	tell(queue, before);
	return 0;
}
END
${CC:-cc} -w -O1 keeps.c -o keeps -lOpenCL || {
	echo "no OpenCL headers or loader: install ocl-icd-opencl-dev"
	exit 2
}
seen=$(OCL_ICD_VENDORS=$scratch/vendors RUSTICL_ENABLE=llvmpipe \
	LD_LIBRARY_PATH=$libraries ./keeps) || exit 2
echo "$seen"
[ "$seen" = "kept resident
gone free" ] || {
	echo "expected: kept resident, then gone free"
	exit 1
}
