/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The steps of blocks: allocate, use, name uses, resize, free. */
#include "model.h"

enum { SLACK = 64 * 1024 };

/* From one byte to more than there is, with an eye on borders. */
static uint64_t pick_bytes(void)
{
	static const unsigned shift[] = {8,  9,	 10, 12, 13, 14, 14, 15,
					 16, 17, 18, 18, 19, 20, 21, 22};
	uint64_t most = 1ull << shift[random_below(COUNT(shift))];

	if (world.configuration.large && one_in(3))
		most *= 8;
	if (one_in(50))
		return 6 * MIB + random_below(24 * MIB);
	if (one_in(6))
		return most - 1 + random_below(3);
	if (one_in(6))
		return most + most / 4 * random_below(4);
	return 1 + random_below(most);
}

struct request {
	struct pool *pool;
	int stream;
	unsigned tag;
	uint64_t bytes;
	struct gpumem_alloc_options options;
};

static gpumem_status allocate(const struct request *request, void **ptr_out,
			      uint64_t *usable_out)
{
	const struct device *device = request->pool->device;

	return gpumem_alloc_with(request->pool->handle, request->bytes,
				 device->stream[request->stream].handle,
				 &request->options, ptr_out, usable_out);
}

static void add_block(const struct request *request, void *ptr, uint64_t usable)
{
	bool whole = request->options.flags & GPUMEM_ALLOC_WHOLE;
	struct block *block = block_born(
		request->pool, ptr, whole ? usable : request->bytes,
		request->options.alignment, request->stream, request->tag);

	expect(block->bytes == usable, "it holds %llu and not %llu",
	       (ull)block->bytes, (ull)usable);
	if (request->options.flags & GPUMEM_ALLOC_ZERO) {
		block->known = true;
		(void)block_use(block, request->stream, false);
	} else if (!one_in(4)) {
		(void)block_use(block, request->stream, true);
	}
}

/* The next request, of so much as the failure of the last has named, or of
 * less, is served. */
static void ask_for_what_fits(const struct request *failed)
{
	struct request request = *failed;
	gpumem_status status;
	uint64_t usable = 0;
	void *ptr = NULL;

	request.options.flags = 0;
	request.options.alignment = 0;
	request.bytes = one_in(2) ? world.fits : 1 + random_below(world.fits);
	if (request.bytes > SLACK && one_in(4))
		request.bytes = world.fits - random_below(SLACK);
	status = allocate(&request, &ptr, &usable);
	expect(!status,
	       "%llu bytes would fit on s%d of %s, it is said; %llu: %s",
	       (ull)world.fits, request.stream, name_of(request.pool),
	       (ull)request.bytes, gpumem_status_name(status));
	add_block(&request, ptr, usable);
}

/* Without a flag or a capture in the way, what is free in one piece is had,
 * behind the work on it; by a small block, too. */
static void check_largest(const struct request *request)
{
	const struct device *device = request->pool->device;
	struct gpumem_stats stats = GPUMEM_INIT(struct gpumem_stats);
	uint64_t least = request->bytes > SLACK ? request->bytes : SLACK;

	for (int i = 0; i < STREAMS; i++)
		if (device->stream[i].captured)
			return;
	if (request->options.flags || request->options.alignment > 256 ||
	    !world.configuration.wait || world.failed || request->tag ||
	    pool_has_graphs(request->pool))
		return;
	must(gpumem_pool_stats(request->pool->handle, &stats));
	expect(stats.largest_free_bytes < least,
	       "%s has a free block of %llu bytes, and not %llu on s%d",
	       name_of(request->pool), (ull)stats.largest_free_bytes,
	       (ull)request->bytes, request->stream);
}

static void out_of_memory(const struct request *request, void *ptr)
{
	check_largest(request);
	expect(!ptr, "a failure wrote its output");
	expect(strstr(gpumem_error_text(), " out of memory"),
	       "the sentence does not say out of memory: %s",
	       gpumem_error_text());
	request->pool->ooms++;
	if (world.configuration.tell && !world.failed && world.fits)
		ask_for_what_fits(request);
}

static uint64_t tag_held(const struct pool *pool, unsigned tag)
{
	return pool->tag_bytes[tag].current +
	       (tag == 1 ? pool->tag_bytes[2].current : 0);
}

static bool within_tag(const struct pool *pool, unsigned tag, uint64_t more)
{
	uint64_t limit = pool->tag_limit[tag];

	if (tag == 2 && !within_tag(pool, 1, more))
		return false;
	return !limit || tag_held(pool, tag) + more <= limit;
}

