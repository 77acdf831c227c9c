/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What a heap that is tracked knows of its live blocks besides the blocks
 * themselves: when each was allocated, by which thread and from where. A hash
 * table by address. How large a block is, its stream and its tag are not here:
 * the block has them.
 *
 *     an entry's address is that of a live block
 *     serials grow with each allocation of the process that is tracked, from 1
 * on a block that is not in the table was allocated before it was tracked, or
 *     there was no memory for an entry; then `missed` has counted it
 *
 * The owner locks. An addition fails silently: it never fails an allocation.
 */
#ifndef GM_BASE_TRACK_H
#define GM_BASE_TRACK_H

#include "stack.h"

struct gm_track_entry {
	uintptr_t address; /* 0: none */
	uint64_t serial;
	uint64_t time_ns;	      /* of gm_track_now() */
	const struct gm_stack *stack; /* NULL: not known */
	uint32_t thread;	      /* the kernel's number */
};

/*
 *     used <= room / 4 * 3; room is 0 or a power of two
 *     from the place that its hash says up to an entry no place is empty
 */
struct gm_track {
	struct gm_track_entry *entry;
	size_t room, used;
	uint64_t missed;
};

void gm_track_add(struct gm_track *track, uintptr_t address,
		  const struct gm_stack *stack);
/* Nothing if it is not there. */
void gm_track_remove(struct gm_track *track, uintptr_t address);
/* NULL: it is not known. */
const struct gm_track_entry *gm_track_find(const struct gm_track *track,
					   uintptr_t address);
void gm_track_fini(struct gm_track *track);

/* The serial that the next allocation gets. Any thread, without a lock. */
uint64_t gm_track_mark(void);
uint64_t gm_track_now(void);

#endif
