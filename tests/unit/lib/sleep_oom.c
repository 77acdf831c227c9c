/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Each request of the library for host memory in a sleep and in a wake fails
 * once, and all from one on: nothing is lost, the laws hold, and the same call
 * works when there is host memory again.
 */
#include "sleep_scene.h"
#include <limits.h>

#if ADDRESS_SANITIZER || THREAD_SANITIZER
static void expect(bool right, const char *what)
{
	(void)right;
	(void)what;
}

int main(void)
{
	skip_all("a sanitizer has a malloc of its own");
	return EXIT_SUCCESS;
}
#else

#include "host_requests.h"

static unsigned long nth;
static unsigned wrong;

static void expect(bool right, const char *what)
{
	if (!right && wrong++ < 5)
		diag("request %lu: %s: %s", nth, what, last_text());
}

static void fail_begin(bool onward)
{
	atomic_store(&requests, 0);
	atomic_store(&first_failing, nth);
	atomic_store(&last_failing, onward ? ULONG_MAX : nth);
}

/* Returns how many there were. */
static unsigned long fail_end(void)
{
	atomic_store(&first_failing, ULONG_MAX);
	return atomic_load(&requests);
}

static unsigned long run_sleep(bool onward)
{
	gpumem_status status;
	unsigned long made;

	scene_begin();
	fail_begin(onward);
	status = scene_sleep();
	made = fail_end();
	expect(!status || status == GPUMEM_NO_HOST_MEMORY, "another status");
	scene_lawful();
	if (status)
		expect(!scene_sleep(), "it does not sleep later");
	expect(!wake(scene.pool, 0), "it does not wake");
	scene_awake();
	scene_end();
	return made;
}

static unsigned long run_wake(bool onward)
{
	gpumem_status status;
	unsigned long made;

	scene_begin();
	must(scene_sleep());
	fail_begin(onward);
	status = wake(scene.pool, 0);
	made = fail_end();
	expect(!status || status == GPUMEM_NO_HOST_MEMORY, "another status");
	scene_lawful();
	if (status)
		expect(!wake(scene.pool, 0), "it does not wake later");
	scene_awake();
	scene_end();
	return made;
}

/* Blocks are freed in their sleep, which no want of host memory prevents. */
static unsigned long run_frees(bool onward)
{
	unsigned long made;

	scene_begin();
	must(scene_sleep());
	fail_begin(onward);
	for (size_t i = 0; i < BLOCKS; i++)
		if (scene.block[i] && i % 3) {
			expect(!gpumem_free(scene.block[i], scene_stream(i)),
			       "it is not freed");
			scene.block[i] = NULL;
		}
	made = fail_end();
	scene_lawful();
	expect(!wake(scene.pool, 0), "it does not wake");
	scene_awake();
	scene_end();
	return made;
}

static void sweep(const char *name, unsigned long (*run)(bool onward),
		  bool onward)
{
	unsigned long made;

	nth = 0;
	do {
		nth++;
		made = run(onward);
	} while (made >= nth && !wrong);
	is_uint(wrong, 0, "%s, %s: N up to %lu", name,
		onward ? "from the Nth on" : "the Nth", nth);
}

int main(void)
{
	alarm(300);
	if (!requests_begin())
		skip_all("the library's code is not to be found");
	atomic_store(&first_failing, ULONG_MAX);
	scene_tags();
	for (int onward = 0; onward < 2; onward++) {
		sweep("a sleep", run_sleep, onward);
		sweep("a wake", run_wake, onward);
		sweep("frees", run_frees, onward);
	}
	scene.flags = GPUMEM_SLEEP_PAGEABLE;
	for (int onward = 0; onward < 2; onward++) {
		sweep("a sleep to pageable memory", run_sleep, onward);
		sweep("a wake from it", run_wake, onward);
	}
	return done_testing();
}

#endif
