/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Cases of pool_cases under --adopt in a program of PyTorch's: what the program
 * is told of parts of allocations, what ends them, and that they go back. Not
 * which parts it gets, which is in pool_parts.c.
 */
#define _GNU_SOURCE
#include "pool_cases.h"

#include <dlfcn.h>

enum {
	INVALID = 1,
	NO_MEMORY = 2,
	NOT_FOUND = 500,
	NOT_SUPPORTED = 801,
	PART = 5 << 20
};
enum { IPC_CAPABLE = 10, BUFFER_ID = 7, START = 11, RANGE = 12 };

/* So many allocations of the driver's live. */
static void live(uint64_t count)
{
	struct fakecuda_held held;

	cu.audit(&held);
	TRUE(held.allocs == count);
}

/* Nothing new is a part of another one. */
static void ended(void)
{
	struct fakecuda_held before, after;
	address block;

	cu.audit(&before);
	block = alloc(PART);
	cu.audit(&after);
	TRUE(after.allocs == before.allocs + 1);
	TRUE(after.used_bytes == before.used_bytes + 6 * MIB);
	stays(block);
	TRUE(alloc(PART) == block);
	release(block);
}

/* ---- what is said -----------------------------------------------------------
 */

static void sees(address inside, address begin, size_t bytes)
{
	int which[2] = {START, RANGE};
	address base = 0, bases = 0;
	size_t size = 0, sizes = 0;
	void *values[2] = {&bases, &sizes};

	OK(cu.cuMemGetAddressRange_v2(&base, &size, inside));
	TRUE(base == begin && size == bytes);
	OK(cu.cuPointerGetAttribute(&base, START, inside));
	OK(cu.cuPointerGetAttribute(&size, RANGE, inside));
	TRUE(base == begin && size == bytes);
	OK(cu.cuPointerGetAttributes(2, which, values, inside));
	TRUE(bases == begin && sizes == bytes);
}

/* A part begins and ends where a block of the driver's would; who has asked
 * gets no new one, and what it was told of is not used again. */
void parts_range(void)
{
	address parts[4], base;
	size_t bytes;

	parts_new(parts);
	release(parts[2]);
	parts[2] = alloc(PART - 1000);
	sees(parts[1] + 77, parts[1], PART);
	sees(parts[2], parts[2], PART - 1000);
	sees(parts[0] + PART - 1, parts[0], PART);
	OK(cu.cuMemGetAddressRange_v2(NULL, &bytes, parts[1]));
	OK(cu.cuMemGetAddressRange_v2(&base, NULL, parts[1] + 1));
	TRUE(base == parts[1] && bytes == PART);
	ended();
	stays(parts[1]);
	TRUE(cu.cuMemGetAddressRange_v2(&base, &bytes, parts[1]) == NOT_FOUND);
	stays(parts[2]);
	stays(parts[3]);
	goes(parts[0]);
}

/* A handle of a part would be one of all its neighbours. */
void parts_shared(void)
{
	char handle[64], capable = 9;
	address parts[4];
	uint64_t number;
	int asks[2] = {BUFFER_ID, START};
	void *values[2] = {&number, handle};

	parts_new(parts);
	OK(cu.cuPointerGetAttribute(&capable, IPC_CAPABLE, parts[1]));
	TRUE(!capable);
	OK(cu.cuPointerGetAttribute(&capable, IPC_CAPABLE, parts[0]));
	TRUE(capable == 1);
	release(parts[3]);
	TRUE(alloc(PART) == parts[3]); /* that was a question only */
	TRUE(cu.cuIpcGetMemHandle(handle, parts[1]) == NOT_SUPPORTED);
	TRUE(cu.cuPointerGetAttribute(&number, BUFFER_ID, parts[2]) ==
	     NOT_SUPPORTED);
	TRUE(cu.cuPointerGetAttributes(2, asks, values, parts[2]) ==
	     NOT_SUPPORTED);
	OK(cu.cuIpcGetMemHandle(handle, parts[0]));
	ended();
	/* Those that live do, and go when the last does. */
	for (int i = 0; i < 3; i++)
		stays(parts[i]);
	goes(parts[3]);
}

/* A block that fills its segment is one like any. */
void parts_alone(void)
{
	char handle[64];
	address all = alloc(16 * MIB);

	OK(cu.cuIpcGetMemHandle(handle, all));
	goes(all);
	ended();
}

/* NCCL tries with 2 MiB whether a process can share memory, and goes on as it
 * finds; its buffers are blocks of the driver's own then. */
