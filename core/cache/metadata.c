/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Chunks of 2 MiB, bump allocation and lists by size, and words beside them;
 * see metadata.h. */
#include "metadata.h"
#include "extent/check.h"
#include "base/error.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What is less than a first page is the chunk's own. */
enum {
	CHUNK_BYTES = GM_METADATA_CHUNK,
	OWN_BYTES = 4096,
	WORDS_PART = sizeof(gm_word) / sizeof(uint16_t),
	WORDS_BYTES = CHUNK_BYTES * WORDS_PART
};

struct gm_metadata_chunk {
	struct gm_metadata_head head;
	struct gm_metadata_chunk *next;
	size_t used; /* bytes; beyond all is zero */
	size_t live; /* pieces */
};

/* A piece that is free. */
struct gm_metadata_free {
	struct gm_metadata_free *next, *prev;
	size_t bytes;
};

static struct gm_metadata_chunk *chunk_of(void *piece)
{
	return (struct gm_metadata_chunk *)((uintptr_t)piece &
					    ~(uintptr_t)(CHUNK_BYTES - 1));
}

static struct gm_metadata_free **list_of(struct gm_metadata *store,
					 size_t bytes)
{
	return &store->free[bytes / GM_METADATA_UNIT - 1];
}

static void add(struct gm_metadata *store, struct gm_metadata_free *piece)
{
	struct gm_metadata_free **list = list_of(store, piece->bytes);

	piece->prev = NULL;
	piece->next = *list;
	if (*list)
		(*list)->prev = piece;
	*list = piece;
}

