/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Handles of several pages: how large they are, and that they move, go back and
 * break only whole, whatever the driver refuses. That no page goes while it is
 * in use is in heap_trim.c. */
#include "heap_fixture.h"

#define PAGE (2 * MIB)
#define BALLAST (1024 * PAGE)

static struct gm_arena *arena;
static struct gm_extent *ballast;

/* A heap that is so large that handles of 8 pages are a small part of it. */
static void restart_with(uint64_t limit)
{
	if (arena)
		heap_end();
	heap_start_with(limit, 0);
	arena = arena_of(NULL);
	ballast = block(arena, BALLAST);
}

static void restart(void)
{
	restart_with(0);
}

/* How many handles the heap has beside the ballast's. */
static uint64_t handles(void)
{
	return heap.books.segments.current - 128;
}

/* So much of the memory beside the ballast is there. */
static void is_pages(uint64_t pages, const char *what)
{
	is_uint((heap_reserved() - BALLAST) / PAGE, pages, "%s", what);
}

static void test_sizes(void)
{
	restart();
	is_uint(heap.books.segments.current, 128, "1024 pages in 128 handles");
	is_uint(calls(GPUMEM_CALL_PAGE_CREATE), 128, "one call for each");
	is_uint(calls(GPUMEM_CALL_MAP), 1, "one call maps them all");
	touch(ballast);
	touch(block(arena, 7 * PAGE));
	is_uint(handles(), 7, "few pages are taken one by one");
	is_uint(calls(GPUMEM_CALL_MAP), 2, "and mapped at once");
	touch(block(arena, 21 * PAGE));
	is_uint(handles(), 7 + 11, "a larger request takes them in twos");
	is_uint(calls(GPUMEM_CALL_MAP), 4, "one call for each size");
	block(arena, 4096 * PAGE);
	is_uint(handles(), 7 + 11 + 512, "none is larger than allowed");
	is_uint(gm_heap_handle_pages(&heap, 1), 1, "one page is one page");
	sound("sizes");
	heap_end();
	heap_start();
	arena = arena_of(NULL);
	block(arena, 127 * PAGE);
	is_uint(heap.books.segments.current, 127,
		"a small heap has small ones");
	sound("small");
}

static void test_option(const char *value, size_t pages)
{
	option("handle_max", value);
	restart();
	is_uint(heap.books.segments.current, 1024 / pages, "handle_max %s",
		value);
	sound("with the option");
	option("handle_max", "16MiB");
}

static void test_limit(void)
{
	restart_with(BALLAST + 67 * PAGE);
	is_status(gm_space_grow(&heap, arena, 68 * PAGE, heap.unit),
		  GPUMEM_LIMIT, "a page beyond the limit");
	is_pages(0, "what was created is gone");
	sound("at the limit");
	block(arena, 67 * PAGE);
	is_pages(67, "up to the limit");
	is_uint(handles(), 8 + 1 + 1, "in handles of 8, 2 and 1 pages");
	restart();
	must(gpumem_host_faults("page_create@1;page_create@2"));
	block(arena, 67 * PAGE);
	must(gpumem_host_faults(NULL));
	is_uint(handles(), 33 + 1, "where no large ones are left, smaller");
	sound("smaller");
}