void parts_tried(void)
{
	char handle[64];
	address parts[4], tried;

	parts_new(parts);
	release(parts[0]);
	live(1);
	tried = alloc(2 * MIB);
	live(2);
	OK(cu.cuIpcGetMemHandle(handle, tried));
	goes(tried);
	ended();
	tried = alloc(10 * MIB);
	OK(cu.cuIpcGetMemHandle(handle, tried));
	goes(tried);
}

/* ---- wrong calls ------------------------------------------------------------
 */

void parts_misuse(void)
{
	address parts[4];

	parts_new(parts);
	TRUE(cu.cuMemFree_v2(parts[1] + 512) == INVALID);
	TRUE(cu.cuMemFree_v2(parts[1] + 1) == INVALID);
	release(parts[1]);
	TRUE(cu.cuMemFree_v2(parts[1]) == INVALID);
	/* The driver knows the first one's address. */
	release(parts[0]);
	TRUE(cu.cuMemFree_v2(parts[0]) == INVALID);
	TRUE(cu.cuMemFreeAsync(parts[0], NULL) == INVALID);
	TRUE(!driver_frees());
	TRUE(alloc(2 * PART) == parts[0]);
	TRUE(cu.cuMemFree_v2(parts[1]) == INVALID);
	release(parts[2]);
	release(parts[3]);
	release(parts[0]);
	TRUE(alloc(4 * PART) == parts[0]);
	/* The driver takes these there, too. */
	OK(cu.cuMemFreeAsync(parts[0], NULL));
	parts_new(parts);
	OK(cu.cuMemFreeAsync(parts[0], NULL));
	TRUE(alloc(PART) == parts[0]);
	live(1);
	TRUE(cu.cuMemAlloc_v2(NULL, PART) == INVALID);
	TRUE(cu.cuMemAlloc_v2(&parts[0], 0) == INVALID);
	TRUE(cu.cuMemAlloc_v2(&parts[0], SIZE_MAX) == NO_MEMORY);
}

/* ---- how much ---------------------------------------------------------------
 */

/* When nothing is kept any more, parts that live do, and the last one takes the
 * segment with it. */
void parts_stopped(void)
{
	address parts[4];

	parts_new(parts);
	release(parts[0]);
	for (int i = 0; i < 300; i++)
		(void)stream_new(NON_BLOCKING);
	parts[0] = alloc(PART);
	live(2);
	for (int i = 1; i < 4; i++) {
		live(2);
		release(parts[i]);
	}
	live(1);
	release(parts[0]);
	live(0);
}

/* With a library that wraps the driver, so that streams may be unknown. */
void parts_unknown(void)
{
	void *library = dlopen(other, RTLD_NOW);
	address parts[4];

	parts_new(parts);
	release(parts[1]);
	TRUE(library && dlsym(library, "cuStreamCreate"));
	TRUE(alloc(PART) != parts[1]);
	live(2);
	for (int i = 0; i < 4; i++)
		if (i != 1)
			release(parts[i]);
	live(1);
}

/* With FAKECUDA_MEMORY=128MiB: a part of a live segment is waited for before
 * the program hears that there is no memory. */
void parts_full(void)
{
	address whole = alloc(100 * MIB), first, second;

	release(whole);
	first = alloc(12 * MIB);
	second = alloc(80 * MIB);
	TRUE(first == whole && second == whole + 12 * MIB);
	cu.stepping(true);
	launch(LEGACY, second);
	release(second);
	TRUE(alloc(80 * MIB) == second);
	TRUE(!running());
	TRUE(cu.cuMemAlloc_v2(&whole, 80 * MIB) == NO_MEMORY);
	/* A segment goes back for one that finds no memory. */
	release(first);
	release(second);
	TRUE(alloc(120 * MIB));
	TRUE(driver_frees() >= 1);
}

static uint64_t trim(void)
{
	uint64_t (*function)(void);

	*(void **)&function = dlsym(RTLD_DEFAULT, "gpumem_run_trim");
	TRUE(function);
	return function();
}

void parts_trimmed(void)
{
	address parts[4], small = alloc(100);

	parts_new(parts);
	for (int i = 0; i < 3; i++)
		release(parts[i]);
	TRUE(trim() == 0);
	stays(parts[3]);
	TRUE(trim() == 4 * PART);
	stays(small);
	TRUE(trim() == 2 * MIB);
	parts_new(parts);
}
