/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* What is tried before "out of memory"; see ladder.h. */
#include "ladder.h"
#include "heap.h"
#include "base/error.h"
#include "base/log.h"

/* ---- the sources, under the mutex ---- */

struct search {
	struct gm_heap *heap;
	struct gm_arena *arena;
	const struct gm_want *want;
	struct gm_extent *extent; /* that was made */
	gpumem_status status;	  /* of growing: why there is none */
	bool grown;
	bool anew;   /* others have had their way while it was to grow */
	bool others; /* other threads have caches of the heap */
};

/* Each: false, nothing has changed. True: the arena's free memory is to be
 * looked at again, or `extent` is it. */

static bool use_own(struct search *search)
{
	(void)search;
	return true;
}

static bool poll_pending(struct search *search)
{
	return gm_pending_poll(search->heap);
}

static bool flush_own(struct search *search)
{
	gm_locals_flush_own(search->heap);
	gm_slabs_purge(search->arena);
	return true;
}

/* So many dropped streams are asked about for one allocation. */
enum { REAP_LOOKS = 8 };

/* A stream that is busy gets more at once, for what it frees will not serve
 * others soon. */
static bool borrow(struct search *search)
{
	gm_heap_reap(search->heap, search->arena, REAP_LOOKS);
	return (search->others || search->arena->idle) &&
	       gm_arenas_transfer_one(search->arena, search->want->bytes,
				      search->want->alignment, SIZE_MAX);
}

/* A page that is used in part is had by nobody else. Near the limit as few as
 * can be are cut, whichever stream has them. */
static bool use_smallest(struct search *search)
{
	const struct gm_want *want = search->want;
	const struct gm_extent *own;

	if (!gm_budget_is_tight(search->heap, want->bytes))
		return false;
	own = gm_arena_fit(search->arena, want->bytes, want->alignment);
	return own && own->bytes > want->bytes &&
	       gm_arenas_transfer_one(search->arena, want->bytes,
				      want->alignment, own->bytes);
}

static bool transfer_all(struct search *search)
{
	gm_heap_transfer_some(search->heap, search->arena, GM_ARENA_LOOKS);
	return true;
}

static bool grow(struct search *search)
{
	search->status =
		gm_space_grow(search->heap, search->arena, search->want->bytes,
			      search->want->alignment, &search->extent);
	search->anew = search->status == GPUMEM_OK && !search->extent;
	search->grown |= !search->anew;
	return search->status == GPUMEM_OK;
}

/* An idle stream gets the pages that it needs first: that asks no more of the
 * other streams than it takes, and leaves them what else they have. */
static bool moves_pages(const struct search *search)
{
	return search->heap->vm && search->arena->idle &&
	       !search->arena->graph &&
	       !(search->want->flags & GPUMEM_ALLOC_NO_GROW);
}

static bool transfer_before(struct search *search)
{
	return !moves_pages(search) && transfer_all(search);
}

/* What the streams answer does not hide why growing failed. */
static bool grow_or_transfer(struct search *search)
{
	struct gm_first first = {0};

	if (grow(search))
		return true;
	if (!moves_pages(search))
		return false;
	gm_first_keep(&first, search->status);
	(void)transfer_all(search);
	search->status = gm_first_end(&first);
	return true;
}

static bool grow_a_little(struct search *search)
{
	return gm_budget_has_slack(search->heap, search->want->bytes) &&
	       grow(search);
}

static bool flush_all(struct search *search)
{
	gm_locals_stop(search->heap);
	gm_locals_flush(search->heap);
	gm_locals_go(search->heap);
	gm_slabs_purge_all(search->heap);
	return true;
}

/* BESIDE_OTHERS is for heaps that other threads have caches of: what can be
 * had before they lose what they have ready, for with many of them each would
 * take it from the next for ever. What other streams free does not go to a
 * graph, which would keep it for good. */
enum when { ALWAYS = 0, BESIDE_OTHERS = 1, NOT_FOR_GRAPHS = 2 };

/* Which flags of an allocation leave a row out. */
enum {
	NEVER = 0,
	NO_WAIT = GPUMEM_ALLOC_NO_WAIT,
	NO_GROW = GPUMEM_ALLOC_NO_GROW
};

