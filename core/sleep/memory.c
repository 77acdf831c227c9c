/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The memory of one chunk: mapped here, and pinned by the driver if copies are
 * to run at the speed of the link. Several threads have that much sooner than
 * the driver's own pinned memory (decision 106). What it does not pin it is
 * asked for. Lists are chunks.c. No lock. See parts.h.
 */
#include "parts.h"
#include "base/error.h"

#include <sys/mman.h>
#include <unistd.h>

/* What huge pages begin at. */
enum { HUGE_BYTES = 2 << 20 };

/* What lies before a huge page, and behind the last page, is not needed. */
static unsigned char *align(unsigned char *from, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t before = -(uintptr_t)from % HUGE_BYTES;
	unsigned char *memory = from + before;

	bytes = (bytes + page - 1) & ~(page - 1);
	if (before)
		munmap(from, before);
	munmap(memory + bytes, HUGE_BYTES - before);
	return memory;
}

/* Without pages yet, and never a child's: fork() would have to copy what is
 * pinned. */
static gpumem_status map(struct gm_chunk *chunk)
{
	size_t bytes = chunk->bytes;
	void *from = mmap(NULL, bytes + HUGE_BYTES, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (from == MAP_FAILED)
		return GPUMEM_NO_HOST_MEMORY;
	chunk->memory = align(from, bytes);
	chunk->maker = GM_CHUNK_OURS;
	if (madvise(chunk->memory, bytes, MADV_DONTFORK)) {
		munmap(chunk->memory, bytes);
		return GPUMEM_NO_HOST_MEMORY;
	}
	(void)madvise(chunk->memory, bytes, MADV_HUGEPAGE);
	return GPUMEM_OK;
}

static gpumem_status ask_driver(struct gm_heap *heap, struct gm_chunk *chunk)
{
	uint64_t address = 0;
	gpumem_status status =
		gm_driver_alloc(&heap->sleep->pinned, chunk->bytes, &address);

	chunk->memory = (unsigned char *)(uintptr_t)address;
	chunk->maker = GM_CHUNK_DRIVERS;
	return status;
}

static gpumem_status pin(struct gm_heap *heap, struct gm_chunk *chunk)
{
	gpumem_status status =
		gm_device_pin(heap->driver.device, chunk->memory, chunk->bytes);

	if (status == GPUMEM_OK) {
		chunk->maker = GM_CHUNK_OURS_PINNED;
		return GPUMEM_OK;
	}
	munmap(chunk->memory, chunk->bytes);
	return status == GPUMEM_NO_HOST_MEMORY ? status
					       : ask_driver(heap, chunk);
}

gpumem_status gm_chunk_make(struct gm_heap *heap, struct gm_chunk *chunk)
{
	gpumem_status status = map(chunk);

	if (status == GPUMEM_OK && chunk->kind == GM_CHUNK_PINNED &&
	    gm_device_has(heap->driver.device, GPUMEM_CAP_PINNED))
		status = pin(heap, chunk);
	return status == GPUMEM_NO_HOST_MEMORY
		       ? gm_fail(GPUMEM_NO_HOST_MEMORY,
				 "no host memory for %zu bytes of what is to "
				 "sleep: let it go to a file (`folder`), or "
				 "drop some of it (gpumem_tag_set_sleep())",
				 chunk->bytes)
		       : status;
}

bool gm_chunk_unmake(struct gm_heap *heap, const struct gm_chunk *chunk)
{
	if (chunk->maker == GM_CHUNK_DRIVERS)
		return gm_driver_free(&heap->sleep->pinned,
				      (uintptr_t)chunk->memory,
				      chunk->bytes) == GPUMEM_OK;
	if (chunk->maker == GM_CHUNK_OURS_PINNED &&
	    gm_device_unpin(heap->driver.device, chunk->memory, chunk->bytes) !=
		    GPUMEM_OK)
		return false;
	munmap(chunk->memory, chunk->bytes);
	return true;
}

void gm_chunk_abandon(const struct gm_chunk *chunk)
{
	if (chunk->maker == GM_CHUNK_OURS_PINNED)
		(void)madvise(chunk->memory, chunk->bytes, MADV_DONTNEED);
}
