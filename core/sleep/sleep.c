/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* A sleep: stop, plan, copy, unmap. See sleep.h. */
#include "parts.h"
#include "base/clock.h"
#include "base/error.h"

#include <stdlib.h>

static gpumem_status refuse_without_pages(const struct gpumem_device *device)
{
	const char *note = device->info.note;
	const char *why = gm_device_has(device, GPUMEM_CAP_OBJECTS)
				  ? "the objects that programs have of its "
				    "blocks would keep their memory, and new "
				    "ones would be others"
				  : "its memory would come back at other "
				    "addresses";

	return gm_fail(GPUMEM_UNSUPPORTED,
		       "a pool on %s without virtual memory cannot sleep: "
		       "%s%s%s",
		       device->info.name, why, *note ? "; " : "", note);
}

static gpumem_status check(const struct gm_heap *heap)
{
	const struct gpumem_device *device = heap->driver.device;

	if (!gm_space_has_pages(heap))
		return refuse_without_pages(device);
	if (!gm_device_has(device, GPUMEM_CAP_COPY) ||
	    !gm_device_has(device, GPUMEM_CAP_STREAMS))
		return gm_fail(GPUMEM_UNSUPPORTED,
			       "a pool cannot sleep on %s, which cannot copy",
			       device->info.name);
	return GPUMEM_OK;
}

static gpumem_status make(struct gm_heap *heap)
{
	struct gm_sleep *sleep;

	if (heap->sleep)
		return GPUMEM_OK;
	sleep = calloc(1, sizeof(*sleep));
	if (!sleep)
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no host memory for a sleep");
	pthread_mutex_init(&sleep->mutex, NULL);
	gm_driver_init(&sleep->pinned, heap->driver.device);
	sleep->pinned.kind = GPUMEM_KIND_PINNED;
	pthread_mutex_lock(&heap->mutex);
	heap->sleep = sleep;
	pthread_mutex_unlock(&heap->mutex);
	return GPUMEM_OK;
}

gpumem_status gm_sleep_begin(struct gm_heap *heap)
{
	gpumem_status status = GPUMEM_OK;

	pthread_mutex_lock(&heap->mutex);
	if (heap->space->away.busy)
		status = gm_fail(GPUMEM_BUSY,
				 "another thread puts the pool to sleep, or "
				 "wakes it");
	else
		heap->space->away.busy = true;
	pthread_mutex_unlock(&heap->mutex);
	return status;
}

/* What was freed meanwhile becomes free, or holes. */
void gm_sleep_over(struct gm_heap *heap)
{
	gm_heap_stop(heap);
	heap->space->away.busy = false;
	gm_plan_settle(heap);
	gm_heap_go(heap);
}

/* ---- the plan ---- */

/* Free memory of graphs is asked for too; who has a graph captured; and what
 * was exported, also while others were waited for. */
static gpumem_status poll(struct gm_heap *heap, const struct gm_choice *choice)
{
	struct gm_arena *arena = gm_arena_first(heap);

	if (gm_capture_forbids(heap, NULL))
		return gm_fail(GPUMEM_BUSY,
			       "a stream of the pool is being captured");
	if (heap->exported)
		return gm_fail(GPUMEM_BUSY,
			       "pages of the pool were exported to other "
			       "processes, which would keep them: destroy what "
			       "was exported, and its pool");
	for (; arena; arena = gm_arena_after(heap, arena)) {
		if (arena->graph && arena->routed && choice->all)
			return gm_fail(GPUMEM_BUSY,
				       "blocks of stream %p go to a graph that "
				       "is being captured",
				       (void *)arena->stream);
		if (arena->completed != arena->seqno)
			gm_arena_poll(arena, NULL, true);
	}
	return GPUMEM_OK;
}

/* With the heap stopped. OK, NOT_READY, or why not. */
static gpumem_status try_plan(struct gm_heap *heap, struct gm_taking *taking)
{
	gpumem_status status;

	gm_locals_flush(heap);
	gm_pending_poll(heap);
	gm_slabs_purge_all(heap);
	status = poll(heap, taking->choice);
	return status == GPUMEM_OK ? gm_plan_areas(heap, taking) : status;
}

/* Until nothing is in the way. OK: the heap is stopped. */
static gpumem_status plan(struct gm_heap *heap, struct gm_taking *taking,
			  uint64_t deadline_ns, struct gpumem_slept *done)
{
	gpumem_status status;
	uint64_t released;

	for (;;) {
		status = gm_heap_trim(heap, 0, &released);
		done->device_bytes += released;
		/* What does not go back now may be in the way. */
		if (status == GPUMEM_LOST)
			return status;
		gm_heap_stop(heap);
		status = try_plan(heap, taking);
		if (status == GPUMEM_NOT_READY && gm_clock_ns() >= deadline_ns)
			status = gm_wait_refuse(taking->busy);
		if (status == GPUMEM_OK)
			return GPUMEM_OK;
		gm_locals_go(heap);
		if (status == GPUMEM_NOT_READY)
			status = gm_wait_for(heap, taking->busy, deadline_ns);
		else
			pthread_mutex_unlock(&heap->mutex);
		if (status != GPUMEM_OK)
			return status;
	}
}

