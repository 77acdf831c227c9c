/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The names of tags: one table for the process, to which rows are only ever
 * added. A tag is a number, its path the names of the tags around it and its
 * own, "model/layer3". What is counted under a tag is not known here.
 *
 *     1 <= number <= count < GM_TAGS_MAX; 0 is no tag
 *     parent(number) < number; the path of a tag begins with its parent's
 *     no two tags have one path
 *     a tag's fate is itself if it has a word of a sleep, or else its parent's
 *
 * Finding a tag takes no lock; adding one takes the mutex of tag.c, under which
 * no other lock is taken. Rows stay in a forked child.
 */
#ifndef GM_BASE_TAG_H
#define GM_BASE_TAG_H

#include <gpumem/gpumem.h>
#include <stdatomic.h>
#include <stdbool.h>

enum {
	GM_TAGS_MAX = 4096,	/* numbers, with 0 */
	GM_TAG_PATH_BYTES = 256 /* of a path, with its NUL */
};

/* How many there are: their numbers are 1 to this. */
extern _Atomic uint32_t gm_tag_count;

static inline bool gm_tag_is(uint64_t number)
{
	return number && number <= atomic_load_explicit(&gm_tag_count,
							memory_order_acquire);
}

/* The tag `name` inside the tag `parent` (0: in none), made if there is none.
 * OK; INVALID: it is no name, or the path becomes too long; NO_HOST_MEMORY:
 * also, the table is full. */
gpumem_status gm_tag_inside(uint32_t parent, const char *name, size_t bytes,
			    uint32_t *number_out);
/* The same of a whole path. */
gpumem_status gm_tag_of_path(const char *path, uint32_t *number_out);

/* What becomes of the tag's blocks in a sleep: its own word, or that of the
 * nearest tag around it that has one, which is its fate; without one KEEP. 0 is
 * no tag. Any thread. */
void gm_tag_set_sleep(uint32_t number, gpumem_sleep sleep);
gpumem_sleep gm_tag_sleep(uint32_t number);

/* The number of each tag's fate; 0: it has none. Written under the mutex. */
extern _Atomic uint16_t gm_tag_fates[GM_TAGS_MAX];

static inline uint32_t gm_tag_fate(uint32_t number)
{
	return atomic_load_explicit(&gm_tag_fates[number],
				    memory_order_relaxed);
}

/* Of a number that is a tag's. */
const char *gm_tag_path(uint32_t number);
uint32_t gm_tag_parent(uint32_t number);

#endif
