/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The work of streams that use what is to sleep: an event is recorded on each,
 * and waited for, with nothing locked. See parts.h.
 */
#include "parts.h"
#include "base/error.h"

#include <stdlib.h>
#include <time.h>

struct waits {
	struct gm_heap *heap;
	const struct gm_choice *choice;
	struct one {
		gpumem_stream stream;
		void *event;
	} * one;
	size_t count, room;
};

static bool goes(const struct waits *waits, uint16_t more)
{
	return waits->choice->of[more & GM_MORE_TAG] > GPUMEM_SLEEP_STAY;
}

static gpumem_status add(struct waits *waits, gpumem_stream stream)
{
	struct one *larger;

	for (size_t i = waits->count; i-- > 0;)
		if (waits->one[i].stream == stream)
			return GPUMEM_OK;
	if (waits->count == waits->room) {
		size_t room = waits->room ? 2 * waits->room : 16;

		larger = realloc(waits->one, room * sizeof(*larger));
		if (!larger)
			return gm_fail(GPUMEM_NO_HOST_MEMORY,
				       "no host memory for a list of streams");
		waits->one = larger;
		waits->room = room;
	}
	waits->one[waits->count++] = (struct one){.stream = stream};
	return GPUMEM_OK;
}

/* Whom gpumem_use_on() named. */
static gpumem_status add_uses(struct waits *waits, uintptr_t address)
{
	const struct gm_use *use =
		gm_uses_find(&waits->heap->order->uses, address);
	gpumem_status status = GPUMEM_OK;

	for (size_t i = 0; use && i < use->count && status == GPUMEM_OK; i++)
		if (!use->wait[i].event)
			status = add(waits, use->wait[i].stream);
	return status;
}

static gpumem_status add_block(struct waits *waits, uint16_t more,
			       uintptr_t address, const struct gm_arena *arena)
{
	gpumem_status status = GPUMEM_OK;

	if (!goes(waits, more))
		return GPUMEM_OK;
	if (!arena->dropped)
		status = add(waits, arena->stream);
	if (status == GPUMEM_OK && more & GM_MORE_SHARED)
		status = add_uses(waits, address);
	return status;
}

static gpumem_status add_slots(struct waits *waits, const struct gm_slab *slab)
{
	gpumem_status status = GPUMEM_OK;

	for (uint32_t i = 0; i < slab->class.slots && status == GPUMEM_OK; i++)
		if (gm_mark_live(atomic_load(gm_slab_mark(slab, i))))
			status = add_block(waits, gm_slab_more(slab, i),
					   slab->address +
						   (uintptr_t)i *
							   slab->class.bytes,
					   slab->arena);
	return status;
}

/* Those from which a graph has memory, free or not. */
static gpumem_status add_graphs(struct waits *waits)
{
	const struct gm_arena *arena = waits->heap->order->private_arenas;
	gpumem_status status = GPUMEM_OK;

	for (; arena && status == GPUMEM_OK && waits->choice->all;
	     arena = arena->next)
		if (!arena->dropped)
			status = add(waits, arena->stream);
	return status;
}

static gpumem_status list(struct waits *waits)
{
	const struct gm_extent *extent = gm_heap_first(waits->heap);
	gpumem_status status = add_graphs(waits);

	for (; extent && status == GPUMEM_OK;
	     extent = gm_heap_next(waits->heap, extent)) {
		if (gm_extent_is(extent, GM_EXTENT_LARGE))
			status = add_block(waits, gm_extent_more(extent),
					   extent->address, extent->arena);
		else if (gm_extent_is(extent, GM_EXTENT_RUN))
			status = add_slots(waits, gm_slab_of_entry(gm_map_get(
							  extent->address)));
	}
	return status;
}

static gpumem_status record(struct waits *waits)
{
	gpumem_status status = GPUMEM_OK;

	for (size_t i = 0; i < waits->count && status == GPUMEM_OK; i++)
		status = gm_events_record(waits->heap, waits->one[i].stream,
					  &waits->one[i].event);
	return status == GPUMEM_CAPTURING
		       ? gm_fail(GPUMEM_BUSY,
				 "a stream that uses what is to sleep is being "
				 "captured")
		       : status;
}

static gpumem_status wait_for(struct gm_heap *heap, const struct one *one,
			      uint64_t deadline_ns)
{
	gpumem_status status =
		gm_events_wait_until(heap, one->event, deadline_ns);

	return status == GPUMEM_NOT_READY
		       ? gm_fail(GPUMEM_BUSY,
				 "stream %p is still at work, and has blocks "
				 "that are to sleep: wait for it, or longer "
				 "(`timeout_ns`)",
				 one->stream)
		       : status;
}

gpumem_status gm_wait_streams(struct gm_heap *heap,
			      const struct gm_choice *choice,
			      uint64_t deadline_ns)
{
	struct waits waits = {.heap = heap, .choice = choice};
	gpumem_status status;

	if (!gm_device_has(heap->driver.device, GPUMEM_CAP_STREAMS))
		return GPUMEM_OK;
	gm_heap_stop(heap);
	status = list(&waits);
	if (status == GPUMEM_OK)
		status = record(&waits);
	gm_heap_go(heap);
	for (size_t i = 0; i < waits.count && status == GPUMEM_OK; i++)
		status = wait_for(heap, &waits.one[i], deadline_ns);
	pthread_mutex_lock(&heap->mutex);
	for (size_t i = 0; i < waits.count; i++)
		if (waits.one[i].event)
			gm_events_give(heap, waits.one[i].event);
	pthread_mutex_unlock(&heap->mutex);
	free(waits.one);
	return status;
}

/* Work of a stream that is gone, or of several: it is asked for again and
 * again, as long as the driver answers. */
static gpumem_status rest(struct gm_heap *heap, const struct one *one)
{
	const struct timespec pause = {.tv_nsec = 200 * 1000};
	gpumem_status status = gm_events_ask(heap, one->event);

	nanosleep(&pause, NULL);
	return status == GPUMEM_NOT_READY ? GPUMEM_OK : status;
}

gpumem_status gm_wait_for(struct gm_heap *heap, const struct gm_extent *busy,
			  uint64_t deadline_ns)
{
	const struct gm_arena *arena = busy->arena;
	struct one one = {0};
	struct waits waits = {.heap = heap, .one = &one, .count = 1};
	gpumem_status status;
	bool own =
		arena && !arena->dropped && gm_extent_is(busy, GM_EXTENT_FREE);
	one.stream = own ? arena->stream : NULL;
	status = record(&waits);
	if (status == GPUMEM_OK && !own && deadline_ns == UINT64_MAX)
		(void)(gm_pending_wait(heap) || gm_arenas_wait(heap));
	pthread_mutex_unlock(&heap->mutex);
	if (status != GPUMEM_OK)
		return status;
	status = own ? wait_for(heap, &one, deadline_ns) : rest(heap, &one);
	pthread_mutex_lock(&heap->mutex);
	gm_events_give(heap, one.event);
	pthread_mutex_unlock(&heap->mutex);
	return status;
}

gpumem_status gm_wait_refuse(const struct gm_extent *busy)
{
	const struct gm_arena *arena = busy->arena;

	return gm_fail(GPUMEM_BUSY,
		       "%s at %#zx shares pages with what is to sleep, and "
		       "stream %p is still at work there: wait for it, or "
		       "longer (`timeout_ns`)",
		       gm_extent_is(busy, GM_EXTENT_LARGE) ||
				       gm_extent_is(busy, GM_EXTENT_RUN)
			       ? "a block"
			       : "freed memory",
		       busy->address, arena ? (void *)arena->stream : NULL);
}
