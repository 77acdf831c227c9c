/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Handles of several pages at random, while the driver refuses some of its
 * calls: the heap is sound after each step, and no block loses what was
 * written. What moves and what breaks is in decide_pages.c.
 */
#include "handle.h"

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
	moved = heap.counters.moved_bytes;
	gone = heap.space->budget.returned_bytes;
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
	option("host.capture_frees", "off");
	handles_start();
	test_random(0);
	test_random(BALLAST + 400 * PAGE);
	heap_end();
	device_end();
	return done_testing();
}
