#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The gpumem developers
#
# cuda.h says of attributes of a pointer that cuPointerGetAttribute() returns "a boolean"
# in *data. The driver writes four bytes there, not the one of a `bool` of C or C++: who
# asks with a `bool` has the three bytes behind it overwritten, and who answers in the
# driver's place with one byte leaves three of an `int` as they were. Nothing of gpumem
# is used here; no test and no build runs this.
#
# Behaviour seen, 2026-11-30, NVIDIA H200, driver 580.159, cuda.h of
# nvidia-cuda-runtime 13.0.96, of a block of cuMemAlloc():
#
#     IS_MANAGED                   0, 4 bytes
#     IS_LEGACY_CUDA_IPC_CAPABLE   1, 4 bytes
#     MAPPED                       1, 4 bytes
#     IS_GPU_DIRECT_RDMA_CAPABLE   1, 4 bytes
#     IS_HW_DECOMPRESS_CAPABLE     1, 4 bytes
#
# Exit 0: as written above; 1: it differs, and this file, and cuda_known.c of
# tools/preload, should be looked at again; 2: it could not be had; 77:
# there is no GPU. Needs pip and cc; it downloads 2 MB to a temporary folder that it
# removes.
set -u

if ! nvidia-smi -L 2>/dev/null | grep -q GPU; then
	echo "skipped: it needs an NVIDIA GPU and its driver"
	exit 77
fi
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
trap 'exit 2' HUP INT TERM
cd "$scratch" || exit 2

cat >ask.c <<'END'
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define BOOLEANS(X)                                                            \
	X(IS_MANAGED)                                                          \
	X(IS_LEGACY_CUDA_IPC_CAPABLE)                                          \
	X(MAPPED)                                                              \
	X(IS_GPU_DIRECT_RDMA_CAPABLE)                                          \
	X(IS_HW_DECOMPRESS_CAPABLE)

static CUresult (*attribute)(void *, CUpointer_attribute, CUdeviceptr);
/* How many bytes are written. Twice, on two grounds: what is written may be what was
 * there. */
static int ask(const char *name, CUpointer_attribute which, CUdeviceptr block)
{
	unsigned char data[2][64];
	int bytes;

	for (int i = 0; i < 2; i++) {
		memset(data[i], 0xa5 + 0x11 * i, sizeof(data[i]));
		if (attribute(data[i], which, block))
			return 0;
	}
	for (bytes = sizeof(data[0]); bytes; bytes--)
		if (data[0][bytes - 1] == data[1][bytes - 1])
			break;
	printf("%-28s %d, %d bytes\n", name, data[0][0], bytes);
	return bytes;
}

int main(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	CUresult (*start)(unsigned) = dlsym(driver, "cuInit");
	CUresult (*retain)(CUcontext *, CUdevice) =
		dlsym(driver, "cuDevicePrimaryCtxRetain");
	CUresult (*enter)(CUcontext) = dlsym(driver, "cuCtxSetCurrent");
	CUresult (*take)(CUdeviceptr *, size_t) =
		dlsym(driver, "cuMemAlloc_v2");
	CUcontext context;
	CUdeviceptr block;
	int four = 0;

	attribute = dlsym(driver, "cuPointerGetAttribute");
	if (start(0) || retain(&context, 0) || enter(context) ||
	    take(&block, 1 << 20))
		return 2;
#define ASK(name)                                                              \
	four += ask(#name, CU_POINTER_ATTRIBUTE_##name, block) == 4;
	BOOLEANS(ASK)
	return four != 5;
}
END

python3 -m pip install -q --no-deps --target runtime \
	nvidia-cuda-runtime==13.0.96 || exit 2
include=$(dirname "$(find "$scratch/runtime" -name cuda.h)")
cc -O2 -isystem "$include" ask.c -o ask -ldl || exit 2
./ask
status=$?
[ $status -le 1 ] || exit 2
exit $status
