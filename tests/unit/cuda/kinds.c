/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Pinned and managed memory of the cuda backend: what the host writes the
 * device reads and the other way round, each free knows its kind, and a capture
 * goes on. Managed blocks stay tiny.
 */
#include "fixture.h"

static const struct {
	gpumem_kind kind;
	const char *name;
} kinds[] = {
	{GPUMEM_KIND_PINNED, "pinned"},
	{GPUMEM_KIND_MANAGED, "managed"},
};

static uint64_t held_of(gpumem_kind kind)
{
	struct fakecuda_held held = audit();

	return kind == GPUMEM_KIND_PINNED ? held.pinned : held.allocs;
}

static bool all_are(const unsigned char *bytes, unsigned char value)
{
	for (size_t i = 0; i < MIB; i++)
		if (bytes[i] != value)
			return false;
	return true;
}

static void both_ways(void *device, gpumem_kind kind, const char *name)
{
	void *stream = NULL;
	uint64_t one = 0, two = 0;
	unsigned char *host;

	is_status(gpu->kind_alloc(device, kind, MIB, &one), GPUMEM_OK,
		  "%s memory", name);
	is_status(gpu->kind_alloc(device, kind, MIB, &two), GPUMEM_OK, "twice");
	is_uint(held_of(kind), 2, "the driver gave two");
	ok(one && two && one != two && one >> 48 == 0 && one % 256 == 0,
	   "at two addresses within 48 bits");
	if (gpu->stream_create(device, &stream) != GPUMEM_OK)
		bail("stream_create: %s", said.text);
	host = (unsigned char *)(uintptr_t)one;
	memset(host, 0x11, MIB);
	is_status(gpu->copy(device, two, one, MIB, stream), GPUMEM_OK,
		  "the device reads it");
	is_status(gpu->fill(device, one, 0x22, MIB, stream), GPUMEM_OK,
		  "and writes it");
	is_status(gpu->stream_sync(device, stream), GPUMEM_OK, "in the end");
	ok(all_are(host, 0x22), "the host reads what the device wrote");
	ok(all_are((unsigned char *)(uintptr_t)two, 0x11),
	   "and what it copied");
	is_status(gpu->kind_free(device, kind, two, MIB), GPUMEM_OK, "free");
	is_status(gpu->kind_free(device, kind, one, MIB), GPUMEM_OK, "both");
	is_uint(held_of(kind), 0, "the driver has all back");
	if (gpu->stream_destroy(device, stream) != GPUMEM_OK)
		bail("stream_destroy: %s", said.text);
}

static void refuses(void *device)
{
	uint64_t address = 42;

	is_status(gpu->kind_alloc(device, GPUMEM_KIND_DEVICE, MIB, &address),
		  GPUMEM_UNSUPPORTED, "device memory is no such kind");
	is_status(gpu->kind_alloc(device, (gpumem_kind)3, MIB, &address),
		  GPUMEM_UNSUPPORTED, "nor is another");
	ok(strstr(said.text, "kind 3"), "which is named: %s", said.text);
	is_status(gpu->kind_free(device, (gpumem_kind)3, 42, MIB),
		  GPUMEM_UNSUPPORTED, "to free either");
	is_uint(address, 42, "the output is as it was");
}

/* Both are calls that a capture in the program's usual mode would not outlive.
 */
static void during_capture(void *device)
{
	void *context = NULL, *stream, *graph = NULL;
	uint64_t address = 0;
	unsigned bad = 0;

	if (driver.cuDevicePrimaryCtxRetain(&context, 0) ||
	    driver.cuCtxSetCurrent(context))
		bail("no context");
	stream = new_stream(STREAM_NON_BLOCKING);
	if (driver.cuStreamBeginCapture_v2(stream, MODE_GLOBAL))
		bail("no capture");
	for (size_t i = 0; i < 2; i++)
		bad += gpu->kind_alloc(device, kinds[i].kind, MIB, &address) ||
		       gpu->kind_free(device, kinds[i].kind, address, MIB);
	is_uint(bad, 0, "while a stream is captured both work");
	is_int(driver.cuStreamEndCapture(stream, &graph), 0,
	       "and the capture is whole");
	driver.cuGraphDestroy(graph);
	driver.cuStreamDestroy_v2(stream);
	driver.cuDevicePrimaryCtxRelease_v2(0);
}

int main(void)
{
	struct gpumem_device_info info = GPUMEM_INIT(struct gpumem_device_info);
	void *device;

	cuda_start();
	device = open_device(0);
	if (gpu->device_info(0, &info) != GPUMEM_OK)
		bail("device_info: %s", said.text);
	ok(info.caps & GPUMEM_CAP_PINNED, "it has pinned memory");
	ok(info.caps & GPUMEM_CAP_MANAGED, "and managed memory");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		both_ways(device, kinds[i].kind, kinds[i].name);
	refuses(device);
	during_capture(device);
	driver.fakecuda_lose(0, 700);
	for (size_t i = 0; i < 2; i++) {
		uint64_t address = 0;

		is_status(gpu->kind_alloc(device, kinds[i].kind, MIB, &address),
			  GPUMEM_LOST, "lost: no %s memory", kinds[i].name);
	}
	gpu->device_close(device);
	return done_testing();
}