static const struct {
	const char *name;
	bool (*take)(struct search *search);
	unsigned when;
	uint32_t left_out;
} sources[] = {
	{"near the limit, the smallest free block of all streams", use_smallest,
	 NOT_FOR_GRAPHS, NEVER},
	{"free memory of the stream", use_own, ALWAYS, NEVER},
	{"pending blocks that are done", poll_pending, ALWAYS, NEVER},
	{"the thread's cache", flush_own, ALWAYS, NEVER},
	{"one free block of another stream", borrow, NOT_FOR_GRAPHS, NEVER},
	{"the driver, for a little", grow_a_little, BESIDE_OTHERS, NO_GROW},
	{"the caches of all threads", flush_all, ALWAYS, NEVER},
	{"free blocks of all streams", transfer_before, NOT_FOR_GRAPHS, NEVER},
	{"pages moved from free blocks, or the driver", grow_or_transfer,
	 ALWAYS, NO_GROW},
};

enum { SOURCE_COUNT = sizeof(sources) / sizeof(sources[0]) };

static bool applies(unsigned source, const struct search *search)
{
	unsigned when = sources[source].when;

	return !((when & BESIDE_OTHERS && !search->others) ||
		 (when & NOT_FOR_GRAPHS && search->arena->graph) ||
		 sources[source].left_out & search->want->flags);
}

static bool find(struct search *search)
{
	search->others = gm_locals_others(search->heap);
	for (unsigned i = 0; i < SOURCE_COUNT; i++) {
		if (!applies(i, search) || !sources[i].take(search))
			continue;
		if (search->anew)
			return true;
		if (!search->extent)
			search->extent =
				gm_arena_fit(search->arena, search->want->bytes,
					     search->want->alignment);
		if (search->extent)
			return true;
	}
	if (search->status == GPUMEM_OK)
		search->status = gm_fail(GPUMEM_NO_MEMORY,
					 "no free memory of the pool fits");
	return false;
}

/* What an allocation may need: two cuts, and one for a merge that growing does
 * before. */
enum { NODES_NEEDED = 4 };

gpumem_status gm_ladder_take(struct gm_arena *arena, const struct gm_want *want,
			     bool *grown_out, struct gm_extent **extent_out)
{
	struct search search = {
		.heap = arena->heap, .arena = arena, .want = want};
	gpumem_status status = GPUMEM_OK;
	uint64_t outer;

	gm_locals_flush_huge(arena->heap);
	outer = gm_search_begin(arena->heap);
	if (!find(&search))
		status = search.status;
	gm_search_end(arena->heap, outer);
	*grown_out |= search.grown;
	*extent_out = NULL;
	if (search.anew)
		return GPUMEM_OK;
	if (status == GPUMEM_OK)
		status = gm_nodes_reserve(&arena->heap->nodes, NODES_NEEDED);
	if (status == GPUMEM_OK)
		*extent_out = gm_arena_carve(search.extent, want->bytes,
					     want->alignment);
	return status;
}

/* ---- what helps when they have none, with nothing locked ---- */

struct climb {
	struct gm_heap *heap;
	const struct gm_request *request;
	uint64_t needed_bytes;
	gpumem_status status; /* of the last attempt */
	struct gm_seen seen;  /* by it */
	bool beyond_soft;
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
	climb->beyond_soft = true;
	return has;
}

/* As the host's waiting it goes by option `wait`: whoever has work on a stream
 * that waits for later work of another must not have them ordered. */
static bool order_behind(struct climb *climb)
{
	struct gm_heap *heap = climb->heap;
	struct gm_want want = gm_heap_want(heap, climb->request);
	struct gm_behind behind = {.bytes = want.bytes,
				   .alignment = want.alignment};
	struct gm_arena *arena;
	bool helped;

	if (!heap->policy->wait ||
	    !gm_device_has(heap->driver.device, GPUMEM_CAP_STREAMS))
		return false;
	pthread_mutex_lock(&heap->mutex);
	gm_locals_fold_own(heap, 0);
	arena = gm_arena_find(heap, climb->request->stream);
	behind.pages = !(want.flags & GPUMEM_ALLOC_NO_GROW) &&
		       gm_stale_lender(heap, arena);
	helped = arena && gm_arenas_transfer_behind(arena, &behind);
	pthread_mutex_unlock(&heap->mutex);
	return helped;
}

