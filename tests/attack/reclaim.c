/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Calls that give a pool's memory back, and take it again. */
#include "attack.h"
#include "rows.h"

void attack_gpumem_pool_trim(void)
{
	struct pool *pool = pick_pool();
	uint64_t *out = out_plain(sizeof(uint64_t));
	gpumem_status status;

	if (!out)
		step.wrong = pool ? 0 : B(INVALID);
	step.writes_always = true;
	step.perhaps |= B(INVALID); /* a stream's, of which there is none */
	status = gpumem_pool_trim(pool_of(pool),
				  one_in(2) ? 0 : pick_pool_bytes(), out);
	(void)judge(status);
	expect(!out || *out <= 1024 * MIB, "released %llu",
	       (ull)(out ? *out : 0));
}

/* Others look into its blocks: so it wakes at once, for which nothing may fail
 * and nobody else have memory. */
void attack_gpumem_pool_sleep(void)
{
	struct gpumem_sleep_options options =
		GPUMEM_INIT(struct gpumem_sleep_options);
	struct gpumem_slept *out;
	struct pool *pool;
	gpumem_status status;

	if (world.faulty || world.outside)
		return;
	pool = pick_pool();
	out = one_in(2) ? NULL : out_struct(sizeof(*out));
	if (!out)
		step.wrong = pool ? 0 : B(INVALID);
	options.flags = (uint32_t)random_below(4);
	options.timeout_ns = 1 + random_below(1000000);
	options.host_limit_bytes = one_in(3) ? random_below(64 * MIB) : 0;
	options.tag = one_in(2) ? 0 : gpumem_tag_get();
	if (rarely()) {
		wrong(B(INVALID));
		if (one_in(3))
			options.flags = 4;
		else if (one_in(2))
			options.tag = UINT32_MAX;
		else
			options.size = 1;
	}
	status = gpumem_pool_sleep(pool_of(pool), &options, out);
	(void)judge(status);
	if (pool && status != GPUMEM_LOST)
		must(gpumem_pool_wake(pool->handle, 0, NULL));
}

void attack_gpumem_pool_wake(void)
{
	struct pool *pool = pick_pool();
	uint32_t tag = one_in(2) ? 0 : gpumem_tag_get();

	if (rarely()) {
		tag = UINT32_MAX;
		wrong(B(INVALID));
	}
	(void)judge(gpumem_pool_wake(pool_of(pool), tag, NULL));
}

void attack_gpumem_pool_drop_stream(void)
{
	struct pool *pool = pick_pool();
	int index;
	gpumem_stream stream = pick_stream(pool ? pool->device : NULL, &index);

	if (judge(gpumem_pool_drop_stream(pool_of(pool), stream)))
		for (unsigned i = 0; i < world.blocks; i++)
			if (world.block[i].pool == pool &&
			    world.block[i].stream == index)
				world.block[i].stream = 0;
}
