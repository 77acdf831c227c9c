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
	pthread_mutex_unlock(&mutex);
}

void gm_pools_remove(struct gpumem_pool *pool)
{
	struct gpumem_pool **link = &pools;

	pthread_mutex_lock(&mutex);
	while (*link != pool)
		link = &(*link)->next_of_all;
	*link = pool->next_of_all;
	pthread_mutex_unlock(&mutex);
}

void gm_pools_visit(bool (*fn)(struct gpumem_pool *pool, void *user),
		    void *user)
{
	struct gpumem_pool *pool;

	pthread_mutex_lock(&mutex);
	for (pool = pools; pool && fn(pool, user);)
		pool = pool->next_of_all;
	pthread_mutex_unlock(&mutex);
}
