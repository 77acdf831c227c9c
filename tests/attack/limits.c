/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Calls about what a pool may have, and who is asked when that is short. */
#include "attack.h"
#include "rows.h"

void attack_gpumem_pool_set_limit(void)
{
	struct pool *pool = pick_pool();
	uint64_t hard = one_in(2) ? 0 : pick_pool_bytes();

	if (hard && hard < 256)
		wrong(B(INVALID));
	step.perhaps |= hard ? B(INVALID) : 0;
	(void)judge(gpumem_pool_set_limit(pool_of(pool), hard));
}

void attack_gpumem_pool_set_soft_limit(void)
{
	struct pool *pool = pick_pool();

	(void)judge(gpumem_pool_set_soft_limit(
		pool_of(pool), one_in(2) ? 0 : pick_pool_bytes()));
}

/* It frees now and then, as a program would. */
static bool press(gpumem_pool *handle, const struct gpumem_pressure *pressure,
		  void *user)
{
	struct block *block = pick_block();

	(void)user;
	expect(pressure->needed_bytes && pressure->limit >= 1 &&
		       pressure->limit <= 3 && pressure->limit_bytes,
	       "pressure for nothing");
	if (block && block->pool->handle == handle && one_in(2) &&
	    block->stream >= 0 &&
	    !gpumem_free(block->ptr,
			 block->pool->device->stream[block->stream])) {
		block_remove(block);
		return true;
	}
	return one_in(3);
}

static bool press_not(gpumem_pool *handle,
		      const struct gpumem_pressure *pressure, void *user)
{
	(void)handle;
	(void)pressure;
	(void)user;
	return false;
}

static gpumem_pressure_fn pick_function(void)
{
	static const gpumem_pressure_fn functions[] = {press, press_not};

	if (!rarely())
		return functions[random_below(2)];
	wrong(B(INVALID));
	return NULL;
}

void attack_gpumem_pool_pressure_add(void)
{
	struct pool *pool = pick_pool();
	gpumem_pressure_fn fn = pick_function();

	(void)judge(gpumem_pool_pressure_add(
		pool_of(pool), fn, (void *)(uintptr_t)random_below(3)));
}

void attack_gpumem_pool_pressure_remove(void)
{
	struct pool *pool = pick_pool();
	gpumem_pressure_fn fn = pick_function();

	(void)judge(gpumem_pool_pressure_remove(
		pool_of(pool), fn, (void *)(uintptr_t)random_below(3)));
}
