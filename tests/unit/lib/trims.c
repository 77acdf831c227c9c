/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * One call that gives back what many pools do not use: all of a device's, or of
 * the process, whose devices come and go meanwhile. A trim of one pool is in
 * the tests of heaps.
 */
#include "fixture.h"

#include <stdatomic.h>

/* One call for all pools of a device, down to what is kept together. */
static void of_a_device(void)
{
	gpumem_pool *first = new_pool(0), *second = NULL;
	void *live;
	uint64_t released = 1;

	must(gpumem_device_pool(device, &second));
	live = new_block(second, 4 * MIB, NULL);
	must(gpumem_free(new_block(first, 20 * MIB, NULL), NULL));
	must(gpumem_free(new_block(second, 30 * MIB, NULL), NULL));
	must(gpumem_device_trim(device, UINT64_MAX, &released));
	is_uint(released, 0, "there is room for all");
	must(gpumem_stream_sync(device, NULL));
	must(gpumem_device_trim(device, 4 * MIB, &released));
	must(gpumem_stream_sync(device, NULL));
	must(gpumem_device_trim(device, 4 * MIB, NULL));
	is_uint(stats_of(first).reserved.current, 0, "one has nothing left");
	ok(stats_of(second).reserved.current < 30 * MIB,
	   "the other what is live");
	is_uint(stats_of(second).allocated.current, 4 * MIB, "which is");
	must(gpumem_free(live, NULL));
	must(gpumem_free(new_block(first, 20 * MIB, NULL), NULL));
	must(gpumem_free(new_block(second, 8 * MIB, NULL), NULL));
	must(gpumem_stream_sync(device, NULL));
	must(gpumem_host_faults("page_destroy@1;free@1"));
	said(gpumem_device_trim(device, 0, &released), GPUMEM_DRIVER,
	     "the driver keeps some");
	must(gpumem_host_faults(NULL));
	is_uint(stats_of(second).reserved.current, 0,
		"the others are trimmed all the same");
	must(gpumem_device_trim(device, 0, NULL));
	is_uint(gpumem_host_used_bytes(0), 0, "then all is back");
	must(gpumem_pool_destroy(first, 0));
}

/* Two devices, and nobody says which. */
static void of_the_process(void)
{
	gpumem_device *other = NULL;
	gpumem_pool *first = NULL, *second = new_pool(0), *third = NULL;
	uint64_t released = 1;
	void *live;

	must(gpumem_trim(&released));
	is_uint(released, 0, "nothing is unused");
	must(gpumem_device_open("host:1", &other));
	must(gpumem_device_pool(device, &first));
	must(gpumem_device_pool(other, &third));
	live = new_block(third, 2 * MIB, NULL);
	must(gpumem_free(new_block(first, 20 * MIB, NULL), NULL));
	must(gpumem_free(new_block(second, 30 * MIB, NULL), NULL));
	must(gpumem_free(new_block(third, 40 * MIB, NULL), NULL));
	must(gpumem_stream_sync(device, NULL));
	must(gpumem_stream_sync(other, NULL));
	must(gpumem_host_faults("page_destroy@1;free@1"));
	said(gpumem_trim(&released), GPUMEM_DRIVER, "the driver keeps some");
	must(gpumem_host_faults(NULL));
	ok(released >= 60 * MIB, "all others go back all the same");
	must(gpumem_trim(NULL));
	is_uint(gpumem_host_used_bytes(0), 0, "then all of one device");
	is_uint(gpumem_host_used_bytes(1), stats_of(third).reserved.current,
		"and of the other");
	is_uint(stats_of(third).allocated.current, 2 * MIB,
		"but for what is live");
	must(gpumem_free(live, NULL));
	must(gpumem_pool_destroy(second, 0));
	must(gpumem_device_close(other));
	is_uint(gpumem_host_used_bytes(1), 0, "it closes as ever");
}

static void *trim_always(void *argument)
{
	atomic_bool *stop = argument;

	while (!atomic_load(stop))
		if (gpumem_trim(NULL) != GPUMEM_OK)
			return argument;
	return NULL;
}

/* A device that is closed while a trim is at it ends with that. */
static void while_devices_close(void)
{
	atomic_bool stop = false;
	void *failed = NULL;
	unsigned bad = 0;
	pthread_t thread;

	pthread_create(&thread, NULL, trim_always, &stop);
	for (int i = 0; i < 200; i++) {
		gpumem_device *other = NULL;
		gpumem_pool *pool = NULL;

		bad += gpumem_device_open("host:1", &other) != GPUMEM_OK;
		bad += gpumem_device_pool(other, &pool) != GPUMEM_OK;
		bad += gpumem_free(new_block(pool, 4 * MIB, NULL), NULL) !=
		       GPUMEM_OK;
		bad += gpumem_stream_sync(other, NULL) != GPUMEM_OK;
		bad += gpumem_device_close(other) != GPUMEM_OK;
	}
	atomic_store(&stop, true);
	pthread_join(thread, &failed);
	is_uint(bad, 0, "devices come and go as if nobody trimmed");
	is_ptr(failed, NULL, "and no trim fails");
	is_uint(gpumem_host_used_bytes(1), 0, "nothing is left");
}

int main(void)
{
	option("host.capacity", "256MiB");
	option("host.devices", "2");
	open_device(120);
	of_a_device();
	of_the_process();
	while_devices_close();
	must(gpumem_device_close(device));
	return done_testing();
}
