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

int main(void)
{
	alarm(300);
	scene_tags();
	sweep.suffix = "";
	run_again();
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
