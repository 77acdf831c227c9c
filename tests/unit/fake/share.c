/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The double of NVIDIA's driver: memory for another process.
 */
#include "cuda.h"

#include <fcntl.h>
#include <sys/wait.h>

static const CUmemAllocationProp plain = {
	.type = CU_MEM_ALLOCATION_TYPE_PINNED,
	.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
};
static const CUmemAccessDesc access_desc = {
	.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
	.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
};

static CUresult map(CUdeviceptr address, CUmemGenericAllocationHandle handle,
		    size_t granules)
{
	return cu.cuMemMap(address, granules * GRANULE, 0, handle, 0);
}

struct shared {
	int fd;
	CUipcMemHandle ipc;
};

/* In a process of its own: 0 when everything is as the parent wrote it. */
static int import(int from)
{
	CUmemGenericAllocationHandle handle;
	CUdeviceptr base, ipc, again;
	struct shared shared;
	char path[64];
	int fd;

	if (read(from, &shared, sizeof(shared)) != sizeof(shared))
		return 1;
	fake_start();
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", getppid(), shared.fd);
	fd = open(path, O_RDWR);
	if (cu.cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)fd,
					      1) ||
	    cu.cuMemAddressReserve(&base, GRANULE, 0, 0, 0) ||
	    map(base, handle, 1) ||
	    cu.cuMemSetAccess(base, GRANULE, &access_desc, 1))
		return 2;
	if (*(char *)memory_at(base) != 11)
		return 3;
	if (cu.cuIpcOpenMemHandle_v2(&ipc, shared.ipc, 1) ||
	    cu.cuIpcOpenMemHandle_v2(&again, shared.ipc, 1) || ipc != again)
		return 4;
	if (*(char *)memory_at(ipc) != 22)
		return 5;
	*(char *)memory_at(ipc) = 33;
	if (held().opened != 1 || cu.cuIpcCloseMemHandle(ipc) ||
	    cu.cuIpcCloseMemHandle(ipc) || !cu.cuIpcCloseMemHandle(ipc))
		return 6;
	return held().used_bytes ? 7 : 0;
}

static void test_shared(int to, pid_t child, CUdeviceptr base)
{
	CUmemAllocationProp prop = plain;
	CUmemGenericAllocationHandle handle, secret, none;
	CUdeviceptr block = new_block(100), self;
	struct shared shared;
	int status = -1;

	(void)cu.cuMemCreate(&secret, GRANULE, &plain, 0);
	is_int(cu.cuMemExportToShareableHandle(&shared.fd, secret, 1, 0), 1,
	       "made without a type, no export: 1");
	prop.requestedHandleTypes = 1;
	(void)cu.cuMemCreate(&handle, GRANULE, &prop, 0);
	is_int(cu.cuMemExportToShareableHandle(&shared.fd, handle, 1, 0), 0,
	       "made with one");
	(void)map(base, handle, 1);
	(void)cu.cuMemSetAccess(base, GRANULE, &access_desc, 1);
	*(char *)memory_at(base) = 11;
	*(char *)memory_at(block) = 22;
	is_int(cu.cuIpcGetMemHandle(&shared.ipc, base), 1, "a mapping: 1");
	is_int(cu.cuIpcGetMemHandle(&shared.ipc, block), 0, "a block");
	is_int(cu.cuIpcOpenMemHandle_v2(&self, shared.ipc, 1), 201,
	       "not for its own process: 201");
	is_int(cu.cuMemImportFromShareableHandle(&none, (void *)0, 1), 1,
	       "a descriptor of something else: 1");
	if (write(to, &shared, sizeof(shared)) != sizeof(shared))
		bail("no pipe");
	(void)waitpid(child, &status, 0);
	is_int(WEXITSTATUS(status), 0, "another process reads both");
	is_int(*(char *)memory_at(block), 33, "and writes");
	close(shared.fd);
	(void)cu.cuMemUnmap(base, GRANULE);
	(void)cu.cuMemRelease(secret);
	(void)cu.cuMemRelease(handle);
	(void)cu.cuMemFree_v2(block);
}

int main(void)
{
	CUdeviceptr base;
	int pipes[2];
	pid_t child;

	alarm(60);
	if (pipe(pipes))
		bail("no pipe");
	child = fork(); /* before the driver starts */
	if (child == 0) {
		close(pipes[1]); /* so that the parent's end is seen */
		_exit(import(pipes[0]));
	}
	fake_start();
	if (cu.cuMemAddressReserve(&base, 8 * GRANULE, 0, 0, 0))
		bail("cuMemAddressReserve");
	test_shared(pipes[1], child, base);
	is_int(cu.cuMemAddressFree(base, 8 * GRANULE), 0, "all unmapped");
	is_uint(held().mappings + held().handles + held().allocs, 0,
		"nothing is held");
	is_uint(held().used_bytes, 0, "nor memory");
	return done_testing();
}
