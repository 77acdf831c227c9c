/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See map.h. The source is read once more.
 */
#include "map.h"
#include "numbers.h"

#include <stdlib.h>

struct writing {
	struct numbers numbers;
	const struct map *map;
	uint64_t last_ns, spans;
	uint64_t *open; /* by ID of a block: the number of its last span */
	/* Places by the event that ends them; those before `ended` have. */
	const struct mapped_place **ends;
	size_t ended, places;
	uint64_t event;
};

static void begin_span(struct writing *writing,
		       const struct history_block *block)
{
	writing->open[block->id] = writing->spans++;
}

static void put_span(struct writing *writing, const struct history_block *block)
{
	numbers_put(&writing->numbers,
		    writing->spans - writing->open[block->id]);
}

static void put_block(struct writing *writing,
		      const struct recording_event *event,
		      const struct history_block *block)
{
	switch (event->kind) {
	case GPUMEM_RECORD_LIVE:
	case GPUMEM_RECORD_ALLOC:
		begin_span(writing, block);
		numbers_put(&writing->numbers,
			    map_at(writing->map, block->pool, block->address));
		numbers_put(&writing->numbers, event->bytes);
		numbers_put(&writing->numbers, block->stream);
		numbers_put(&writing->numbers, block->tag);
		break;
	case GPUMEM_RECORD_RESIZE:
		put_span(writing, block);
		begin_span(writing, block);
		numbers_put(&writing->numbers, event->bytes);
		break;
	case GPUMEM_RECORD_FREE:
		put_span(writing, block);
		break;
	default:
		break;
	}
}

/* ---- places ---- */

static int compare_ends(const void *a, const void *b)
{
	const struct mapped_place *const *one = a, *const *other = b;

	if ((*one)->end != (*other)->end)
		return (*one)->end < (*other)->end ? -1 : 1;
	return *one < *other ? -1 : *one > *other;
}

static bool sort_ends(struct writing *writing)
{
	const struct mapped *mapped = &writing->map->model->mapped;

	writing->ends = malloc((mapped->count + 1) * sizeof(*writing->ends));
	if (!writing->ends)
		return false;
	for (size_t i = 0; i < mapped->count; i++)
		writing->ends[i] = &mapped->places[i];
	if (mapped->count)
		qsort((void *)writing->ends, mapped->count,
		      sizeof(*writing->ends), compare_ends);
	return true;
}

static void put_ends(struct writing *writing)
{
	const struct mapped *mapped = &writing->map->model->mapped;

	for (; writing->ended < mapped->count &&
	       writing->ends[writing->ended]->end == writing->event;
	     writing->ended++)
		numbers_put(&writing->numbers,
			    writing->places -
				    (size_t)(writing->ends[writing->ended] -
					     mapped->places));
	numbers_put(&writing->numbers, 0);
}

/* What an event begins, if anything. */
static void put_place(struct writing *writing)
{
	const struct mapped *mapped = &writing->map->model->mapped;
	const struct mapped_place *place = &mapped->places[writing->places];
	uint64_t from = 0;

	if (writing->places == mapped->count ||
	    place->begin != writing->event) {
		numbers_put(&writing->numbers, 0);
		return;
	}
	if (place->from && map_has(writing->map, place->pool, place->from))
		from = map_at(writing->map, place->pool, place->from) + 1;
	numbers_put(&writing->numbers, place->bytes);
	numbers_put(&writing->numbers,
		    map_at(writing->map, place->pool, place->address));
	numbers_put(&writing->numbers, place->twin == MAPPED_NONE
					       ? 0
					       : writing->places - place->twin);
	numbers_put(&writing->numbers, from);
	writing->places++;
}

static void put_pool(struct writing *writing,
		     const struct recording_event *event)
{
	switch (event->kind) {
	case GPUMEM_RECORD_MAP:
		put_ends(writing);
		put_place(writing);
		break;
	case GPUMEM_RECORD_UNMAP:
	case GPUMEM_RECORD_POOL_END:
		put_ends(writing);
		break;
	default:
		numbers_put(&writing->numbers, event->value[0]);
		break;
	}
}

static bool put_event(const struct recording_event *event,
		      const struct history_block *block, void *user)
{
	struct writing *writing = user;

	writing->event++;
	numbers_put(&writing->numbers, event->time_ns - writing->last_ns);
	numbers_put(&writing->numbers, event->kind);
	if (block)
		put_block(writing, event, block);
	else
		put_pool(writing, event);
	writing->last_ns = event->time_ns;
	return true;
}

bool map_put_events(FILE *out, const struct map *map)
{
	const struct model *model = map->model;
	struct writing writing = {.numbers = {.out = out}, .map = map};
	bool ok;

	writing.open = calloc(model->open_room + 1, sizeof(*writing.open));
	ok = writing.open && sort_ends(&writing) &&
	     trace_each(model->source, put_event, NULL, &writing);
	numbers_end(&writing.numbers);
	free(writing.open);
	free((void *)writing.ends);
	return ok;
}
