/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* All that is unused goes back to the driver; see heap.h. */
#include "heap.h"
#include "base/error.h"
#include "device/loss.h"

void gm_heap_stop(struct gm_heap *heap)
{
	pthread_mutex_lock(&heap->mutex);
	gm_locals_stop(heap);
	gm_locals_fold(heap);
}

void gm_heap_go(struct gm_heap *heap)
{
	gm_locals_go(heap);
	pthread_mutex_unlock(&heap->mutex);
}

/* Everything unused goes from the caches down to free extents. */
static void drain(struct gm_heap *heap)
{
	gm_locals_flush(heap);
	gm_pending_poll(heap);
	gm_slabs_purge_all(heap);
}

/* The same of the other fates: it costs what is free, however many there are.
 */
static void join_fates(struct gm_heap *heap, struct gm_arena *receiver)
{
	struct gm_arena *arena = gm_arena_stocked(heap), *of;

	for (; arena; arena = gm_arena_stocked_after(arena)) {
		if (gm_arenas_in_order(arena, receiver))
			continue;
		of = gm_arena_receiver(receiver, arena);
		if (of && of != receiver)
			gm_transfer_all_of(of, NULL, arena);
	}
}

/* A page may be free in two parts that belong to two streams. */
static void join_streams(struct gm_heap *heap)
{
	struct gm_arena *receiver = heap->order->arenas;

	while (receiver && (receiver->dropped || receiver->fate))
		receiver = receiver->next;
	/* One that is no graph's, even if a graph has the stream now. With no
	 * host memory for it, what they share stays for now. */
	if (!receiver &&
	    gm_arena_create(heap, NULL, NULL, &receiver) != GPUMEM_OK)
		return;
	gm_heap_transfer(receiver, NULL, true);
	join_fates(heap, receiver);
}

void gm_heap_gather(struct gm_heap *heap)
{
	gm_heap_stop(heap);
	drain(heap);
	gm_locals_go(heap);
	join_streams(heap);
}

gpumem_status gm_heap_trim(struct gm_heap *heap, uint64_t keep_bytes,
			   uint64_t *released_out)
{
	const struct gpumem_device *device = heap->driver.device;
	struct gm_budget *budget = &heap->space->budget;
	gpumem_status status;
	uint64_t before;

	*released_out = 0;
	if (atomic_load(&device->lost))
		return gm_fail_lost(device,
				    "the device is lost, and what it held");
	/* Who comes second waits for what the first one gives back. */
	pthread_mutex_lock(&heap->policy->trim_mutex);
	gm_heap_gather(heap);
	before = budget->returned_bytes;
	heap->counters.trims++;
	budget->migrated_handles = 0;
	gm_counters_note_trim(&heap->counters);
	status = gm_space_trim(heap, keep_bytes);
	*released_out = budget->returned_bytes - before;
	if (!heap->counters.reserved.current && !heap->space->away.pages)
		heap->order->mixed = false;
	GM_RECORD(heap->record, GPUMEM_RECORD_TRIM, *released_out, keep_bytes);
	pthread_mutex_unlock(&heap->mutex);
	pthread_mutex_unlock(&heap->policy->trim_mutex);
	return status;
}
