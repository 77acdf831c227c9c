/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A pool for tests in which something fails while it falls asleep or wakes up:
 * two streams, blocks of three fates among free memory and slabs. It asks
 * expect() whether all is as it has to be. Include this once, where expect() is
 * known. Only the main thread calls what is here.
 */
#ifndef LIB_SLEEP_SCENE_H
#define LIB_SLEEP_SCENE_H

#include "sleep.h"

enum { PAGE = 256 * KIB, BLOCKS = 32 };

static void expect(bool right, const char *what);

static struct {
	gpumem_pool *pool;
	gpumem_stream stream;
	unsigned char *block[BLOCKS];
	uint32_t keeps, drops, zeros;
	uint32_t flags;
	const char *folder;
} scene;

LIB_USE size_t scene_size(size_t i)
{
	static const size_t sizes[] = {500, 5 * KIB, 100 * KIB, PAGE - 1,
				       PAGE + 1};

	return sizes[i % 5];
}

LIB_USE gpumem_stream scene_stream(size_t i)
{
	return i % 4 ? NULL : scene.stream;
}

LIB_USE void scene_begin(void)
{
	device_start("64MiB", true);
	scene.pool = new_pool(0);
	scene.stream = new_stream();
	for (size_t i = 0; i < BLOCKS; i++) {
		const uint32_t tags[] = {scene.keeps, 0, scene.drops,
					 scene.zeros};

		scene.block[i] =
			tagged_block(scene.pool, scene_size(i),
				     tags[i * 4 / BLOCKS], scene_stream(i));
		mark_block(scene.block[i], scene_size(i), (uint32_t)i);
	}
	for (size_t i = 3; i < BLOCKS; i += 7) {
		must(gpumem_free(scene.block[i], scene_stream(i)));
		scene.block[i] = NULL;
	}
}

LIB_USE void scene_tags(void)
{
	scene.keeps = tag_of("keeps", GPUMEM_SLEEP_KEEP);
	scene.drops = tag_of("drops", GPUMEM_SLEEP_DROP);
	scene.zeros = tag_of("zeros", GPUMEM_SLEEP_ZERO);
	option("page", "256KiB");
	option("host.page", "256KiB");
}

LIB_USE void scene_lawful(void)
{
	struct gpumem_stats stats = stats_of(scene.pool);
	const char *law = unlawful(&stats);

	expect(gpumem_pool_check(scene.pool) == GPUMEM_OK, "not sound");
	expect(!law, law ? law : "");
	expect(stats.reserved.current == gpumem_host_used_bytes(0),
	       "pool and device do not agree");
}

/* What keeps has its content; a stream can use all. */
LIB_USE void scene_awake(void)
{
	bool right = true;

	scene_lawful();
	expect(!stats_of(scene.pool).sleeping.current, "something sleeps");
	for (size_t i = 0; i < BLOCKS / 2; i++)
		right &= !scene.block[i] ||
			 is_marked(scene.block[i], scene_size(i), (uint32_t)i);
	expect(right, "what keeps has another content");
	for (size_t i = BLOCKS / 2; i < BLOCKS; i++)
		if (scene.block[i])
			memset(scene.block[i], 1, scene_size(i));
}

LIB_USE gpumem_status scene_sleep(void)
{
	return sleep_with(scene.pool, 0, scene.flags, scene.folder);
}

LIB_USE void scene_end(void)
{
	must(gpumem_pool_destroy(scene.pool, GPUMEM_DESTROY_FORCE));
	must(gpumem_stream_destroy(device, scene.stream));
	expect(!gpumem_host_kind_bytes(0, GPUMEM_KIND_PINNED),
	       "pinned memory is left behind");
	if (!device_end())
		bail("the device keeps memory");
}

#endif