/* A block in a handle keeps all of it, and no more. */
static void test_trim(void)
{
	struct gm_extent *extent, *kept;

	restart();
	extent = block(arena, 64 * PAGE);
	block_give(arena, extent);
	kept = block(arena, 12 * PAGE + 1 * MIB);
	extent = block(arena, MIB);
	touch(extent);
	block_give(arena, kept);
	is_uint(gm_space_whole_bytes(&heap), 56 * PAGE, "so much could go");
	must(heap_trim(BALLAST + 63 * PAGE));
	is_pages(56, "no part of a handle is kept back");
	sound("one handle");
	must(heap_trim(0));
	is_pages(8, "all but the handle that is in use");
	is_uint(gm_space_whole_bytes(&heap), 0, "no more could go");
	touch(extent);
	sound("trimmed");
	kept = block(arena, PAGE);
	ok(kept->address > extent->address - 8 * PAGE &&
		   kept->address < extent->address + 8 * PAGE,
	   "the rest of it is used");
	is_pages(8, "without growth");
	block_give(arena, kept);
	block_give(arena, extent);
	must(heap_trim(0));
	is_pages(0, "and then it goes");
	sound("empty");
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

/* Whole handles move and keep what is beside them. */
static void test_steal(void)
{
	struct gm_extent *extent[8], *large;
	unsigned lost = 0;
	uint64_t creates;

	restart();
	for (int i = 0; i < 8; i++) {
		extent[i] = block(arena, 64 * PAGE);
		touch(extent[i]);
		*(volatile int *)extent[i]->address = i;
	}
	for (int i = 0; i < 8; i += 2)
		block_give(arena, extent[i]);
	creates = calls(GPUMEM_CALL_PAGE_CREATE);
	heap.waste = 0;
	large = block(arena, 256 * PAGE);
	touch(large);
	is_pages(512, "no more is taken");
	is_uint(calls(GPUMEM_CALL_PAGE_CREATE), creates, "nothing is new");
	is_uint(handles(), 64, "the handles are as they were");
	is_uint(heap.books.moved_bytes % (8 * PAGE), 0, "whole ones moved");
	for (int i = 1; i < 8; i += 2)
		lost += *(volatile int *)extent[i]->address != i;
	is_uint(lost, 0, "the others are untouched");
	sound("moved");
}

/* Memory that is free in handles too large for what is missing. */
static void test_break(void)
{
	struct gm_extent *extent;

	restart_with(BALLAST + 65 * PAGE);
	extent = block(arena, 64 * PAGE);
	touch(block(arena, PAGE));
	block_give(arena, extent);
	is_uint(handles(), 9, "the limit is reached");
	extent = block(arena, 64 * PAGE - 8 * PAGE);
	is_pages(65, "eight pages are left");
	block_take_aligned(arena, 3 * PAGE, 1024 * MIB);
	is_pages(60, "a handle breaks: three of its pages come back");
	is_uint(calls(GPUMEM_CALL_PAGE_DESTROY), 1, "it alone went");
	is_uint(handles(), 7 + 1 + 3, "three new ones");
	sound("broken");
	must(gpumem_host_capture(0, NULL, true));
	block_give(arena, extent);
	ok(!block_take_aligned(arena, 10 * PAGE, 4096 * MIB),
	   "none breaks while a stream is captured");
	must(gpumem_host_capture(0, NULL, false));
	is_uint(gpumem_host_capture_violations(), 0, "nothing is disturbed");
	sound("captured");
}

/* What is mapped when the second call of a growth fails is free memory, what is
 * not is spare; both are used by the next. */
static void test_half_mapped(void)
{
	restart();
	must(gpumem_host_faults("map@2"));
	ok(!block_take(arena, 67 * PAGE), "the small ones do not map");
	must(gpumem_host_faults(NULL));
	is_pages(67, "all was created");
	is_uint(heap.space.spare_count, 2, "two handles are spare");
	is_uint(heap.space.spare_pages, 3, "of three pages");
	is_uint(gm_space_whole_bytes(&heap), 67 * PAGE, "all could go");
	sound("half mapped");
	touch(block(arena, 67 * PAGE));
	is_pages(67, "nothing more is taken");
	is_uint(heap.space.spare_count, 0, "none is spare");
	sound("mapped");
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
	page = gm_page_at(&heap, block(arena, 64 * PAGE)->address);
	kept = page[3].handle;
	page[3].handle = page[8].handle;
	finds("covers 3 pages");
	page[3].handle = kept;
	heap.handle_pages = 4;
	finds("covers 8 pages");
	heap.handle_pages = 8;
	heap.books.segments.current++;
	finds("handles, but");
	heap.books.segments.current--;
	heap.space.spare_pages++;
	finds("the books say");
	heap.space.spare_pages--;
	sound("mended");
}

/* ---- at random ---- */

enum { BLOCKS = 24 };

static void refuse(void)
{
	static const char *const slot[] = {"page_create", "page_destroy", "map",
					   "unmap"};
	char faults[64];

	snprintf(faults, sizeof(faults), "%s@%d%s", slot[chance(4)],
		 1 + (int)chance(12), chance(3) ? "" : "+");
	must(gpumem_host_faults(faults));
}

/* One block comes or goes; now and then a trim. */
static void step(struct gm_extent **live)
{
	unsigned at = (unsigned)chance(BLOCKS);
	size_t pages = (size_t)1 << chance(8);

	if (live[at])
		block_give(arena, live[at]);
	live[at] = chance(3) ? NULL
			     : block_take_aligned(
				       arena,
				       (1 + chance(pages * PAGE / 256)) * 256,
				       chance(8) ? heap.unit : 16 * PAGE);
	if (live[at])
		*(volatile uintptr_t *)live[at]->address = live[at]->address;
	if (!chance(40))
		(void)heap_trim(BALLAST + chance(100) * PAGE);
}

static void test_random(uint64_t limit)
{
	struct gm_extent *live[BLOCKS] = {0};
	unsigned unsound = 0, lost = 0;
	uint64_t moved, gone;

	restart_with(limit);
	for (int i = 0; i < 4000; i++) {
		if (!chance(8))
			refuse();
		step(live);
		if (!chance(4))
			must(gpumem_host_faults(NULL));
		unsound += heap_check() != GPUMEM_OK;
		unsound += heap_reserved() == UINT64_MAX;
		for (int k = 0; k < BLOCKS; k++)
			lost += live[k] &&
				*(volatile uintptr_t *)live[k]->address !=
					live[k]->address;
		if (unsound)
			bail("step %d: %s", i, last_text());
	}
	must(gpumem_host_faults(NULL));
	moved = heap.books.moved_bytes;
	gone = heap.returned_bytes;
	is_uint(lost, 0, "at random: no block lost what was written");
	ok(moved && gone, "pages moved and went");
	diag("%" PRIu64 " MiB moved, %" PRIu64 " MiB went", moved / MIB,
	     gone / MIB);
	for (int k = 0; k < BLOCKS; k++)
		if (live[k])
			block_give(arena, live[k]);
	must(heap_trim(0));
	is_pages(0, "afterwards all goes back");
	sound("at random");
}

int main(void)
{
	alarm(120);
	option("host.capacity", "16GiB");
	option("handle_max", "16MiB");
	must(gm_device_open("host:0", &device));
	test_sizes();
	test_option("2MiB", 1);
	test_option("0", 1);
	test_option("7MiB", 2);
	test_option("1GiB", 8);
	test_limit();
	test_trim();
	test_trim_exact();
	test_steal();
	test_break();
	test_half_mapped();
	test_check();
	test_random(0);
	test_random(BALLAST + 400 * PAGE);
	heap_end();
	device_end();
	return done_testing();
}
