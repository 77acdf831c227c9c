/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* What the library says of a pool, compared with what the model knows. */
#include "../law.h"
#include "model.h"

static void compare(const struct pool *pool, const char *what,
		    const struct gpumem_gauge *said, const struct gauge *known)
{
	expect(said->current == known->current && said->total == known->total &&
		       said->peak == known->peak,
	       "%s of %s: %llu, at most %llu, %llu in all; should be %llu, "
	       "%llu, %llu",
	       what, name_of(pool), (ull)said->current, (ull)said->peak,
	       (ull)said->total, (ull)known->current, (ull)known->peak,
	       (ull)known->total);
}

static void compare_limits(const struct pool *pool,
			   const struct gpumem_stats *stats)
{
	expect(stats->limit_bytes == pool->limit &&
		       stats->soft_limit_bytes == pool->soft,
	       "%s has other limits", name_of(pool));
	expect(stats->reserved.peak >= stats->active.peak &&
		       stats->active.peak >= pool->allocated.peak,
	       "%s has other peaks", name_of(pool));
	expect(stats->pending_bytes <= pool->crossed,
	       "%llu bytes of %s are pending, of %llu",
	       (ull)stats->pending_bytes, name_of(pool), (ull)pool->crossed);
}

void exam_counters(const struct pool *pool)
{
	struct gpumem_stats stats = GPUMEM_INIT(struct gpumem_stats);
	const char *broken;

	must(gpumem_pool_stats(pool->handle, &stats));
	broken = unlawful(&stats);
	expect(!broken, "%s: %s", name_of(pool), broken);
	compare(pool, "requested", &stats.requested, &pool->requested);
	compare(pool, "allocated", &stats.allocated, &pool->allocated);
	compare(pool, "blocks", &stats.blocks, &pool->blocks);
	compare_limits(pool, &stats);
	expect(stats.ooms == pool->ooms,
	       "%s ran out of memory %llu times, not %llu", name_of(pool),
	       (ull)stats.ooms, (ull)pool->ooms);
	expect(stats.hits + stats.misses == pool->blocks.total,
	       "%s: %llu allocations, not %llu", name_of(pool),
	       (ull)(stats.hits + stats.misses), (ull)pool->blocks.total);
}

/* ---- the walk ---- */

struct walk {
	const struct pool *pool;
	uintptr_t end; /* of the last */
	uint64_t live, count, pending, free, largest;
	const char *wrong;
	uintptr_t at;
};

static const struct block *block_at(uintptr_t address)
{
	for (unsigned i = 0; i < world.blocks; i++)
		if (world.block[i].address == address)
			return &world.block[i];
	return NULL;
}

static const char *wrong_of(const struct pool *pool,
			    const struct gpumem_block *info)
{
	const struct block *block = block_at((uintptr_t)info->ptr);

	if (!block || block->pool != pool)
		return "there is no such live block";
	if (info->bytes != block->bytes ||
	    info->requested_bytes != block->requested)
		return "a live block has another size";
	if (info->tag != world.tag[block->tag])
		return "a live block has another tag";
	if (!block->gone &&
	    info->stream != pool->device->stream[block->stream].handle)
		return "a live block has another stream";
	return NULL;
}

static bool on_block(const struct gpumem_block *info, void *user)
{
	struct walk *walk = user;
	uintptr_t address = (uintptr_t)info->ptr;

	walk->at = address;
	if (address < walk->end)
		walk->wrong = "blocks overlap, or are out of order";
	walk->end = address + info->bytes;
	switch (info->state) {
	case GPUMEM_BLOCK_LIVE:
		walk->live += info->bytes;
		walk->count++;
		walk->wrong = wrong_of(walk->pool, info);
		break;
	case GPUMEM_BLOCK_PENDING:
		walk->pending += info->bytes;
		break;
	case GPUMEM_BLOCK_FREE:
		walk->free += info->bytes;
		if (info->bytes > walk->largest)
			walk->largest = info->bytes;
		break;
	case GPUMEM_BLOCK_HOLE:
		break;
	}
	return !walk->wrong;
}

void exam_walk(const struct pool *pool)
{
	struct gpumem_stats stats = GPUMEM_INIT(struct gpumem_stats);
	struct walk walk = {.pool = pool};

	must(gpumem_block_visit(pool->handle, on_block, &walk));
	expect_at(!walk.wrong, walk.at, "%s at %#zx: %s", name_of(pool),
		  (size_t)walk.at, walk.wrong);
	must(gpumem_pool_stats(pool->handle, &stats));
	expect(walk.count == pool->blocks.current &&
		       walk.live == pool->allocated.current,
	       "a walk over %s finds %llu live blocks of %llu bytes; there are "
	       "%llu of %llu",
	       name_of(pool), (ull)walk.count, (ull)walk.live,
	       (ull)pool->blocks.current, (ull)pool->allocated.current);
	expect(walk.pending == stats.pending_bytes,
	       "a walk over %s finds %llu bytes pending, not %llu",
	       name_of(pool), (ull)walk.pending, (ull)stats.pending_bytes);
	/* What the driver can take back may be at no address. */
	expect(walk.free <= stats.free_bytes &&
		       stats.free_bytes - walk.free <=
			       stats.free_bytes - stats.cached_bytes -
				       stats.unreleasable_bytes,
	       "a walk over %s finds %llu bytes free, not %llu", name_of(pool),
	       (ull)walk.free, (ull)stats.free_bytes);
	expect(walk.largest == stats.largest_free_bytes,
	       "a walk over %s finds %llu bytes free in one, not %llu",
	       name_of(pool), (ull)walk.largest, (ull)stats.largest_free_bytes);
}

