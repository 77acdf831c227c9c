/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Which streams use a block, and which view it has, against a table of all of
 * them; and what becomes of uses when their stream goes. */
#include "fixture.h"

enum { BLOCKS = 400, STREAMS = 6 };

static char stream[STREAMS];
static bool model[BLOCKS][STREAMS];
static void *view[BLOCKS];
static struct gm_use *taken[BLOCKS];

/* Addresses of blocks differ in few bits, and not in the lowest. */
static uintptr_t address(size_t block)
{
	return ((uintptr_t)1 << 40) + block * (2 << 20);
}

static bool any(size_t block)
{
	for (size_t i = 0; i < STREAMS; i++)
		if (model[block][i])
			return true;
	return view[block] != NULL;
}

/* Objects of a vendor; the number of one that has ended comes again. */
static void *new_view(void)
{
	void *made = (void *)((uintptr_t)(1 + rand() % (2 * BLOCKS)) * 16);

	for (size_t i = 0; i < BLOCKS; i++)
		if (view[i] == made)
			return NULL;
	return made;
}

/* Every view leads to its block, unless that is kept aside. */
static unsigned lost_views(void)
{
	const struct gm_uses *uses = &heap.order->uses;
	size_t count = 0;
	unsigned lost = 0;

	for (size_t i = 0; i < BLOCKS; i++) {
		struct gm_use *use = gm_uses_find_view(uses, view[i]);

		if (!view[i] || taken[i]) {
			lost += use && use->view == view[i];
			continue;
		}
		lost += !use || use->address != address(i);
		count++;
	}
	return lost + (uses->view_count != count);
}

/* The entry has each stream of the model, and each once. */
static bool same(const struct gm_use *use, size_t block)
{
	size_t count = 0;

	if (!use)
		return !any(block);
	for (size_t i = 0; i < STREAMS; i++) {
		size_t found = 0;

		for (size_t k = 0; k < use->count; k++)
			found += use->wait[k].stream == &stream[i];
		if (found != model[block][i])
			return false;
		count += found;
	}
	return use->address == address(block) && use->count == count &&
	       use->view == view[block] && (count || use->view);
}

static unsigned step(void)
{
	size_t block = (size_t)rand() % BLOCKS;
	size_t i = (size_t)rand() % STREAMS;
	struct gm_use *use;
	unsigned wrong = 0;

	switch (rand() % 5) {
	case 0: /* taken, looked at, gone or kept aside */
		use = gm_uses_take(&heap.order->uses, address(block));
		if (taken[block])
			return use != NULL;
		wrong = !same(use, block);
		if (use && rand() % 2) {
			taken[block] = use;
			return wrong;
		}
		free(use);
		memset(model[block], 0, sizeof(model[block]));
		view[block] = NULL;
		return wrong;
	case 1: /* put back */
		if (taken[block])
			gm_uses_put(&heap.order->uses, taken[block]);
		taken[block] = NULL;
		return 0;
	case 2: /* a view, or another one, or none any more */
		if (taken[block] ||
		    gm_uses_of(&heap.order->uses, address(block), &use))
			return taken[block] == NULL;
		view[block] = rand() % 4 || !use->count ? new_view() : NULL;
		gm_uses_set_view(&heap.order->uses, use, view[block]);
		if (!any(block))
			free(gm_uses_take(&heap.order->uses, address(block)));
		return 0;
	default:
		if (taken[block])
			return 0;
		model[block][i] = true;
		return gm_uses_add(&heap.order->uses, address(block),
				   &stream[i]) != GPUMEM_OK;
	}
}

static size_t expected_count(void)
{
	size_t count = 0;

	for (size_t i = 0; i < BLOCKS; i++)
		count += any(i) && !taken[i];
	return count;
}

