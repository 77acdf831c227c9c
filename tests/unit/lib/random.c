/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Random programs against a shadow model: every public call of blocks, pools
 * and streams, in any order, on devices that are nearly full, with work on the
 * streams that finishes when it likes and looks whether its block is still its
 * own; where streams are held, in an order that the seed says. Everything is
 * checked after every step. One thread. argv[1] is a seed, argv[2] the number
 * of the only configuration to run.
 */
#include "random.h"

static void step_alloc(void)
{
	unsigned pool = (unsigned)random_below(model.pools);
	unsigned stream = random_stream();
	uint64_t bytes = random_bytes(), alignment = 0;
	struct gpumem_alloc_options options =
		GPUMEM_INIT(struct gpumem_alloc_options);
	struct model_block *block;
	gpumem_status status;
	uint64_t usable = 0;
	void *ptr = NULL;

	if (one_in(8))
		alignment = 1ull << random_below(24);
	options.alignment = alignment;
	options.flags = one_in(4) ? (uint32_t)random_below(4) : 0;
	if (one_in(4))
		must(gpumem_tag_intern(one_in(2) ? "a/b" : "c", &options.tag));
	status = gpumem_alloc_with(model.pool[pool].pool, bytes,
				   world.stream[stream], &options, &ptr,
				   &usable);
	if (status == GPUMEM_NO_MEMORY || status == GPUMEM_LIMIT) {
		model.pool[pool].ooms++;
		expect(!ptr, "a failure wrote its output");
		expect(strstr(last_text(), " out of memory"),
		       "the sentence does not say out of memory");
		return;
	}
	expect(!status, "alloc of %llu bytes: %s", (ull)bytes,
	       gpumem_status_name(status));
	block = model_add(pool, ptr, bytes, alignment);
	block->stream = stream;
	expect(block->bytes == usable, "holds %llu and not %llu",
	       (ull)block->bytes, (ull)usable);
	if (one_in(4))
		fill_block(block);
}

/* The program must order the second stream behind the first itself. */
static void look_on(const struct model_block *block, unsigned stream)
{
	if (!block->filled || world.captured[block->stream])
		return;
	order_streams(block->stream, stream);
	look_at_block(block, stream);
}

static void step_free(void)
{
	struct model_block *block = model_any();
	struct model_block copy;
	unsigned stream;

	if (!block)
		return;
	copy = *block;
	stream = block->gone || one_in(4) ? random_stream() : block->stream;
	if (stream != block->stream && one_in(2))
		look_on(block, stream);
	if (stream == block->stream && !block->gone && one_in(2))
		expect(!gpumem_free_own((void *)copy.address), "free");
	else
		expect(!gpumem_free_sized((void *)copy.address, copy.requested,
					  world.stream[stream]),
		       "free");
	model_remove(block);
	if (one_in(16))
		expect(gpumem_free((void *)copy.address,
				   world.stream[stream]) == GPUMEM_BAD_POINTER,
		       "freed twice");
	world.last_freed = copy.address;
}

/* What it had room for before and after is still there. New ends are filled if
 * nothing looks at the old ones; not on a stream that took the place of the
 * block's own, of which the pool knows nothing. */
static void step_resize(void)
{
	struct model_block *block = model_any();
	uint64_t bytes = random_bytes(), before, usable = 0;
	gpumem_status status;
	unsigned stream;

	if (!block)
		return;
	if (one_in(2))
		bytes = 1 + random_below(2 * block->requested);
	stream = block->gone || one_in(4) ? random_stream() : block->stream;
	before = block->bytes;
	status = gpumem_resize((void *)block->address, bytes,
			       world.stream[stream], &usable);
	if (status == GPUMEM_BUSY) {
		expect(bytes > before && !usable, "a block does not shrink");
		usable = before;
		bytes = block->requested;
	} else {
		expect(!status, "resize: %s", gpumem_status_name(status));
	}
	model_resize(block, bytes, usable);
	if (usable == before)
		return;
	if (block->filled && !world.captured[block->stream])
		verify_block(block, usable > before ? before : MODEL_PROBE);
	block->worn |= block->filled;
	block->filled = false;
	if (!block->worn && !block->gone && one_in(2))
		fill_block(block);
}

static void step_use_on(void)
{
	struct model_block *block = model_any();
	unsigned stream = random_stream();

	if (!block)
		return;
	expect(!gpumem_use_on((void *)block->address, world.stream[stream]),
	       "use_on");
	look_on(block, stream);
}

static void step_trim(void)
{
	unsigned pool = (unsigned)random_below(model.pools);
	gpumem_pool *p = model.pool[pool].pool;
	uint64_t before = reserved_of(p), released = 77;
	uint64_t keep = one_in(2) ? 0 : random_below(before + 1);

	expect(!gpumem_pool_trim(p, keep, &released), "trim");
	expect(before - reserved_of(p) == released,
	       "trim released %llu and says %llu",
	       (ull)(before - reserved_of(p)), (ull)released);
}

static void step_limit(void)
{
	unsigned pool = (unsigned)random_below(model.pools);
	gpumem_pool *p = model.pool[pool].pool;
	uint64_t least = world.capacity / 8;
	uint64_t limit =
		one_in(3) ? 0 : least + random_below(world.capacity - least);
	uint64_t soft = one_in(2) ? 0 : random_below(world.capacity);
	gpumem_status status = gpumem_pool_set_limit(p, limit);
	struct gpumem_stats stats = stats_of(p);

	if (status == GPUMEM_BUSY)
		expect(stats.reserved.current > limit, "busy for nothing");
	else
		expect(!status && stats.limit_bytes == limit,
		       "the limit is not set");
	expect(gpumem_pool_set_soft_limit(p, soft) == GPUMEM_OK &&
		       stats_of(p).soft_limit_bytes == soft,
	       "the soft limit is not set");
}

