/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The host's memory for sleeps: pinned, where it is asked for and the device
 * has some, else whole pages of the process. What is retained waits here for
 * the next sleep. Its own mutex guards the list; the driver is called without
 * it. See parts.h.
 */
#include "parts.h"
#include "base/error.h"

#include <stdlib.h>
#include <sys/mman.h>

static bool is_pinned(const struct gm_heap *heap, const struct gm_chunk *chunk)
{
	return chunk->kind == GM_CHUNK_PINNED &&
	       gm_device_has(heap->driver.device, GPUMEM_CAP_PINNED);
}

static bool fits(const struct gm_chunk *chunk, enum gm_chunk_kind kind,
		 size_t bytes)
{
	return chunk->kind == kind && chunk->bytes >= bytes;
}

/* The smallest that is large enough. */
static struct gm_chunk *retained(struct gm_sleep *sleep,
				 enum gm_chunk_kind kind, size_t bytes)
{
	struct gm_chunk **link = &sleep->chunks, **best = NULL, *chunk = NULL;

	pthread_mutex_lock(&sleep->mutex);
	for (; *link; link = &(*link)->next)
		if (fits(*link, kind, bytes) &&
		    (!best || (*link)->bytes < (*best)->bytes))
			best = link;
	if (best) {
		chunk = *best;
		*best = chunk->next;
	}
	pthread_mutex_unlock(&sleep->mutex);
	return chunk;
}

size_t gm_chunks_retained(struct gm_heap *heap, enum gm_chunk_kind kind,
			  size_t bytes)
{
	struct gm_sleep *sleep = heap->sleep;
	const struct gm_chunk *chunk;
	size_t count = 0;

	pthread_mutex_lock(&sleep->mutex);
	for (chunk = sleep->chunks; chunk; chunk = chunk->next)
		count += fits(chunk, kind, bytes);
	pthread_mutex_unlock(&sleep->mutex);
	return count;
}

uint64_t gm_chunks_retained_bytes(struct gm_heap *heap)
{
	struct gm_sleep *sleep = heap->sleep;
	const struct gm_chunk *chunk;
	uint64_t bytes = 0;

	pthread_mutex_lock(&sleep->mutex);
	for (chunk = sleep->chunks; chunk; chunk = chunk->next)
		bytes += chunk->bytes;
	pthread_mutex_unlock(&sleep->mutex);
	return bytes;
}

static gpumem_status fill(struct gm_heap *heap, struct gm_chunk *chunk)
{
	uint64_t address = 0;
	gpumem_status status;
	void *memory;

	if (is_pinned(heap, chunk)) {
		status = gm_driver_alloc(&heap->sleep->pinned, chunk->bytes,
					 &address);
		chunk->memory = (unsigned char *)(uintptr_t)address;
		return status;
	}
	memory = mmap(NULL, chunk->bytes, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no host memory for %zu bytes of what is to "
			       "sleep: let it go to a file (`folder`), or drop "
			       "some of it (gpumem_tag_set_sleep())",
			       chunk->bytes);
	if (chunk->kind == GM_CHUNK_ORDINARY)
		(void)madvise(memory, chunk->bytes, MADV_HUGEPAGE);
	chunk->memory = memory;
	return GPUMEM_OK;
}

gpumem_status gm_chunk_take(struct gm_heap *heap, enum gm_chunk_kind kind,
			    size_t bytes, struct gm_chunk **chunk_out)
{
	struct gm_chunk *chunk = retained(heap->sleep, kind, bytes);
	gpumem_status status;

	if (chunk) {
		*chunk_out = chunk;
		return GPUMEM_OK;
	}
	chunk = calloc(1, sizeof(*chunk));
	if (!chunk)
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no host memory for what sleeps");
	chunk->bytes = bytes;
	chunk->kind = kind;
	status = fill(heap, chunk);
	if (status != GPUMEM_OK) {
		free(chunk);
		return status;
	}
	heap->sleep->host_bytes += bytes;
	*chunk_out = chunk;
	return GPUMEM_OK;
}

static void put(struct gm_sleep *sleep, struct gm_chunk *chunk)
{
	pthread_mutex_lock(&sleep->mutex);
	chunk->next = sleep->chunks;
	sleep->chunks = chunk;
	pthread_mutex_unlock(&sleep->mutex);
}

/* False: the driver does not take it back. */
static bool end(struct gm_heap *heap, struct gm_chunk *chunk)
{
	if (!is_pinned(heap, chunk))
		munmap(chunk->memory, chunk->bytes);
	else if (gm_driver_free(&heap->sleep->pinned, (uintptr_t)chunk->memory,
				chunk->bytes) != GPUMEM_OK)
		return false;
	heap->sleep->host_bytes -= chunk->bytes;
	free(chunk);
	return true;
}

void gm_chunk_give(struct gm_heap *heap, struct gm_chunk *chunk, bool retain)
{
	if (retain || gm_queues_unsure(heap) || !end(heap, chunk))
		put(heap->sleep, chunk);
}

void gm_chunks_end(struct gm_heap *heap)
{
	struct gm_sleep *sleep = heap->sleep;
	struct gm_chunk *chunks, *chunk;

	pthread_mutex_lock(&sleep->mutex);
	chunks = sleep->chunks;
	sleep->chunks = NULL;
	pthread_mutex_unlock(&sleep->mutex);
	while ((chunk = chunks)) {
		chunks = chunk->next;
		if (!end(heap, chunk))
			put(sleep, chunk);
	}
}

uint64_t gm_sleep_host_bytes(const struct gm_heap *heap)
{
	return heap->sleep ? heap->sleep->host_bytes : 0;
}

void gm_sleep_end(struct gm_heap *heap)
{
	struct gm_sleep *sleep = heap->sleep;

	if (!sleep)
		return;
	gm_queues_forget(heap);
	while (sleep->stores) {
		struct gm_store *store = sleep->stores;

		sleep->stores = store->next;
		gm_store_close(heap, store);
	}
	gm_chunks_end(heap);
	while (sleep->chunks) {
		struct gm_chunk *chunk = sleep->chunks;

		sleep->chunks = chunk->next;
		free(chunk);
	}
	pthread_mutex_destroy(&sleep->mutex);
	free(sleep);
	heap->sleep = NULL;
}
