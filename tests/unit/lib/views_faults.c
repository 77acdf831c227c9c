/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Every driver call of a program with views fails once, and every one from some
 * call on: no free fails, no memory with a held view is given away, and once
 * nothing fails any more all goes back.
 */
#include "fixture.h"

enum { BLOCKS = 6 };

static const size_t sizes[BLOCKS] = {300, 5000, MIB, 3 * MIB, 300, 33 * MIB};

static gpumem_pool *pool;
static const char *mode;
static unsigned long nth, bad;

static void want(bool right, const char *what)
{
	if (right)
		return;
	bad++;
	diag("%s, call %lu: %s: %s", mode, nth, what, last_text());
}

/* Allocates, makes views, holds every other one, and frees. */
static void program(void **held, bool quiet)
{
	gpumem_stream stream = NULL;
	void *ptr[BLOCKS] = {NULL}, *view, *object;
	uint64_t offset;

	if (gpumem_stream_create(device, &stream))
		stream = NULL;
	for (int i = 0; i < BLOCKS; i++) {
		if (gpumem_alloc(pool, sizes[i], stream, &ptr[i]))
			continue;
		view = &ptr;
		(void)!gpumem_object(ptr[i], &object, &offset);
		if (gpumem_view(ptr[i], &view)) {
			want(view == &ptr, "a failure wrote its output");
			want(!quiet, "a view failed");
			continue;
		}
		if (i % 2) {
			gpumem_host_object_retain(view);
			held[i] = view;
		}
		if (i % 3 == 0)
			(void)!gpumem_use_on(ptr[i], NULL);
	}
	want(!gpumem_pool_check(pool), "sound while live");
	for (int i = 0; i < BLOCKS; i++)
		want(!gpumem_free(ptr[i], i % 2 ? stream : NULL), "free");
	(void)!gpumem_pool_trim(pool, 0, NULL);
	if (stream)
		(void)!gpumem_stream_destroy(device, stream);
	(void)!gpumem_pool_trim(pool, 0, NULL);
}

static void settle(void **held, bool lost)
{
	uint64_t left = 0;

	want(!gpumem_pool_check(pool), "sound afterwards");
	for (int i = 0; i < BLOCKS; i++) {
		if (!held[i])
			continue;
		left += sizes[i];
		want(gpumem_host_object_memory(held[i]) != NULL,
		     "memory was given away under a held view");
	}
	want(lost || stats_of(pool).quarantined_bytes >= left,
	     "less is in quarantine than is held");
	want(!left || lost ||
		     gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE) ==
			     GPUMEM_BUSY,
	     "the pool went with views held");
	for (int i = 0; i < BLOCKS; i++)
		if (held[i])
			gpumem_host_object_release(held[i]);
	if (lost)
		return;
	must(gpumem_pool_trim(pool, 0, NULL));
	want(!stats_of(pool).quarantined_bytes, "quarantine does not end");
	want(!reserved_of(pool), "memory stays");
	want(!gpumem_host_views(0), "views stay");
}

static bool run(const char *suffix, bool last)
{
	void *held[BLOCKS] = {NULL};
	bool lost = strstr(suffix, "lost") != NULL, fired;
	char faults[64];

	must(gpumem_device_open("host:0", &device));
	pool = new_pool(0);
	snprintf(faults, sizeof(faults), "*@%lu%s", nth, suffix);
	must(gpumem_host_faults(faults));
	program(held, false);
	fired = gpumem_host_calls() >= nth;
	must(gpumem_host_faults(NULL));
	settle(held, lost && fired);
	want(!gpumem_pool_destroy(pool, 0), "the pool ends");
	want((lost && fired) || !gpumem_host_used_bytes(0),
	     "the device keeps memory");
	want(!gpumem_device_close(device), "the device closes");
	return fired && !last;
}

/* The end of a pool whose driver takes no view back: it is gone all the same,
 * and so is the memory. */
static void test_end(void)
{
	void *held[BLOCKS] = {NULL}, *view = NULL;

	must(gpumem_device_open("host:0", &device));
	pool = new_pool(0);
	program(held, true);
	for (int i = 0; i < BLOCKS; i++)
		if (held[i])
			gpumem_host_object_release(held[i]);
	must(gpumem_host_faults("view_destroy@1+"));
	is_status(gpumem_pool_destroy(pool, 0), GPUMEM_DRIVER,
		  "a view that cannot be given back is told at the end");
	ok(strstr(last_text(), "view_destroy"), "%s", last_text());
	must(gpumem_host_faults(NULL));
	is_uint(gpumem_host_used_bytes(0), 0, "and the memory went");
	pool = new_pool(0);
	must(gpumem_view(new_block(pool, MIB, NULL), &view));
	must(gpumem_host_faults("view_destroy@1+"));
	is_status(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE),
		  GPUMEM_DRIVER, "so is one of a live block, by force");
	must(gpumem_host_faults(NULL));
	is_uint(gpumem_host_used_bytes(0), 0, "whose memory went too");
	must(gpumem_device_close(device));
}

/* A pool that does not end has lost the views before the one that is held; its
 * blocks stay what they were, whether or not they get new ones. */
static void test_again(int held)
{
	void *ptr[BLOCKS], *view[BLOCKS], *none;
	int failed = 0;

	must(gpumem_device_open("host:0", &device));
	pool = new_pool(0);
	for (int i = 0; i < BLOCKS; i++) {
		ptr[i] = new_block(pool, sizes[i], NULL);
		must(gpumem_view(ptr[i], &view[i]));
	}
	gpumem_host_object_retain(view[held]);
	is_status(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE), GPUMEM_BUSY,
		  "view %d is held", held);
	gpumem_host_object_release(view[held]);
	must(gpumem_host_faults("view_create@1+"));
	for (int i = 0; i < BLOCKS; i++)
		failed += gpumem_view(ptr[i], &none) != GPUMEM_OK;
	must(gpumem_host_faults(NULL));
	diag("%d views had ended", failed);
	is_status(gpumem_pool_check(pool), GPUMEM_OK,
		  "sound without new views");
	for (int i = 0; i < BLOCKS; i++)
		must(gpumem_free(ptr[i], NULL));
	must(gpumem_pool_destroy(pool, 0));
	must(gpumem_device_close(device));
}

int main(void)
{
	static const char *const suffixes[] = {
		":driver",  ":no_memory",  ":busy", ":lost",
		"+:driver", "+:no_memory", "+:lost"};

	alarm(120);
	option("host.objects", "on");
	option("host.capacity", "256MiB");
	option("wait", "on");
	device_start("256MiB", true);
	must(gpumem_device_close(device));
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		mode = suffixes[i];
		bad = 0;
		nth = 1;
		while (run(suffixes[i], bad > 5))
			nth++;
		is_uint(bad, 0, "*@N%s, N up to %lu", suffixes[i], nth);
		ok(nth > 20, "which is all of a program");
	}
	test_end();
	/* Whichever comes last. */
	test_again(1);
	test_again(2);
	return done_testing();
}
