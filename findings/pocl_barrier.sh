#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# PoCL drops a barrier of an out-of-order queue when a barrier with a list of
# events follows it: what is queued later overtakes what was queued before the
# first barrier. Nothing of gpumem is used here; no test and no build runs this.
#
# In OpenCL 1.2 to 3.0 (clEnqueueBarrierWithWaitList) a barrier, with a list or
# without, blocks: no command that is queued after it executes before it
# completes. The second barrier and the read are both queued after the first.
# PoCL keeps the newest barrier of a queue alone, and does not let that wait for
# the one before (pocl_command_enqueue() in lib/CL/pocl_util.c).
#
# Behaviour seen, 2026-11-28, x86_64, the read of a buffer that a write before
# the barriers sets from 00 to 11:
#
#     versions                     one barrier   and one with   and one more
#                                                a list         without
#     1.2, 1.3, 3.0-rc2 (PyPI),
#     3.1 (Debian 12)              11            00 (wrong)     11
#
# Exit 0: as written above, for each PoCL that could be had; 1: one differs, and
# this file and backends/opencl/opencl_event.c should be looked at again; 2: none
# could be had. Needs a C compiler, OpenCL's headers and loader (Debian:
# ocl-icd-opencl-dev) and pip. It downloads, to a temporary folder that it
# removes, the pinned wheels below and installs nothing.
set -u

scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
trap 'exit 2' HUP INT TERM

cat >"$scratch/barrier.c" <<'END'
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BYTES = 4096, LOOKS = 100, LOOK_US = 10000 };

static void must(cl_int result, const char *what)
{
	if (result == CL_SUCCESS)
		return;
	fprintf(stderr, "%s: %d\n", what, (int)result);
	exit(3);
}

/* A barrier as `kind` says: 'n' without a list, 'l' with one, of an event that
 * is over. */
static void put_barrier(cl_command_queue queue, char kind, cl_event over)
{
	must(clEnqueueBarrierWithWaitList(queue, kind == 'l',
					  kind == 'l' ? &over : NULL, NULL),
	     "clEnqueueBarrierWithWaitList");
}

/* The read has a second to overtake the write. */
static void give_time(cl_event read)
{
	cl_int state = CL_QUEUED;
	int i;

	for (i = 0; i < LOOKS && state != CL_COMPLETE; i++) {
		must(clGetEventInfo(read, CL_EVENT_COMMAND_EXECUTION_STATUS,
				    sizeof(state), &state, NULL),
		     "clGetEventInfo");
		usleep(LOOK_US);
	}
}

/* barrier KINDS: what is read behind those barriers, as two digits. */
int main(int argc, char **argv)
{
	static const unsigned char before, after = 0x11;
	unsigned char byte[BYTES];
	cl_event over, start, read;
	cl_command_queue queue;
	cl_platform_id platform;
	cl_device_id device;
	cl_context context;
	cl_int result;
	char text[256];
	cl_mem memory;
	size_t i;

	if (argc != 2)
		return 3;
	must(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
	must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL),
	     "clGetDeviceIDs");
	must(clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof(text),
			       text, NULL),
	     "clGetPlatformInfo");
	fprintf(stderr, "%s\n", text);
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &result);
	must(result, "clCreateContext");
	queue = clCreateCommandQueue(context, device,
				     CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
				     &result);
	must(result, "clCreateCommandQueue");
	memory = clCreateBuffer(context, CL_MEM_READ_WRITE, BYTES, NULL,
				&result);
	must(result, "clCreateBuffer");
	start = clCreateUserEvent(context, &result);
	must(result, "clCreateUserEvent");
	over = clCreateUserEvent(context, &result);
	must(result, "clCreateUserEvent");
	must(clSetUserEventStatus(over, CL_COMPLETE), "clSetUserEventStatus");

	must(clEnqueueFillBuffer(queue, memory, &before, 1, 0, BYTES, 0, NULL,
				 NULL),
	     "clEnqueueFillBuffer");
	must(clFinish(queue), "clFinish");
	must(clEnqueueFillBuffer(queue, memory, &after, 1, 0, BYTES, 1, &start,
				 NULL),
	     "clEnqueueFillBuffer");
	for (i = 0; i < strlen(argv[1]); i++)
		put_barrier(queue, argv[1][i], over);
	must(clEnqueueReadBuffer(queue, memory, CL_FALSE, 0, BYTES, byte, 0,
				 NULL, &read),
	     "clEnqueueReadBuffer");
	must(clFlush(queue), "clFlush");
	give_time(read);
	must(clSetUserEventStatus(start, CL_COMPLETE), "clSetUserEventStatus");
	must(clFinish(queue), "clFinish");
	printf("%02x\n", byte[0]);
	return 0;
}
END

${CC:-cc} -w -O1 "$scratch/barrier.c" -o "$scratch/barrier" -lOpenCL || {
	echo "no OpenCL headers or loader: install ocl-icd-opencl-dev"
	exit 2
}

seen=0
changed=0

# expect ICD KINDS DIGITS WHAT
expect()
{
	got=$(OCL_ICD_VENDORS=$1 POCL_CACHE_DIR=$scratch/cache \
		timeout 60 "$scratch/barrier" "$2" 2>"$scratch/version")
	echo "    $4: read $got, as before $3"
	[ "$got" = "$3" ] || changed=1
}

# look NAME ICD
look()
{
	seen=1
	expect "$2" n 11 "a barrier" >"$scratch/lines"
	echo "$1: $(cat "$scratch/version")"
	cat "$scratch/lines"
	expect "$2" nl 00 "and one with a list"
	expect "$2" nln 11 "and one more without"
}

# from_pypi VERSION SHA256
from_pypi()
{
	mkdir -p "$scratch/$1"
	echo "pocl-binary-distribution==$1 --hash=sha256:$2" >"$scratch/pip.txt"
	if ! python3 -m pip download -q --no-deps --require-hashes \
		--only-binary :all: --platform manylinux2014_x86_64 \
		--platform manylinux1_x86_64 -d "$scratch/$1" \
		-r "$scratch/pip.txt" 2>"$scratch/pip.log"; then
		echo "PyPI's $1: not looked at: $(tail -1 "$scratch/pip.log")"
		return
	fi
	python3 -m zipfile -e "$scratch/$1"/*.whl "$scratch/$1/files"
	ls "$scratch/$1"/files/pyopencl/.libs/libpocl-*.so >"$scratch/$1/pocl.icd"
	look "PyPI's $1" "$scratch/$1/pocl.icd"
}

from_pypi 1.2.post2 \
	b5b26bab185124799fe135ba10190c946b8a7480527a5bfea4e24c7696323a45
from_pypi 1.3.post1 \
	4b9c68427929edb0eec781a5e08b0b3d2a00ca4223ba12dafc08d6935c3f5b7e
from_pypi 3.0 \
	b70c3d7835afd9aabc43dcffe0035d6a71d54eb35d8d55fc2fd4eb1e037128a9
if [ -f /etc/OpenCL/vendors/pocl.icd ]; then
	look "this machine's" /etc/OpenCL/vendors/pocl.icd
else
	echo "this machine's: none is installed (Debian: pocl-opencl-icd)"
fi
if [ $seen = 0 ]; then
	echo "no PoCL could be had"
	exit 2
fi
[ $changed = 0 ] || echo "a PoCL behaves in another way now"
exit $changed