/* Work that was over before anything was waited for helps as well. */
static bool wait_for_pending(struct climb *climb)
{
	struct gm_heap *heap = climb->heap;
	bool progress;

	if (!heap->policy->wait)
		return false;
	pthread_mutex_lock(&heap->mutex);
	gm_locals_fold_own(heap, 0);
	progress = heap->order->completions != climb->seen.completions ||
		   gm_pending_wait(heap) || gm_arenas_wait(heap) ||
		   heap->order->completions != climb->seen.completions;
	pthread_mutex_unlock(&heap->mutex);
	return progress;
}

/* What another thread is giving back is neither free nor the driver's yet; an
 * attempt that met it says nothing. */
static bool wait_for_others(struct climb *climb)
{
	struct gm_heap *heap = climb->heap;
	bool met;

	pthread_mutex_lock(&heap->mutex);
	met = heap->space->releasing_bytes ||
	      heap->space->releases != climb->seen.releases;
	pthread_mutex_unlock(&heap->mutex);
	if (met) {
		pthread_mutex_lock(&heap->policy->trim_mutex);
		pthread_mutex_unlock(&heap->policy->trim_mutex);
	}
	return met;
}

/* AGAIN: as long as it helps. TRIMS: what it has freed goes back to the driver,
 * from which it may come in one piece; unless the driver must not be asked. */
enum how { ONCE = 0, AGAIN = 1, TRIMS = 2 };

static const struct {
	const char *name;
	bool (*help)(struct climb *climb);
	unsigned how;
	uint32_t left_out;
} helps[] = {
	{"a trim of this and the device's other pools", trim_all, ONCE,
	 NO_WAIT | NO_GROW},
	{"the pressure callbacks", ask_program, ONCE, NO_GROW},
	{"memory beyond the soft limit", pass_soft_limit, ONCE, NO_GROW},
	{"free memory of another stream, behind its work", order_behind, AGAIN,
	 NO_WAIT},
	{"waiting for pending blocks", wait_for_pending, AGAIN | TRIMS,
	 NO_WAIT},
	{"waiting for what other threads give back", wait_for_others, AGAIN,
	 NO_WAIT | NO_GROW},
};

enum { HELP_COUNT = sizeof(helps) / sizeof(helps[0]) };

static bool is_for_memory(gpumem_status status)
{
	return status == GPUMEM_NO_MEMORY || status == GPUMEM_LIMIT;
}

static bool help(struct climb *climb, unsigned i, uint32_t flags)
{
	uint64_t released;

	if (helps[i].left_out & flags || !helps[i].help(climb))
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

gpumem_status gm_ladder_climb(struct gm_heap *heap,
			      const struct gm_request *request,
			      const struct gm_seen *seen, gpumem_status status,
			      void **ptr_out)
{
	struct climb climb = {
		.heap = heap,
		.request = request,
		.needed_bytes = request->bytes,
		.seen = *seen,
		.status = status,
	};
	bool tried_again = false;

	for (unsigned i = 0; i < HELP_COUNT && is_for_memory(climb.status);) {
		bool helped = help(&climb, i, request->flags);

		if (helped && !tried_again)
			count_retry(heap);
		tried_again |= helped;
		if (helped)
			climb.status = gm_heap_attempt(heap, request,
						       climb.beyond_soft,
						       &climb.seen, ptr_out);
		i += !helped || !(helps[i].how & AGAIN);
	}
	return climb.status;
}

static void tell_left_out(const char *device, const char *flag,
			  const char *name, bool is)
{
	if (is)
		gm_log(GPUMEM_LOG_DEBUG, "%s: %s leaves out: %s", device, flag,
		       name);
}

static void tell_flag(const char *device, const char *flag, uint32_t bit)
{
	for (unsigned i = 0; i < SOURCE_COUNT; i++)
		tell_left_out(device, flag, sources[i].name,
			      sources[i].left_out & bit);
	for (unsigned i = 0; i < HELP_COUNT; i++)
		tell_left_out(device, flag, helps[i].name,
			      helps[i].left_out & bit);
}

void gm_ladder_tell(const struct gm_heap *heap)
{
	const char *name = heap->driver.device->info.name;

	for (unsigned i = 0; i < SOURCE_COUNT; i++)
		gm_log(GPUMEM_LOG_DEBUG, "%s: source %u: %s", name, i + 1,
		       sources[i].name);
	for (unsigned i = 0; i < HELP_COUNT; i++)
		gm_log(GPUMEM_LOG_DEBUG, "%s: help %u: %s", name, i + 1,
		       helps[i].name);
	tell_flag(name, "NO_WAIT", NO_WAIT);
	tell_flag(name, "NO_GROW", NO_GROW);
}
