/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the tests of handles of several pages share: a heap with a block in it
 * that is so large that handles of 8 pages are made. Beside fixture.h.
 */
#ifndef HEAP_HANDLE_H
#define HEAP_HANDLE_H

#include "fixture.h"

#define PAGE (2 * MIB)
#define BALLAST (3888 * PAGE)

static struct gm_arena *arena;
static struct gm_extent *ballast;

/* A heap with a ballast of so many bytes, of a program that has freed as many.
 */
HEAP_USE void restart_of(size_t bytes)
{
	if (arena)
		heap_end();
	heap_start_with(0, 0);
	arena = arena_of(NULL);
	ballast = block(arena, bytes);
	heap.counters.freed_at_trim -= bytes;
}

/* A heap that is so large that handles of 8 pages are a small part of it. Its
 * limit comes later: near that handles are smaller. */
HEAP_USE void restart_with(uint64_t limit)
{
	restart_of(BALLAST);
	set_limit(limit);
}

HEAP_USE void restart(void)
{
	restart_with(0);
}

/* How many handles the heap has beside the ballast's. */
HEAP_USE uint64_t handles(void)
{
	return heap.counters.segments.current - 486;
}

/* So much of the memory beside the ballast is there. */
HEAP_USE void is_pages(uint64_t pages, const char *what)
{
	is_uint((heap_reserved() - BALLAST) / PAGE, pages, "%s", what);
}

HEAP_USE void handles_start(void)
{
	alarm(120);
	option("host.capacity", "64GiB");
	option("handle_max", "16MiB");
	must(gm_device_open("host:0", &device));
}

#endif
