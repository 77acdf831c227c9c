/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* From a pointer that a user gave to the block that it names. */
#ifndef GM_HEAP_BLOCK_H
#define GM_HEAP_BLOCK_H

#include "cache/slab.h"

struct gm_block {
	struct gm_heap *heap;
	struct gm_slab *slab; /* small, and then its slot: */
	uint32_t slot;
	struct gm_extent *extent; /* large */
	bool held; /* it was freed, but its view was not given back */
};

/* Finds the live block that begins at ptr and locks its heap. BAD_POINTER or
 * FORKED: nothing is locked. */
gpumem_status gm_block_lock(const void *ptr, struct gm_block *block);

struct gm_block_size {
	uint64_t requested, usable; /* bytes */
};

/* Of the live block that begins at ptr. No lock. False: there is none, or it
 * takes a closer look. */
bool gm_block_peek(const void *ptr, struct gm_block_size *size_out);
/* The same under the lock, with a sentence. OK, BAD_POINTER or FORKED. */
gpumem_status gm_block_size(const void *ptr, struct gm_block_size *size_out);

/* user.c: the caller's word of the live block that begins at ptr. No lock.
 * Get: false, take a closer look. Set: OK; NO_HOST_MEMORY; NOT_READY without a
 * sentence, take a closer look. */
bool gm_block_peek_user(const void *ptr, void **user_out);
gpumem_status gm_block_poke_user(const void *ptr, void *user);
/* The same under the lock, with a sentence. OK, BAD_POINTER or FORKED; set also
 * NO_HOST_MEMORY. */
gpumem_status gm_heap_get_user(const void *ptr, void **user_out);
gpumem_status gm_heap_set_user(const void *ptr, void *user);

uintptr_t gm_block_address(const struct gm_block *block);
uint64_t gm_block_requested(const struct gm_block *block);
/* GM_MORE_ bits, and the tag of them. */
uint16_t gm_block_more(const struct gm_block *block);

static inline uint32_t gm_block_tag(const struct gm_block *block)
{
	return gm_block_more(block) & GM_MORE_TAG;
}

/* The stream that the block goes back to; gm_stream_gone, equal to none, if it
 * was dropped. */
gpumem_stream gm_block_own_stream(const struct gm_block *block);

/* asleep.c: is any of it on a page that is away (pages/away.h)? Then the second
 * ends it: whoever had work with it was waited for when it fell asleep. */
bool gm_block_is_away(const struct gm_block *block);
gpumem_status gm_block_free_away(struct gm_block *block);
/* OK; BUSY where it is, with what cannot be done to it then. */
gpumem_status gm_block_refuse_away(const struct gm_block *block,
				   const char *what);

/* free.c: another stream uses the block from now on. OK or NO_HOST_MEMORY. */
gpumem_status gm_block_add_use(struct gm_block *block, gpumem_stream stream);

/* The block has an entry among the uses now: its free takes the slow path. */
void gm_block_share(const struct gm_block *block);

#endif
