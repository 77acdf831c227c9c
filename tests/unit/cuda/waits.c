/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What waits for the device: nothing of the cuda backend but what must, and so
 * nothing of a pool on it. The double's streams stand still here, so a call
 * that waits is one that the double has to run work for.
 */
#include "fixture.h"
#include <gpumem/gpumem.h>

static uint64_t waits_of(uint64_t before)
{
	return driver.fakecuda_waits() - before;
}

static void slots(void *device, void *busy, uint64_t raw)
{
	uint64_t address = 0, block = 0, before = driver.fakecuda_waits();
	gpumem_page pages[2] = {0};
	void *event = NULL;
	void *stream = NULL;
	int bad = 0;

	bad += gpu->va_reserve(device, 2 * PAGE, PAGE, &address) != GPUMEM_OK;
	bad += gpu->page_create(device, PAGE, &pages[0]) != GPUMEM_OK;
	bad += gpu->page_create(device, PAGE, &pages[1]) != GPUMEM_OK;
	bad += gpu->map(device, address, pages, 2, PAGE) != GPUMEM_OK;
	bad += gpu->unmap(device, address, 2, PAGE) != GPUMEM_OK;
	bad += gpu->page_destroy(device, pages[0], PAGE) != GPUMEM_OK;
	bad += gpu->page_destroy(device, pages[1], PAGE) != GPUMEM_OK;
	bad += gpu->va_release(device, address, 2 * PAGE) != GPUMEM_OK;
	bad += gpu->event_create(device, &event) != GPUMEM_OK;
	bad += gpu->event_record(device, event, busy) != GPUMEM_OK;
	bad += gpu->event_query(device, event) != GPUMEM_NOT_READY;
	bad += gpu->stream_create(device, &stream) != GPUMEM_OK;
	bad += gpu->stream_wait(device, stream, event) != GPUMEM_OK;
	bad += gpu->stream_query(device, busy) != GPUMEM_NOT_READY;
	bad += gpu->stream_destroy(device, stream) != GPUMEM_OK;
	bad += gpu->event_destroy(device, event) != GPUMEM_OK;
	bad += gpu->alloc(device, PAGE, &block) != GPUMEM_OK;
	bad += gpu->copy(device, raw, raw + MIB, MIB, busy) != GPUMEM_OK;
	is_int(bad, 0, "slots beside a busy stream: %s", said.text);
	is_uint(waits_of(before), 0, "none of them waits");
	is_status(gpu->free(device, block, PAGE), GPUMEM_OK, "free");
	ok(waits_of(before), "waits, as GPUMEM_CAP_FREE_WAITS says");
}

/* Half of a pool's memory is in use by a stream that stands still, the other
 * half is idle: that half goes back, now. */
static void pool(void)
{
	struct gpumem_device_info info = GPUMEM_INIT(struct gpumem_device_info);
	gpumem_stream busy = NULL, idle = NULL;
	void *used = NULL, *unused = NULL;
	gpumem_device *device;
	gpumem_pool *own;
	uint64_t released = 0, before;

	if (gpumem_device_open("cuda:0", &device) ||
	    gpumem_device_get_info(device, &info) ||
	    gpumem_device_pool(device, &own) ||
	    gpumem_stream_create(device, &busy) ||
	    gpumem_stream_create(device, &idle) ||
	    gpumem_alloc(own, 16 * PAGE, busy, &used) ||
	    gpumem_alloc(own, 16 * PAGE, idle, &unused))
		bail("the pool cannot be used");
	before = driver.fakecuda_waits();
	is_status(gpumem_fill(device, used, 1, 16 * PAGE, busy), GPUMEM_OK,
		  "work on a block");
	is_status(gpumem_free(used, busy), GPUMEM_OK, "free it");
	is_status(gpumem_free(unused, idle), GPUMEM_OK, "and an idle one");
	is_status(gpumem_pool_trim(own, 0, &released), GPUMEM_OK, "trim");
	is_uint(released, 16 * PAGE, "what is idle goes back");
	is_uint(waits_of(before), 0, "and nobody waited");
	driver.fakecuda_stepping(false);
	is_status(gpumem_stream_sync(device, busy), GPUMEM_OK, "wait");
	is_status(gpumem_pool_trim(own, 0, &released), GPUMEM_OK, "trim");
	is_uint(released, 16 * PAGE, "the rest goes back");
	is_status(gpumem_stream_destroy(device, busy), GPUMEM_OK, "one stream");
	is_status(gpumem_stream_destroy(device, idle), GPUMEM_OK, "the other");
	is_status(gpumem_device_close(device), GPUMEM_OK, "close");
}

int main(void)
{
	uint64_t raw = 0;
	void *device, *busy = NULL;
	char path[4096];

	cuda_start();
	setenv("GPUMEM_PLUGIN_PATH", built(path, "backends/.libs"), 1);
	device = open_device(0);
	if (gpu->stream_create(device, &busy) != GPUMEM_OK ||
	    gpu->alloc(device, PAGE, &raw) != GPUMEM_OK)
		bail("%s", said.text);
	driver.fakecuda_stepping(true);
	if (gpu->fill(device, raw, 1, PAGE, busy) != GPUMEM_OK)
		bail("%s", said.text);
	slots(device, busy, raw);
	pool();
	is_status(gpu->stream_destroy(device, busy), GPUMEM_OK, "the stream");
	is_status(gpu->free(device, raw, PAGE), GPUMEM_OK, "the block");
	gpu->device_close(device);
	is_uint(audit().contexts + audit().used_bytes, 0, "nothing is left");
	return done_testing();
}