/* With the heap stopped: the store, and the pages are away. */
static gpumem_status lie_down(struct gm_heap *heap, struct gm_taking *taking,
			      struct gm_store **store_out)
{
	struct gm_store *store = calloc(1, sizeof(*store));
	gpumem_status status;

	if (!store)
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no host memory for a sleep");
	store->fd = -1;
	status = gm_plan_pieces(heap, taking);
	if (status == GPUMEM_OK)
		status = gm_plan_mark(heap, taking, heap->sleep->number + 1);
	if (status != GPUMEM_OK) {
		free(store);
		return status;
	}
	store->number = ++heap->sleep->number;
	store->kept = taking->kept;
	store->zeros = taking->zeros;
	taking->kept = taking->zeros = (struct gm_pieces){0};
	gm_heap_gate(heap);
	*store_out = store;
	return GPUMEM_OK;
}

/* ---- copy and unmap ---- */

static gpumem_status copy(struct gm_heap *heap, struct gm_store *store,
			  const struct gpumem_sleep_options *options,
			  struct gpumem_slept *done)
{
	uint64_t begin_ns = gm_clock_ns();
	gpumem_status status = gm_store_open(heap, store, options);

	if (status == GPUMEM_OK && store->kept.bytes)
		status = gm_move_down(heap, store);
	done->copy_ns = gm_clock_ns() - begin_ns;
	return status;
}

/* All that is away, also what a wake could not unmap. */
static gpumem_status unmap(struct gm_heap *heap, uint64_t kept_bytes,
			   struct gpumem_slept *done)
{
	uint64_t begin_ns = gm_clock_ns(), bytes;
	gpumem_status status;

	gm_heap_stop(heap);
	status = gm_away_unmap(heap, &bytes);
	gm_plan_settle(heap);
	done->device_bytes += bytes;
	done->kept_bytes = kept_bytes;
	GM_RECORD(heap->record, GPUMEM_RECORD_SLEEP, bytes, kept_bytes);
	gm_heap_go(heap);
	done->map_ns = gm_clock_ns() - begin_ns;
	return status;
}

/* All is as it was. A copy that the driver did not wait for may still read the
 * blocks, which can be freed from here on: it is asked once more. */
static void stand_up(struct gm_heap *heap, const struct gm_store *store)
{
	(void)gm_queues_settle(heap);
	gm_heap_stop(heap);
	gm_away_unmark(heap, store->number);
	gm_plan_settle(heap);
	gm_heap_go(heap);
}

/* It is kept as long as a page of it is away. */
static void keep(struct gm_heap *heap, struct gm_store *store)
{
	bool is_away;

	pthread_mutex_lock(&heap->mutex);
	is_away = gm_away_has(heap, store->number);
	if (is_away) {
		store->next = heap->sleep->stores;
		heap->sleep->stores = store;
	}
	pthread_mutex_unlock(&heap->mutex);
	if (!is_away)
		gm_store_close(heap, store);
}

static gpumem_status fall_asleep(struct gm_heap *heap, struct gm_taking *taking,
				 const struct gpumem_sleep_options *options,
				 uint64_t deadline_ns,
				 struct gpumem_slept *done)
{
	uint64_t begin_ns = gm_clock_ns();
	struct gm_store *store = NULL;
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);
	gpumem_status status =
		gm_wait_streams(heap, taking->choice, deadline_ns);
	bool copied;

	if (status == GPUMEM_OK)
		status = plan(heap, taking, deadline_ns, done);
	done->wait_ns = gm_clock_ns() - begin_ns;
	if (status != GPUMEM_OK)
		return status;
	status = taking->areas.count ? lie_down(heap, taking, &store)
				     : GPUMEM_OK;
	done->dropped_bytes = taking->dropped_bytes;
	gm_heap_go(heap);
	if (!store)
		return status == GPUMEM_OK ? unmap(heap, 0, done) : status;
	status = copy(heap, store, options, done);
	copied = status == GPUMEM_OK;
	if (copied)
		status = unmap(heap, store->kept.bytes, done);
	gm_error_get(&error);
	if (!copied)
		stand_up(heap, store);
	keep(heap, store);
	gm_error_set(&error);
	return status;
}

gpumem_status gm_heap_sleep(struct gm_heap *heap,
			    const struct gpumem_sleep_options *options,
			    struct gpumem_slept *done)
{
	uint64_t ns = options->timeout_ns, now = gm_clock_ns();
	uint64_t deadline_ns =
		ns && ns < UINT64_MAX - now ? now + ns : UINT64_MAX;
	struct gm_choice choice;
	struct gm_taking taking = {.choice = &choice};
	gpumem_status status = check(heap);

	if (status == GPUMEM_OK)
		status = gm_sleep_begin(heap);
	if (status != GPUMEM_OK)
		return status;
	status = make(heap);
	gm_choose(&choice, options->tag);
	if (status == GPUMEM_OK)
		status = gm_queues_settle(heap);
	gm_stores_end(heap);
	if (status == GPUMEM_OK)
		status = fall_asleep(heap, &taking, options, deadline_ns, done);
	gm_plan_free(&taking);
	gm_sleep_over(heap);
	pthread_mutex_lock(&heap->mutex);
	done->host_bytes = gm_sleep_host_bytes(heap);
	pthread_mutex_unlock(&heap->mutex);
	return status;
}
