/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See map.h. The source is read once more.
 */
#include "map.h"

#include <stdlib.h>

struct writing {
	FILE *out;
	const struct map *map;
	uint64_t last_ns, spans;
	uint64_t *open; /* by ID of a block: the number of its last span */
	uint32_t three; /* bytes that are not written yet */
	unsigned waiting;
};

/* ---- base64 ---- */

static void put_three(struct writing *writing, unsigned bytes)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789+/";

	for (unsigned i = 0; i < 4; i++)
		putc(i <= bytes ? digits[writing->three >> (18 - 6 * i) & 63]
				: '=',
		     writing->out);
	writing->three = 0;
	writing->waiting = 0;
}

static void put_byte(struct writing *writing, unsigned byte)
{
	writing->three |= byte << (16 - 8 * writing->waiting);
	if (++writing->waiting == 3)
		put_three(writing, 3);
}

static void put_number(struct writing *writing, uint64_t number)
{
	for (; number > 127; number >>= 7)
		put_byte(writing, 128 | (number & 127));
	put_byte(writing, (unsigned)number);
}

/* ---- events ---- */

static void begin_span(struct writing *writing,
		       const struct history_block *block)
{
	writing->open[block->id] = writing->spans++;
}

static void put_span(struct writing *writing, const struct history_block *block)
{
	put_number(writing, writing->spans - writing->open[block->id]);
}

static void put_block(struct writing *writing,
		      const struct recording_event *event,
		      const struct history_block *block)
{
	switch (event->kind) {
	case GPUMEM_RECORD_LIVE:
	case GPUMEM_RECORD_ALLOC:
		begin_span(writing, block);
		put_number(writing,
			   map_at(writing->map, block->pool, block->address));
		put_number(writing, event->bytes);
		put_number(writing, block->stream);
		put_number(writing, block->tag);
		break;
	case GPUMEM_RECORD_RESIZE:
		put_span(writing, block);
		begin_span(writing, block);
		put_number(writing, event->bytes);
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

	put_number(writing, event->time_ns - writing->last_ns);
	put_number(writing, event->kind);
	if (block)
		put_block(writing, event, block);
	else
		put_number(writing, event->value[0]);
	writing->last_ns = event->time_ns;
	return true;
}

bool map_put_events(FILE *out, const struct map *map)
{
	const struct model *model = map->model;
	struct writing writing = {.out = out, .map = map};
	bool ok;

	writing.open = calloc(model->open_room + 1, sizeof(*writing.open));
	ok = writing.open &&
	     trace_each(model->source, put_event, NULL, &writing);
	if (ok && writing.waiting)
		put_three(&writing, writing.waiting);
	free(writing.open);
	return ok;
}
