/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A random program that keeps a list of what should be known of its live
 * blocks, and what a walk, a query and a report say otherwise. Beside leaks.h;
 * the test that has it makes `pool` and `stream`. Only the main thread calls
 * it.
 */
#ifndef LIB_LEAKS_LIST_H
#define LIB_LEAKS_LIST_H

#include "leaks.h"

enum { BLOCKS = 300 };

static gpumem_pool *pool;
static gpumem_stream stream;

static struct known {
	void *ptr;
	size_t bytes;
	uint64_t from, to; /* its serial lies there; 0: it has none */
} list[BLOCKS];

static size_t sizes[] = {1, 200, 256, 4096, 16384, 100000, 3 * MIB};

static size_t some_bytes(void)
{
	return sizes[random_below(sizeof(sizes) / sizeof(*sizes))];
}

static void add(struct known *known, bool tracked)
{
	gpumem_stream on = one_in(2) ? stream : NULL;
	struct gpumem_alloc_options options =
		GPUMEM_INIT(struct gpumem_alloc_options);

	known->bytes = some_bytes();
	known->from = gpumem_leak_mark();
	options.flags = one_in(2) ? GPUMEM_ALLOC_ZERO : 0;
	if (one_in(3))
		must(gpumem_alloc_with(pool, known->bytes, on, &options,
				       &known->ptr, NULL));
	else if (one_in(3))
		must(gpumem_alloc_aligned(pool, known->bytes, 512, on,
					  &known->ptr));
	else
		must(gpumem_alloc(pool, known->bytes, on, &known->ptr));
	known->to = gpumem_leak_mark();
	if (!tracked)
		known->from = known->to = 0;
}

static void drop(struct known *known)
{
	gpumem_event *event = NULL;

	switch (random_below(5)) {
	case 0:
		must(gpumem_free_own(known->ptr));
		break;
	case 1:
		must(gpumem_free_sized(known->ptr, known->bytes, stream));
		break;
	case 2:
		must(gpumem_event_create(device, &event));
		must(gpumem_event_record(event, stream));
		must(gpumem_free_after(known->ptr, event));
		must(gpumem_event_destroy(event));
		break;
	case 3:
		must(gpumem_use_on(known->ptr, stream));
		must(gpumem_free(known->ptr, NULL));
		break;
	default:
		must(gpumem_free(known->ptr, one_in(2) ? stream : NULL));
	}
	known->ptr = NULL;
}

static void resize(struct known *known)
{
	size_t bytes =
		one_in(2) ? known->bytes - known->bytes / 3 : known->bytes + 1;

	if (!gpumem_resize(known->ptr, bytes, one_in(2) ? stream : NULL, NULL))
		known->bytes = bytes;
}

static void step(bool tracked)
{
	struct known *known = &list[random_below(BLOCKS)];

	if (!known->ptr)
		add(known, tracked);
	else if (one_in(3))
		resize(known);
	else
		drop(known);
}

static bool is_known(const struct known *known,
		     const struct gpumem_block *block)
{
	if (block->requested_bytes != known->bytes)
		return false;
	if (!known->to)
		return !block->serial && !block->age_ns && !block->thread &&
		       !block->frames && !block->frame_count;
	return block->serial >= known->from && block->serial < known->to &&
	       block->thread == (uint32_t)getpid();
}

static bool look(const struct gpumem_block *block, void *user)
{
	unsigned *wrong = user;

	if (block->state != GPUMEM_BLOCK_LIVE) {
		*wrong += block->serial || block->age_ns || block->frames ||
			  block->thread || block->frame_count;
		return true;
	}
	for (size_t i = 0; i < BLOCKS; i++)
		if (list[i].ptr == block->ptr) {
			*wrong += !is_known(&list[i], block);
			return true;
		}
	++*wrong;
	return true;
}

/* By the walk, and one by one. */
static unsigned wrong(void)
{
	unsigned count = 0;

	must(gpumem_block_visit(pool, look, &count));
	for (size_t i = 0; i < BLOCKS; i++) {
		struct gpumem_block block = GPUMEM_INIT(struct gpumem_block);

		if (!list[i].ptr)
			continue;
		must(gpumem_query(list[i].ptr, &block));
		count += !is_known(&list[i], &block);
	}
	return count;
}

/* The report's groups add up to what the list has between two marks. */
static unsigned wrong_sums(uint64_t since, uint64_t until)
{
	ull blocks = 0, bytes = 0, group_blocks = 0, group_bytes = 0;

	for (size_t i = 0; i < BLOCKS; i++) {
		if (!list[i].ptr || list[i].from < since ||
		    (until && list[i].to > until))
			continue;
		blocks++;
		bytes += list[i].bytes;
	}
	leaks_read(pool, since, until);
	for (unsigned i = 0; i < leaks.count; i++) {
		group_blocks += leaks.group[i].blocks;
		group_bytes += leaks.group[i].bytes;
		if (i && leaks.group[i].bytes > leaks.group[i - 1].bytes)
			return 1;
	}
	return leaks.blocks != blocks || leaks.bytes != bytes ||
	       group_blocks != blocks || group_bytes != bytes;
}

static void drop_all(void)
{
	for (size_t i = 0; i < BLOCKS; i++)
		if (list[i].ptr)
			drop(&list[i]);
}

#endif
