/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The program's own help before memory runs out. */
#include "pool.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* The pools whose callbacks this thread is in. */
struct asking {
	const struct gpumem_pool *pool;
	const struct asking *outer;
};

static _Thread_local const struct asking *asking;

static bool is_asking(const struct gpumem_pool *pool)
{
	const struct asking *at = asking;

	while (at && at->pool != pool)
		at = at->outer;
	return at != NULL;
}

/* Which limit refused: the soft one while it is the lower. */
static struct gpumem_pressure describe(struct gpumem_pool *pool,
				       uint64_t needed_bytes, gpumem_status why)
{
	struct gpumem_pressure pressure = {.size = sizeof(pressure),
					   .needed_bytes = needed_bytes,
					   .limit = GPUMEM_PRESSURE_DEVICE};
	const struct gm_budget *budget = &pool->heap.space->budget;
	uint64_t soft, hard;

	pthread_mutex_lock(&pool->heap.mutex);
	soft = budget->soft_limit_bytes;
	hard = budget->limit_bytes;
	pressure.reserved_bytes = pool->heap.counters.reserved.current;
	pthread_mutex_unlock(&pool->heap.mutex);
	pressure.limit_bytes = pool->heap.capacity_bytes;
	if (why != GPUMEM_LIMIT)
		return pressure;
	pressure.limit = soft && (!hard || soft < hard) ? GPUMEM_PRESSURE_SOFT
							: GPUMEM_PRESSURE_HARD;
	pressure.limit_bytes =
		pressure.limit == GPUMEM_PRESSURE_SOFT ? soft : hard;
	return pressure;
}

/* Callbacks that run out of memory themselves are not called for that.
 * Callbacks may add and remove callbacks: they are called from a copy. Without
 * host memory for one, none is called. */
bool gm_pool_ask_pressure(struct gpumem_pool *pool, uint64_t needed_bytes,
			  gpumem_status why)
{
	const struct asking here = {.pool = pool, .outer = asking};
	struct gm_callback *copy = NULL;
	struct gpumem_pressure pressure;
	size_t count;
	bool again = false;

	if (is_asking(pool))
		return false;
	pthread_mutex_lock(&pool->pressure_mutex);
	count = pool->pressure_count;
	if (count && (copy = malloc(count * sizeof(*copy))))
		memcpy(copy, pool->pressure, count * sizeof(*copy));
	pthread_mutex_unlock(&pool->pressure_mutex);
	asking = &here;
	for (size_t i = 0; copy && i < count; i++) {
		/* Each sees what the one before it has freed. */
		pressure = describe(pool, needed_bytes, why);
		again |= copy[i].fn(pool, &pressure, copy[i].user);
	}
	asking = here.outer;
	free(copy);
	return again;
}

static gpumem_status add(struct gpumem_pool *pool, gpumem_pressure_fn fn,
			 void *user)
{
	size_t count = pool->pressure_count + 1;
	struct gm_callback *larger =
		realloc(pool->pressure, count * sizeof(*larger));

	if (!larger)
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no host memory for a callback");
	larger[count - 1] = (struct gm_callback){.fn = fn, .user = user};
	pool->pressure = larger;
	pool->pressure_count = count;
	return GPUMEM_OK;
}

static gpumem_status take_out(struct gpumem_pool *pool, gpumem_pressure_fn fn,
			      void *user)
{
	for (size_t i = 0; i < pool->pressure_count; i++) {
		struct gm_callback *at = &pool->pressure[i];

		if (at->fn != fn || at->user != user)
			continue;
		memmove(at, at + 1, (--pool->pressure_count - i) * sizeof(*at));
		return GPUMEM_OK;
	}
	return gm_fail(GPUMEM_NOT_FOUND, "no such pressure callback");
}

gpumem_status gm_pool_pressure_add(struct gpumem_pool *pool,
				   gpumem_pressure_fn fn, void *user)
{
	gpumem_status status;

	pthread_mutex_lock(&pool->pressure_mutex);
	status = add(pool, fn, user);
	pthread_mutex_unlock(&pool->pressure_mutex);
	return status;
}

gpumem_status gm_pool_pressure_remove(struct gpumem_pool *pool,
				      gpumem_pressure_fn fn, void *user)
{
	gpumem_status status;

	pthread_mutex_lock(&pool->pressure_mutex);
	status = take_out(pool, fn, user);
	pthread_mutex_unlock(&pool->pressure_mutex);
	return status;
}
