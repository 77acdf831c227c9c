/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * All blocks of all devices, by address: who is asked for one may look it up.
 * An array in the order of addresses, of which no two overlap, under a lock of
 * its own that many may read. A block that is being released is not in it, but
 * has its room, in case that it has to come back:
 *
 *     count + leaving <= room
 */
#include "opencl_plugin.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct opencl_block *blocks;
static size_t count, leaving, room;

/* Under the lock: how many begin at or below the address. */
static size_t place_after(uint64_t address)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (blocks[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Under the lock: the block that has the address, or NULL. */
static struct opencl_block *find(uint64_t address)
{
	size_t after = place_after(address);
	struct opencl_block *block = after ? &blocks[after - 1] : NULL;

	return block && address - block->address < block->bytes ? block : NULL;
}

static bool make_room(void)
{
	size_t more = room ? 2 * room : 64;
	struct opencl_block *grown;

	if (count + leaving < room)
		return true;
	grown = realloc(blocks, more * sizeof(*blocks));
	if (!grown)
		return false;
	blocks = grown;
	room = more;
	return true;
}

/* Under the lock: there is room. */
static void insert(const struct opencl_block *block)
{
	size_t at = place_after(block->address);

	memmove(&blocks[at + 1], &blocks[at], (count - at) * sizeof(*blocks));
	blocks[at] = *block;
	count++;
}

gpumem_status gm_opencl_table_add(const struct opencl_block *block)
{
	bool fits;

	pthread_rwlock_wrlock(&lock);
	fits = make_room();
	if (fits)
		insert(block);
	pthread_rwlock_unlock(&lock);
	return fits ? GPUMEM_OK
		    : gm_opencl_fail(GPUMEM_NO_HOST_MEMORY, CL_SUCCESS,
				     "no host memory for a list of blocks");
}

bool gm_opencl_table_find(uint64_t address, struct opencl_block *block_out)
{
	const struct opencl_block *block;

	pthread_rwlock_rdlock(&lock);
	block = find(address);
	if (block)
		*block_out = *block;
	pthread_rwlock_unlock(&lock);
	return block != NULL;
}

void gm_opencl_table_leave(uint64_t address)
{
	struct opencl_block *block;
	size_t at;

	pthread_rwlock_wrlock(&lock);
	block = find(address);
	at = (size_t)(block - blocks);
	count--;
	leaving++;
	memmove(block, block + 1, (count - at) * sizeof(*blocks));
	pthread_rwlock_unlock(&lock);
}

void gm_opencl_table_left(const struct opencl_block *back)
{
	pthread_rwlock_wrlock(&lock);
	leaving--;
	if (back)
		insert(back);
	pthread_rwlock_unlock(&lock);
}

bool gm_opencl_table_any(const struct opencl_device *device,
			 struct opencl_block *block_out)
{
	size_t i = 0;
	bool there;

	pthread_rwlock_rdlock(&lock);
	while (i < count && blocks[i].device != device)
		i++;
	there = i < count;
	if (there)
		*block_out = blocks[i];
	pthread_rwlock_unlock(&lock);
	return there;
}

gpumem_status gm_opencl_block(const struct opencl_device *device,
			      uint64_t address, uint64_t bytes,
			      struct opencl_block *block_out)
{
	struct opencl_block block;

	if (!gm_opencl_table_find(address, &block) ||
	    bytes > block.bytes - (address - block.address))
		return gm_opencl_fail(GPUMEM_INVALID, CL_SUCCESS,
				      "%llu bytes at 0x%llx are not all memory "
				      "of one block",
				      (unsigned long long)bytes,
				      (unsigned long long)address);
	if (block.device != device)
		return gm_opencl_fail(GPUMEM_INVALID, CL_SUCCESS,
				      "0x%llx is memory of another device or "
				      "context",
				      (unsigned long long)address);
	*block_out = block;
	return GPUMEM_OK;
}
