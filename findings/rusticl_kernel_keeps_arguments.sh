#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# In rusticl of Mesa 22.3 a kernel holds the buffers that are its arguments: after
# clReleaseMemObject() a buffer's memory stays until the argument is set anew or the
# kernel is released, though nothing runs and nobody else has it. A program that keeps
# its kernels and makes buffers anew has one set of them more than it knows of.
# Nothing of gpumem is used here; no test and no build runs this.
#
# OpenCL 1.1 to 3.0, clSetKernelArg(): "Implementations shall not allow cl_kernel
# objects to hold reference counts to cl_kernel arguments, because no mechanism is
# provided for the user to tell the kernel to release that ownership right."
#
# Behaviour seen, 2026-11-29, x86_64: CL_MEM_REFERENCE_COUNT of a buffer of which the
# program has one reference, once a kernel has it as its argument; and when its
# destructor callback is called.
#
#                                  count   called after
#     rusticl 22.3.6 (Debian 12)   2       clReleaseKernel()
#     rusticl 25.0.7 (Debian 13)   1       clReleaseMemObject()
#     PoCL 3.1                     1       clReleaseMemObject()
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
cat >held.c <<'END'
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BYTES = 4096, PATIENCE_US = 100000 };

static void must(cl_int result, const char *what)
{
	if (result == CL_SUCCESS)
		return;
	fprintf(stderr, "%s: %d\n", what, (int)result);
	exit(3);
}

static atomic_int gone;

static void CL_CALLBACK is_gone(cl_mem memory, void *user)
{
	(void)memory;
	(void)user;
	gone = 1;
}

int main(void)
{
	const char *source = "__kernel void one(__global int *to)"
			     "{ to[get_global_id(0)] = 1; }";
	const char *after = "clReleaseKernel()";
	size_t items = 16;
	cl_platform_id platform;
	cl_device_id device;
	cl_command_queue queue;
	cl_program program;
	cl_context context;
	cl_kernel kernel;
	cl_uint count;
	cl_int result;
	cl_mem memory;
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
	program = clCreateProgramWithSource(context, 1, &source, NULL, &result);
	must(result, "clCreateProgramWithSource");
	must(clBuildProgram(program, 1, &device, "", NULL, NULL),
	     "clBuildProgram");
	kernel = clCreateKernel(program, "one", &result);
	must(result, "clCreateKernel");
	memory = clCreateBuffer(context, CL_MEM_READ_WRITE, BYTES, NULL,
				&result);
	must(result, "clCreateBuffer");
	must(clSetMemObjectDestructorCallback(memory, is_gone, NULL),
	     "clSetMemObjectDestructorCallback");
	must(clSetKernelArg(kernel, 0, sizeof(memory), &memory),
	     "clSetKernelArg");
	must(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0,
				    NULL, NULL),
	     "clEnqueueNDRangeKernel");
	must(clFinish(queue), "clFinish");
	must(clGetMemObjectInfo(memory, CL_MEM_REFERENCE_COUNT, sizeof(count),
				&count, NULL),
	     "clGetMemObjectInfo");
	must(clReleaseMemObject(memory), "clReleaseMemObject");
	usleep(PATIENCE_US);
	if (gone)
		after = "clReleaseMemObject()";
	must(clReleaseKernel(kernel), "clReleaseKernel");
	usleep(PATIENCE_US);
	printf("%u %s\n", count, gone ? after : "nothing");
	return 0;
}
END
${CC:-cc} -w -O1 held.c -o held -lOpenCL || {
	echo "no OpenCL headers or loader: install ocl-icd-opencl-dev"
	exit 2
}
seen=$(OCL_ICD_VENDORS=$scratch/vendors RUSTICL_ENABLE=llvmpipe \
	LD_LIBRARY_PATH=$libraries timeout 60 ./held) || exit 2
echo "references ${seen% *}, gone after ${seen#* }"
[ "$seen" = "2 clReleaseKernel()" ] || {
	echo "expected: references 2, gone after clReleaseKernel()"
	exit 1
}
