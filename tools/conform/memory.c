/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The required slots of an open device: raw memory, its accounts, its end. See
 * conform.h.
 */
#include "conform.h"

#include <unistd.h>

#define BLOCKS 32
#define MIB ((uint64_t)1 << 20)

struct block {
	uint64_t address, bytes;
};

/* Sizes between one and eight granules, not sorted; as many as the device has
 * room for. */
static int plan(const struct conform *c, struct block *blocks)
{
	uint64_t grain = c->info.granularity_bytes, sum = 0;
	int i;

	for (i = 0; i < BLOCKS; i++) {
		blocks[i].bytes =
			conform_raw(c, grain * (1 + (uint64_t)(i * 5 % 8)));
		sum += blocks[i].bytes;
		if (sum > c->budget_bytes)
			break;
	}
	return i;
}

static gpumem_status take(const struct conform *c, struct block *blocks,
			  int *count)
{
	gpumem_status status = GPUMEM_OK;
	int wanted = *count;

	for (*count = 0; *count < wanted; ++*count) {
		struct block *block = &blocks[*count];

		status =
			c->ops->alloc(c->device, block->bytes, &block->address);
		if (status != GPUMEM_OK)
			break;
	}
	return status;
}

static gpumem_status give(const struct conform *c, const struct block *blocks,
			  int count)
{
	gpumem_status first = GPUMEM_OK;

	for (int i = 0; i < count; i++) {
		/* Neither in order nor in reverse. */
		const struct block *block = &blocks[(i * 7 + 3) % count];
		gpumem_status status;

		if (count % 7 == 0)
			block = &blocks[i];
		status = c->ops->free(c->device, block->address, block->bytes);
		first = first == GPUMEM_OK ? status : first;
	}
	return first;
}

/* Fills all blocks, each with its own number, and only then looks. */
static gpumem_status own_content(const struct conform *c,
				 const struct block *blocks, int count)
{
	gpumem_status status = GPUMEM_OK;

	for (int i = 0; i < count && status == GPUMEM_OK; i++)
		status = conform_paint(c, blocks[i].address, (uint8_t)(i + 1),
				       blocks[i].bytes);
	for (int i = 0; i < count && status == GPUMEM_OK; i++)
		status = conform_verify(c, blocks[i].address, (uint8_t)(i + 1),
					blocks[i].bytes);
	return status;
}

static void check_blocks(struct conform *c, const char *when, bool content)
{
	struct block blocks[BLOCKS];
	int count = plan(c, blocks);
	bool taken;

	if (count < 2) {
		conform_skip(c, "raw blocks", "there is not room for two");
		return;
	}
	taken = conform_is(c, take(c, blocks, &count), GPUMEM_OK,
			   "%s: %d raw blocks", when, count);
	if (taken && content && conform_has(c, GPUMEM_CAP_COPY))
		conform_is(c, own_content(c, blocks, count), GPUMEM_OK,
			   "%s: each keeps its bytes", when);
	conform_is(c, give(c, blocks, count), GPUMEM_OK, "%s: all freed", when);
}

/* Others may use the device meanwhile, so it is tried a few times. */
static bool moves(struct conform *c, uint64_t bytes)
{
	bool moved = false;

	for (int i = 0; i < 5 && !moved; i++) {
		uint64_t before = conform_free_bytes(c), address, between;

		if (c->ops->alloc(c->device, bytes, &address) != GPUMEM_OK)
			return false;
		between = conform_free_bytes(c);
		if (c->ops->free(c->device, address, bytes) != GPUMEM_OK)
			return false;
		moved = between + bytes <= before &&
			conform_free_bytes(c) >= between + bytes;
	}
	return moved;
}