static bool draw(struct request *request)
{
	const struct capture *capture;

	*request = (struct request){.pool = pick_pool(),
				    .stream = pick_stream(),
				    .tag = (unsigned)random_below(TAGS),
				    .bytes = pick_bytes()};
	request->options = GPUMEM_INIT(struct gpumem_alloc_options);
	if (one_in(8))
		request->options.alignment = 1ull << random_below(22);
	if (one_in(5))
		request->options.flags = (uint32_t)random_below(16);
	if (one_in(2))
		request->tag = 0;
	request->options.tag = world.tag[request->tag];
	if (!request->pool || world.blocks > BLOCKS - 2)
		return false;
	/* A block whose fill fails was there for a moment. */
	if (world.armed)
		request->options.flags &= ~GPUMEM_ALLOC_ZERO;
	capture = request->pool->device->stream[request->stream].capture;
	if (capture && capture->real) {
		request->options.flags &= ~GPUMEM_ALLOC_ZERO;
		return capture->graph->pool == request->pool;
	}
	return true;
}

void step_alloc(void)
{
	struct request request;
	gpumem_status status;
	uint64_t usable = 0;
	void *ptr = NULL;

	if (!draw(&request))
		return;
	world.fits = 0;
	perhaps_failing(status, allocate(&request, &ptr, &usable));
	if (status)
		say(0, 0,
		    "%llu bytes of %s on s%d, flags %u, aligned to %zu: %s",
		    (ull)request.bytes, name_of(request.pool), request.stream,
		    request.options.flags, request.options.alignment,
		    gpumem_status_name(status));
	if (status == GPUMEM_NO_MEMORY || status == GPUMEM_LIMIT) {
		out_of_memory(&request, ptr);
		return;
	}
	judge("gpumem_alloc_with", status);
	if (status)
		return;
	expect(within_tag(request.pool, request.tag, request.bytes),
	       "a tag's limit was passed");
	add_block(&request, ptr, usable);
}

void step_use(void)
{
	struct block *block = pick_block(NULL);
	int stream;

	if (!block)
		return;
	stream = one_in(3) ? pick_stream() : block->stream;
	(void)block_use(block, stream, one_in(2));
}

void step_use_on(void)
{
	struct block *block = pick_block(NULL);
	int stream = pick_stream();
	gpumem_status status;

	if (!block)
		return;
	perhaps_failing(
		status,
		gpumem_use_on((void *)block->address,
			      block->pool->device->stream[stream].handle));
	say(block->address, block->bytes, "use of block %llu on s%d: %s",
	    (ull)block->id, stream, gpumem_status_name(status));
	judge("gpumem_use_on", status);
	if (!status)
		block->used_on |= 1u << stream;
}

/* What it had room for before and after is still there. */
static void resized(struct block *block, int stream, uint64_t bytes,
		    uint64_t usable)
{
	const struct block old = *block;
	uint64_t more = usable > old.bytes ? usable - old.bytes : 0;

	expect_at(usable >= bytes, block->address, "it holds too little");
	pool_count(block->pool, block->tag,
		   (int64_t)bytes - (int64_t)old.requested,
		   (int64_t)usable - (int64_t)old.bytes, 0);
	block->requested = bytes;
	block->bytes = usable;
	block->node_stamp = 0;
	if (stream != block->stream || block->gone)
		block->used_on |= 1u << stream;
	for (unsigned i = 0; more && i < world.blocks; i++)
		expect_at(&world.block[i] == block ||
				  world.block[i].address < block->address ||
				  world.block[i].address >=
					  block->address + usable,
			  block->address, "block %llu grew into %llu",
			  (ull)block->id, (ull)world.block[i].id);
	if (more)
		block_claim(block, stream, block->address + old.bytes, more);
	block_kept(block, &old);
}

void step_resize(void)
{
	struct block *block = pick_block(NULL);
	uint64_t bytes, usable = 0;
	gpumem_status status;
	int stream;

	if (!block)
		return;
	stream = one_in(3) ? pick_stream() : block->stream;
	bytes = one_in(2) ? pick_bytes()
			  : 1 + random_below(2 * block->requested);
	if (block->pool->device->stream[stream].captured || in_capture(block) ||
	    !block_covered(block, stream, NULL))
		return;
	perhaps_failing(
		status,
		gpumem_resize((void *)block->address, bytes,
			      block->pool->device->stream[stream].handle,
			      &usable));
	say(block->address, usable > block->bytes ? usable : block->bytes,
	    "block %llu has %llu bytes: %llu on s%d: %s", (ull)block->id,
	    (ull)block->bytes, (ull)bytes, stream, gpumem_status_name(status));
	if (status == GPUMEM_BUSY) {
		expect(bytes > block->bytes ||
			       !within_tag(block->pool, block->tag,
					   bytes - block->requested),
		       "a block does not shrink");
		return;
	}
	judge("gpumem_resize", status);
	if (!status)
		resized(block, stream, bytes, usable);
}

void step_verify(void)
{
	const struct block *block = pick_block(NULL);

	if (block && block->known && !block_busy(block))
		stamp_verify(block);
}
