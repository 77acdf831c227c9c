/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * gpumem_resize() while each driver call that it makes fails once, and all from
 * one on: the block is as it was, pool and device agree, and once nothing fails
 * it grows. After a loss blocks shrink and do not grow.
 */
#include "sweep.h"

enum { PAGE = 512 * KIB, HAS = 3 * PAGE, WANTS = 24 * PAGE };

static gpumem_pool *pool;
static gpumem_stream other;
static struct gate gate;
static char *x;

/* X has a free block behind it, and then a hole. */
static void into_new_pages(void)
{
	void *behind;

	x = new_block(pool, HAS, NULL);
	behind = new_block(pool, PAGE / 2, NULL);
	must(gpumem_free(behind, NULL));
}

/* The same, when pages have to move there, some of another stream. */
static void into_moved_pages(void)
{
	void *elsewhere[2];

	elsewhere[0] = new_block(pool, 20 * PAGE, NULL);
	(void)new_block(pool, PAGE, NULL);
	elsewhere[1] = new_block(pool, 20 * PAGE, other);
	(void)new_block(pool, PAGE, NULL);
	into_new_pages();
	must(gpumem_free(elsewhere[0], NULL));
	must(gpumem_free(elsewhere[1], other));
	must(gpumem_pool_set_limit(pool, reserved_of(pool)));
}

/* Memory of another stream, which has to be asked. */
static void into_free_memory(void)
{
	void *behind;

	x = new_block(pool, HAS, NULL);
	behind = new_block(pool, WANTS - HAS, NULL);
	must(gpumem_free(behind, NULL));
	must(gpumem_pool_set_limit(pool, reserved_of(pool)));
	must(gpumem_stream_sync(device, NULL));
	behind = new_block(pool, WANTS - HAS, other);
	gate_launch(&gate, other, NULL, 0);
	must(gpumem_free(behind, other));
	must(gpumem_pool_trim(pool, UINT64_MAX, NULL));
	gate_finish(&gate, other);
}

static const struct {
	const char *name;
	void (*fn)(void);
	bool asks; /* the event, and if that fails the stream */
} scenes[] = {
	{"new pages", into_new_pages, false},
	{"moved pages", into_moved_pages, false},
	{"free memory", into_free_memory, true},
};

static void open_scene(size_t number)
{
	device_start("256MiB", true);
	pool = new_pool(0);
	other = new_stream();
	scenes[number].fn();
	memset(x, 0x41, HAS);
}

static void close_scene(void)
{
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	must(gpumem_stream_destroy(device, other));
	if (!device_end())
		bail("the device keeps memory");
}

static bool is_as_it_was(void)
{
	struct gpumem_block info = GPUMEM_INIT(struct gpumem_block);

	must(gpumem_query(x, &info));
	for (size_t i = 0; i < HAS; i++)
		if (x[i] != 0x41)
			return false;
	return info.bytes == HAS && info.requested_bytes == HAS;
}

static bool agrees(void)
{
	return gpumem_pool_check(pool) == GPUMEM_OK &&
	       reserved_of(pool) == gpumem_host_used_bytes(0);
}

static size_t scene;
static unsigned failed;

static void run(void)
{
	gpumem_status status;

	open_scene(scene);
	faults_begin();
	status = gpumem_resize(x, WANTS, NULL, NULL);
	faults_end();
	if (status) {
		failed++;
		want(status == GPUMEM_BUSY || status == GPUMEM_DRIVER,
		     gpumem_status_name(status));
		want(is_as_it_was(), "the block has changed");
		want(agrees(), "not grown");
		must(gpumem_resize(x, WANTS, NULL, NULL));
	}
	memset(x + HAS, 0x42, WANTS - HAS);
	want(agrees(), "grown");
	close_scene();
}

static void resize_each(const char *suffix)
{
	unsigned long calls;

	failed = 0;
	calls = sweep_calls(suffix, ULONG_MAX, run);
	is_uint(sweep.bad, 0, "%s, *@N%s: N up to %lu", scenes[scene].name,
		suffix, calls);
	ok(calls && (failed > 0) == (*suffix == '+' || !scenes[scene].asks),
	   "%u no", failed);
}

static void lost(void)
{
	uint64_t usable;

	open_scene(0);
	must(gpumem_host_faults("*@1+:lost"));
	is_status(gpumem_resize(x, WANTS, NULL, NULL), GPUMEM_LOST,
		  "a block does not grow when the device gets lost");
	is_status(gpumem_resize(x, HAS + 1, NULL, NULL), GPUMEM_LOST,
		  "nor later, when there would be room");
	is_status(gpumem_resize(x, PAGE, NULL, &usable), GPUMEM_OK,
		  "but it can shrink");
	is_uint(usable, PAGE, "to what was asked for");
	sound(pool, "the pool is sound");
	must(gpumem_host_faults(NULL));
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	must(gpumem_device_close(device));
}

int main(void)
{
	static const char *const suffixes[] = {":no_memory", ":driver",
					       "+:no_memory", "+:driver"};

	alarm(120);
	option("host.page", "512KiB");
	for (scene = 0; scene < sizeof(scenes) / sizeof(scenes[0]); scene++)
		for (size_t k = 0; k < 4; k++)
			resize_each(suffixes[k]);
	lost();
	return done_testing();
}
