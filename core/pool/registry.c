/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* All pools of the process; see pool.h. */
#include "pool.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct gpumem_pool *pools;

void gm_pools_add(struct gpumem_pool *pool)
{
	pthread_mutex_lock(&mutex);
	pool->next_of_all = pools;
	pools = pool;
	gm_pool_record(pool);
	pthread_mutex_unlock(&mutex);
}

void gm_pools_remove(struct gpumem_pool *pool)
{
	struct gpumem_pool **link = &pools;

	pthread_mutex_lock(&mutex);
	while (*link != pool)
		link = &(*link)->next_of_all;
	*link = pool->next_of_all;
	gm_pool_record_end(pool);
	pthread_mutex_unlock(&mutex);
}

static void visit(bool (*fn)(struct gpumem_pool *pool, void *user), void *user)
{
	struct gpumem_pool *pool;

	for (pool = pools; pool && fn(pool, user);)
		pool = pool->next_of_all;
}

void gm_pools_visit(bool (*fn)(struct gpumem_pool *pool, void *user),
		    void *user)
{
	pthread_mutex_lock(&mutex);
	visit(fn, user);
	pthread_mutex_unlock(&mutex);
}

void gm_pools_set(bool *flag, bool value,
		  bool (*fn)(struct gpumem_pool *pool, void *user))
{
	pthread_mutex_lock(&mutex);
	*flag = value;
	visit(fn, NULL);
	pthread_mutex_unlock(&mutex);
}
