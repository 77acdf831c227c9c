/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * An allocation, when the thread's cache has none: the attempts at it, and who
 * is told of it. What a block is made of is take.c's business.
 */
#include "heap.h"
#include "ladder.h"
#include "rungs.h"
#include "base/error.h"
#include "base/fork.h"
#include "device/loss.h"

/* For all who want to know of it. */
static void note_alloc(struct gm_heap *heap, struct gm_attempt *attempt,
		       const struct gm_request *request, const void *ptr)
{
	uintptr_t address = (uintptr_t)ptr;

	if (attempt->grown)
		gm_counters_miss(&heap->counters);
	if (attempt->after)
		attempt->served = attempt->after;
	gm_counters_serve(&heap->counters, attempt->served);
	if (attempt->served)
		gm_rung_tell_served(heap, attempt->served, request->bytes);
	if (request->tag)
		gm_heap_tag_alloc(heap, ptr, request->tag, request->bytes);
	if (heap->policy->tracked)
		gm_track_add(&heap->policy->track, address, request->stack);
	if (heap->policy->hook.fn)
		gm_hook_tell(heap, address, GPUMEM_HOOK_ALLOC, request->stream);
	if (heap->record)
		gm_heap_record_alloc(heap, request, address, attempt->served);
}

/* A small one fits any limit that a pool may have. */
static bool exceeds_limit(const struct gm_heap *heap,
			  const struct gm_request *request)
{
	uint64_t limit = heap->space->budget.limit_bytes;

	return limit && !gm_request_is_small(request) &&
	       gm_budget_need(heap, request->bytes) > limit;
}

/* Would live blocks have more than `limit`, 0: none, with so much more? They
 * never have more than is reserved, which is not above the limit, or was before
 * that was lowered; but what sleeps has none of it. What is pending, or in the
 * caches of threads, is not live: these are asked where what they have not said
 * yet may matter. */
static bool is_full(struct gm_heap *heap, uint64_t limit, uint64_t bytes)
{
	const struct gm_counters *counters = &heap->counters;
	const struct gm_gauge *live = &counters->allocated;
	uint64_t most = limit > counters->reserved.current
				? limit
				: counters->reserved.current;
	int64_t room = (int64_t)most - (int64_t)bytes +
		       (int64_t)counters->sleeping.current;

	if (!limit || most > INT64_MAX ||
	    (int64_t)live->current + atomic_load(&counters->above.allocated) <=
		    room)
		return false;
	gm_locals_stop(heap);
	gm_locals_fold(heap);
	gm_locals_go(heap);
	return (int64_t)live->current > room;
}

/* Of the device's limit live blocks of other pools have a part too, but how
 * much is not known here. */
static bool is_device_full(struct gm_heap *heap, uint64_t bytes)
{
	uint64_t limit = heap->driver.device->limit_bytes;

	return heap->driver.kind == GPUMEM_KIND_DEVICE &&
	       is_full(heap, limit, bytes);
}

/* Does it fail until live blocks are freed, whatever is done? Then nothing is
 * moved, taken or given back for it. What is not to grow does not anyway. */
static gpumem_status check_room(struct gm_heap *heap,
				struct gm_attempt *attempt,
				const struct gm_request *request)
{
	size_t bytes = gm_heap_usable(heap, request);

	if (request->flags & GPUMEM_ALLOC_NO_GROW)
		return GPUMEM_OK;
	attempt->full = is_full(heap, heap->space->budget.limit_bytes, bytes);
	if (attempt->full)
		return gm_fail(GPUMEM_LIMIT,
			       "live blocks leave too little of the limit");
	attempt->full = is_device_full(heap, bytes);
	if (!attempt->full)
		return GPUMEM_OK;
	return gm_budget_answer(attempt,
				gm_fail(GPUMEM_LIMIT,
					"live blocks leave too little of "
					"the device's limit"));
}

/* May it have memory at all? Then its bytes are promised to its tag. */
static gpumem_status admit(struct gm_heap *heap, struct gm_attempt *attempt,
			   const struct gm_request *request)
{
	gpumem_status status;

	attempt->over = exceeds_limit(heap, request);
	if (attempt->over)
		return gm_fail(GPUMEM_LIMIT,
			       "the request exceeds the pool's limit");
	status = check_room(heap, attempt, request);
	if (status != GPUMEM_OK || !request->tag)
		return status;
	return gm_heap_tag_promise(heap, request, &attempt->over);
}

