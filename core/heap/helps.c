/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What helps when the sources have none, tried with nothing locked; see
 * ladder.h.
 */
#include "lookup.h"

struct climb {
	struct gm_heap *heap;
	struct gm_request request;
	uint64_t needed_bytes;
	gpumem_status status; /* of the last attempt */
	struct gm_attempt *attempt;
	bool had_unwaited; /* of other pools, the last time */
	uint32_t tried;	   /* a bit for each row */
};

/* Each: true, another attempt may succeed. */

static bool trim_all(struct climb *climb)
{
	uint64_t released;

	(void)gm_heap_trim(climb->heap, 0, &released);
	climb->heap->policy->helpers->trim_others(climb->heap);
	return true;
}

static bool ask_program(struct climb *climb)
{
	return climb->heap->policy->helpers->ask_program(
		climb->heap, climb->needed_bytes, climb->status);
}

static bool pass_soft_limit(struct climb *climb)
{
	bool has;

	pthread_mutex_lock(&climb->heap->mutex);
	has = climb->heap->space->budget.soft_limit_bytes != 0;
	pthread_mutex_unlock(&climb->heap->mutex);
	climb->attempt->beyond_soft = true;
	return has;
}

/* A part of a page beside blocks of another fate is better than nothing: these
 * keep each other awake. */
static bool mix_fates(struct climb *climb)
{
	struct gm_order *order = climb->heap->order;
	bool helps;

	pthread_mutex_lock(&climb->heap->mutex);
	helps = order->apart && !order->mixed;
	order->mixed |= helps;
	pthread_mutex_unlock(&climb->heap->mutex);
	return helps;
}

/* The stream waits. */
static bool get_behind(const struct climb *climb, unsigned what)
{
	struct gm_heap *heap = climb->heap;
	struct gm_want want = gm_heap_want(heap, &climb->request);
	struct gm_arena *arena;
	bool helped;

	if (!gm_may_follow(heap, climb->request.flags))
		return false;
	pthread_mutex_lock(&heap->mutex);
	gm_locals_fold_own(heap, 0);
	helped = gm_heap_arena(heap, &climb->request, &arena) == GPUMEM_OK &&
		 gm_heap_get_behind(arena, NULL, &want,
				    what | GM_BEHIND_EVERYWHERE);
	pthread_mutex_unlock(&heap->mutex);
	return helped;
}

/* GPUMEM_ALLOC_WHOLE: all that the block holds counts as requested, so that the
 * request becomes a large one. */
static bool take_larger(struct climb *climb)
{
	struct gm_request *request = &climb->request;

	if (!gm_request_is_small(request))
		return false;
	if (request->flags & GPUMEM_ALLOC_WHOLE)
		request->bytes =
			gm_heap_large_bytes(climb->heap, request->bytes);
	else
		request->larger = true;
	return true;
}

/* Work that was over before anything was waited for helps as well. */
static bool wait_for_pending(struct climb *climb)
{
	struct gm_heap *heap = climb->heap;
	uint64_t begin_ns;
	bool progress;

	if (!heap->policy->wait)
		return false;
	pthread_mutex_lock(&heap->mutex);
	begin_ns = gm_waiting_begin(heap);
	gm_locals_fold_own(heap, 0);
	progress = heap->order->completions != climb->attempt->completions ||
		   gm_pending_wait(heap) || gm_arenas_wait(heap) ||
		   heap->order->completions != climb->attempt->completions;
	gm_waiting_end(heap, begin_ns);
	pthread_mutex_unlock(&heap->mutex);
	return progress;
}

/* Of no use against a limit of this pool's. Pools that go on have something to
 * give back for ever: without a wait it counts once in a row. */
static bool wait_for_pools(struct climb *climb)
{
	struct gm_heap *heap = climb->heap;
	bool before = climb->had_unwaited, forbidden, progress, waited;
	uint64_t begin_ns;

	if (!heap->policy->wait || climb->status != GPUMEM_NO_MEMORY)
		return false;
	pthread_mutex_lock(&heap->mutex);
	begin_ns = gm_waiting_begin(heap);
	forbidden = gm_capture_forbids(heap, NULL);
	pthread_mutex_unlock(&heap->mutex);
	if (forbidden)
		return false;
	progress = heap->policy->helpers->wait_for_others(heap, &waited);
	climb->had_unwaited = !waited;
	pthread_mutex_lock(&heap->mutex);
	gm_waiting_end(heap, begin_ns);
	pthread_mutex_unlock(&heap->mutex);
	return progress && (waited || !before);
}

/* What another thread is giving back is neither free nor the driver's yet; an
 * attempt that met it says nothing. */
static bool wait_for_others(struct climb *climb)
{
	struct gm_heap *heap = climb->heap;
	bool met;

	pthread_mutex_lock(&heap->mutex);
	met = heap->space->releasing_bytes ||
	      heap->space->releases != climb->attempt->releases;
	pthread_mutex_unlock(&heap->mutex);
	if (met) {
		pthread_mutex_lock(&heap->policy->trim_mutex);
		pthread_mutex_unlock(&heap->policy->trim_mutex);
	}
	return met;
}

