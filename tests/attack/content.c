/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The live blocks, and what they hold: both ends of a block that is marked have
 * its value.
 */
#include "attack.h"

static bool is_value(const unsigned char *bytes, size_t count, uint8_t value)
{
	for (size_t i = 0; i < count; i++)
		if (bytes[i] != value)
			return false;
	return true;
}

bool stream_idle(const struct device *device, int stream)
{
	if (stream < 0 || device->captured[stream] || world.faulty)
		return false;
	if (has(device, GPUMEM_CAP_STREAMS))
		must(gpumem_stream_sync(device->handle,
					device->stream[stream]));
	return true;
}

static size_t probe_bytes(const struct block *block)
{
	return block->requested < PROBE ? (size_t)block->requested : PROBE;
}

/* Where the two ends of the block are. */
static void ends_of(const struct block *block, unsigned char *end[2])
{
	end[0] = block->ptr;
	end[1] = end[0] + block->requested - probe_bytes(block);
}

void block_mark(struct block *block)
{
	const struct device *device = block->pool->device;
	unsigned char *end[2];

	if (!stream_idle(device, block->stream))
		return;
	block->value = (uint8_t)(1 + random_below(255));
	ends_of(block, end);
	for (int i = 0; i < 2; i++)
		if (has(device, GPUMEM_CAP_HOST_ACCESS) &&
		    !world.configuration->objects)
			memset(end[i], block->value, probe_bytes(block));
		else
			must(gpumem_fill(device->handle, end[i], block->value,
					 probe_bytes(block),
					 device->stream[block->stream]));
	/* The next who copies may do so on another stream. */
	block->marked = stream_idle(device, block->stream);
}

void block_verify(struct block *block)
{
	const struct device *device = block->pool->device;
	size_t bytes = probe_bytes(block);
	unsigned char *end[2], copy[PROBE];

	if (!block->marked || !stream_idle(device, block->stream))
		return;
	ends_of(block, end);
	for (int i = 0; i < 2; i++) {
		const unsigned char *at = end[i];

		if (!has(device, GPUMEM_CAP_HOST_ACCESS) ||
		    world.configuration->objects) {
			must(gpumem_copy(device->handle, copy, end[i], bytes,
					 device->stream[block->stream]));
			stream_idle(device, block->stream);
			at = copy;
		}
		expect(is_value(at, bytes, block->value),
		       "after %s block %p of %llu bytes has lost what it held",
		       step.row->name, block->ptr, (ull)block->requested);
	}
}

void block_zeroed(struct pool *pool, void *ptr, uint64_t bytes, int stream)
{
	struct block block = {.ptr = ptr,
			      .requested = bytes,
			      .pool = pool,
			      .stream = stream,
			      .marked = true};

	block_verify(&block);
}

static void block_apart(const struct block *block)
{
	for (unsigned i = 0; i < world.blocks; i++) {
		const struct block *other = &world.block[i];

		expect((uintptr_t)block->ptr + block->bytes <=
				       (uintptr_t)other->ptr ||
			       (uintptr_t)other->ptr + other->bytes <=
				       (uintptr_t)block->ptr,
		       "a new block %p of %llu bytes lies in %p", block->ptr,
		       (ull)block->bytes, other->ptr);
	}
}

void block_add(struct pool *pool, void *ptr, uint64_t bytes, uint64_t alignment,
	       int stream)
{
	struct gpumem_block info = GPUMEM_INIT(struct gpumem_block);
	struct block *block = &world.block[world.blocks];
	void *user = &user;

	expect((uintptr_t)ptr % (alignment > 256 ? alignment : 256) == 0,
	       "%p is not aligned to %llu", ptr, (ull)alignment);
	must(gpumem_query(ptr, &info));
	expect(info.ptr == ptr && info.requested_bytes == bytes &&
		       info.bytes >= bytes && info.pool == pool->handle &&
		       info.kind == pool->kind &&
		       info.state == GPUMEM_BLOCK_LIVE,
	       "a new block is found as another one");
	*block = (struct block){.ptr = ptr,
				.requested = bytes,
				.bytes = info.bytes,
				.pool = pool,
				.stream = stream};
	must(gpumem_block_get_user(ptr, &user));
	expect(!user, "a new block has a word");
	block_apart(block);
	world.blocks++;
	pool->requested += bytes;
	pool->allocated += info.bytes;
	pool->count++;
	if (one_in(3))
		block_mark(block);
}

void block_resize(struct block *block, uint64_t bytes)
{
	struct gpumem_block info = GPUMEM_INIT(struct gpumem_block);
	struct pool *pool = block->pool;
	const struct block before = *block;

	must(gpumem_query(block->ptr, &info));
	expect(info.ptr == block->ptr && info.requested_bytes == bytes &&
		       info.bytes >= bytes && info.pool == pool->handle,
	       "a resized block is found as another one");
	block->ptr = NULL;
	block->bytes = 0;
	block_apart(&(struct block){.ptr = info.ptr, .bytes = info.bytes});
	block->ptr = info.ptr;
	if (bytes >= before.requested)
		block_verify(block);
	block->bytes = info.bytes;
	block->requested = bytes;
	block->marked = false;
	pool->requested += bytes - before.requested;
	pool->allocated += info.bytes - before.bytes;
	if (one_in(3))
		block_mark(block);
}

void block_remove(struct block *block)
{
	struct pool *pool = block->pool;

	pool->requested -= block->requested;
	pool->allocated -= block->bytes;
	pool->count--;
	*block = world.block[--world.blocks];
}
