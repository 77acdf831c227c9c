/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The list of spare handles, which are mapped nowhere: those that a driver did
 * not map or did not take back, and a small stock for what is missing next.
 * Taking and giving change no counters of the heap. See space.h.
 */
#include "handle.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

gpumem_status gm_spare_room(struct gm_heap *heap, size_t count)
{
	struct gm_space *space = heap->space;
	size_t leaving = space->releasing_bytes / heap->page_bytes;
	size_t room = space->spare_count + leaving + space->growth.spare_count +
		      count;
	struct gm_handle *larger;

	if (room <= space->spare_room)
		return GPUMEM_OK;
	larger = realloc(space->spare, room * sizeof(*larger));
	if (!larger)
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no host memory for a list of %zu pages", room);
	space->spare = larger;
	space->spare_room = room;
	return GPUMEM_OK;
}

void gm_spare_give(struct gm_heap *heap, const struct gm_handle *handles,
		   size_t count)
{
	struct gm_space *space = heap->space;

	for (size_t i = 0; i < count; i++) {
		struct gm_handle *spare = &space->spare[space->spare_count++];

		*spare = handles[i];
		spare->seqno = heap->seqno;
		space->spare_pages += spare->pages;
	}
}

struct gm_handle gm_spare_take(struct gm_space *space, size_t at)
{
	struct gm_handle handle = space->spare[at];

	space->spare_count--;
	memmove(space->spare + at, space->spare + at + 1,
		(space->spare_count - at) * sizeof(*space->spare));
	space->spare_pages -= handle.pages;
	return handle;
}

/* Programs that run at their peak are short of a page or two again and again.
 * A page that is taken out of a free extent beforehand costs one call more when
 * it is mapped, instead of the questions for captures and for what is completed
 * each time. More than this, and the extents that it was taken from are missed.
 */
enum { STOCK_PART = 256 };

size_t gm_spare_stock(const struct gm_heap *heap)
{
	return heap->counters.reserved.current / heap->page_bytes / STOCK_PART;
}
