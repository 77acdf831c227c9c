/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Stream order: what work that was queued before a free may still use is not
 * handed to another stream, not unmapped and not given back before that work is
 * over; and after it, it is. Each way to free a block and each way to get its
 * memory, for small, large and huge blocks, with pages and with segments.
 * Streams that go are in stream_drop.c, capture and waiting in
 * stream_wait.c.
 */
#include "order.h"

static void free_own(void)
{
	scene_limit();
	scene_busy(scene.a);
	must(gpumem_free((void *)scene.x, scene.a));
	press(scene.b, "while its stream is busy");
	gate_finish(&scene.gate, scene.a);
	reuse(scene.b, "after that");
}

static void use_on(void)
{
	scene_limit();
	must(gpumem_use_on((void *)scene.x, scene.b));
	scene_busy(scene.b);
	must(gpumem_free((void *)scene.x, scene.a));
	is_uint(stats_of(scene.pool).pending_bytes, scene.x_bytes,
		"%s: it is pending", scene.name);
	press(scene.a, "on its own stream, while another uses it");
	press(scene.c, "on a third stream");
	gate_finish(&scene.gate, scene.b);
	reuse(scene.a, "after that");
	is_uint(stats_of(scene.pool).pending_bytes, 0, "%s: nothing is pending",
		scene.name);
	reuse(scene.c, "also on a third stream");
}

static void free_other(void)
{
	scene_limit();
	scene_busy(scene.b);
	must(gpumem_free((void *)scene.x, scene.b));
	press(scene.a, "on its own stream, freed on another");
	press(scene.c, "on a third stream");
	gate_finish(&scene.gate, scene.b);
	reuse(scene.a, "after that");
}

/* Both streams are busy with it: each of them is waited for. */
static void free_other_both(void)
{
	scene_limit();
	scene_busy(scene.b);
	gate_launch(&scene.second, scene.a, (void *)scene.x, scene.bytes);
	must(gpumem_free((void *)scene.x, scene.b));
	gate_finish(&scene.gate, scene.b);
	press(scene.b, "while its own stream is busy");
	press(scene.c, "on a third stream");
	gate_finish(&scene.second, scene.a);
	reuse(scene.c, "after that");
}

/* The first freed block's work is still under way when its memory, allocated
 * again on the same stream, is freed on another. */
static void free_twice(void)
{
	void *again;

	scene_limit();
	scene_busy(scene.a);
	must(gpumem_free((void *)scene.x, scene.a));
	again = new_block(scene.pool, scene.bytes, scene.a);
	is_ptr(again, (void *)scene.x, "%s: its own stream reuses it at once",
	       scene.name);
	must(gpumem_free(again, scene.b));
	press(scene.b, "where it was freed, while its own stream is busy");
	gate_finish(&scene.gate, scene.a);
	reuse(scene.b, "after that");
}

/* What other streams freed goes, and only what X lies in stays. */
static void trim_beside(void)
{
	size_t bytes = scene.bytes < 4 * MIB ? 4 * MIB : scene.bytes;
	void *y = new_block(scene.pool, bytes, scene.b);
	uint64_t before = reserved_of(scene.pool), most;

	scene_busy(scene.a);
	must(gpumem_free((void *)scene.x, scene.a));
	must(gpumem_free(y, scene.b));
	trim(scene.pool);
	most = before - bytes;
	ok(reserved_of(scene.pool) <= most,
	   "%s: a trim gives back all but what the busy stream may use",
	   scene.name);
	ok(is_safe(), "%s: and leaves that alone", scene.name);
	gate_finish(&scene.gate, scene.a);
	trim(scene.pool);
	is_uint(reserved_of(scene.pool), 0, "%s: later that goes too",
		scene.name);
}

/* Of whole pages. */
static void *new_pages(size_t bytes)
{
	void *ptr = NULL;

	must(gpumem_alloc_aligned(scene.pool, bytes, 2 * MIB, scene.b, &ptr));
	return ptr;
}

/* Two idle holes make room for one block, X does not. */
static void steal(void)
{
	size_t half = scene.bytes < 4 * MIB ? 4 * MIB : scene.bytes / 2;
	void *y1 = new_pages(half), *keep = new_pages(2 * MIB);
	void *y2 = new_pages(half), *z = NULL;

	scene_limit();
	scene_busy(scene.a);
	must(gpumem_free((void *)scene.x, scene.a));
	must(gpumem_free(y1, scene.b));
	must(gpumem_free(y2, scene.b));
	ok(!gpumem_alloc(scene.pool, 2 * half, scene.c, &z),
	   "%s: idle holes become one block", scene.name);
	scene.stolen = z && overlaps((uintptr_t)z, 2 * half);
	ok(is_safe(), "%s: and a busy one does not", scene.name);
	ok(stats_of(scene.pool).moved_bytes > 0, "%s: pages were moved",
	   scene.name);
	press(scene.c, "by moving its pages");
	gate_finish(&scene.gate, scene.a);
	reuse(scene.c, "after that");
	must(gpumem_free(keep, scene.b));
	must(gpumem_free(z, scene.c));
}

/* The device is full, and another pool asks. */
static void sibling(void)
{
	gpumem_pool *other = new_pool(0);
	void *ptr = NULL;

	must(gpumem_host_outside(0, 256 * MIB - gpumem_host_used_bytes(0)));
	scene_busy(scene.a);
	must(gpumem_free((void *)scene.x, scene.a));
	is_status(gpumem_alloc(other, scene.bytes, scene.b, &ptr),
		  GPUMEM_NO_MEMORY, "%s: no other pool gets it", scene.name);
	ok(is_safe(), "%s: and it is not given back for one", scene.name);
	gate_finish(&scene.gate, scene.a);
	is_status(gpumem_alloc(other, scene.bytes, scene.b, &ptr), GPUMEM_OK,
		  "%s: another pool gets it after that", scene.name);
	must(gpumem_host_outside(0, 0));
	must(gpumem_free(ptr, scene.b));
	must(gpumem_pool_destroy(other, 0));
}

/* The pool ends while the work is under way, which must be waited for. */
static void destroy_pool(void)
{
	pthread_t thread;

	gate_launch(&scene.gate, scene.a, NULL, 0);
	must(gpumem_free((void *)scene.x, scene.a));
	thread = gate_open_later(&scene.gate);
	must(gpumem_pool_destroy(scene.pool, 0));
	ok(atomic_load(&scene.gate.passed),
	   "%s: the end of a pool waits for it", scene.name);
	pthread_join(thread, NULL);
	scene.pool = new_pool(0);
}

static const struct scene_test tests[] = {
	{"freed on its stream", free_own, false, false},
	{"used on another stream", use_on, false, false},
	{"freed on another stream", free_other, false, false},
	{"freed on another, both busy", free_other_both, false, false},
	{"freed twice", free_twice, false, false},
	{"trimmed beside", trim_beside, false, false},
	{"stolen beside", steal, false, true},
	{"another pool", sibling, false, false},
	{"pool destroyed", destroy_pool, false, false},
};

int main(void)
{
	alarm(300);
	scene_run(tests, sizeof(tests) / sizeof(tests[0]));
	return done_testing();
}
