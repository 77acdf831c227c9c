/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Each driver call of a sleep and of a wake fails once, and all from one on:
 * nothing is lost, the laws hold, and once nothing fails the same call works.
 */
#include "sweep.h"
#include "sleep_scene.h"

static void expect(bool right, const char *what)
{
	want(right, what);
}

static bool is_expected(gpumem_status status)
{
	return status == GPUMEM_DRIVER || status == GPUMEM_NO_MEMORY ||
	       status == GPUMEM_BUSY || status == GPUMEM_LOST;
}

/* After the loss of the device nothing can be asked of it. */
static void end_lost(void)
{
	want(gpumem_pool_check(scene.pool) == GPUMEM_OK, "not sound");
	must(gpumem_pool_destroy(scene.pool, GPUMEM_DESTROY_FORCE));
	must(gpumem_device_close(device));
}

static void run_sleep(void)
{
	gpumem_status status;

	scene_begin();
	faults_begin();
	status = scene_sleep();
	faults_end();
	if (sweep.lost) {
		end_lost();
		return;
	}
	want(!status || is_expected(status), gpumem_status_name(status));
	scene_lawful();
	if (status)
		want(!scene_sleep(), "it does not sleep later");
	scene_lawful();
	want(!wake(scene.pool, 0), "it does not wake");
	scene_awake();
	scene_end();
}

static void run_wake(void)
{
	gpumem_status status;
	uint64_t sleeping;

	scene_begin();
	must(scene_sleep());
	sleeping = stats_of(scene.pool).sleeping.current;
	faults_begin();
	status = wake(scene.pool, 0);
	faults_end();
	if (sweep.lost) {
		end_lost();
		return;
	}
	want(!status || is_expected(status), gpumem_status_name(status));
	scene_lawful();
	want(!status || stats_of(scene.pool).sleeping.current <= sleeping,
	     "more sleeps than before");
	if (status)
		want(!wake(scene.pool, 0), "it does not wake later");
	scene_awake();
	scene_end();
}

/* After a wake that failed some have memory, and sleep all the same. */
static void run_again(void)
{
	gpumem_status status;

	scene_begin();
	must(scene_sleep());
	must(gpumem_host_faults("copy@3:driver;unmap@1:driver"));
	status = wake(scene.pool, 0);
	must(gpumem_host_faults(NULL));
	is_status(status, GPUMEM_DRIVER, "a wake fails, and cannot be undone");
	scene_lawful();
	is_status(scene_sleep(), GPUMEM_OK, "it sleeps again");
	scene_lawful();
	is_uint(reserved_of(scene.pool), 0, "and has no memory");
	must(wake(scene.pool, 0));
	scene_awake();
	scene_end();
	is_uint(sweep.bad, 0, "all is as it was");
}

static unsigned char *side[2];

static void sides(const char *when)
{
	ok(is_marked(side[0], PAGE, 1) && is_marked(side[1], PAGE, 2), "%s",
	   when);
	is_status(gpumem_pool_check(scene.pool), GPUMEM_OK, "sound");
}

/* Two pages side by side, each of a sleep of its own, are in one handle after a
 * wake that failed and cannot be undone. */
static void one_handle(bool one_by_one)
{
	/* Without a word of their own, so that they may share it. */
	const uint32_t tags[] = {tag_of("first", GPUMEM_SLEEP_INHERIT),
				 tag_of("second", GPUMEM_SLEEP_INHERIT)};

	device_start("64MiB", true);
	scene.pool = new_pool(0);
	for (uint32_t i = 0; i < 2; i++) {
		side[i] = tagged_block(scene.pool, PAGE, tags[i], NULL);
		mark_block(side[i], PAGE, i + 1);
	}
	is_ptr(side[1], side[0] + PAGE, "side by side");
	must(sleep_with(scene.pool, tags[0], 0, NULL));
	must(sleep_with(scene.pool, tags[1], 0, NULL));
	must(gpumem_host_faults("copy@1:driver;unmap@1:driver"));
	is_status(wake(scene.pool, 0), GPUMEM_DRIVER, "a wake fails");
	must(gpumem_host_faults(NULL));
	if (one_by_one) {
		must(wake(scene.pool, tags[0]));
		sides("what is on one handle wakes together");
	}
	must(sleep_all(scene.pool));
	is_uint(reserved_of(scene.pool), 0, "both sleep again");
	must(wake(scene.pool, 0));
	sides("both are as they were");
	must(gpumem_pool_destroy(scene.pool, GPUMEM_DESTROY_FORCE));
	ok(device_end(), "all memory is back");
}

/* A copy that the driver does not wait for reads its block until it is over. */
static void copy_goes_on(void)
{
	gpumem_stream busy;
	void *block;

	device_start("64MiB", true);
	scene.pool = new_pool(0);
	busy = new_stream();
	for (int i = 0; i < 20; i++) {
		block = new_block(scene.pool, 8 * MIB, busy);
		must(gpumem_host_faults("stream_sync@1:driver"));
		is_status(sleep_all(scene.pool), GPUMEM_DRIVER, "it fails");
		must(gpumem_host_faults(NULL));
		must(gpumem_free(block, busy));
		must(gpumem_pool_trim(scene.pool, 0, NULL));
		is_status(sleep_all(scene.pool), GPUMEM_OK, "nothing is lost");
	}
	must(gpumem_pool_destroy(scene.pool, GPUMEM_DESTROY_FORCE));
	must(gpumem_stream_destroy(device, busy));
	ok(device_end(), "all memory is back");
}

int main(void)
{
	alarm(900);
	scene_tags();
	sweep.suffix = "";
	run_again();
	one_handle(false);
	one_handle(true);
	copy_goes_on();
	sweep_scene("a sleep", run_sleep, 10);
	sweep_scene("a wake", run_wake, 10);
	scene.flags = GPUMEM_SLEEP_PAGEABLE | GPUMEM_SLEEP_RETAIN;
	sweep_scene("a sleep to pageable memory", run_sleep, 10);
	sweep_scene("a wake from pageable memory", run_wake, 10);
	scene.folder = ".";
	sweep_scene("a sleep to a file", run_sleep, 10);
	sweep_scene("a wake from a file", run_wake, 10);
	return done_testing();
}
