/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Calls about what a pool knows of itself and its blocks. */
#include "attack.h"
#include "rows.h"

void attack_gpumem_pool_stats(void)
{
	struct pool *pool = pick_pool();
	struct gpumem_stats *out = out_struct(sizeof(*out));

	if (judge(gpumem_pool_stats(pool_of(pool), out)))
		expect(out->requested.current == pool->requested,
		       "%llu bytes requested, not %llu",
		       (ull)out->requested.current, (ull)pool->requested);
}

void attack_gpumem_pool_calls(void)
{
	struct pool *pool = pick_pool();
	struct gpumem_call_stats *out = out_struct(sizeof(*out));
	unsigned call = (unsigned)random_below(GPUMEM_CALL_COUNT);

	if (rarely()) {
		wrong(B(INVALID));
		call += GPUMEM_CALL_COUNT << random_below(20);
	}
	if (judge(gpumem_pool_calls(pool_of(pool), call, out)))
		expect(out->failed <= out->count, "%llu of %llu calls failed",
		       (ull)out->failed, (ull)out->count);
}

void attack_gpumem_pool_reset_stats(void)
{
	unsigned flags = one_in(2) ? GPUMEM_RESET_TOTALS : 0;

	if (rarely()) {
		wrong(B(INVALID));
		flags |= 2u << random_below(31);
	}
	(void)judge(gpumem_pool_reset_stats(pool_of(pick_pool()), flags));
}

struct sum {
	uint64_t requested, count;
	bool stops, stopped;
};

static bool add_block(const struct gpumem_block *block, void *user)
{
	struct sum *sum = user;

	expect(!sum->stopped, "called after it said stop");
	expect(block->size == sizeof(*block), "size %zu", block->size);
	if (block->state == GPUMEM_BLOCK_LIVE) {
		sum->requested += block->requested_bytes;
		sum->count++;
	}
	sum->stopped = sum->stops && one_in(8);
	return !sum->stopped;
}

void attack_gpumem_block_visit(void)
{
	struct pool *pool = pick_pool();
	struct sum sum = {.stops = one_in(2)};
	bool none = rarely();

	if (none)
		wrong(B(INVALID));
	if (judge(gpumem_block_visit(pool_of(pool), none ? NULL : add_block,
				     &sum)) &&
	    !sum.stopped)
		expect(sum.requested == pool->requested &&
			       sum.count == pool->count,
		       "visited %llu blocks of %llu bytes, not %llu of %llu",
		       (ull)sum.count, (ull)sum.requested, (ull)pool->count,
		       (ull)pool->requested);
}

void attack_gpumem_pool_check(void)
{
	(void)judge(gpumem_pool_check(pool_of(pick_pool())));
}
