/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A shadow of what pools should hold: every live block, in order of address,
 * and the sums. What does not agree ends the program with a sentence and the
 * seed, since nothing that followed would mean anything. Nothing locks.
 */
#ifndef LIB_MODEL_H
#define LIB_MODEL_H

#include "fixture.h"

enum {
	MODEL_BLOCKS = 512,
	MODEL_POOLS = 2,
	MODEL_STREAMS = 5,
	MODEL_PROBE = 256 /* bytes written and read at each end of a block */
};

struct model_block {
	uintptr_t address;
	uint64_t bytes, requested;
	unsigned pool, stream;
	bool gone;   /* its stream was dropped since */
	bool filled; /* both ends hold `value`, once the stream has got there */
	bool worn;   /* it was resized: work may still look at what it held */
	uint8_t value;
};

/* requested, allocated and count are of its blocks; peak and total of
 * `requested` since the last reset. */
struct model_pool {
	gpumem_pool *pool;
	uint64_t requested, allocated, count;
	uint64_t peak, total, ooms;
};

static struct {
	uint64_t seed, step;
	const char *name; /* of the configuration */
	struct model_pool pool[MODEL_POOLS];
	unsigned pools;
	struct model_block block[MODEL_BLOCKS]; /* by address */
	size_t count;
} model;

