/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Chunks of 2 MiB, bump allocation and lists by size; see heads.h. */
#include "heads.h"
#include "extent/check.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

/* Chunks are as large as a huge page, and begin where one may. What is less
 * than a first page is the chunk's own. */
enum { CHUNK_BYTES = 2 << 20, OWN_BYTES = 4096 };

struct gm_heads_chunk {
	struct gm_heads_chunk *next;
	size_t used; /* bytes; beyond they were never written, or given up */
	size_t live; /* heads */
};

/* A head that is free. */
struct gm_heads_free {
	struct gm_heads_free *next, *prev;
	size_t bytes;
};

static struct gm_heads_chunk *chunk_of(void *head)
{
	return (struct gm_heads_chunk *)((uintptr_t)head &
					 ~(uintptr_t)(CHUNK_BYTES - 1));
}

static struct gm_heads_free **list_of(struct gm_heads *heads, size_t bytes)
{
	return &heads->free[bytes / GM_HEADS_UNIT - 1];
}

static void add(struct gm_heads *heads, struct gm_heads_free *head)
{
	struct gm_heads_free **list = list_of(heads, head->bytes);

	head->prev = NULL;
	head->next = *list;
	if (*list)
		(*list)->prev = head;
	*list = head;
}

static void remove_free(struct gm_heads *heads,
			const struct gm_heads_free *head)
{
	if (head->prev)
		head->prev->next = head->next;
	else
		*list_of(heads, head->bytes) = head->next;
	if (head->next)
		head->next->prev = head->prev;
}

/* Twice as many addresses as it takes have a place for it. */
static void *map_aligned(void)
{
	char *start = mmap(NULL, 2 * CHUNK_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	size_t before;

	if (start == MAP_FAILED)
		return NULL;
	before = -(uintptr_t)start % CHUNK_BYTES;
	if (before)
		(void)munmap(start, before);
	(void)munmap(start + before + CHUNK_BYTES, CHUNK_BYTES - before);
	return start + before;
}

/* Small pools take no huge page: the first chunk is as it comes. */
static struct gm_heads_chunk *chunk_new(struct gm_heads *heads)
{
	struct gm_heads_chunk *chunk = map_aligned();

	if (!chunk)
		return NULL;
	if (heads->chunk_count++)
		(void)madvise(chunk, CHUNK_BYTES, MADV_HUGEPAGE);
	chunk->used = OWN_BYTES;
	chunk->next = heads->chunks;
	heads->chunks = chunk;
	return chunk;
}

static bool has_room(const struct gm_heads_chunk *chunk, size_t bytes)
{
	return chunk->used + bytes <= CHUNK_BYTES;
}

/* The first, or one that was given up, or a new one, which then is the first.
 */
static struct gm_heads_chunk *chunk_with_room(struct gm_heads *heads,
					      size_t bytes)
{
	struct gm_heads_chunk **link = &heads->chunks, *chunk = *link;

	if (chunk && has_room(chunk, bytes))
		return chunk;
	while ((chunk = *link) && chunk->live)
		link = &chunk->next;
	if (!chunk)
		return chunk_new(heads);
	*link = chunk->next;
	chunk->next = heads->chunks;
	heads->chunks = chunk;
	return chunk;
}

void *gm_heads_take(struct gm_heads *heads, size_t bytes)
{
	struct gm_heads_free *head = *list_of(heads, bytes);
	struct gm_heads_chunk *chunk;

	if (head) {
		remove_free(heads, head);
		chunk = chunk_of(head);
	} else {
		chunk = chunk_with_room(heads, bytes);
		if (!chunk)
			return NULL;
		head = (struct gm_heads_free *)((char *)chunk + chunk->used);
		chunk->used += bytes;
	}
	chunk->live++;
	heads->live_bytes += bytes;
	return head;
}

/* All its heads are free: back to the system, but for the addresses. */
static void give_up(struct gm_heads *heads, struct gm_heads_chunk *chunk)
{
	size_t at = OWN_BYTES;

	while (at < chunk->used) {
		const struct gm_heads_free *head =
			(struct gm_heads_free *)((char *)chunk + at);

		at += head->bytes;
		remove_free(heads, head);
	}
	chunk->used = OWN_BYTES;
	(void)madvise((char *)chunk + OWN_BYTES, CHUNK_BYTES - OWN_BYTES,
		      MADV_DONTNEED);
}

void gm_heads_give(struct gm_heads *heads, void *head, size_t bytes)
{
	struct gm_heads_chunk *chunk = chunk_of(head);
	struct gm_heads_free *free = head;

	free->bytes = bytes;
	add(heads, free);
	heads->live_bytes -= bytes;
	if (!--chunk->live)
		give_up(heads, chunk);
}

size_t gm_heads_host_bytes(const struct gm_heads *heads)
{
	const struct gm_heads_chunk *chunk = heads->chunks;
	size_t bytes = 0;

	for (; chunk; chunk = chunk->next)
		bytes += chunk->used;
	return bytes;
}

void gm_heads_fini(struct gm_heads *heads)
{
	struct gm_heads_chunk *chunk;

	while ((chunk = heads->chunks)) {
		heads->chunks = chunk->next;
		(void)munmap(chunk, CHUNK_BYTES);
	}
	*heads = (struct gm_heads){0};
}

gpumem_status gm_heads_check(const struct gm_heads *heads)
{
	const struct gm_heads_chunk *chunk = heads->chunks;
	size_t chunks = 0, free_bytes = 0, bytes = gm_heads_host_bytes(heads);

	for (; chunk; chunk = chunk->next, chunks++)
		EXPECT(chunk->used <= CHUNK_BYTES &&
			       (chunk->used > OWN_BYTES) == (chunk->live > 0),
		       "a chunk of heads has %zu bytes in use, %zu heads live",
		       chunk->used, chunk->live);
	EXPECT(chunks == heads->chunk_count,
	       "%zu chunks of heads, the books say %zu", chunks,
	       heads->chunk_count);
	for (size_t i = 0; i < GM_HEADS_MAX / GM_HEADS_UNIT; i++)
		for (const struct gm_heads_free *head = heads->free[i]; head;
		     head = head->next) {
			EXPECT(head->bytes == (i + 1) * GM_HEADS_UNIT,
			       "a free head of %zu bytes is among those of %zu",
			       head->bytes, (i + 1) * GM_HEADS_UNIT);
			free_bytes += head->bytes;
		}
	EXPECT(heads->live_bytes == bytes - chunks * OWN_BYTES - free_bytes,
	       "%zu bytes of heads are live, but %zu of %zu are free",
	       heads->live_bytes, free_bytes, bytes);
	return GPUMEM_OK;
}
