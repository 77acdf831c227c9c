/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Stream order where a stream is captured, so that no event can be recorded on
 * it: on a device that frees memory beside a capture, and on one that does not.
 * The scenes are those of stream_order.c.
 */
#include "order.h"

static void capture(gpumem_stream stream, bool on)
{
	must(gpumem_host_capture(0, stream, on));
}

static void capture_own(void)
{
	uint64_t before;

	scene_limit();
	scene_busy(scene.a);
	must(gpumem_free((void *)scene.x, scene.a));
	capture(scene.a, true);
	press(scene.b, "while its stream is captured");
	before = reserved_of(scene.pool);
	is_uint(trim(scene.pool), 0, "%s: a trim gives nothing back",
		scene.name);
	is_uint(reserved_of(scene.pool), before, "%s: indeed", scene.name);
	capture(scene.a, false);
	press(scene.b, "after the capture, while its stream is busy");
	gate_finish(&scene.gate, scene.a);
	reuse(scene.b, "after that");
}

static void capture_free(void)
{
	scene_limit();
	scene_busy(scene.a);
	capture(scene.a, true);
	must(gpumem_free((void *)scene.x, scene.a));
	press(scene.b, "freed while its stream is captured");
	capture(scene.a, false);
	gate_finish(&scene.gate, scene.a);
	reuse(scene.b, "after that");
}

/* That the other stream uses it cannot be recorded when it is freed. */
static void capture_user(void)
{
	scene_limit();
	must(gpumem_use_on((void *)scene.x, scene.b));
	scene_busy(scene.b);
	capture(scene.b, true);
	must(gpumem_free((void *)scene.x, scene.a));
	press(scene.a, "while its user is captured");
	press(scene.c, "on a third stream");
	capture(scene.b, false);
	press(scene.a, "after the capture, while its user is busy");
	gate_finish(&scene.gate, scene.b);
	reuse(scene.a, "after that");
}

/* One captured stream may forbid to unmap anything, though X is idle. */
static void capture_beside(void)
{
	must(gpumem_free(new_block(scene.pool, 1, scene.b), scene.b));
	must(gpumem_free((void *)scene.x, scene.a));
	capture(scene.b, true);
	is_uint(trim(scene.pool), 0, "%s: a trim gives nothing back",
		scene.name);
	ok(is_safe(), "%s: indeed", scene.name);
	capture(scene.b, false);
	ok(trim(scene.pool) >= scene.x_bytes, "%s: after the capture it does",
	   scene.name);
}

/* The same where the pool knows the stream only as a user of a block. */
static void capture_beside_user(void)
{
	void *y = new_block(scene.pool, scene.bytes, scene.a);

	must(gpumem_use_on(y, scene.b));
	must(gpumem_free((void *)scene.x, scene.a));
	capture(scene.b, true);
	is_uint(trim(scene.pool), 0, "%s: a trim gives nothing back",
		scene.name);
	ok(is_safe(), "%s: indeed", scene.name);
	capture(scene.b, false);
	must(gpumem_free(y, scene.a));
	ok(trim(scene.pool) >= scene.x_bytes, "%s: after the capture it does",
	   scene.name);
}

/* Or forbids no such thing. */
static void capture_beside_goes(void)
{
	must(gpumem_free(new_block(scene.pool, 1, scene.b), scene.b));
	trim(scene.pool);
	must(gpumem_free((void *)scene.x, scene.a));
	capture(scene.b, true);
	ok(trim(scene.pool) >= scene.x_bytes, "%s: a trim gives it back",
	   scene.name);
	capture(scene.b, false);
}

static void capture_end_of(void)
{
	must(gpumem_free((void *)scene.x, scene.a));
	capture(scene.a, true);
	is_status(gpumem_pool_drop_stream(scene.pool, scene.a),
		  GPUMEM_CAPTURING, "%s: its stream is not dropped",
		  scene.name);
	is_status(gpumem_stream_destroy(device, scene.a), GPUMEM_CAPTURING,
		  "%s: nor destroyed", scene.name);
	is_status(gpumem_pool_destroy(scene.pool, 0), GPUMEM_BUSY,
		  "%s: nor its pool", scene.name);
	is_status(gpumem_pool_destroy(scene.pool, GPUMEM_DESTROY_FORCE),
		  GPUMEM_BUSY, "%s: not even by force", scene.name);
	sound(scene.pool, "%s: the pool is sound", scene.name);
	capture(scene.a, false);
}

/* Programs allocate while they capture. */
static void capture_grow(void)
{
	void *ptr = NULL;

	capture(scene.a, true);
	is_status(gpumem_alloc(scene.pool, scene.bytes, scene.a, &ptr),
		  GPUMEM_OK, "%s: a captured stream gets new memory",
		  scene.name);
	ok(!overlaps((uintptr_t)ptr, scene.bytes), "%s: not X's", scene.name);
	must(gpumem_free(ptr, scene.a));
	capture(scene.a, false);
	must(gpumem_free((void *)scene.x, scene.a));
}

/* Who may not be disturbed at all is not waited beside. */
static void capture_no_wait(void)
{
	must(gpumem_free(new_block(scene.pool, 1, scene.b), scene.b));
	scene_limit();
	scene_busy(scene.a);
	must(gpumem_free((void *)scene.x, scene.a));
	capture(scene.b, true);
	press(scene.c, "and nothing waits while a stream is captured");
	capture(scene.b, false);
	gate_finish(&scene.gate, scene.a);
	reuse(scene.c, "after that");
}

static void capture_wait(void)
{
	gpumem_stream stream = new_stream();

	must(gpumem_free(new_block(scene.pool, 1, stream), stream));
	scene_limit();
	scene_busy(scene.a);
	must(gpumem_free((void *)scene.x, scene.a));
	capture(stream, true);
	wait_for_x(scene.c);
	capture(stream, false);
	must(gpumem_stream_destroy(device, stream));
}

static const struct scene_test captures[] = {
	{"captured", capture_own, false, false},
	{"freed in a capture", capture_free, false, false},
	{"its user captured", capture_user, false, false},
	{"captured and to end", capture_end_of, false, false},
	{"captured and to grow", capture_grow, false, false},
};

static const struct scene_test forbidden[] = {
	{"another captured", capture_beside, false, false},
	{"a user captured", capture_beside_user, false, false},
	{"captured, with waiting", capture_no_wait, true, false},
};

static const struct scene_test allowed[] = {
	{"another captured, and free", capture_beside_goes, false, false},
	{"captured, and waiting", capture_wait, true, false},
};

int main(void)
{
	alarm(300);
	scene_run(captures, sizeof(captures) / sizeof(captures[0]));
	scene_run(allowed, sizeof(allowed) / sizeof(allowed[0]));
	option("host.capture_frees", "off");
	scene_run(captures, sizeof(captures) / sizeof(captures[0]));
	scene_run(forbidden, sizeof(forbidden) / sizeof(forbidden[0]));
	return done_testing();
}
