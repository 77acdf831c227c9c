/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The live blocks: their birth, on memory that others may still use; their uses
 * on streams, which the program orders; and what their end waits for.
 */
#include "model.h"

static void count_up(struct gauge *gauge, int64_t more)
{
	gauge->current += (uint64_t)more;
	if (more > 0)
		gauge->total += (uint64_t)more;
	if (gauge->current > gauge->peak)
		gauge->peak = gauge->current;
}

void pool_count(struct pool *pool, unsigned tag, int64_t requested,
		int64_t allocated, int blocks)
{
	count_up(&pool->requested, requested);
	count_up(&pool->allocated, allocated);
	count_up(&pool->blocks, blocks);
	count_up(&pool->tag_bytes[tag], requested);
	count_up(&pool->tag_blocks[tag], blocks);
}

/* What is queued next on the stream begins on that memory. */
void block_claim(struct block *block, int stream, uintptr_t address,
		 uint64_t bytes)
{
	struct device *device = block->pool->device;
	const struct access all = {.address = block->address,
				   .bytes = block->bytes,
				   .block = block->id};
	const bool idle =
		device->stream[stream].queued == device->stream[stream].done;
	struct claim claim[CLAIMS];
	unsigned claims;

	if (device->stream[stream].captured) {
		graph_claim(device->stream[stream].capture, stream, address,
			    bytes);
		return;
	}
	claims = claims_on(device, stream, address, bytes, claim);
	(void)work_queue(device, stream, &all, 1, claim, claims);
	if (claims)
		say(address, bytes, "work %llu of s%d: %u others must be over",
		    (ull)world.works, stream, claims);
	/* At once, while they are not; and what is idle stays so. */
	if (claims ? !one_in(3) : idle && !one_in(4))
		stream_step(device, stream, device->stream[stream].queued);
}

static void check_apart(const struct block *block)
{
	for (unsigned i = 0; i < world.blocks; i++) {
		const struct block *other = &world.block[i];

		expect_at(
			block == other ||
				block->address + block->bytes <=
					other->address ||
				other->address + other->bytes <= block->address,
			other->address, "block %llu at %#zx lies in %llu",
			(ull)block->id, (size_t)block->address, (ull)other->id);
	}
}

struct block *block_born(struct pool *pool, void *ptr, uint64_t requested,
			 uint64_t alignment, int stream, unsigned tag)
{
	struct gpumem_block info = GPUMEM_INIT(struct gpumem_block);
	const struct device *device = pool->device;
	struct block *block = &world.block[world.blocks];
	uintptr_t address = (uintptr_t)ptr;

	expect(ptr && address % (alignment > 256 ? alignment : 256) == 0,
	       "%p is not aligned to %llu", ptr, (ull)alignment);
	must(gpumem_query(ptr, &info));
	expect_at(
		info.ptr == ptr && info.requested_bytes == requested &&
			info.bytes >= requested && info.pool == pool->handle &&
			info.kind == pool->kind && info.tag == world.tag[tag] &&
			info.state == GPUMEM_BLOCK_LIVE &&
			info.stream == device->stream[stream].handle,
		address, "a new block is found as another one");
	*block = (struct block){.id = ++world.ids,
				.address = address,
				.requested = requested,
				.bytes = info.bytes,
				.pool = pool,
				.stream = stream,
				.capture = device->stream[stream].capture,
				.tag = tag,
				.born = world.works};
	if (block->capture && block->capture->graph->pool != pool)
		block->capture = NULL;
	say(address, info.bytes, "block %llu: %llu bytes of %s on s%d%s",
	    (ull)block->id, (ull)requested, name_of(pool), stream,
	    block->capture ? ", of a graph" : "");
	check_apart(block);
	world.blocks++;
	pool_count(pool, tag, (int64_t)requested, (int64_t)info.bytes, 1);
	block_claim(block, stream, address, info.bytes);
	return block;
}

struct block *pick_block(const struct pool *pool)
{
	struct block *best = NULL;
	uint64_t most = 0;

	for (unsigned i = 0; i < world.blocks; i++) {
		struct block *block = &world.block[i];
		uint64_t weight = weight_of(block->id);

		if ((!pool || block->pool == pool) && weight >= most) {
			best = block;
			most = weight;
		}
	}
	return best;
}

/* What was queued before it was born is the library's to order. */
bool block_has(const struct block *block, const struct work *work)
{
	return work->device == block->pool->device && work->id > block->born &&
	       work_touches(work, block->address, block->bytes);
}

bool block_busy(const struct block *block)
{
	for (const struct work *work = world.first; work; work = work->next)
		if (block_has(block, work))
			return true;
	return false;
}

/* A look at what others must have left is as a write. */
static bool conflicts(const struct work *work, bool writes)
{
	for (unsigned i = 0; i < work->accesses; i++)
		if (work->access[i].writes || !work->access[i].looks)
			return true;
	return writes;
}

static bool in_order(const struct block *block, int stream, bool writes)
{
	struct device *device = block->pool->device;

	for (const struct work *work = world.first; work; work = work->next)
		if (block_has(block, work) && conflicts(work, writes) &&
		    !stream_after(device, stream, work))
			return false;
	return true;
}

bool in_capture(const struct block *block)
{
	return block->capture && block->capture->real && block->capture->open;
}

bool block_use(struct block *block, int stream, bool writes)
{
	struct device *device = block->pool->device;
	struct access access = {.address = block->address,
				.bytes = block->requested,
				.block = block->id,
				.stamp = block->stamp,
				.writes = writes,
				.looks = block->known};

	if (device->stream[stream].captured)
		return graph_node(block, stream, writes);
	if (in_capture(block) || !in_order(block, stream, writes))
		return false;
	if (writes)
		block->stamp = block->id << 24 | (world.works + 1);
	if (writes && access.looks) {
		struct access both[2] = {access, access};

		both[0].writes = false;
		both[1].looks = false;
		both[1].stamp = block->stamp;
		(void)work_queue(device, stream, both, 2, NULL, 0);
	} else {
		access.stamp = block->stamp;
		(void)work_queue(device, stream, &access, 1, NULL, 0);
	}
	block->known |= writes;
	say(block->address, block->bytes, "work %llu of s%d %s block %llu",
	    (ull)world.works, stream, writes ? "writes" : "reads",
	    (ull)block->id);
	return true;
}

/* Its words lie elsewhere now: those that are left are looked at once more. */
void block_kept(struct block *block, const struct block *old)
{
	uint64_t kept = old->requested < block->requested ? old->requested
							  : block->requested;
	struct access access = {.address = block->address,
				.bytes = kept,
				.shape = old->requested,
				.stamp = block->stamp,
				.block = block->id,
				.looks = true};

	if (old->requested == block->requested)
		return;
	if (block->known && in_order(block, block->stream, false) &&
	    !block->pool->device->stream[block->stream].captured && kept >= 8)
		(void)work_queue(block->pool->device, block->stream, &access, 1,
				 NULL, 0);
	block->known = false;
}

void block_dead(struct block *block, bool crossed)
{
	struct pool *pool = block->pool;

	if (crossed || block->used_on || block->shared)
		pool->crossed += block->bytes;
	pool_count(pool, block->tag, -(int64_t)block->requested,
		   -(int64_t)block->bytes, -1);
	*block = world.block[--world.blocks];
}
