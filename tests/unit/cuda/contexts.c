/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Contexts and the cuda backend: the caller's own is left alone, streams of
 * other contexts of the device can be used, those of another device cannot, and
 * a context that the program destroys takes nothing else with it.
 */
#include "fixture.h"

static void use_all(void *device, void *stream)
{
	struct gpumem_memory memory = GPUMEM_INIT(struct gpumem_memory);
	void *event = NULL;
	gpumem_page page = 0;
	uint64_t address = 0, raw = 0, id = 0;
	void *own = NULL;
	int bad = 0;

	bad += gpu->memory_info(device, &memory) != GPUMEM_OK;
	bad += gpu->alloc(device, PAGE, &raw) != GPUMEM_OK;
	bad += gpu->stream_create(device, &own) != GPUMEM_OK;
	bad += gpu->event_create(device, &event) != GPUMEM_OK;
	bad += gpu->va_reserve(device, PAGE, PAGE, &address) != GPUMEM_OK;
	bad += gpu->page_create(device, PAGE, &page) != GPUMEM_OK;
	bad += gpu->map(device, address, &page, 1, PAGE) != GPUMEM_OK;
	bad += gpu->fill(device, address, 7, PAGE, stream) != GPUMEM_OK;
	bad += gpu->event_record(device, event, stream) != GPUMEM_OK;
	bad += gpu->stream_wait(device, own, event) != GPUMEM_OK;
	bad += gpu->copy(device, raw, address, PAGE, own) != GPUMEM_OK;
	bad += gpu->stream_sync(device, own) != GPUMEM_OK;
	bad += gpu->stream_query(device, stream) != GPUMEM_OK;
	bad += gpu->event_query(device, event) != GPUMEM_OK;
	bad += gpu->event_sync(device, event) != GPUMEM_OK;
	bad += gpu->capture_id(device, stream, &id) != GPUMEM_OK || id;
	bad += gpu->unmap(device, address, 1, PAGE) != GPUMEM_OK;
	bad += gpu->page_destroy(device, page, PAGE) != GPUMEM_OK;
	bad += gpu->va_release(device, address, PAGE) != GPUMEM_OK;
	bad += gpu->event_destroy(device, event) != GPUMEM_OK;
	bad += gpu->stream_destroy(device, own) != GPUMEM_OK;
	bad += gpu->free(device, raw, PAGE) != GPUMEM_OK;
	is_int(bad, 0, "every slot works: %s", said.text);
}

static void check_thread(void *device, void *context, const char *which)
{
	int mode = MODE_THREAD_LOCAL, found = MODE_GLOBAL;
	uint64_t address;

	if (context != current_context() && driver.cuCtxSetCurrent(context))
		bail("cuCtxSetCurrent");
	driver.cuThreadExchangeStreamCaptureMode(&mode);
	diag("current: %s", which);
	use_all(device, NULL);
	use_all(device, (void *)1);
	use_all(device, (void *)2);
	ok(gpu->alloc(device, UINT64_C(1) << 46, &address) != GPUMEM_OK,
	   "one fails");
	is_ptr(current_context(), context, "its context is what it was");
	driver.cuThreadExchangeStreamCaptureMode(&found);
	is_int(found, MODE_THREAD_LOCAL, "and so is its capture mode");
}

/* A program's own calls of the driver can be made in it. */
static void check_native(void *device, void *primary)
{
	void *context = NULL, *number = device;

	is_status(gpu->device_native(device, &context, &number), GPUMEM_OK,
		  "what is behind the device");
	is_ptr(context, primary, "the primary context");
	is_ptr(number, NULL, "of device 0");
}

static void other_contexts(void *device, void *other, void *primary)
{
	void *event = NULL;
	void *stream, *home;

	driver.cuCtxSetCurrent(other);
	stream = new_stream(STREAM_NON_BLOCKING);
	driver.cuCtxSetCurrent(primary);
	home = new_stream(STREAM_NON_BLOCKING);
	use_all(device, stream);
	is_uint(audit().events, 0, "nothing is left");
	is_status(gpu->event_create(device, &event), GPUMEM_OK, "an event");
	for (int i = 0; i < 4; i++) {
		is_status(gpu->event_record(device, event, stream), GPUMEM_OK,
			  "record it on a stream of another context");
		is_status(gpu->event_record(device, event, home), GPUMEM_OK,
			  "and on one of the device's own");
	}
	is_uint(audit().events, 2, "the driver has one for each context");
	driver.fakecuda_stepping(true);
	is_status(gpu->event_record(device, event, stream), GPUMEM_OK,
		  "record it once more");
	is_status(gpu->event_query(device, event), GPUMEM_NOT_READY,
		  "the newest record counts");
	driver.fakecuda_step(stream, 100);
	is_status(gpu->event_query(device, event), GPUMEM_OK, "until it ran");
	driver.fakecuda_stepping(false);
	is_status(gpu->event_destroy(device, event), GPUMEM_OK, "destroy it");
	is_uint(audit().events, 0, "both are gone");
	driver.cuStreamDestroy_v2(stream);
	driver.cuStreamDestroy_v2(home);
}