static void remove_free(struct gm_metadata *store,
			const struct gm_metadata_free *piece)
{
	if (piece->prev)
		piece->prev->next = piece->next;
	else
		*list_of(store, piece->bytes) = piece->next;
	if (piece->next)
		piece->next->prev = piece->prev;
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
static struct gm_metadata_chunk *chunk_new(struct gm_metadata *store)
{
	struct gm_metadata_chunk *chunk = map_aligned();

	if (!chunk)
		return NULL;
	if (store->chunk_count++)
		(void)madvise(chunk, CHUNK_BYTES, MADV_HUGEPAGE);
	chunk->head.heap = store->heap;
	chunk->used = OWN_BYTES;
	chunk->next = store->chunks;
	store->chunks = chunk;
	return chunk;
}

static bool has_room(const struct gm_metadata_chunk *chunk, size_t bytes)
{
	return chunk->used + bytes <= CHUNK_BYTES;
}

/* The first, or one that was given up, or a new one, which then is the first.
 */
static struct gm_metadata_chunk *chunk_with_room(struct gm_metadata *store,
						 size_t bytes)
{
	struct gm_metadata_chunk **link = &store->chunks, *chunk = *link;

	if (chunk && has_room(chunk, bytes))
		return chunk;
	while ((chunk = *link) && chunk->live)
		link = &chunk->next;
	if (!chunk)
		return chunk_new(store);
	*link = chunk->next;
	chunk->next = store->chunks;
	store->chunks = chunk;
	return chunk;
}

void *gm_metadata_take(struct gm_metadata *store, size_t bytes)
{
	struct gm_metadata_free *piece = *list_of(store, bytes);
	struct gm_metadata_chunk *chunk;

	if (piece) {
		remove_free(store, piece);
		chunk = chunk_of(piece);
	} else {
		chunk = chunk_with_room(store, bytes);
		if (!chunk)
			return NULL;
		piece = (struct gm_metadata_free *)((char *)chunk +
						    chunk->used);
		chunk->used += bytes;
	}
	chunk->live++;
	store->live_bytes += bytes;
	return piece;
}

/* ---- words ---- */

static gm_word *words_of(const struct gm_metadata_chunk *chunk)
{
	return atomic_load_explicit(&chunk->head.words, memory_order_relaxed);
}

/* Two threads may race for them: the loser unmaps its own. */
gm_word *gm_metadata_make_word(const void *place)
{
	struct gm_metadata_chunk *chunk = chunk_of((void *)place);
	gm_word *words, *expected = NULL;

	if (words_of(chunk))
		return gm_metadata_word(place);
	words = mmap(NULL, WORDS_BYTES, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (words == MAP_FAILED)
		return NULL;
	if (!atomic_compare_exchange_strong(&chunk->head.words, &expected,
					    words))
		(void)munmap(words, WORDS_BYTES);
	return gm_metadata_word(place);
}

/* Whole pages go back to the system. They may be larger than a chunk's own
 * part, and it refuses those that are locked, as after mlockall(). */
static void make_zero(char *start, size_t bytes)
{
	size_t before = -(uintptr_t)start % (size_t)sysconf(_SC_PAGESIZE);

	memset(start, 0, before);
	if (madvise(start + before, bytes - before, MADV_DONTNEED))
		memset(start + before, 0, bytes - before);
}

/* All its pieces are free: back to the system, but for the addresses. */
static void give_up(struct gm_metadata *store, struct gm_metadata_chunk *chunk)
{
	size_t at = OWN_BYTES;

	while (at < chunk->used) {
		const struct gm_metadata_free *piece =
			(struct gm_metadata_free *)((char *)chunk + at);

		at += piece->bytes;
		remove_free(store, piece);
	}
	chunk->used = OWN_BYTES;
	make_zero((char *)chunk + OWN_BYTES, CHUNK_BYTES - OWN_BYTES);
	if (words_of(chunk))
		(void)madvise(words_of(chunk), WORDS_BYTES, MADV_DONTNEED);
}

void gm_metadata_give(struct gm_metadata *store, void *piece, size_t bytes)
{
	struct gm_metadata_chunk *chunk = chunk_of(piece);
	struct gm_metadata_free *free = piece;

	free->bytes = bytes;
	add(store, free);
	store->live_bytes -= bytes;
	if (!--chunk->live)
		give_up(store, chunk);
}

static size_t used_bytes(const struct gm_metadata *store)
{
	const struct gm_metadata_chunk *chunk = store->chunks;
	size_t bytes = 0;

	for (; chunk; chunk = chunk->next)
		bytes += chunk->used;
	return bytes;
}

size_t gm_metadata_host_bytes(const struct gm_metadata *store)
{
	const struct gm_metadata_chunk *chunk = store->chunks;
	size_t bytes = used_bytes(store);

	for (; chunk; chunk = chunk->next)
		if (words_of(chunk))
			bytes += (chunk->used - OWN_BYTES) * WORDS_PART;
	return bytes;
}

void gm_metadata_fini(struct gm_metadata *store)
{
	struct gm_metadata_chunk *chunk;

	while ((chunk = store->chunks)) {
		store->chunks = chunk->next;
		if (words_of(chunk))
			(void)munmap(words_of(chunk), WORDS_BYTES);
		(void)munmap(chunk, CHUNK_BYTES);
	}
	*store = (struct gm_metadata){0};
}

gpumem_status gm_metadata_check(const struct gm_metadata *store)
{
	const struct gm_metadata_chunk *chunk = store->chunks;
	size_t chunks = 0, free_bytes = 0, bytes = used_bytes(store);

	for (; chunk; chunk = chunk->next, chunks++)
		EXPECT(chunk->used <= CHUNK_BYTES &&
			       (chunk->used > OWN_BYTES) == (chunk->live > 0),
		       "a chunk of pieces has %zu bytes in use, %zu pieces "
		       "live",
		       chunk->used, chunk->live);
	EXPECT(chunks == store->chunk_count,
	       "%zu chunks of pieces, the counters say %zu", chunks,
	       store->chunk_count);
	for (size_t i = 0; i < GM_METADATA_MAX / GM_METADATA_UNIT; i++)
		for (const struct gm_metadata_free *piece = store->free[i];
		     piece; piece = piece->next) {
			EXPECT(piece->bytes == (i + 1) * GM_METADATA_UNIT,
			       "a free piece of %zu bytes is among those of "
			       "%zu",
			       piece->bytes, (i + 1) * GM_METADATA_UNIT);
			free_bytes += piece->bytes;
		}
	EXPECT(store->live_bytes == bytes - chunks * OWN_BYTES - free_bytes,
	       "%zu bytes of pieces are live, but %zu of %zu are free",
	       store->live_bytes, free_bytes, bytes);
	return GPUMEM_OK;
}
