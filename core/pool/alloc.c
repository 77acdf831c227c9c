/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The upper part of the ladder: what happens between "there is none" and "out
 * of memory". Each step is taken without any lock, then the lower part is tried
 * again.
 */
#include "pool.h"
#include "device/loss.h"
#include "cache/local.h"
#include "base/error.h"
#include "base/fork.h"

enum step {
	STEP_TRIM,     /* give back what this and the other pools cache */
	STEP_PRESSURE, /* ask the program */
	STEP_SOFT,     /* go beyond the soft limit */
	STEP_WAIT,     /* wait for pending blocks */
	STEP_OTHERS,   /* wait for what other threads give back */
	STEP_END
};

static bool is_for_memory(gpumem_status status)
{
	return status == GPUMEM_NO_MEMORY || status == GPUMEM_LIMIT;
}

/* *leaves_out: how much had left the heap by then, in steps. */
static gpumem_status try_once(struct gpumem_pool *pool,
			      const struct gm_request *request,
			      bool beyond_soft, uint64_t *leaves_out,
			      void **ptr_out)
{
	struct gm_heap *heap = &pool->heap;
	gpumem_status status;
	bool due;

	pthread_mutex_lock(&heap->mutex);
	heap->space->budget.beyond_soft = beyond_soft;
	heap->space->grown = false;
	status = gm_pool_try(pool, request, ptr_out);
	if (!status && heap->space->grown)
		heap->books.misses++;
	heap->space->budget.beyond_soft = false;
	*leaves_out = heap->space->leaves;
	due = gm_decay_visit(heap->decay);
	pthread_mutex_unlock(&heap->mutex);
	if (due)
		gm_pool_decay(pool);
	return status;
}

static bool wait_for_pending(struct gpumem_pool *pool)
{
	bool progress;

	pthread_mutex_lock(&pool->heap.mutex);
	gm_locals_fold_own(&pool->heap);
	progress = pool->wait && (gm_pending_wait(&pool->heap) ||
				  gm_arenas_wait(&pool->heap));
	pthread_mutex_unlock(&pool->heap.mutex);
	return progress;
}

/* What another thread is giving back is neither free nor the driver's yet; an
 * attempt that met it says nothing. */
static bool wait_for_others(struct gpumem_pool *pool, uint64_t leaves)
{
	struct gm_heap *heap = &pool->heap;
	bool met;

	pthread_mutex_lock(&heap->mutex);
	met = heap->space->leaving_bytes || heap->space->leaves != leaves;
	pthread_mutex_unlock(&heap->mutex);
	if (met) {
		pthread_mutex_lock(&pool->trim_mutex);
		pthread_mutex_unlock(&pool->trim_mutex);
	}
	return met;
}

static bool has_soft_limit(struct gpumem_pool *pool)
{
	bool has;

	pthread_mutex_lock(&pool->heap.mutex);
	has = pool->heap.space->budget.soft_limit_bytes != 0;
	pthread_mutex_unlock(&pool->heap.mutex);
	return has;
}

/* True when the step may have changed something. The waiting ones are taken
 * again and again as long as they do. */
static bool take_step(struct gpumem_pool *pool, enum step *step,
		      uint64_t needed_bytes, uint64_t leaves)
{
	uint64_t released;

	switch ((*step)++) {
	case STEP_TRIM:
		(void)gm_pool_trim(pool, 0, &released);
		gm_pool_trim_siblings(pool);
		return true;
	case STEP_PRESSURE:
		return gm_pool_ask_pressure(pool, needed_bytes);
	case STEP_SOFT:
		return has_soft_limit(pool);
	case STEP_WAIT:
		if (!wait_for_pending(pool))
			return false;
		*step = STEP_WAIT;
		(void)gm_pool_trim(pool, 0, &released);
		return true;
	case STEP_OTHERS:
		if (!wait_for_others(pool, leaves))
			return false;
		*step = STEP_OTHERS;
		return true;
	case STEP_END:
		break;
	}
	return false;
}

static void count(struct gpumem_pool *pool, uint64_t *counter)
{
	pthread_mutex_lock(&pool->heap.mutex);
	++*counter;
	pthread_mutex_unlock(&pool->heap.mutex);
}

static gpumem_status climb(struct gpumem_pool *pool,
			   const struct gm_request *request,
			   gpumem_status status, void **ptr_out)
{
	enum step step = STEP_TRIM;
	uint64_t leaves = 0;

	count(pool, &pool->heap.books.retries);
	while (is_for_memory(status) && step < STEP_END)
		if (take_step(pool, &step, request->bytes, leaves))
			status = try_once(pool, request, step > STEP_SOFT,
					  &leaves, ptr_out);
	return status;
}

/* The caches of threads know nothing of a lost device: they go, so that no
 * allocation comes from them any more. */
static gpumem_status refuse_lost(struct gpumem_pool *pool)
{
	gm_pool_stop(pool);
	gm_locals_flush(&pool->heap);
	gm_locals_drop(&pool->heap, NULL);
	gm_pool_go(pool);
	return gm_fail_lost(pool->device,
			    "the device is lost, and what it held");
}

gpumem_status gm_pool_alloc(struct gpumem_pool *pool,
			    const struct gm_request *request, void **ptr_out)
{
	gpumem_status status;
	uint64_t leaves;

	if (gm_forked())
		return gm_fail(GPUMEM_FORKED,
			       "the process was forked; open the device anew "
			       "after exec");
	if (atomic_load(&pool->device->lost))
		return refuse_lost(pool);
	/* No help can make room for more than there is. */
	if (request->bytes > pool->heap.capacity_bytes) {
		status = gm_fail(GPUMEM_NO_MEMORY, "%s has not so much",
				 pool->device->info.name);
	} else {
		status = try_once(pool, request, false, &leaves, ptr_out);
		if (is_for_memory(status))
			status = climb(pool, request, status, ptr_out);
	}
	if (!is_for_memory(status))
		return status;
	count(pool, &pool->heap.books.ooms);
	return gm_pool_report(pool, status, request->bytes);
}