#define REFUSED(call)                                                          \
	do {                                                                   \
		said.text[0] = '\0';                                           \
		is_status((call), GPUMEM_INVALID, #call);                      \
		if (!ok(strstr(said.text, "another device"), "says why"))      \
			diag("%s", said.text);                                 \
	} while (0)

static void another_device(void *device)
{
	void *stream = NULL, *second = open_device(1);
	void *event = NULL;
	uint64_t raw = 0;

	if (gpu->stream_create(second, &stream) != GPUMEM_OK ||
	    gpu->event_create(device, &event) != GPUMEM_OK ||
	    gpu->alloc(device, PAGE, &raw) != GPUMEM_OK)
		bail("%s", said.text);
	REFUSED(gpu->event_record(device, event, stream));
	REFUSED(gpu->stream_wait(device, stream, event));
	REFUSED(gpu->stream_query(device, stream));
	REFUSED(gpu->stream_sync(device, stream));
	REFUSED(gpu->fill(device, raw, 0, PAGE, stream));
	REFUSED(gpu->copy(device, raw, raw + MIB, MIB, stream));
	REFUSED(gpu->stream_destroy(device, stream));
	is_status(gpu->stream_destroy(second, stream), GPUMEM_OK,
		  "its own device destroys it");
	is_status(gpu->event_destroy(device, event), GPUMEM_OK, "the event");
	is_status(gpu->free(device, raw, PAGE), GPUMEM_OK, "the block");
	gpu->device_close(second);
}

static void destroyed(void *device, void *primary)
{
	void *event = NULL;
	void *other = NULL, *stream;

	if (driver.cuCtxCreate_v2(&other, 0, 0))
		bail("cuCtxCreate");
	stream = new_stream(STREAM_NON_BLOCKING);
	is_status(gpu->event_create(device, &event), GPUMEM_OK, "an event");
	is_status(gpu->event_record(device, event, stream), GPUMEM_OK,
		  "on a stream of another context");
	if (driver.cuCtxDestroy_v2(other))
		bail("cuCtxDestroy");
	driver.cuCtxSetCurrent(primary);
	is_status(gpu->event_query(device, event), GPUMEM_OK,
		  "when that is destroyed its work is over");
	is_status(gpu->event_sync(device, event), GPUMEM_OK, "waiting too");
	is_status(gpu->stream_wait(device, NULL, event), GPUMEM_OK,
		  "on the device too");
	is_status(gpu->event_record(device, event, stream), GPUMEM_INVALID,
		  "its stream is none any more");
	is_status(gpu->event_record(device, event, NULL), GPUMEM_OK,
		  "the event can be used again");
	is_status(gpu->event_destroy(device, event), GPUMEM_OK,
		  "and destroyed");
	is_uint(audit().events, 0, "nothing is left of it");
}

int main(void)
{
	void *device, *primary = NULL, *other = NULL;

	setenv("FAKECUDA_DEVICES", "2", 1);
	cuda_start();
	device = open_device(0);
	is_ptr(current_context(), NULL, "opening makes no context current");
	check_thread(device, NULL, "none");
	if (driver.cuDevicePrimaryCtxRetain(&primary, 0))
		bail("cuDevicePrimaryCtxRetain");
	check_native(device, primary);
	check_thread(device, primary, "the device's own");
	if (driver.cuCtxCreate_v2(&other, 0, 0))
		bail("cuCtxCreate");
	check_thread(device, other, "another one of the device");
	other_contexts(device, other, primary);
	another_device(device);
	destroyed(device, primary);
	driver.cuCtxDestroy_v2(other);
	driver.cuCtxSetCurrent(NULL);
	driver.cuDevicePrimaryCtxRelease_v2(0);
	is_uint(audit().contexts, 1, "the device keeps its context");
	gpu->device_close(device);
	is_uint(audit().contexts, 0, "until it is closed");
	return done_testing();
}