#define expect(condition, ...)                                                 \
	do {                                                                   \
		if (!(condition))                                              \
			model_broken(TAP_HERE, #condition, __VA_ARGS__);       \
	} while (0)

__attribute__((noreturn, format(printf, 3, 4))) static void
model_broken(const char *at, const char *condition, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	ok(false, "%s: %s", model.name, text);
	diag("%s: false: %s", at, condition);
	diag("seed %llu, step %llu; the library's last error: %s",
	     (ull)model.seed, (ull)model.step, last_text());
	done_testing();
	exit(EXIT_FAILURE);
}

/* The first block that begins beyond the address. */
LIB_USE size_t model_above(uintptr_t address)
{
	size_t low = 0, high = model.count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (model.block[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The block that holds the address, or NULL. */
LIB_USE struct model_block *model_at(uintptr_t address)
{
	size_t above = model_above(address);
	struct model_block *block;

	if (!above)
		return NULL;
	block = &model.block[above - 1];
	return address - block->address < block->bytes ? block : NULL;
}

/* Enters a new block, of which the library is asked what it holds. */
LIB_USE struct model_block *model_add(unsigned pool, void *ptr,
				      uint64_t requested, uint64_t alignment)
{
	struct gpumem_block info = GPUMEM_INIT(struct gpumem_block);
	struct model_pool *p = &model.pool[pool];
	uintptr_t address = (uintptr_t)ptr;
	size_t at = model_above(address);
	struct model_block *block = &model.block[at];

	expect(model.count < MODEL_BLOCKS, "the model is full");
	expect(ptr && address % (alignment > 256 ? alignment : 256) == 0,
	       "%p is not aligned to %llu", ptr, (ull)alignment);
	expect(!gpumem_query(ptr, &info), "a new block is not found");
	expect(info.ptr == ptr && info.requested_bytes == requested &&
		       info.bytes >= requested && info.pool == p->pool &&
		       info.state == GPUMEM_BLOCK_LIVE,
	       "a new block is found as another one");
	expect(!at || block[-1].address + block[-1].bytes <= address,
	       "%p lies in the block before it", ptr);
	expect(at == model.count || address + info.bytes <= block->address,
	       "%p reaches into the block behind it", ptr);
	memmove(block + 1, block, (model.count++ - at) * sizeof(*block));
	*block = (struct model_block){.address = address,
				      .bytes = info.bytes,
				      .requested = requested,
				      .pool = pool};
	p->requested += requested;
	p->allocated += info.bytes;
	p->total += requested;
	p->count++;
	if (p->requested > p->peak)
		p->peak = p->requested;
	return block;
}

LIB_USE void model_remove(struct model_block *block)
{
	struct model_pool *p = &model.pool[block->pool];
	size_t at = (size_t)(block - model.block);

	p->requested -= block->requested;
	p->allocated -= block->bytes;
	p->count--;
	memmove(block, block + 1, (--model.count - at) * sizeof(*block));
}

/* A block that holds `bytes` from now on, so many of them requested. */
LIB_USE void model_resize(struct model_block *block, uint64_t requested,
			  uint64_t bytes)
{
	struct gpumem_block info = GPUMEM_INIT(struct gpumem_block);
	struct model_pool *p = &model.pool[block->pool];
	const struct model_block *next = block + 1;

	expect(!gpumem_query((void *)block->address, &info) &&
		       info.ptr == (void *)block->address &&
		       info.requested_bytes == requested && info.bytes == bytes,
	       "a resized block is found as another one");
	expect(bytes >= requested, "a resized block is too small");
	expect(next == &model.block[model.count] ||
		       block->address + bytes <= next->address,
	       "%#zx has grown into the block behind it", block->address);
	if (requested > block->requested)
		p->total += requested - block->requested;
	p->requested += requested - block->requested;
	p->allocated += bytes - block->bytes;
	if (p->requested > p->peak)
		p->peak = p->requested;
	block->requested = requested;
	block->bytes = bytes;
}

/* Any block, or NULL when there is none. */
LIB_USE struct model_block *model_any(void)
{
	return model.count ? &model.block[random_below(model.count)] : NULL;
}

LIB_USE void model_sound(unsigned pool)
{
	expect(!gpumem_pool_check(model.pool[pool].pool),
	       "pool %u is not sound", pool);
}

/* The counters of a pool, and what the device says of all. */
LIB_USE void model_compare(unsigned pool)
{
	const struct model_pool *p = &model.pool[pool];
	struct gpumem_stats stats = stats_of(p->pool);
	const char *broken = unlawful(&stats);

	expect(!broken, "pool %u: %s", pool, broken);
	expect(stats.requested.current == p->requested &&
		       stats.allocated.current == p->allocated &&
		       stats.blocks.current == p->count,
	       "pool %u: %llu blocks, %llu requested, %llu allocated; should "
	       "be %llu, %llu, %llu",
	       pool, (ull)stats.blocks.current, (ull)stats.requested.current,
	       (ull)stats.allocated.current, (ull)p->count, (ull)p->requested,
	       (ull)p->allocated);
	expect(stats.requested.peak >= p->peak &&
		       stats.requested.peak <=
			       p->peak + stats.cache_bound_bytes,
	       "pool %u: a peak of %llu requested; should be %llu", pool,
	       (ull)stats.requested.peak, (ull)p->peak);
	expect(stats.requested.total == p->total,
	       "pool %u: %llu requested in all; should be %llu", pool,
	       (ull)stats.requested.total, (ull)p->total);
	expect(stats.ooms == p->ooms,
	       "pool %u: %llu times out of memory, not "
	       "%llu",
	       pool, (ull)stats.ooms, (ull)p->ooms);
}

LIB_USE void model_reset(unsigned pool, bool totals)
{
	struct model_pool *p = &model.pool[pool];

	expect(!gpumem_pool_reset_stats(p->pool,
					totals ? GPUMEM_RESET_TOTALS : 0),
	       "reset");
	p->peak = p->requested;
	if (totals)
		p->total = p->ooms = 0;
}

LIB_USE void model_compare_device(void)
{
	uint64_t reserved = 0;

	for (unsigned i = 0; i < model.pools; i++)
		reserved += reserved_of(model.pool[i].pool);
	expect(reserved == gpumem_host_used_bytes(0),
	       "%llu bytes are reserved, but the device gave %llu",
	       (ull)reserved, (ull)gpumem_host_used_bytes(0));
}

#endif
