/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Handles of several pages: how large they are, what goes first, and what the
 * check of them finds. That they move or break is in decide_pages.c. */
#include "handle.h"

static void test_sizes(void)
{
	restart();
	is_uint(heap.counters.segments.current, 486,
		"3888 pages in 486 handles");
	is_uint(calls(GPUMEM_CALL_PAGE_CREATE), 486, "one call for each");
	is_uint(calls(GPUMEM_CALL_MAP), 1, "one call maps them all");
	touch(ballast);
	touch(block(arena, 7 * PAGE));
	is_uint(handles(), 7, "few pages are taken one by one");
	is_uint(calls(GPUMEM_CALL_MAP), 2, "and mapped at once");
	touch(block(arena, 21 * PAGE));
	is_uint(handles(), 7 + 6, "a larger request takes them in fours");
	is_uint(calls(GPUMEM_CALL_MAP), 4, "one call for each size");
	block(arena, 4096 * PAGE);
	is_uint(handles(), 7 + 6 + 512, "none is larger than allowed");
	is_uint(gm_price_handle_pages(&heap, NULL, 1), 1,
		"one page is one page");
	sound("sizes");
	heap_end();
	heap_start();
	arena = arena_of(NULL);
	block(arena, 127 * PAGE);
	is_uint(heap.counters.segments.current, 127,
		"a small heap has small ones");
	sound("small");
}

static void test_limit(void)
{
	restart_with(BALLAST + 67 * PAGE);
	is_status(heap_grow(&heap, arena, 68 * PAGE, heap.unit), GPUMEM_LIMIT,
		  "a page beyond the limit");
	is_pages(0, "what was created is gone");
	sound("at the limit");
	block(arena, 67 * PAGE);
	is_pages(67, "up to the limit");
	is_uint(handles(), 67, "in handles of one page, so near it");
	restart();
	block(arena, 67 * PAGE);
	is_uint(handles(), 8 + 1 + 1, "else in handles of 8, 2 and 1 pages");
	restart();
	must(gpumem_host_faults("page_create@1;page_create@2"));
	block(arena, 67 * PAGE);
	must(gpumem_host_faults(NULL));
	is_uint(handles(), 33 + 1, "where no large ones are left, smaller");
	sound("smaller");
}

/* Small handles go before larger ones that would be more than is wanted. */
static void test_trim_exact(void)
{
	struct gm_extent *large, *small;

	restart();
	large = block(arena, 64 * PAGE);
	small = block(arena, 3 * PAGE);
	block(arena, MIB);
	block_give(arena, large);
	block_give(arena, small);
	must(heap_trim(heap_reserved() - 2 * PAGE));
	is_pages(66, "two pages were to go, and two went");
	must(heap_trim(heap_reserved() - 9 * PAGE));
	is_pages(57, "a large one and a small one");
	sound("exact");
}

static void finds(const char *what)
{
	gpumem_status status = heap_check();

	if (!ok(status == GPUMEM_CORRUPT && strstr(last_text(), what), "%s",
		what))
		diag("%d: %s", (int)status, last_text());
}

/* The check finds what is wrong with a handle. */
static void test_check(void)
{
	struct gm_page *page;
	gpumem_page kept;

	restart();
	page = gm_page_at(&heap.spans, block(arena, 64 * PAGE)->address);
	kept = page[3].handle;
	page[3].handle = page[8].handle;
	finds("covers 3 pages");
	page[3].handle = kept;
	heap.space->handle_pages = 4;
	finds("covers 8 pages");
	heap.space->handle_pages = 8;
	heap.counters.segments.current++;
	finds("handles, but");
	heap.counters.segments.current--;
	heap.space->spare_pages++;
	finds("the counters say");
	heap.space->spare_pages--;
	sound("mended");
}

int main(void)
{
	handles_start();
	test_sizes();
	test_limit();
	test_trim_exact();
	test_check();
	heap_end();
	device_end();
	return done_testing();
}
