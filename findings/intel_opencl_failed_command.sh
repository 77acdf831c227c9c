#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# In Intel's OpenCL runtime for processors a command that never ran, since the user
# event that it waited for got an error, has the status CL_COMPLETE for ever, although
# clWaitForEvents() says that an event of the list failed. Who polls the status takes
# its result for made. Nothing of gpumem is used here; no test and no build runs this.
#
# OpenCL 1.2 to 3.0, clSetUserEventStatus(): with a negative status "all enqueued
# commands that wait on this user event" are terminated, and clGetEventInfo() says so
# by a negative CL_EVENT_COMMAND_EXECUTION_STATUS.
#
# Behaviour seen, 2026-11-29, x86_64, a fill of 01 to 07 that waits for a user event
# which gets the status -5:
#
#     implementation             wait   status of the fill   the buffer
#     intel-opencl-rt 2026.2.0   -14    0 (CL_COMPLETE)      01
#     PoCL 3.1                   -14    -1                   01
#     rusticl 22.3.6             -14    -5                   01
#
# Exit 0: the first line is as written above; 1: it differs, and this file should be
# looked at again; 2: it could not be had. Needs no GPU, but a C compiler, OpenCL's
# headers and loader (Debian: ocl-icd-opencl-dev), pip and unzip. It downloads 265 MB
# of pinned wheels to a temporary folder that it removes, and installs nothing.
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

cat >"$scratch/failed.c" <<'END'
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

enum { BYTES = 4096, LOOKS = 50, LOOK_US = 10000 };

static cl_int status_of(cl_event event)
{
	cl_int status = CL_QUEUED;
	int i;

	for (i = 0; i < LOOKS && status > CL_COMPLETE; i++) {
		must(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS,
				    sizeof(status), &status, NULL),
		     "clGetEventInfo");
		usleep(LOOK_US);
	}
	return status;
}

int main(void)
{
	static const unsigned char before = 1, after = 7;
	unsigned char byte = 0;
	cl_platform_id platform;
	cl_device_id device;
	cl_command_queue queue;
	cl_context context;
	cl_event start, fill;
	cl_mem memory;
	cl_int result, waited;
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
	start = clCreateUserEvent(context, &result);
	must(result, "clCreateUserEvent");
	must(clEnqueueFillBuffer(queue, memory, &before, 1, 0, BYTES, 0, NULL,
				 NULL),
	     "clEnqueueFillBuffer");
	must(clFinish(queue), "clFinish");
	must(clEnqueueFillBuffer(queue, memory, &after, 1, 0, BYTES, 1, &start,
				 &fill),
	     "clEnqueueFillBuffer");
	must(clFlush(queue), "clFlush");
	must(clSetUserEventStatus(start, CL_OUT_OF_RESOURCES),
	     "clSetUserEventStatus");
	waited = clWaitForEvents(1, &fill);
	must(clFinish(queue), "clFinish");
	must(clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, 1, &byte, 0, NULL,
				 NULL),
	     "clEnqueueReadBuffer");
	printf("wait %d, status %d, buffer %02x\n", (int)waited,
	       (int)status_of(fill), byte);
	return 0;
}
END
${CC:-cc} -w -O1 "$scratch/failed.c" -o "$scratch/failed" -lOpenCL || {
	echo "no OpenCL headers or loader: install ocl-icd-opencl-dev"
	exit 2
}
seen=$(OCL_ICD_VENDORS=$scratch/vendors LD_LIBRARY_PATH=$libraries \
	"$scratch/failed") || exit 2
echo "$seen"
[ "$seen" = "wait -14, status 0, buffer 01" ] || {
	echo "expected: wait -14, status 0, buffer 01"
	exit 1
}
