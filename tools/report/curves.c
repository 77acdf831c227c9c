/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See curves.h. The source is read once more, with the highest tags known.
 */
#include "curves.h"

#include "common/tool.h"

#include <stdlib.h>
#include <string.h>

struct drawing {
	const struct curves *curves;
	const struct model *model;
	curves_fn fn;
	void *user;
	struct summary summary;
	struct pages pages;
	struct curves_bin now;
	uint8_t place[UINT16_MAX + 1]; /* of each tag, among the curves */
};

static unsigned bin_of(const struct curves *curves, uint64_t x)
{
	double share = curves->last ? (double)x / (double)curves->last : 0;

	if (share >= 1)
		return CURVES_BINS - 1;
	return (unsigned)(share * CURVES_BINS);
}

unsigned curves_bin(const struct curves *curves, const struct model *model,
		    const struct model_moment *moment)
{
	return bin_of(curves, model->has_times ? moment->ns : moment->event);
}

static uint8_t place_of(const struct drawing *drawing, uint16_t number)
{
	const struct curves_like *like = drawing->curves->like;
	char buffer[MODEL_TAG];
	const char *path = model_tag_path(drawing->model, number, buffer);
	unsigned i = 0;

	while (i < like->count && strcmp(path, like->paths[i]) != 0)
		i++;
	return (uint8_t)(i < like->count ? i : CURVES_TAGS);
}

/* Several numbers may have one path. */
static void place_paths(struct drawing *drawing)
{
	enum { UNSEEN = UINT8_MAX };
	const struct model *model = drawing->model;

	memset(drawing->place, UNSEEN, sizeof(drawing->place));
	for (size_t i = 0; i < model->count; i++) {
		uint16_t number = model->spans[i].tag;

		if (drawing->place[number] == UNSEEN)
			drawing->place[number] = place_of(drawing, number);
	}
}

/* While there is room: tags that have nothing at the peak, by all that they
 * ever had. */
static bool choose_rest(struct curves *curves, const struct model *model)
{
	enum { TAGS = UINT16_MAX + 1 };
	double *bytes = calloc(TAGS, sizeof(*bytes));
	bool ok = bytes != NULL;

	for (size_t i = 0; i < model->count && bytes; i++)
		bytes[model->spans[i].tag] += (double)model->spans[i].bytes;
	for (unsigned i = 0; i < curves->tag_count && bytes; i++)
		bytes[curves->tags[i]] = 0;
	while (bytes && curves->tag_count < CURVES_TAGS) {
		size_t most = 0;

		for (size_t i = 1; i < TAGS; i++)
			most = bytes[i] > bytes[most] ? i : most;
		if (bytes[most] <= 0)
			break;
		curves->tags[curves->tag_count++] = (uint16_t)most;
		bytes[most] = 0;
	}
	free(bytes);
	return ok;
}

/* Those of `like`, or with most bytes at the peak. */
static bool choose_tags(struct curves *curves, const struct model *model)
{
	struct model_tag *tags;
	size_t count;

	if (curves->like) {
		curves->tag_count = curves->like->count;
		return true;
	}
	tags = model_tags(model, model->peak.event, &count);
	if (!tags)
		return false;
	for (size_t i = 0; i < count && i < CURVES_TAGS; i++)
		curves->tags[curves->tag_count++] = tags[i].number;
	free(tags);
	return choose_rest(curves, model);
}

static void place_tags(struct drawing *drawing)
{
	const struct curves *curves = drawing->curves;

	memset(drawing->place, CURVES_TAGS, sizeof(drawing->place));
	if (curves->like)
		place_paths(drawing);
	for (unsigned i = 0; !curves->like && i < curves->tag_count; i++)
		drawing->place[curves->tags[i]] = (uint8_t)i;
}

