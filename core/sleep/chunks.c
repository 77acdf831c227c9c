/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The host's memory for sleeps, in chunks. What is retained waits here for the
 * next sleep. How a chunk is made is memory.c. Its own mutex guards the list;
 * the driver is called without it. See parts.h.
 */
#include "parts.h"
#include "base/error.h"

#include <stdlib.h>

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
	status = gm_chunk_make(heap, chunk);
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

/* False: work may still use it, or the driver does not take it back. */
static bool end(struct gm_heap *heap, struct gm_chunk *chunk)
{
	bool used = chunk->kind == GM_CHUNK_PINNED && gm_queues_unsure(heap);

	if (used || !gm_chunk_unmake(heap, chunk))
		return false;
	heap->sleep->host_bytes -= chunk->bytes;
	free(chunk);
	return true;
}

void gm_chunk_give(struct gm_heap *heap, struct gm_chunk *chunk, bool retain)
{
	if (retain || !end(heap, chunk))
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
	(void)gm_queues_settle(heap);
	while (sleep->stores) {
		struct gm_store *store = sleep->stores;

		sleep->stores = store->next;
		gm_store_close(heap, store);
	}
	gm_chunks_end(heap);
	while (sleep->chunks) {
		struct gm_chunk *chunk = sleep->chunks;

		sleep->chunks = chunk->next;
		gm_chunk_abandon(chunk);
		free(chunk);
	}
	gm_queues_forget(heap);
	pthread_mutex_destroy(&sleep->mutex);
	free(sleep);
	heap->sleep = NULL;
}
