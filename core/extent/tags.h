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
 * A limit of a tag counts the tag and all tags inside it. An allocation
 * promises its bytes before memory is looked for, while which the mutex may be
 * released, and withdraws them if it gets none:
 *
 *     limit_count == how many tags have limit_bytes
 *     of a tag with a limit:
 *         held_bytes == sum over it and all tags inside it of
 *                       bytes.current + promised_bytes
 *         held_bytes <= limit_bytes, but where the limit was set below
 *     no thread has anything to fold in of a tag with a limit or inside one
 *
 * So such blocks take the slow path, where all is known: no thread counts them
 * on its own, because none gets past gm_tag_choose() with their tag.
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
enum {
	GM_MORE_TAG = 0x3fff,
	GM_MORE_USER = 0x4000,	/* a word of the caller's: heap/user.c */
	GM_MORE_SHARED = 0x8000 /* see order/uses.h */
};

_Static_assert((int)GM_TAGS_MAX <= (int)GM_MORE_TAG,
	       "a block has room for its tag");

/* Of one heap. */
struct gm_tag {
	struct gm_gauge bytes, blocks; /* `reached` is not kept */
	struct {
		_Atomic int64_t bytes, blocks;
	} above;		 /* sums of `published` over all threads */
	uint64_t limit_bytes;	 /* 0: none */
	uint64_t held_bytes;	 /* 0 without a limit */
	uint64_t promised_bytes; /* of this tag alone */
	/* By the walk of a check, which is the only one to use them. */
	uint64_t walked_bytes, walked_blocks;
};

struct gm_tags {
	uint32_t limit_count; /* changes while all caches are stopped */
	struct gm_tag of[GM_TAGS_MAX];
};

/* The limit that an allocation would have passed. */
struct gm_tag_over {
	uint32_t tag; /* whose limit it is */
	uint64_t limit_bytes, held_bytes;
};

/* Of one thread and heap, since it was folded in. */
struct gm_tag_delta {
	struct gm_delta bytes, blocks;
};

/*
 *     touched[0 .. touched_count - 1] are the tags of which something is not
 *     folded in, each once
 *     last  =>  last_delta == &of[last], and no limit is on `last`
 */
struct gm_tag_deltas {
	struct gm_tag_delta *last_delta;
	uint32_t last; /* the tag that was chosen last, or 0 */
	uint32_t touched_count;
	uint16_t touched[GM_TAGS_MAX];
	_Alignas(64) struct gm_tag_delta of[GM_TAGS_MAX];
};

/* tag_limit.c: another tag than the last is counted next. False: there is a
 * limit on it or on a tag around it, and threads do not count it on their own.
 */
bool gm_tag_choose(const struct gm_tags *tags, struct gm_tag_deltas *deltas,
		   unsigned tag);

/* Of the tag that was chosen last. One that comes again is guessed to, as sizes
 * are in cache/cached.h: its counts are at hand before the processor knows the
 * block. The first that happens to it since it was folded in is noted: a block
 * that came has left its total, one that went alone its difference. */
static inline struct gm_tag_delta *gm_tag_touch(struct gm_tag_deltas *deltas,
						unsigned tag)
{
	struct gm_tag_delta *delta = deltas->last_delta;

	if (__builtin_expect(!delta->blocks.total &&
				     !gm_delta_now(&delta->blocks),
			     false))
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

/* Under the mutex, what the calling thread did folded in: a block for which
 * `bytes` were promised becomes live; one ends; one gets smaller, or larger by
 * what was promised. */
void gm_tag_alloc(struct gm_tags *tags, uint32_t number, uint64_t bytes);
void gm_tag_free(struct gm_tags *tags, uint32_t number, uint64_t bytes);
void gm_tag_resize(struct gm_tags *tags, uint32_t number, uint64_t before,
		   uint64_t bytes);

/* tag_limit.c. Under the mutex: so many more bytes of the tag will be live,
 * unless they are withdrawn. False, and *over says why: they would pass a
 * limit. */
bool gm_tag_promise(struct gm_tags *tags, uint32_t tag, uint64_t bytes,
		    struct gm_tag_over *over);
void gm_tag_withdraw(struct gm_tags *tags, uint32_t tag, uint64_t bytes);
/* So many that were live are gone. */
void gm_tag_unhold(struct gm_tags *tags, uint32_t tag, uint64_t bytes);
/* How many could be promised; UINT64_MAX: there is no limit. */
uint64_t gm_tag_room(const struct gm_tags *tags, uint32_t tag);
/* While all caches are stopped and folded in: what held_bytes has to be. */
uint64_t gm_tag_held(const struct gm_tags *tags, uint32_t tag);
/* While all caches are stopped and folded in, and before they go on each
 * forgets its last tag. 0: no limit. */
void gm_tag_set_limit(struct gm_tags *tags, uint32_t tag, uint64_t limit_bytes);

/* Peaks become current, and with `totals` totals 0. */
void gm_tags_reset(struct gm_tags *tags, bool totals);

#endif
