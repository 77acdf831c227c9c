/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See model.h.
 */
#include "model.h"

#include "common/tool.h"

#include <stdlib.h>

/* The list with room for one more; NULL: out of memory. */
static void *grown(void *list, size_t *room, size_t count, size_t size)
{
	size_t more = *room ? *room * 2 : 1024;
	void *larger;

	if (count < *room)
		return list;
	larger = realloc(list, more * size);
	if (larger)
		*room = more;
	return larger;
}

/* ---- spans ---- */

static bool make_room(struct model *model, uint64_t id)
{
	struct model_span *spans =
		grown(model->spans, &model->room, model->count, sizeof(*spans));
	size_t *open = model->open;

	if (!spans)
		return false;
	model->spans = spans;
	while (id >= model->open_room) {
		open = grown(model->open, &model->open_room, model->open_room,
			     sizeof(*open));
		if (!open)
			return false;
		model->open = open;
	}
	return true;
}

static bool begin_span(struct model *model, const struct history_block *block,
		       uint64_t bytes)
{
	if (!make_room(model, block->id))
		return false;
	model->open[block->id] = model->count;
	model->spans[model->count++] = (struct model_span){
		.address = block->address,
		.bytes = bytes,
		.begin_ns = block->begin_ns,
		.begin = model->summary.all.events,
		.end = MODEL_LIVE,
		.stack = block->stack,
		.stream = (uint32_t)block->stream,
		.pool = block->pool,
		.tag = block->tag,
	};
	return !model->has_addresses || !bytes ||
	       pages_add(&model->pages, block->pool, block->address, bytes);
}

static void end_span(struct model *model, const struct history_block *block)
{
	struct model_span *span = &model->spans[model->open[block->id]];

	span->end = model->summary.all.events;
	if (model->has_addresses && span->bytes)
		pages_drop(&model->pages, span->pool, span->address,
			   span->bytes);
}

static bool add_block(struct model *model, const struct recording_event *event,
		      const struct history_block *block)
{
	switch (event->kind) {
	case GPUMEM_RECORD_LIVE:
	case GPUMEM_RECORD_ALLOC:
		return begin_span(model, block, event->bytes);
	case GPUMEM_RECORD_FREE:
		end_span(model, block);
		return true;
	case GPUMEM_RECORD_RESIZE:
		end_span(model, block);
		return begin_span(model, block, event->bytes);
	default:
		return true;
	}
}

/* ---- moments ---- */

static struct model_moment now(const struct model *model, uint64_t ns)
{
	const struct summary_usage *all = &model->summary.all;

	return (struct model_moment){
		.event = all->events,
		.ns = ns,
		.requested = all->requested_bytes,
		.reserved = all->reserved_bytes,
		.page_bytes = model->pages.in_use * PAGES_BYTES,
		.blocks = all->blocks,
		.mapped = model->mapped.bytes,
		.twice = model->mapped.twice_bytes,
	};
}

static bool add_oom(struct model *model, const struct recording_event *event)
{
	struct model_oom *ooms = grown(model->ooms, &model->oom_room,
				       model->oom_count, sizeof(*ooms));

	if (!ooms)
		return false;
	model->ooms = ooms;
	model->ooms[model->oom_count++] = (struct model_oom){
		.moment = now(model, event->time_ns),
		.bytes = event->value[0],
		.status = event->value[1],
		.reserved = event->value[2],
		.advice = event->value[3],
		.requested = model->summary.pools[event->pool].requested_bytes,
		.thread = event->thread,
		.pool = event->pool,
	};
	return true;
}

/* It is of the thread's last one, which was of that pool. */
static void add_report(struct model *model, const struct recording_event *event)
{
	for (size_t i = model->oom_count; i-- > 0;) {
		struct model_oom *oom = &model->ooms[i];

		if (oom->thread != event->thread)
			continue;
		if (oom->pool == event->pool && !oom->report)
			oom->report = recording_text(event);
		return;
	}
}

static void note_moment(struct model *model, uint64_t ns)
{
	struct model_moment moment = now(model, ns);

	if (moment.requested > model->peak.requested)
		model->peak = moment;
	if (model_stranded(&moment) > model_stranded(&model->worst))
		model->worst = moment;
	model->end = moment;
}

static bool add(const struct recording_event *event,
		const struct history_block *block, void *user)
{
	struct model *model = user;
	bool ok = summary_add(event, block, &model->summary);

	if (block)
		ok = ok && add_block(model, event, block);
	else
		ok = ok && mapped_add(&model->mapped, event,
				      model->summary.all.events);
	if (event->kind == GPUMEM_RECORD_OOM)
		ok = ok && add_oom(model, event);
	else if (event->kind == GPUMEM_RECORD_REPORT)
		add_report(model, event);
	note_moment(model, event->time_ns);
	model->summary.failed |= !ok;
	return ok;
}

/* ---- all of it ---- */

/* What only pools do. Blocks that a program has of the driver itself lie in no
 * page that a pool could give back. */
static bool has_pool(const struct model *model)
{
	static const uint8_t kinds[] = {
		GPUMEM_RECORD_GROW,	GPUMEM_RECORD_SHRINK,
		GPUMEM_RECORD_MOVE,	GPUMEM_RECORD_LEND,
		GPUMEM_RECORD_TRANSFER, GPUMEM_RECORD_WAIT,
		GPUMEM_RECORD_TRIM,	GPUMEM_RECORD_MAP,
		GPUMEM_RECORD_UNMAP,	GPUMEM_RECORD_SLEEP,
		GPUMEM_RECORD_WAKE};

	for (size_t i = 0; i < sizeof(kinds); i++)
		if (model->summary.kinds[kinds[i]])
			return true;
	return model->source->is_torch ||
	       model->summary.all.peak_reserved_bytes;
}

bool model_read(struct model *model, struct trace_source *source)
{
	bool ok;

	*model = (struct model){.source = source,
				.has_addresses = !source->is_text};
	pages_init(&model->pages);
	ok = summary_init(&model->summary);
	model->summary.failed = !ok;
	ok = ok && trace_each(source, add, NULL, model);
	if (ok && !mapped_end(&model->mapped)) {
		model->summary.failed = true;
		ok = false;
	}
	if (model->summary.failed)
		tool_error("%s: out of host memory", source->config->file);
	model->has_times = model->summary.last_ns || !source->is_text;
	model->has_pages = model->has_addresses && has_pool(model);
	return ok;
}

void model_free(struct model *model)
{
	summary_free(&model->summary);
	pages_free(&model->pages);
	mapped_free(&model->mapped);
	free(model->spans);
	free(model->open);
	for (size_t i = 0; i < model->oom_count; i++)
		free(model->ooms[i].report);
	free(model->ooms);
	model->spans = NULL;
	model->open = NULL;
	model->ooms = NULL;
}
