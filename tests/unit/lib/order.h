/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A scene for the tests of stream order: a pool that may not grow, streams, and
 * a block X that work on a stream, held at a gate, is going to write. grab()
 * and press() do what might get hold of X's memory too early. The main thread
 * only.
 */
#ifndef LIB_ORDER_H
#define LIB_ORDER_H

#include "fixture.h"

enum { GRAB_MAX = 9000 };

static struct scene {
	const char *name;
	gpumem_pool *pool;
	gpumem_stream a, b, c;
	bool vm;
	size_t bytes; /* asked for X */
	uintptr_t x;
	uint64_t x_bytes; /* what it holds */
	struct gate gate, second;
	bool stolen; /* X's memory was handed out */
} scene;

static bool overlaps(uintptr_t address, uint64_t bytes)
{
	return address < scene.x + scene.x_bytes && scene.x < address + bytes;
}

/* All that the pool can still give to `stream` in blocks of `bytes`, as far as
 * it is not very many, given back at once. */
LIB_USE void grab(gpumem_stream stream, size_t bytes)
{
	static void *ptr[GRAB_MAX];
	unsigned count = 0;
	gpumem_status status = GPUMEM_OK;

	while (count < GRAB_MAX) {
		status = gpumem_alloc(scene.pool, bytes, stream, &ptr[count]);
		if (status)
			break;
		if (overlaps((uintptr_t)ptr[count++], bytes))
			scene.stolen = true;
	}
	if (status && status != GPUMEM_LIMIT && status != GPUMEM_NO_MEMORY)
		bail("%s: %s", gpumem_status_name(status), last_text());
	for (unsigned i = 0; i < count; i++)
		must(gpumem_free(ptr[i], stream));
}

struct cover {
	uint64_t bytes;
};

static bool add_cover(const struct gpumem_block *block, void *user)
{
	struct cover *cover = user;
	uintptr_t from = (uintptr_t)block->ptr, end = from + block->bytes;
	uintptr_t x_end = scene.x + scene.x_bytes;

	if (block->state == GPUMEM_BLOCK_HOLE || !overlaps(from, block->bytes))
		return true;
	cover->bytes +=
		(end < x_end ? end : x_end) - (from > scene.x ? from : scene.x);
	return true;
}

/* X's memory is still behind its addresses. */
LIB_USE bool is_backed(void)
{
	struct cover cover = {0};

	must(gpumem_block_visit(scene.pool, add_cover, &cover));
	return cover.bytes == scene.x_bytes;
}

/* True while nobody got X's memory. Otherwise the work at the gates does not
 * write, so that the test says so, and does not crash. */
LIB_USE bool is_safe(void)
{
	if (!scene.stolen && is_backed())
		return true;
	atomic_store(&scene.gate.harmless, true);
	atomic_store(&scene.second.harmless, true);
	return false;
}

/* Everything that might take X for the stream: blocks of its size, of others,
 * aligned ones, and a trim. X must not be touched. */
LIB_USE void press(gpumem_stream stream, const char *when)
{
	gpumem_status status;
	void *ptr = NULL;

	scene.stolen = false;
	grab(stream, scene.bytes);
	grab(stream, 300 * KIB);
	grab(stream, 1);
	status = gpumem_alloc_aligned(scene.pool, scene.bytes, 4 * MIB, stream,
				      &ptr);
	if (!status) {
		scene.stolen |= overlaps((uintptr_t)ptr, scene.bytes);
		must(gpumem_free(ptr, stream));
	}
	ok(is_safe(), "%s: no block gets it %s", scene.name, when);
	trim(scene.pool);
	ok(is_safe(), "%s: no trim gives it back %s", scene.name, when);
	grab(stream, scene.bytes);
	ok(is_safe(), "%s: no block gets it after a trim, %s", scene.name,
	   when);
	sound(scene.pool, "%s: the pool is sound", scene.name);
}

/* Now its memory is free for the stream: some block gets it. */
LIB_USE void reuse(gpumem_stream stream, const char *when)
{
	scene.stolen = false;
	grab(stream, scene.bytes);
	ok(scene.stolen || !is_backed(), "%s: its memory is used again %s",
	   scene.name, when);
}

