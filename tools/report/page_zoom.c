/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The part of the page from which a script draws a part of the time: moments in
 * their order, and at most twice ZOOM_GROUPS of them. Events are taken together
 * in groups of so many that this holds; each has its highest moment, and its
 * last, which is what is live until the next. So the highest of any time is
 * there, and where much happens there is as much as where little does. The
 * source is read once more.
 */
#include "numbers.h"
#include "page.h"

#include <inttypes.h>

enum { ZOOM_GROUPS = 16384 };

struct moment {
	struct curves_bin bin;
	uint64_t x;
};

/* `highest` and `last` are of the group whose `left` events are to come; its
 * first event has not come yet if left == events. */
struct zoom {
	struct numbers numbers;
	const struct curves *curves;
	uint64_t events, left;
	struct moment highest, last, said;
};

static uint64_t group_of(const struct model *model)
{
	return model->summary.all.events / ZOOM_GROUPS + 1;
}

/* What it has more than the one that was said before, or less. */
static void put_moment(struct zoom *zoom, const struct moment *moment)
{
	const struct curves_bin *before = &zoom->said.bin, *now = &moment->bin;
	const struct curves *curves = zoom->curves;
	struct numbers *numbers = &zoom->numbers;

	numbers_put(numbers, now->event - before->event);
	numbers_put(numbers, moment->x - zoom->said.x);
	numbers_put_change(numbers, before->reserved, now->reserved);
	numbers_put_change(numbers, before->page_bytes / PAGES_BYTES,
			   now->page_bytes / PAGES_BYTES);
	for (unsigned i = 0; i < curves->tag_count; i++)
		numbers_put_change(numbers, before->tag[i], now->tag[i]);
	if (curves->has_others)
		numbers_put_change(numbers, before->tag[CURVES_TAGS],
				   now->tag[CURVES_TAGS]);
	zoom->said = *moment;
}

static void put_group(struct zoom *zoom)
{
	if (zoom->left == zoom->events)
		return;
	if (zoom->highest.bin.event != zoom->last.bin.event)
		put_moment(zoom, &zoom->highest);
	put_moment(zoom, &zoom->last);
	zoom->left = zoom->events;
}

static void take(const struct curves_bin *now, uint64_t x, void *user)
{
	struct zoom *zoom = user;

	zoom->last = (struct moment){*now, x};
	if (zoom->left == zoom->events ||
	    now->requested >= zoom->highest.bin.requested)
		zoom->highest = zoom->last;
	if (!--zoom->left)
		put_group(zoom);
}

void page_zoom(struct page *page)
{
	const struct curves *curves = page->curves;
	uint64_t events = group_of(page->model);
	struct zoom zoom = {.numbers = {.out = page->out},
			    .curves = curves,
			    .events = events,
			    .left = events};

	fprintf(page->out,
		"<script type=\"text/plain\" id=\"moments\" "
		"data-group=\"%" PRIu64 "\">",
		events);
	page->ok = curves_each(curves, page->model, take, &zoom) && page->ok;
	put_group(&zoom);
	numbers_put(&zoom.numbers, 0);
	numbers_end(&zoom.numbers);
	fputs("</script>\n", page->out);
}
