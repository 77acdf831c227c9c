/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The lists of ranges of a sleep; see parts.h. No lock. */
#include "parts.h"
#include "base/error.h"

#include <stdlib.h>

/* Room for one more of so many bytes. */
static gpumem_status grow(void **list, size_t *room, size_t count, size_t bytes)
{
	size_t larger_room = *room ? 2 * *room : 64;
	void *larger;

	if (count < *room)
		return GPUMEM_OK;
	larger = realloc(*list, larger_room * bytes);
	if (!larger)
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no host memory for a list of %zu ranges that "
			       "sleep",
			       larger_room);
	*list = larger;
	*room = larger_room;
	return GPUMEM_OK;
}

gpumem_status gm_areas_add(struct gm_areas *areas, uintptr_t start,
			   size_t bytes, uint32_t fate)
{
	struct gm_area *last =
		areas->count ? &areas->area[areas->count - 1] : NULL;
	uintptr_t end = start + bytes,
		  met = last ? last->start + last->bytes : 0;
	gpumem_status status;

	/* A page that two fates have a part of is the first one's. */
	if (last && start < met && end > met && fate != last->fate)
		start = met;
	if (last && (end <= met || (start <= met && fate == last->fate))) {
		if (end > met)
			last->bytes = end - last->start;
		return GPUMEM_OK;
	}
	status = grow((void **)&areas->area, &areas->room, areas->count,
		      sizeof(*areas->area));
	if (status == GPUMEM_OK)
		areas->area[areas->count++] = (struct gm_area){
			.start = start, .bytes = end - start, .fate = fate};
	return status;
}

void gm_areas_free(struct gm_areas *areas)
{
	free(areas->area);
	*areas = (struct gm_areas){0};
}

gpumem_status gm_pieces_add(struct gm_pieces *pieces, uintptr_t address,
			    size_t bytes)
{
	struct gm_piece *last =
		pieces->count ? &pieces->piece[pieces->count - 1] : NULL;
	gpumem_status status = GPUMEM_OK;

	if (last && address == last->address + last->bytes) {
		last->bytes += bytes;
	} else {
		status = grow((void **)&pieces->piece, &pieces->room,
			      pieces->count, sizeof(*pieces->piece));
		if (status == GPUMEM_OK)
			pieces->piece[pieces->count++] =
				(struct gm_piece){.address = address,
						  .bytes = bytes,
						  .at = pieces->bytes};
	}
	if (status == GPUMEM_OK)
		pieces->bytes += bytes;
	return status;
}

void gm_pieces_free(struct gm_pieces *pieces)
{
	free(pieces->piece);
	*pieces = (struct gm_pieces){0};
}