static void check_accounts(struct conform *c)
{
	struct gpumem_memory memory = GPUMEM_INIT(struct gpumem_memory);
	uint64_t bytes = conform_raw(c, 32 * MIB);

	conform_is(c, c->ops->memory_info(c->device, &memory), GPUMEM_OK,
		   "memory info");
	conform_ok(c,
		   memory.total_bytes > 0 &&
			   memory.total_bytes >= memory.free_bytes,
		   "total is at least free");
	if (!conform_has(c, GPUMEM_CAP_MEMORY_INFO))
		conform_skip(c, "free moves by what is taken",
			     "the device does not report free memory");
	else if (conform_has(c, GPUMEM_CAP_LATE_COMMIT))
		conform_skip(c, "free moves by what is taken",
			     "memory is committed at first use");
	else if (memory.free_bytes < 4 * bytes)
		conform_skip(c, "free moves by what is taken",
			     "too little memory is free");
	else
		conform_ok(c, moves(c, bytes), "free moves by what is taken");
}

/* Memory of the machine that this process has; 0: nobody says. */
static uint64_t resident_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long long all, resident = 0;

	if (file && fscanf(file, "%llu %llu", &all, &resident) != 2)
		resident = 0;
	if (file)
		fclose(file);
	return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* What a GPU has is not seen here, and passes. Half: the implementation may
 * have use for some itself. */
static void check_late(struct conform *c)
{
	const char *const name = "untouched memory takes none of the host's";
	uint64_t bytes = conform_raw(c, 64 * MIB), before, after, address;

	if (!conform_has(c, GPUMEM_CAP_LATE_COMMIT))
		return;
	if (bytes < 16 * MIB || bytes > c->budget_bytes) {
		conform_skip(c, name, "there is too little memory to see it");
		return;
	}
	before = resident_bytes();
	if (!conform_is(c, c->ops->alloc(c->device, bytes, &address), GPUMEM_OK,
			"a raw block of %llu bytes", (unsigned long long)bytes))
		return;
	after = resident_bytes();
	conform_ok(c, after < before + bytes / 2, "%s", name);
	conform_is(c, c->ops->free(c->device, address, bytes), GPUMEM_OK,
		   "free");
}

void conform_memory(struct conform *c)
{
	check_accounts(c);
	check_late(c);
	check_blocks(c, "first", true);
	check_blocks(c, "again", false);
}

#define MOST 64

/* Takes the largest blocks there can be until there is no more; at most MOST.
 * Gives them all back. */
static void fill_device(struct conform *c)
{
	struct block blocks[MOST];
	uint64_t bytes = conform_raw(c, c->info.max_alloc_bytes), address;
	gpumem_status status = GPUMEM_OK;
	int count = 0;

	while (count < MOST && status == GPUMEM_OK) {
		status = c->ops->alloc(c->device, bytes, &address);
		if (status == GPUMEM_OK)
			blocks[count++] = (struct block){address, bytes};
	}
	conform_is(c, status, GPUMEM_NO_MEMORY,
		   "raw blocks beyond the capacity, after %d", count);
	conform_is(c, give(c, blocks, count), GPUMEM_OK, "all freed");
}

/* A processor's device has the memory that all programs need. */
static bool needs_host(const struct conform *c)
{
	uint64_t host = (uint64_t)sysconf(_SC_PHYS_PAGES) *
			(uint64_t)sysconf(_SC_PAGESIZE);

	return conform_has(c, GPUMEM_CAP_CPU) &&
	       c->info.total_bytes > host / 2;
}

void conform_capacity(struct conform *c)
{
	const char *const name = "memory beyond the capacity";

	if (conform_has(c, GPUMEM_CAP_LATE_COMMIT)) {
		conform_skip(c, name, "memory is committed at first use");
		return;
	}
	if (needs_host(c)) {
		conform_skip(c, name, "it would take most of the host's");
		return;
	}
	if (c->info.max_alloc_bytes < c->info.total_bytes / (MOST - 2)) {
		conform_skip(c, name, "raw blocks are too small to get there");
		return;
	}
	fill_device(c);
	check_blocks(c, "afterwards", true);
}