static bool change(struct drawing *drawing, const struct recording_event *event,
		   const struct history_block *block)
{
	uint64_t *tag = &drawing->now.tag[drawing->place[block->tag]];
	bool pages = drawing->model->has_pages;
	bool begins = event->kind <= GPUMEM_RECORD_ALLOC;
	bool resized = event->kind == GPUMEM_RECORD_RESIZE;
	uint64_t before = begins ? 0 : block->bytes;
	uint64_t after = begins || resized ? event->bytes : 0;

	if (!begins && !resized && event->kind != GPUMEM_RECORD_FREE)
		return true;
	*tag += after - before;
	if (pages && before)
		pages_drop(&drawing->pages, block->pool, block->address,
			   before);
	return !pages || !after ||
	       pages_add(&drawing->pages, block->pool, block->address, after);
}

static bool draw(const struct recording_event *event,
		 const struct history_block *block, void *user)
{
	struct drawing *drawing = user;
	const struct summary_usage *all = &drawing->summary.all;

	if (!summary_add(event, block, &drawing->summary) ||
	    (block && !change(drawing, event, block))) {
		drawing->summary.failed = true;
		return false;
	}
	drawing->now.requested = all->requested_bytes;
	drawing->now.reserved = all->reserved_bytes;
	drawing->now.event = all->events;
	drawing->now.page_bytes = drawing->pages.in_use * PAGES_BYTES;
	drawing->fn(&drawing->now,
		    drawing->model->has_times ? event->time_ns : all->events,
		    drawing->user);
	return true;
}

bool curves_each(const struct curves *curves, const struct model *model,
		 curves_fn fn, void *user)
{
	struct drawing *drawing = calloc(1, sizeof(*drawing));
	bool ok = drawing != NULL;

	if (ok) {
		*drawing = (struct drawing){.curves = curves,
					    .model = model,
					    .fn = fn,
					    .user = user};
		pages_init(&drawing->pages);
		place_tags(drawing);
		ok = summary_init(&drawing->summary);
		drawing->summary.failed = !ok;
		ok = ok && trace_each(model->source, draw, NULL, drawing);
	}
	if (!drawing || drawing->summary.failed)
		tool_error("%s: out of host memory",
			   model->source->config->file);
	if (drawing) {
		summary_free(&drawing->summary);
		pages_free(&drawing->pages);
	}
	free(drawing);
	return ok;
}

/* ---- the whole ---- */

struct filling {
	struct curves *curves;
	struct curves_bin last;
	unsigned bin; /* that is being filled */
	uint64_t peak_event;
};

static void note(const struct curves_bin *now, uint64_t x, void *user)
{
	struct filling *filling = user;
	struct curves *curves = filling->curves;
	unsigned at = bin_of(curves, x);
	struct curves_bin *bin;

	while (filling->bin < at)
		curves->bins[++filling->bin] = filling->last;
	bin = &curves->bins[filling->bin];
	curves->has_others |= now->tag[CURVES_TAGS] > 0;
	/* Of several the last, but the peak stays: it is the first. */
	if (now->requested > bin->requested ||
	    (now->requested == bin->requested &&
	     bin->event != filling->peak_event))
		*bin = *now;
	if (bin->requested > curves->top)
		curves->top = bin->requested;
	if (bin->reserved > curves->top)
		curves->top = bin->reserved;
	if (bin->page_bytes > curves->top)
		curves->top = bin->page_bytes;
	filling->last = *now;
}

uint64_t curves_last(const struct model *model)
{
	return model->has_times ? model->summary.last_ns
				: model->summary.all.events;
}

bool curves_read(struct curves *curves, const struct model *model,
		 const struct curves_like *like)
{
	struct filling filling = {.curves = curves,
				  .peak_event = model->peak.event};

	*curves = (struct curves){.like = like, .last = curves_last(model)};
	if (like && like->last > curves->last)
		curves->last = like->last;
	if (!choose_tags(curves, model)) {
		tool_error("%s: out of host memory",
			   model->source->config->file);
		return false;
	}
	return curves_each(curves, model, note, &filling);
}
