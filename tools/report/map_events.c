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

static bool put_event(const struct recording_event *event,
		      const struct history_block *block, void *user)
{
	struct writing *writing = user;

	numbers_put(&writing->numbers, event->time_ns - writing->last_ns);
	numbers_put(&writing->numbers, event->kind);
	if (block)
		put_block(writing, event, block);
	else
		numbers_put(&writing->numbers, event->value[0]);
	writing->last_ns = event->time_ns;
	return true;
}

bool map_put_events(FILE *out, const struct map *map)
{
	const struct model *model = map->model;
	struct writing writing = {.numbers = {.out = out}, .map = map};
	bool ok;

	writing.open = calloc(model->open_room + 1, sizeof(*writing.open));
	ok = writing.open &&
	     trace_each(model->source, put_event, NULL, &writing);
	numbers_end(&writing.numbers);
	free(writing.open);
	return ok;
}
