/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Every driver call of a program with views fails once, and every one from some
 * call on: no free fails, no memory with a held view is given away, and once
 * nothing fails any more all goes back.
 */
#include "sweep.h"

enum { BLOCKS = 6 };

static const size_t sizes[BLOCKS] = {300, 5000, MIB, 3 * MIB, 300, 33 * MIB};

static gpumem_pool *pool;

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

static void settle(void **held)
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
	want(sweep.lost || stats_of(pool).quarantined_bytes >= left,
	     "less is in quarantine than is held");
	want(!left || sweep.lost ||
		     gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE) ==
			     GPUMEM_BUSY,
	     "the pool went with views held");
	for (int i = 0; i < BLOCKS; i++)
		if (held[i])
			gpumem_host_object_release(held[i]);
	if (sweep.lost)
		return;
	must(gpumem_pool_trim(pool, 0, NULL));
	want(!stats_of(pool).quarantined_bytes, "quarantine does not end");
	want(!reserved_of(pool), "memory stays");
	want(!gpumem_host_views(0), "views stay");
}

static void run(void)
{
	void *held[BLOCKS] = {NULL};

	must(gpumem_device_open("host:0", &device));
	pool = new_pool(0);
	faults_begin();
	program(held, false);
	faults_end();
	settle(held);
	want(!gpumem_pool_destroy(pool, 0), "the pool ends");
	want(sweep.lost || !gpumem_host_used_bytes(0),
	     "the device keeps memory");
	want(!gpumem_device_close(device), "the device closes");
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
	alarm(120);
	option("host.objects", "on");
	option("host.capacity", "256MiB");
	option("wait", "on");
	device_start("256MiB", true);
	must(gpumem_device_close(device));
	sweep_scene("views", run, 20);
	test_end();
	/* Whichever comes last. */
	test_again(1);
	test_again(2);
	return done_testing();
}