struct search {
	uintptr_t address;
	bool pending;
};

static bool on_searched(const struct gpumem_block *info, void *user)
{
	struct search *search = user;

	search->pending = info->state == GPUMEM_BLOCK_PENDING;
	return search->address - (uintptr_t)info->ptr >= info->bytes;
}

/* Work that its own stream does not wait for uses it. */
void exam_pending(const struct pool *pool, uintptr_t address)
{
	struct search search = {.address = address};

	must(gpumem_block_visit(pool->handle, on_searched, &search));
	expect_at(search.pending, address,
		  "%#zx in %s is not pending, and other streams use it",
		  (size_t)address, name_of(pool));
}

/* ---- tags ---- */

struct tags {
	const struct pool *pool;
	uint64_t bytes, blocks;
	const char *wrong;
};

static bool same(const struct gpumem_gauge *said, const struct gauge *known,
		 bool peak)
{
	return said->current == known->current && said->total == known->total &&
	       (!peak || said->peak == known->peak);
}

static bool on_tag(const struct gpumem_tag *row, void *user)
{
	struct tags *tags = user;
	unsigned tag = 0;

	while (tag < TAGS && world.tag[tag] != row->tag)
		tag++;
	if (tag == TAGS)
		tags->wrong = "there is no such tag";
	else if (!same(&row->bytes, &tags->pool->tag_bytes[tag], tag) ||
		 !same(&row->blocks, &tags->pool->tag_blocks[tag], tag))
		tags->wrong = "a tag has other bytes or blocks";
	else if (row->limit_bytes != tags->pool->tag_limit[tag])
		tags->wrong = "a tag has another limit";
	tags->bytes += row->bytes.current;
	tags->blocks += row->blocks.current;
	return !tags->wrong;
}

static void exam_tags(const struct pool *pool)
{
	struct tags tags = {.pool = pool};

	must(gpumem_tag_visit(pool->handle, on_tag, &tags));
	expect(!tags.wrong, "%s: %s", name_of(pool), tags.wrong);
	expect(tags.bytes == pool->requested.current &&
		       tags.blocks == pool->blocks.current,
	       "the tags of %s do not add up", name_of(pool));
}

/* ---- the device ---- */

static void exam_kinds(const struct device *device)
{
	for (unsigned kind = 0; kind < 3; kind++) {
		uint64_t reserved = 0, given;

		for (int i = 0; i < POOLS; i++) {
			struct gpumem_stats stats =
				GPUMEM_INIT(struct gpumem_stats);

			if (!world.pool[i].handle ||
			    world.pool[i].device != device ||
			    world.pool[i].kind != kind)
				continue;
			must(gpumem_pool_stats(world.pool[i].handle, &stats));
			reserved += stats.reserved.current;
		}
		given = gpumem_host_kind_bytes(device->number,
					       (gpumem_kind)kind);
		expect(reserved == given,
		       "host:%d gave %llu bytes of kind %u, and %llu are "
		       "reserved",
		       device->number, (ull)given, kind, (ull)reserved);
	}
}

void exam_all(void)
{
	for (int i = 0; i < POOLS; i++) {
		const struct pool *pool = &world.pool[i];

		if (!pool->handle)
			continue;
		exam_counters(pool);
		exam_walk(pool);
		exam_tags(pool);
		expect(!gpumem_pool_check(pool->handle), "%s is not sound: %s",
		       name_of(pool), gpumem_error_text());
	}
	for (int i = 0; i < DEVICES; i++)
		exam_kinds(&world.device[i]);
	if (world.configuration.capture_frees)
		expect(!gpumem_host_capture_violations(),
		       "a capture was disturbed");
}

/* All work is over, and the pool was trimmed. */
void exam_quiet(const struct pool *pool)
{
	struct gpumem_stats stats = GPUMEM_INIT(struct gpumem_stats);

	must(gpumem_pool_stats(pool->handle, &stats));
	expect(!stats.pending_bytes, "%llu bytes of %s are pending for nothing",
	       (ull)stats.pending_bytes, name_of(pool));
	expect(stats.free_bytes == stats.unreleasable_bytes,
	       "%s keeps %llu bytes, of which %llu could go", name_of(pool),
	       (ull)stats.free_bytes,
	       (ull)(stats.free_bytes - stats.unreleasable_bytes));
	expect(pool->blocks.current || pool_has_graphs(pool) ||
		       !stats.reserved.current,
	       "%s keeps %llu bytes for nothing", name_of(pool),
	       (ull)stats.reserved.current);
}

static void reset(struct gauge *gauge, bool totals)
{
	gauge->peak = gauge->current;
	if (totals)
		gauge->total = 0;
}

void peaks_reset(struct pool *pool, bool totals)
{
	reset(&pool->requested, totals);
	reset(&pool->allocated, totals);
	reset(&pool->blocks, totals);
	for (unsigned i = 0; i < TAGS; i++) {
		reset(&pool->tag_bytes[i], totals);
		reset(&pool->tag_blocks[i], totals);
	}
	if (totals)
		pool->ooms = 0;
}
