/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The model of pages: its beginning, its end, and its table. See pages.h. */
#include "handle.h"
#include "base/error.h"
#include "base/option.h"

#include <stdlib.h>

static void release_handle(struct gm_heap *heap, gpumem_page page, size_t pages,
			   struct gm_first *first)
{
	size_t done;

	gm_first_keep(first, gm_driver_page_destroy(&heap->driver,
						    pages * heap->page_bytes,
						    &page, 1, &done));
}

/* Unmaps and destroys `count` handles. What does not unmap is left as it is: a
 * handle may only be destroyed, and addresses released, when it is mapped
 * nowhere. */
static bool release_run(struct gm_heap *heap, const struct gm_run *run,
			struct gm_first *first)
{
	const struct gm_page *page = gm_page_at(&heap->spans, run->start);
	gpumem_status status =
		gm_driver_unmap(&heap->driver, run->start, run->count,
				run->pages * heap->page_bytes);

	gm_first_keep(first, status);
	if (status != GPUMEM_OK)
		return false;
	gm_gate_give_way(heap->driver.device->gate);
	for (size_t i = 0; i < run->count; i++)
		release_handle(heap, page[i * run->pages].handle, run->pages,
			       first);
	gm_gate_give_way(heap->driver.device->gate);
	return true;
}

/* Handles of one size side by side, from the first page of the first on, as
 * many as one step may have. */
static struct gm_run run_at(const struct gm_heap *heap,
			    const struct gm_page *page, uintptr_t start)
{
	struct gm_run run = {.start = start,
			     .pages = gm_page_handle_pages(&heap->spans, page)};

	/* What is behind the pages of a span is 0. */
	do
		run.count++;
	while (run.count < GM_STEP_HANDLES &&
	       page[run.count * run.pages].handle &&
	       gm_page_handle_pages(&heap->spans,
				    page + run.count * run.pages) == run.pages);
	return run;
}

/* In few calls: one for each run. False: something is still mapped. */
static bool release_pages(struct gm_heap *heap, const struct gm_span *span,
			  struct gm_first *first)
{
	const struct gm_spans *spans = &heap->spans;
	size_t end = span->first_page + span->bytes / heap->page_bytes, i;
	uintptr_t at = span->address;
	bool all = true;

	if (end > spans->high_page)
		end = spans->high_page;
	for (i = span->first_page; i < end;) {
		struct gm_run run = {.pages = 1, .count = 1};

		if (spans->page[i].handle) {
			run = run_at(heap, &spans->page[i], at);
			all &= release_run(heap, &run, first);
		}
		i += run.count * run.pages;
		at += gm_run_bytes(heap, &run);
	}
	return all;
}

static void init(struct gm_heap *heap)
{
	gm_stale_init(heap);
	heap->space->stale.on =
		gm_device_has(heap->driver.device, GPUMEM_CAP_ALIAS) &&
		gm_option_bool(GM_BOOL_alias);
}

static void end(struct gm_heap *heap, struct gm_first *first)
{
	struct gm_space *space = heap->space;
	const struct gm_span *span = heap->spans.first;

	gm_stale_unmap_all(heap, first);
	for (size_t i = 0; i < space->spare_count; i++)
		release_handle(heap, space->spare[i].page,
			       space->spare[i].pages, first);
	for (; span; span = span->next)
		if (release_pages(heap, span, first) && !span->stuck)
			gm_first_keep(first, gm_range_release(heap, span));
	gm_spans_free_table(&heap->spans);
	gm_stale_fini(heap);
	free(space->spare);
}

static uint64_t need(const struct gm_heap *heap, uint64_t bytes)
{
	return (bytes + heap->page_bytes - 1) &
	       ~(uint64_t)(heap->page_bytes - 1);
}

static bool gather(const struct gm_transfer *transfer, bool grows)
{
	const struct gm_heap *heap = transfer->receiver->heap;
	struct gm_transfer pages = *transfer;

	pages.pages = transfer->bytes / heap->page_bytes + 1;
	return grows && gm_stale_lender(heap, transfer->receiver) &&
	       gm_transfer_pages(&pages);
}

static uint64_t busy_bytes(const struct gm_heap *heap)
{
	return gm_handles_whole_bytes(heap) -
	       heap->space->spare_pages * heap->page_bytes -
	       gm_handles_completed_bytes(heap, NULL);
}

static uint64_t rest_bytes(const struct gm_heap *heap)
{
	(void)heap;
	return 0;
}

static struct gm_unit unit(const struct gm_heap *heap,
			   const struct gm_span *span, uintptr_t address)
{
	const struct gm_spans *spans = &heap->spans;
	uintptr_t start = address & ~(uintptr_t)(spans->page_bytes - 1);
	const struct gm_page *page =
		&spans->page[span->first_page +
			     (start - span->address) / spans->page_bytes];

	if (page >= spans->page + spans->high_page || !page->handle)
		return (struct gm_unit){0};
	for (; !gm_page_begins(page); page--)
		start -= spans->page_bytes;
	return (struct gm_unit){.address = start,
				.bytes = gm_page_handle_pages(spans, page) *
					 spans->page_bytes};
}

const struct gm_model gm_pages = {
	.with = GM_WITH_PAGES,
	.waste = GM_PERCENT_waste,
	.waste_max = GM_PERCENT_waste_max,
	.init = init,
	.start = gm_range_start,
	.end = end,
	.need = need,
	.grow = gm_pages_grow,
	.gather = gather,
	.settle = gm_stale_retire_all,
	.release = gm_pages_release,
	.whole_bytes = gm_handles_whole_bytes,
	.busy_bytes = busy_bytes,
	.rest_bytes = rest_bytes,
	.most_bytes = gm_pages_most_bytes,
	.now_bytes = gm_pages_now_bytes,
	.unit = unit,
	.record = gm_pages_record,
	.mapped = gm_pages_mapped,
	.pin = gm_pages_pin,
	.open = gm_pages_open,
	.check_free = gm_pages_check_free,
	.check = gm_pages_check,
};