static void test_model(void)
{
	long rounds = scaled(200000, 20000);
	unsigned wrong = 0;

	srand(3);
	for (long i = 0; i < rounds; i++) {
		wrong += step();
		if (i % 64 == 0)
			wrong += lost_views() +
				 (heap.order->uses.count != expected_count());
	}
	is_uint(wrong, 0,
		"every block has its streams, each once, and its view");
	is_uint(heap.order->uses.count, expected_count(),
		"and as many entries");
	ok((heap.order->uses.bucket_count &
	    (heap.order->uses.bucket_count - 1)) == 0 &&
		   2 * heap.order->uses.bucket_count >= BLOCKS,
	   "the table has grown: %zu buckets", heap.order->uses.bucket_count);
}

/* What is kept aside is unknown, and comes back as it was. */
static void test_end(void)
{
	unsigned wrong = 0;

	for (size_t i = 0; i < BLOCKS; i++) {
		struct gm_use *use;

		if (taken[i])
			gm_uses_put(&heap.order->uses, taken[i]);
		use = gm_uses_take(&heap.order->uses, address(i));
		wrong += !same(use, i);
		if (i % 2)
			free(use);
		else if (use)
			gm_uses_put(&heap.order->uses, use);
	}
	is_uint(wrong, 0, "all are there in the end");
	gm_uses_fini(&heap);
	ok(!heap.order->uses.count && !heap.order->uses.view_count &&
		   !heap.order->uses.bucket && !heap.order->uses.bucket_count,
	   "the table ends empty, what is left in it freed");
}

/* The waits of a block: on one stream that lives, on one that was dropped. */
static void test_drop(void)
{
	gpumem_stream gone = stream_new(), stays = stream_new();
	struct gm_use *use;

	for (size_t i = 0; i < 20; i++) {
		must(gm_uses_add(&heap.order->uses, address(i), stays));
		if (i % 2)
			must(gm_uses_add(&heap.order->uses, address(i), gone));
	}
	must(gpumem_host_faults("event_record@5"));
	is_status(gm_uses_drop(&heap, gone), GPUMEM_DRIVER,
		  "a driver that does not record is heard");
	is_status(gm_uses_drop(&heap, gone), GPUMEM_OK, "then it does");
	is_uint(heap.order->events.made - heap.order->events.count, 10,
		"an event for each use of it, and none twice");
	is_status(gm_uses_drop(&heap, gone), GPUMEM_OK, "dropped again");
	is_uint(heap.order->events.made - heap.order->events.count, 10,
		"there is nothing more to drop");
	must(gm_uses_add(&heap.order->uses, address(1), gone));
	use = gm_uses_take(&heap.order->uses, address(1));
	is_uint(use->count, 3, "a new stream may have the old one's name");
	ok(use->wait[0].stream == stays && !use->wait[0].event &&
		   !use->wait[0].dropped,
	   "what lives is asked later");
	ok(use->wait[1].dropped && use->wait[1].event,
	   "what was dropped has an event");
	ok(use->wait[2].stream == gone && !use->wait[2].dropped,
	   "the new one has none");
	gm_uses_put(&heap.order->uses, use);
	gm_uses_fini(&heap);
	is_uint(heap.order->events.made, heap.order->events.count,
		"at the end the events are in the store");
	must(gm_stream_destroy(device, gone));
	must(gm_stream_destroy(device, stays));
}

int main(void)
{
	device_start();
	heap_start();
	is_ptr(gm_uses_take(&heap.order->uses, 4096), NULL,
	       "an empty table knows nothing");
	is_status(gm_uses_drop(&heap, NULL), GPUMEM_OK, "nor drops");
	is_status(gm_uses_add(&heap.order->uses, 4096, NULL), GPUMEM_OK,
		  "the default stream is a stream");
	is_status(gm_uses_add(&heap.order->uses, 4096, NULL), GPUMEM_OK,
		  "again");
	is_uint(heap.order->uses.count, 1, "one entry");
	is_ptr(gm_uses_take(&heap.order->uses, 4096 + 256), NULL,
	       "of that block only");
	free(gm_uses_take(&heap.order->uses, 4096));
	is_uint(heap.order->uses.count, 0, "and taken");
	test_model();
	test_end();
	test_drop();
	heap_end();
	device_end();
	return done_testing();
}
