/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Host memory for the metadata of slabs, with their marks. A free at random
 * among a million blocks touches the mark of one, so they lie side by side, in
 * chunks that the system may back by huge pages: otherwise each free misses the
 * translation of its address too. A piece is the metadata of one slab.
 *
 * Not for anything else: chunks stay mapped until the heap ends, so that a
 * double free reads a mark that says so. The memory of a chunk without a live
 * piece goes back to the system, and reads as zero. What a chunk begins with is
 * constant, and so the same for a piece that is given, or a part of another, by
 * now.
 *
 * Beside a chunk there may be its words, one for each place of a mark, which
 * callers keep there (heap/user.c): zeroed when they are mapped, stale later.
 *
 *     of each chunk: live == pieces that were taken and not given
 *                    used == the size of all pieces, live or free, and its own
 *                    used > first page  =>  live > 0
 *     live_bytes == used of all chunks - their own - the free pieces
 *     every free piece is in the list of its size
 *
 * The heap's mutex guards it.
 */
#ifndef GM_CACHE_HEADS_H
#define GM_CACHE_HEADS_H

#include <gpumem/gpumem.h>

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct gm_heap;

enum {
	GM_METADATA_UNIT = 64, /* they are multiples of it, and aligned to it */
	GM_METADATA_MAX = 64 * 80, /* bytes of one */
	/* As large as a huge page, and begins where one may. */
	GM_METADATA_CHUNK = 2 << 20
};

struct gm_metadata_chunk;
struct gm_metadata_free;

struct gm_metadata {
	struct gm_heap *heap; /* constant: whose it is */
	struct gm_metadata_chunk *chunks;
	struct gm_metadata_free *free[GM_METADATA_MAX / GM_METADATA_UNIT];
	size_t chunk_count, live_bytes;
};

typedef _Atomic(void *) gm_word;

/* What each chunk begins with. */
struct gm_metadata_head {
	struct gm_heap *heap;	  /* constant */
	_Atomic(gm_word *) words; /* constant once it is not NULL */
};

/* Whose piece it is or was, until that heap ends. No lock. */
static inline struct gm_heap *gm_metadata_heap(const void *piece)
{
	const uintptr_t chunk =
		(uintptr_t)piece & ~(uintptr_t)(GM_METADATA_CHUNK - 1);

	return ((const struct gm_metadata_head *)chunk)->heap;
}

/* The word of a place of two bytes in a piece, or NULL: its chunk has none. No
 * lock. */
static inline gm_word *gm_metadata_word(const void *place)
{
	const uintptr_t at = (uintptr_t)place & (GM_METADATA_CHUNK - 1);
	gm_word *words = atomic_load_explicit(
		&((struct gm_metadata_head *)((uintptr_t)place - at))->words,
		memory_order_acquire);

	return words ? words + at / sizeof(uint16_t) : NULL;
}

/* The same, mapped where there is none. NULL: out of host memory. No lock. */
gm_word *gm_metadata_make_word(const void *place);

/* Uninitialized memory. NULL: out of host memory. */
void *gm_metadata_take(struct gm_metadata *store, size_t bytes);
/* `bytes` is what was taken. */
void gm_metadata_give(struct gm_metadata *store, void *piece, size_t bytes);
/* Bytes of host memory in use: all pieces, live or free, and the chunks' own;
 * and where a chunk has words, those of all its pieces. What of a chunk was
 * never used is not counted. */
size_t gm_metadata_host_bytes(const struct gm_metadata *store);
/* Frees everything, live pieces too. */
void gm_metadata_fini(struct gm_metadata *store);
/* OK, or CORRUPT with what is wrong. */
gpumem_status gm_metadata_check(const struct gm_metadata *store);

#endif
