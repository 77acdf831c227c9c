/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Host memory for the heads of slabs, with their marks. A free at random among
 * a million blocks touches the mark of one, so they lie side by side, in chunks
 * that the system may back by huge pages: otherwise each free misses the
 * translation of its address too.
 *
 * Not for anything else: it stays mapped until the heap ends, so that a free of
 * what is free already reads a mark that says so. What is in no use goes back
 * to the system, and reads as zero.
 *
 *     of each chunk: live == heads that were taken and not given
 *                    used == the size of all heads, live or free, and its own
 *                    used > first page  =>  live > 0
 *     live_bytes == used of all chunks - their own - the free heads
 *     every free head is in the list of its size
 *
 * The heap's mutex guards it.
 */
#ifndef GM_CACHE_HEADS_H
#define GM_CACHE_HEADS_H

#include <gpumem/gpumem.h>

#include <stddef.h>

enum {
	GM_HEADS_UNIT = 64,    /* they are multiples of it, and aligned to it */
	GM_HEADS_MAX = 64 * 64 /* bytes of one */
};

struct gm_heads_chunk;
struct gm_heads_free;

struct gm_heads {
	struct gm_heads_chunk *chunks;
	struct gm_heads_free *free[GM_HEADS_MAX / GM_HEADS_UNIT];
	size_t chunk_count, live_bytes;
};

/* Memory with whatever it held. NULL: the system has none. */
void *gm_heads_take(struct gm_heads *heads, size_t bytes);
/* Of as many bytes as were taken. */
void gm_heads_give(struct gm_heads *heads, void *head, size_t bytes);
/* Memory that this has of the system, for heads or not. */
size_t gm_heads_host_bytes(const struct gm_heads *heads);
/* Whatever is still taken is gone. */
void gm_heads_fini(struct gm_heads *heads);
/* OK, or CORRUPT with what is wrong. */
gpumem_status gm_heads_check(const struct gm_heads *heads);

#endif