gpumem_status gm_heap_attempt(struct gm_heap *heap, struct gm_attempt *attempt,
			      const struct gm_request *request, void **ptr_out)
{
	gpumem_status status;
	bool due;

	pthread_mutex_lock(&heap->mutex);
	*attempt = (struct gm_attempt){.after = attempt->after,
				       .beyond_soft = attempt->beyond_soft,
				       .no_wait = request->flags &
						  GPUMEM_ALLOC_NO_WAIT,
				       .completions = heap->order->completions};
	status = admit(heap, attempt, request);
	if (status == GPUMEM_OK) {
		status = gm_heap_take(heap, attempt, request, ptr_out);
		if (status != GPUMEM_OK && request->tag)
			gm_tag_withdraw(heap->tags, request->tag,
					request->bytes);
	}
	if (status == GPUMEM_OK)
		note_alloc(heap, attempt, request, *ptr_out);
	attempt->releases = heap->space->releases;
	/* A purge step is a trim of a kind, which both flags leave out. */
	due = !(request->flags &
		(GPUMEM_ALLOC_NO_WAIT | GPUMEM_ALLOC_NO_GROW)) &&
	      gm_decay_visit(&heap->policy->decay);
	pthread_mutex_unlock(&heap->mutex);
	if (due)
		gm_heap_decay(heap);
	return status;
}

static void count_oom(struct gm_heap *heap)
{
	pthread_mutex_lock(&heap->mutex);
	heap->counters.ooms++;
	pthread_mutex_unlock(&heap->mutex);
}

/* The caches of threads know nothing of a lost device: they go, so that no
 * allocation comes from them any more. */
static gpumem_status refuse_lost(struct gm_heap *heap)
{
	gm_heap_stop(heap);
	gm_locals_flush(heap);
	gm_locals_drop(heap, NULL);
	gm_heap_go(heap);
	return gm_fail_lost(heap->driver.device,
			    "the device is lost, and what it held");
}

static bool is_for_memory(gpumem_status status)
{
	return status == GPUMEM_NO_MEMORY || status == GPUMEM_LIMIT;
}

/* No lock is held: see base/stack.h. */
static const struct gm_stack *stack_here(const struct gm_heap *heap)
{
	unsigned frames = atomic_load_explicit(&heap->policy->track_frames,
					       memory_order_relaxed);

	return frames ? gm_stack_here(frames) : NULL;
}

/* To the program a limit is one, whatever it is of. */
static gpumem_status judge(const struct gm_request *request,
			   const struct gm_attempt *attempt,
			   gpumem_status status)
{
	if (status != GPUMEM_NO_MEMORY || !attempt->device_limited)
		return status;
	if (request->device_limit_out)
		*request->device_limit_out = true;
	return GPUMEM_LIMIT;
}

/* More than there can be: no reclaiming can help. */
static gpumem_status refuse_excess(const struct gm_heap *heap,
				   const struct gm_request *request,
				   struct gm_attempt *attempt)
{
	const struct gpumem_device *device = heap->driver.device;

	attempt->device_limited = heap->driver.kind == GPUMEM_KIND_DEVICE &&
				  request->bytes <= device->info.total_bytes;
	return gm_fail(GPUMEM_NO_MEMORY, "the request exceeds the %s of %s",
		       attempt->device_limited ? "limit" : "total memory",
		       device->info.name);
}

gpumem_status gm_heap_alloc(struct gm_heap *heap,
			    const struct gm_request *asked, void **ptr_out)
{
	struct gm_request request = *asked;
	struct gm_attempt attempt = {0};
	gpumem_status status;

	if (gm_forked())
		return gm_fail(GPUMEM_FORKED,
			       "the process was forked; open the device anew "
			       "after exec");
	if (atomic_load(&heap->driver.device->lost))
		return refuse_lost(heap);
	request.stack = stack_here(heap);
	if (request.bytes > heap->capacity_bytes) {
		status = refuse_excess(heap, &request, &attempt);
	} else {
		status = gm_heap_attempt(heap, &attempt, &request, ptr_out);
		if (is_for_memory(status))
			status = gm_ladder_climb(heap, &attempt, &request,
						 status, ptr_out);
	}
	if (is_for_memory(status))
		count_oom(heap);
	return judge(&request, &attempt, status);
}