/* Once; AGAIN: as long as it helps. TRIMS: what it has freed goes back to the
 * driver, from which it may come in one piece; unless the driver must not be
 * asked. RECLAIMS_NOTHING: the next attempt is no retry in the statistics.
 * FREES_LIVE: of use also while nothing but live blocks is in the way. */
enum how { AGAIN = 1, TRIMS = 2, RECLAIMS_NOTHING = 4, FREES_LIVE = 8 };

/* A row helps itself, or has the stream wait for what others have. */
static const struct help {
	const char *name;
	enum gpumem_served serves;
	bool (*help)(struct climb *climb);
	unsigned behind; /* enum gm_behind */
	unsigned how;
	uint32_t left_out;
} helps[] = {
	{"a trim of this and the device's other pools", GPUMEM_SERVED_TRIMMED,
	 .help = trim_all, .left_out = NO_WAIT | NO_GROW},
	{"free memory beside blocks of another fate in a sleep",
	 GPUMEM_SERVED_STREAMS, .help = mix_fates, .how = RECLAIMS_NOTHING},
	{"the pressure callbacks", GPUMEM_SERVED_ASKED, .help = ask_program,
	 .how = FREES_LIVE, .left_out = NO_GROW},
	{"memory beyond the soft limit", GPUMEM_SERVED_SOFT,
	 .help = pass_soft_limit, .left_out = NO_GROW},
	{"pending blocks, behind the work that uses them", GPUMEM_SERVED_BEHIND,
	 .behind = GM_BEHIND_SLOTS | GM_BEHIND_PENDING, .how = AGAIN},
	{"free memory of another stream, behind its work", GPUMEM_SERVED_BEHIND,
	 .behind = GM_BEHIND_FREE | GM_BEHIND_SEVERAL, .how = AGAIN},
	{"a larger size class or a large block, for a small request",
	 GPUMEM_SERVED_LARGER, .help = take_larger, .how = RECLAIMS_NOTHING},
	{"waiting for pending blocks", GPUMEM_SERVED_WAITED,
	 .help = wait_for_pending, .how = AGAIN | TRIMS, .left_out = NO_WAIT},
	{"waiting for free memory of the device's other pools",
	 GPUMEM_SERVED_WAITED, .help = wait_for_pools, .how = AGAIN,
	 .left_out = NO_WAIT | NO_GROW},
	{"waiting for what other threads give back", GPUMEM_SERVED_WAITED,
	 .help = wait_for_others, .how = AGAIN, .left_out = NO_WAIT | NO_GROW},
};

enum { HELP_COUNT = sizeof(helps) / sizeof(helps[0]) };

static bool may_help(const struct climb *climb)
{
	return !climb->attempt->over && (climb->status == GPUMEM_NO_MEMORY ||
					 climb->status == GPUMEM_LIMIT);
}

/* Not a second time what is done once. */
static bool is_due(const struct climb *climb, unsigned i, uint32_t flags)
{
	unsigned how = helps[i].how;

	return !(helps[i].left_out & flags) &&
	       (!climb->attempt->full || how & FREES_LIVE) &&
	       (!(climb->tried >> i & 1) || how & AGAIN);
}

static bool help(struct climb *climb, unsigned i, uint32_t flags)
{
	uint64_t released;

	if (!is_due(climb, i, flags))
		return false;
	climb->tried |= UINT32_C(1) << i;
	if (!(helps[i].help ? helps[i].help(climb)
			    : get_behind(climb, helps[i].behind)))
		return false;
	if (helps[i].how & TRIMS && !(flags & NO_GROW))
		(void)gm_heap_trim(climb->heap, 0, &released);
	return true;
}

static void count_retry(struct gm_heap *heap)
{
	pthread_mutex_lock(&heap->mutex);
	heap->counters.retries++;
	pthread_mutex_unlock(&heap->mutex);
}

gpumem_status gm_ladder_climb(struct gm_heap *heap, struct gm_attempt *attempt,
			      const struct gm_request *request,
			      gpumem_status status, void **ptr_out)
{
	struct climb climb = {
		.heap = heap,
		.request = *request,
		.needed_bytes = request->bytes,
		.attempt = attempt,
		.status = status,
	};
	bool reclaimed = false;

	for (unsigned i = 0; i < HELP_COUNT && may_help(&climb);) {
		bool helped = help(&climb, i, request->flags);
		bool counts = helped && !(helps[i].how & RECLAIMS_NOTHING);
		bool was_full = attempt->full;

		if (counts && !reclaimed)
			count_retry(heap);
		reclaimed |= counts;
		attempt->after = helps[i].serves;
		if (helped)
			climb.status = gm_heap_attempt(heap, attempt,
						       &climb.request, ptr_out);
		i += !helped || !(helps[i].how & AGAIN);
		/* What was left out may be of use now. */
		if (was_full && !attempt->full)
			i = 0;
	}
	return climb.status;
}

void gm_helps_tell(const struct gm_heap *heap)
{
	for (unsigned i = 0; i < HELP_COUNT; i++)
		gm_rung_tell(heap, "help", i + 1, helps[i].name,
			     helps[i].left_out |
				     (helps[i].behind ? NO_WAIT : 0));
}
