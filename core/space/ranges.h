/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Ranges of addresses that have memory, for whoever registers them elsewhere:
 * who is told of them, and what is pinned. Whoever maps tells afterwards, and
 * whoever unmaps tells before, under the mutex in which the table of pages, or
 * the list of segments, says so:
 *
 *     told mapped, and not unmapping since
 *             <=> model->mapped() has it
 *     what is pinned is mapped, and stays where it is
 *
 * The heap's mutex guards it, and is held while the program's functions are
 * called.
 */
#ifndef GM_SPACE_RANGES_H
#define GM_SPACE_RANGES_H

#include "extent/heap_core.h"

struct gm_range_hook {
	gpumem_range_fn fn;
	struct gpumem_pool *pool;
	void *user;
};

struct gm_range_pin {
	uintptr_t address;
	size_t bytes;
	char name[GPUMEM_RANGE_NAME_BYTES];
};

struct gm_ranges {
	struct gm_range_hook *hooks;
	size_t hook_count;
	struct gm_range_pin *pins;
	size_t pin_count;
	bool *page; /* VM: of the table, which are pinned */
	size_t page_room;
};

/* VM: the page of that number. */
static inline bool gm_ranges_page(const struct gm_ranges *ranges, size_t number)
{
	return number < ranges->page_room && ranges->page[number];
}

void gm_ranges_tell(const struct gm_heap *heap, gpumem_range_kind kind,
		    uintptr_t address, uint64_t bytes);

/* It is told of what is there, too. OK or NO_HOST_MEMORY. */
gpumem_status gm_ranges_add(struct gm_heap *heap,
			    const struct gm_range_hook *hook);
/* OK or NOT_FOUND. */
gpumem_status gm_ranges_remove(struct gm_heap *heap,
			       const struct gm_range_hook *hook);

/* OK; BAD_POINTER: some of it has no memory, or is about to lose it;
 * NO_HOST_MEMORY. */
gpumem_status gm_ranges_pin(struct gm_heap *heap,
			    const struct gm_range_pin *pin);
/* OK or NOT_FOUND. */
gpumem_status gm_ranges_unpin(struct gm_heap *heap,
			      const struct gm_range_pin *pin);
/* Who has pinned some of a range; NULL: nobody. */
const char *gm_ranges_pinned(const struct gm_heap *heap, uintptr_t address,
			     uint64_t bytes);

/* All of it is about to go, and nobody is told of anything any more. */
void gm_ranges_end(struct gm_heap *heap);

#endif