/* X is live on stream A, and the pool cannot grow. */
LIB_USE void scene_open(const char *name, size_t bytes, bool vm, bool wait)
{
	struct gpumem_block info = GPUMEM_INIT(struct gpumem_block);
	static char text[128];

	snprintf(text, sizeof(text), "%s, %zu KiB, %s", name, bytes / KIB,
		 vm ? "pages" : "segments");
	memset(&scene, 0, sizeof(scene));
	scene.name = text;
	scene.bytes = bytes;
	scene.vm = vm;
	option("wait", wait ? "on" : "off");
	/* Not before there is need: tests/unit/lib/follow.c has that. */
	option("stream_waste", "1000%");
	device_start("256MiB", vm);
	scene.pool = new_pool(0);
	scene.a = new_stream();
	scene.b = new_stream();
	scene.c = new_stream();
	scene.x = (uintptr_t)new_block(scene.pool, bytes, scene.a);
	must(gpumem_query((void *)scene.x, &info));
	scene.x_bytes = info.bytes;
}

/* From here on the pool has what it has. */
LIB_USE void scene_limit(void)
{
	must(gpumem_pool_set_limit(scene.pool, reserved_of(scene.pool)));
}

/* Work on the stream will write X, once it is let go. */
LIB_USE void scene_busy(gpumem_stream stream)
{
	gate_launch(&scene.gate, stream, (void *)scene.x, scene.bytes);
}

enum { OURS = 0xa5 };

LIB_USE bool holds_ours(const unsigned char *ptr)
{
	size_t i = 0;

	while (i < scene.bytes && ptr[i] == OURS)
		i++;
	return i == scene.bytes;
}

/* Allocates until X's memory comes: when the work is over, or behind that work,
 * which then writes before all that is queued on the stream from now on. */
LIB_USE void wait_for_x(gpumem_stream stream)
{
	static void *ptr[GRAB_MAX];
	pthread_t thread = gate_open_later(&scene.gate);
	bool had = false;
	unsigned count = 0;

	while (!had && count < GRAB_MAX) {
		if (gpumem_alloc(scene.pool, scene.bytes, stream, &ptr[count]))
			break;
		must(gpumem_fill(device, ptr[count], OURS, scene.bytes,
				 stream));
		had = overlaps((uintptr_t)ptr[count++], scene.bytes) ||
		      !is_backed();
	}
	ok(had, "%s: it waits for it", scene.name);
	pthread_join(thread, NULL);
	must(gpumem_stream_sync(device, scene.a));
	must(gpumem_stream_sync(device, scene.b));
	must(gpumem_stream_sync(device, scene.c));
	ok(atomic_load(&scene.gate.passed) && count &&
		   holds_ours(ptr[count - 1]),
	   "%s: as long as it has to", scene.name);
	while (count > 0)
		must(gpumem_free(ptr[--count], stream));
	sound(scene.pool, "%s: the pool is sound", scene.name);
}

/* Stream A may be gone (NULL). */
LIB_USE void scene_close(void)
{
	struct gpumem_stats stats;

	if (scene.a)
		must(gpumem_stream_destroy(device, scene.a));
	must(gpumem_stream_destroy(device, scene.b));
	must(gpumem_stream_destroy(device, scene.c));
	trim(scene.pool);
	stats = stats_of(scene.pool);
	ok(!stats.pending_bytes && !stats.reserved.current,
	   "%s: in the end nothing is kept", scene.name);
	must(gpumem_pool_destroy(scene.pool, 0));
	ok(device_end(), "%s: the device is empty", scene.name);
	ok(!gpumem_host_capture_violations(), "%s: no capture was disturbed",
	   scene.name);
}

struct scene_test {
	const char *name;
	void (*fn)(void);
	bool wait, vm_only;
};

/* Each scene for small, large and huge blocks, with pages and with segments. */
LIB_USE void scene_run(const struct scene_test *tests, size_t count)
{
	static const size_t bytes[] = {4 * KIB, 3 * MIB, 64 * MIB};

	for (size_t i = 0; i < 6 * count; i++) {
		const struct scene_test *test = &tests[i % count];
		bool vm = i / count % 2 == 0;

		if (test->vm_only && !vm)
			continue;
		scene_open(test->name, bytes[i / count / 2], vm, test->wait);
		test->fn();
		scene_close();
	}
}

#endif