/* A pointer into a block, and one that was freed. */
static void step_query(void)
{
	struct gpumem_block info = GPUMEM_INIT(struct gpumem_block);
	struct model_block *block = model_any();
	gpumem_status status;
	uintptr_t inside;

	if (block) {
		inside = block->address + random_below(block->bytes);
		expect(!gpumem_query((void *)inside, &info) &&
			       info.ptr == (void *)block->address &&
			       info.requested_bytes == block->requested &&
			       info.bytes == block->bytes &&
			       info.pool == model.pool[block->pool].pool,
		       "%#zx is not found in its block at %#zx", inside,
		       block->address);
		if (inside != block->address)
			expect(gpumem_free((void *)inside, NULL) ==
				       GPUMEM_BAD_POINTER,
			       "a pointer into a block was freed");
	}
	status = gpumem_query((void *)world.last_freed, &info);
	block = model_at(world.last_freed);
	expect(block ? !status && info.ptr == (void *)block->address
		     : status == GPUMEM_BAD_POINTER,
	       "%#zx was freed and is found", world.last_freed);
}

static void step_look(void)
{
	unsigned pool = (unsigned)random_below(model.pools);

	model_compare(pool);
	if (one_in(8))
		model_compare_device();
	if (one_in(16))
		model_reset(pool, one_in(2));
}

/* Blocks that come get another tag; the check knows what is live of each. */
static void step_tag(void)
{
	char name[2] = {(char)('a' + random_below(4)), '\0'};
	gpumem_status status;

	if (!one_in(2)) {
		status = gpumem_tag_pop();
		expect(!status || !gpumem_tag_get(), "pop");
	} else if (one_in(16)) {
		expect(!gpumem_tag_set(0), "no tag");
	} else {
		status = gpumem_tag_push(name);
		expect(!status || status == GPUMEM_INVALID ||
			       status == GPUMEM_NO_HOST_MEMORY,
		       "push");
	}
}

static void step_verify(void)
{
	const struct model_block *block = model_any();

	if (!block || !block->filled || world.captured[block->stream])
		return;
	verify_block(block, block->bytes);
}

static const struct {
	unsigned weight;
	void (*fn)(void);
} steps[] = {
	{300, step_alloc}, {280, step_free},  {40, step_use_on},
	{8, step_trim},	   {6, step_limit},   {40, step_query},
	{40, step_look},   {30, step_verify}, {60, step_launch},
	{6, step_capture}, {3, step_drop},    {1, step_new_pool},
	{1, step_quiet},   {80, step_resize}, {60, step_streams},
	{60, step_tag},
};

static void random_step(void)
{
	unsigned sum = 0, pick;

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		sum += steps[i].weight;
	pick = (unsigned)random_below(sum);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		if (pick < steps[i].weight) {
			steps[i].fn();
			return;
		}
		pick -= steps[i].weight;
	}
}

static const struct config configs[] = {
	{"pages of 2 MiB", .vm = true, .page = "2MiB", .wait = true,
	 .streams = 3, .pools = 1},
	{"pages of 512 KiB, no waiting", .vm = true, .page = "512KiB",
	 .streams = 5, .pools = 2},
	{"capture", .vm = true, .page = "1MiB", .wait = true, .capture = true,
	 .streams = 4, .pools = 1},
	{"capture, two pools", .vm = true, .page = "512KiB", .capture = true,
	 .streams = 3, .pools = 2},
	{"segments", .page = "2MiB", .wait = true, .streams = 3, .pools = 2},
	{"segments, capture", .page = "4KiB", .capture = true, .streams = 4,
	 .pools = 1},
	{"alignment 16 KiB", .page = "64KiB", .alignment = "16KiB",
	 .streams = 3, .pools = 1},
	{"held", .vm = true, .page = "512KiB", .wait = true, .held = true,
	 .streams = 4, .pools = 1},
	{"held, capture, two pools", .vm = true, .page = "512KiB", .held = true,
	 .capture = true, .streams = 3, .pools = 2},
	{"held, segments", .page = "64KiB", .held = true, .capture = true,
	 .streams = 3, .pools = 1},
	{"no streams", .vm = true, .page = "512KiB", .streams = 1, .pools = 2,
	 .no_streams = true},
};

enum { CONFIGS = sizeof(configs) / sizeof(configs[0]) };

static void run(const struct config *config, uint64_t steps_wanted)
{
	model.name = config->name;
	world_start(config);
	for (model.step = 0; model.step < steps_wanted; model.step++) {
		random_step();
		check_all();
	}
	world_end();
	ok(true, "%s: %llu steps", config->name, (ull)steps_wanted);
}

int main(int argc, char **argv)
{
	uint64_t total = (uint64_t)scaled(300000, 100000);
	size_t only = argc > 2 ? strtoull(argv[2], NULL, 10) : CONFIGS;

#ifdef __SANITIZE_THREAD__
	total /= 5; /* ten times as slow, and it has one thread */
#endif
	alarm(900);
	model.seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	for (size_t i = 0; i < CONFIGS; i++) {
		if (only != CONFIGS && only != i)
			continue;
		random_seed(model.seed * CONFIGS + i);
		run(&configs[i], total / CONFIGS);
	}
	return done_testing();
}
