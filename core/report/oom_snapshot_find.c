/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What a snapshot is made of: the blocks of all pools, and what was recorded of
 * them. Locks: the registry's, and one after the other each heap's, which is
 * stopped while its blocks are read; then that of the recording.
 */
#include "oom_snapshot.h"
#include "base/stack.h"

#include <stdlib.h>
#include <string.h>

enum { DEVICES = 64 };

/* "cuda:1" gives 1; what has no such number, 0. */
unsigned gm_found_device(const char *name)
{
	const char *colon = strchr(name, ':');
	unsigned long number = colon ? strtoul(colon + 1, NULL, 10) : 0;

	return number < DEVICES ? (unsigned)number : 0;
}

/* ---- arrays ---- */

/* Room for one more; false: there is none. */
static bool grow(void **list, size_t count, size_t *room, size_t item)
{
	size_t more = *room ? *room * 2 : 1024;
	void *larger;

	if (count < *room)
		return true;
	larger = realloc(*list, more * item);
	if (!larger)
		return false;
	*list = larger;
	*room = more;
	return true;
}

static void note_device(struct gm_found *found, unsigned device)
{
	if (found->devices <= device)
		found->devices = device + 1;
}

/* ---- blocks ---- */

struct collecting {
	struct gm_found *found;
	const struct gpumem_pool *pool;
	bool failed;
};

static bool add_block(const struct gpumem_block *block, void *user)
{
	struct collecting *collecting = user;
	struct gm_found *found = collecting->found;
	struct gm_found_block add = {
		.address = (uintptr_t)block->ptr,
		.bytes = block->bytes,
		.requested_bytes = block->requested_bytes,
		.pool = collecting->pool->number,
		.tag = block->tag,
		.device = (uint8_t)gm_found_device(
			collecting->pool->device->info.name),
		.state = (uint8_t)block->state};

	if (block->state == GPUMEM_BLOCK_HOLE)
		return true;
	if (block->frames)
		add.stack = (uintptr_t)block->frames -
			    offsetof(struct gm_stack, frame);
	collecting->failed = !grow((void **)&found->block, found->block_count,
				   &found->block_room, sizeof(*found->block));
	if (collecting->failed)
		return false;
	found->block[found->block_count++] = add;
	note_device(found, add.device);
	return true;
}

static bool add_pool(struct gpumem_pool *pool, void *user)
{
	struct collecting *collecting = user;

	collecting->pool = pool;
	gm_heap_stop(&pool->heap);
	gm_block_visit_stopped(pool, add_block, collecting);
	gm_heap_go(&pool->heap);
	return !collecting->failed;
}

static int by_place(const void *left, const void *right)
{
	const struct gm_found_block *one = left, *other = right;

	if (one->pool != other->pool)
		return one->pool < other->pool ? -1 : 1;
	return (one->address > other->address) -
	       (one->address < other->address);
}

/* ---- events ---- */

static bool add_event(const struct gm_record_seen *seen, void *user)
{
	struct gm_found *found = user;
	struct gm_found_event add = {
		.real_ns = seen->real_ns,
		.address = seen->address,
		.bytes = seen->bytes,
		.stream = seen->stream,
		.stack = seen->stack,
		.order = found->event_count,
		.tag = seen->tag,
		.device = (uint8_t)gm_found_device(seen->device),
		.kind = seen->kind};

	if (seen->kind == GPUMEM_RECORD_USE)
		return true;
	if (!grow((void **)&found->event, found->event_count,
		  &found->event_room, sizeof(*found->event)))
		return false;
	found->event[found->event_count++] = add;
	note_device(found, add.device);
	return true;
}

static int by_moment(const struct gm_found_event *one,
		     const struct gm_found_event *other)
{
	if (one->real_ns != other->real_ns)
		return one->real_ns < other->real_ns ? -1 : 1;
	return (one->order > other->order) - (one->order < other->order);
}

static int by_address(const void *left, const void *right)
{
	const struct gm_found_event *one = left, *other = right;

	if (one->device != other->device)
		return one->device < other->device ? -1 : 1;
	if (one->address != other->address)
		return one->address < other->address ? -1 : 1;
	return by_moment(one, other);
}

static int by_time(const void *left, const void *right)
{
	const struct gm_found_event *one = left, *other = right;

	if (one->device != other->device)
		return one->device < other->device ? -1 : 1;
	return by_moment(one, other);
}

/* What a block had before it was resized is what the event before says. */
static void sort_events(struct gm_found *found)
{
	struct gm_found_event *event = found->event;
	size_t count = found->event_count;

	if (!count)
		return;
	qsort(event, count, sizeof(*event), by_address);
	for (size_t i = 0; i < count; i++)
		event[i].before_bytes =
			i && event[i - 1].address == event[i].address &&
					event[i - 1].device == event[i].device
				? event[i - 1].bytes
				: event[i].bytes;
	qsort(event, count, sizeof(*event), by_time);
}

/* ---- stacks ---- */

static int by_stack(const void *left, const void *right)
{
	const struct gm_found_stack *one = left, *other = right;

	return (one->stack > other->stack) - (one->stack < other->stack);
}

static bool find_stacks(struct gm_found *found)
{
	size_t most = found->block_count + found->event_count, count = 0;
	struct gm_found_stack *list = calloc(most + 1, sizeof(*list));

	found->stack = list;
	if (!list)
		return false;
	for (size_t i = 0; i < found->block_count; i++)
		list[i].stack = found->block[i].stack;
	for (size_t i = 0; i < found->event_count; i++)
		list[found->block_count + i].stack = found->event[i].stack;
	qsort(list, most, sizeof(*list), by_stack);
	for (size_t i = 0; i < most; i++)
		if (list[i].stack &&
		    (!count || list[count - 1].stack != list[i].stack))
			list[count++] = list[i];
	found->stack_count = count;
	return true;
}

struct gm_found_stack *gm_found_stack(const struct gm_found *found,
				      uint64_t stack)
{
	const struct gm_found_stack wanted = {.stack = stack};

	return stack ? bsearch(&wanted, found->stack, found->stack_count,
			       sizeof(wanted), by_stack)
		     : NULL;
}

/* ---- all of it ---- */

bool gm_found_collect(struct gm_found *found)
{
	struct collecting collecting = {.found = found};

	gm_pools_visit(add_pool, &collecting);
	if (!gm_pools_record_read(add_event, found) || collecting.failed)
		return false;
	if (found->block_count)
		qsort(found->block, found->block_count, sizeof(*found->block),
		      by_place);
	sort_events(found);
	return find_stacks(found);
}

void gm_found_end(struct gm_found *found)
{
	free(found->block);
	free(found->event);
	free(found->stack);
}
