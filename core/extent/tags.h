/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the live blocks of one heap have by tag (base/tag.h), as counters.h has
 * it for all blocks together: a thread counts what it does in its caches on its
 * own, and that is folded into the heap's when its other counts are. A block
 * counts under the tag that it was allocated with until it is freed, whoever
 * frees it.
 *
 *     when all is folded in, of each tag:
 *         bytes.current  == sum of the requested bytes of its live blocks
 *         blocks.current == how many there are
 *         current <= peak; peak is the true one while one thread alone uses the
 *         heap, and else not below it
 *     the sum of bytes.current over all tags <= requested.current
 *
 * The heap's mutex guards a heap's; a thread's are changed by whoever has
 * locked a cache of the thread and heap, or claims them (cache/local.h).
 */
#ifndef GM_EXTENT_TAGS_H
#define GM_EXTENT_TAGS_H

#include "counters.h"
#include "base/tag.h"

/* What a block has besides its size: in the mark of a slot one bit says that
 * there is more (cache/slab.h). */
enum { GM_MORE_TAG = 0x7fff, GM_MORE_SHARED = 0x8000 /* see order/uses.h */ };

_Static_assert((int)GM_TAGS_MAX <= (int)GM_MORE_TAG,
	       "a block has room for its tag");

/* Of one heap. */
struct gm_tag {
	struct gm_gauge bytes, blocks; /* `reached` is not kept */
	struct {
		_Atomic int64_t bytes, blocks;
	} above; /* sums of `published` over all threads */
	/* By the walk of a check, which is the only one to use them. */
	uint64_t walked_bytes, walked_blocks;
};

struct gm_tags {
	struct gm_tag of[GM_TAGS_MAX];
};

/* Of one thread and heap, since it was folded in. */
struct gm_tag_delta {
	struct gm_delta bytes, blocks;
};

/*
 *     touched[0 .. touched_count - 1] are the tags of which something is not
 *     folded in, each once
 *     last  =>  last_delta == &of[last]
 */
struct gm_tag_deltas {
	struct gm_tag_delta *last_delta;
	uint32_t last; /* the tag that was asked for last, or 0 */
	uint32_t touched_count;
	uint16_t touched[GM_TAGS_MAX];
	_Alignas(64) struct gm_tag_delta of[GM_TAGS_MAX];
};

/* A tag that comes again is guessed to, as sizes are in cache/cached.h: its
 * counts are at hand before the processor knows the block. The first that
 * happens to it since it was folded in is noted: a block that came has left its
 * total, one that went alone its difference. */
static inline struct gm_tag_delta *gm_tag_touch(struct gm_tag_deltas *deltas,
						unsigned tag)
{
	struct gm_tag_delta *delta;

	if (__builtin_expect(tag != deltas->last, false)) {
		deltas->last = tag;
		deltas->last_delta = &deltas->of[tag];
	}
	delta = deltas->last_delta;
	if (__builtin_expect(!delta->blocks.total && !delta->blocks.now, false))
		deltas->touched[deltas->touched_count++] = (uint16_t)tag;
	return delta;
}

static inline void gm_tag_count_alloc(struct gm_tags *tags,
				      struct gm_tag_deltas *deltas,
				      unsigned tag, uint64_t bytes)
{
	struct gm_tag_delta *delta = gm_tag_touch(deltas, tag);

	gm_delta_add(&delta->bytes, bytes, &tags->of[tag].above.bytes,
		     GM_STEP_BYTES);
	gm_delta_add(&delta->blocks, 1, &tags->of[tag].above.blocks,
		     GM_STEP_BLOCKS);
}

static inline void gm_tag_count_free(struct gm_tag_deltas *deltas, unsigned tag,
				     uint64_t bytes)
{
	struct gm_tag_delta *delta = gm_tag_touch(deltas, tag);

	gm_delta_sub(&delta->bytes, bytes);
	gm_delta_sub(&delta->blocks, 1);
}

/* Both are memory that costs something only where it is touched. NULL: out of
 * host memory. */
struct gm_tags *gm_tags_new(void);
void gm_tags_end(struct gm_tags *tags);
struct gm_tag_deltas *gm_tag_deltas_new(void);
void gm_tag_deltas_end(struct gm_tag_deltas *deltas);
/* About what is touched of either. */
uint64_t gm_tags_host_bytes(void);
uint64_t gm_tag_deltas_host_bytes(void);

/* Adds what a thread did, and leaves nothing of it there. */
void gm_tags_fold(struct gm_tags *tags, struct gm_tag_deltas *deltas);

/* Under the mutex, what the calling thread did folded in: a block becomes live;
 * ends; has another size. */
void gm_tag_alloc(struct gm_tag *tag, uint64_t bytes);
void gm_tag_free(struct gm_tag *tag, uint64_t bytes);
void gm_tag_resize(struct gm_tag *tag, uint64_t before, uint64_t bytes);

/* Peaks become current, and with `totals` totals 0. */
void gm_tags_reset(struct gm_tags *tags, bool totals);

#endif
