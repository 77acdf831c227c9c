/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The program's own help before memory runs out. */
#include "pool.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* A pool whose callbacks this thread is in, and a copy of them, for they may
 * add and remove some. It is not on the stack: a callback that does not return
 * leaves it behind, and it is still looked at. It may outlive the pool then,
 * and another one may have its address. */
struct asking {
	uint64_t pool_number;
	struct asking *outer;
	size_t count;
	struct gm_callback callbacks[];
};

static _Thread_local struct asking *asking;

static bool is_asking(const struct gpumem_pool *pool)
{
	const struct asking *at = asking;

	while (at && at->pool_number != pool->number)
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

/* NULL: there are none, or there is no host memory for it. */
static struct asking *callbacks_of(struct gpumem_pool *pool)
{
	struct asking *here = NULL;
	size_t count, bytes;

	pthread_mutex_lock(&pool->pressure_mutex);
	count = pool->pressure_count;
	bytes = count * sizeof(*pool->pressure);
	if (count && (here = malloc(sizeof(*here) + bytes))) {
		*here = (struct asking){.pool_number = pool->number,
					.count = count};
		memcpy(here->callbacks, pool->pressure, bytes);
	}
	pthread_mutex_unlock(&pool->pressure_mutex);
	return here;
}

/* Callbacks that run out of memory themselves are not called for that. */
bool gm_pool_ask_pressure(struct gpumem_pool *pool, uint64_t needed_bytes,
			  gpumem_status why)
{
	struct asking *here = is_asking(pool) ? NULL : callbacks_of(pool);
	struct gpumem_pressure pressure;
	bool again = false;

	if (!here)
		return false;
	here->outer = asking;
	asking = here;
	for (size_t i = 0; i < here->count; i++) {
		/* Each sees what the one before it has freed. */
		pressure = describe(pool, needed_bytes, why);
		again |= here->callbacks[i].fn(pool, &pressure,
					       here->callbacks[i].user);
	}
	asking = here->outer;
	free(here);
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
