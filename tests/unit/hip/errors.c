/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the runtime's errors become in the hip backend, which of them a program
 * finds in its thread afterwards, and that the end of the runtime, or of a
 * device, harms nobody.
 */
#include "fixture.h"

static const struct {
	int first, last;
	gpumem_status status;
	const char *part; /* of the sentence */
} meanings[] = {
	{1, 1, GPUMEM_INVALID, "hipMalloc"},
	{2, 2, GPUMEM_NO_MEMORY, "hipMalloc of 2097152 bytes"},
	{3, 3, GPUMEM_DRIVER, "fork"},
	{4, 4, GPUMEM_LOST, "ending"},
	{17, 17, GPUMEM_INVALID, "hipMalloc"},
	{35, 35, GPUMEM_NO_DRIVER, "newer amdgpu"},
	{100, 101, GPUMEM_NO_DEVICE, "HIP_VISIBLE_DEVICES"},
	{201, 201, GPUMEM_DRIVER, "hipMalloc"},
	{205, 205, GPUMEM_DRIVER, "hipMalloc"},
	{214, 214, GPUMEM_LOST, "started again"},
	{217, 217, GPUMEM_UNSUPPORTED, "hipMalloc"},
	{304, 304, GPUMEM_DRIVER, "hipMalloc"},
	{400, 400, GPUMEM_INVALID, "hipMalloc"},
	{401, 401, GPUMEM_DRIVER, "hipMalloc"},
	{700, 700, GPUMEM_LOST, "started again"},
	{701, 701, GPUMEM_DRIVER, "hipMalloc"},
	{702, 702, GPUMEM_LOST, "started again"},
	{704, 704, GPUMEM_DRIVER, "hipMalloc"},
	{709, 709, GPUMEM_LOST, "hipDeviceReset"},
	{710, 710, GPUMEM_LOST, "started again"},
	{719, 719, GPUMEM_LOST, "started again"},
	{720, 720, GPUMEM_DRIVER, "hipMalloc"},
	{801, 801, GPUMEM_UNSUPPORTED, "hipMalloc"},
	{899, 899, GPUMEM_DRIVER, "hipMalloc"},
	{900, 908, GPUMEM_CAPTURING, "hipMalloc"},
	{909, 909, GPUMEM_DRIVER, "hipMalloc"},
	{999, 999, GPUMEM_DRIVER, "hipMalloc"},
	{1052, 1053, GPUMEM_DRIVER, "dmesg"},
	{12345, 12345, GPUMEM_DRIVER, "hipMalloc"},
};

static void one_result(void *device, size_t i, int code)
{
	uint64_t address = UNTOUCHED;

	said.count = 0;
	runtime.fakehip_fault("hipMalloc", 1, false, code);
	is_status(gpu->alloc(device, PAGE, &address), meanings[i].status,
		  "result %d", code);
	runtime.fakehip_heal();
	is_int(said.code, code, "is told as it is");
	is_uint(said.count, 1, "once");
	if (!ok(strstr(said.text, meanings[i].part) != NULL,
		"with the sentence that belongs to it"))
		diag("%s", said.text);
	is_uint(address, UNTOUCHED, "and no address");
	is_int(runtime.hipPeekAtLastError(), 0,
	       "nor does the program find it in its thread");
}

static void each_result(void *device)
{
	uint64_t address;

	for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++)
		for (int code = meanings[i].first; code <= meanings[i].last;
		     code++)
			one_result(device, i, code);
	runtime.fakehip_fault("hipMalloc", 1, false, 2);
	(void)gpu->alloc(device, PAGE, &address);
	is_str(said.name, "hipErrorOutOfMemory", "the runtime's name");
	ok(strstr(said.text, release == 5 ? "hipErrorOutOfMemory"
					  : "out of memory") != NULL,
	   "and its text: %s", said.text);
}

/* Up to ROCm 6 a call that succeeds forgets the error before it, whoever made
 * it; from 7 on only who asks for it. */
static void program_s_own(void *device)
{
	struct gpumem_memory memory = GPUMEM_INIT(struct gpumem_memory);
	uint64_t address = 0;
	void *huge = NULL;

	is_int(runtime.hipMalloc(&huge, (size_t)1 << 46), 2,
	       "a call of the program's fails");
	is_int(runtime.hipPeekAtLastError(), 2, "and it may ask for that");
	is_status(gpu->memory_info(device, &memory), GPUMEM_OK,
		  "a call of ours succeeds");
	is_int(runtime.hipPeekAtLastError(), release >= 7 ? 2 : 0,
	       "the program's error is what the release makes of it");
	is_status(gpu->alloc(device, UINT64_C(1) << 46, &address),
		  GPUMEM_NO_MEMORY, "a call of ours fails");
	is_int(runtime.hipGetLastError(), release >= 7 ? 2 : 0,
	       "that there was one is still told");
	is_int(runtime.hipGetLastError(), 0, "once");
}

static void no_error(void *device)
{
	void *event = NULL;
	void *stream = NULL;
	uint64_t raw = 0;

	if (gpu->stream_create(device, &stream) != GPUMEM_OK ||
	    gpu->event_create(device, &event) != GPUMEM_OK ||
	    gpu->alloc(device, PAGE, &raw) != GPUMEM_OK)
		bail("%s", said.text);
	said.count = 0;
	driver.fakecuda_stepping(true);
	is_status(gpu->fill(device, raw, 1, PAGE, stream), GPUMEM_OK, "work");
	is_status(gpu->event_record(device, event, stream), GPUMEM_OK,
		  "an event after it");
	is_status(gpu->event_query(device, event), GPUMEM_NOT_READY,
		  "not over yet");
	is_status(gpu->stream_query(device, stream), GPUMEM_NOT_READY,
		  "nor is the stream");
	is_int(runtime.hipPeekAtLastError(), 0, "the thread has no error");
	driver.fakecuda_stepping(false);
	is_status(gpu->stream_sync(device, stream), GPUMEM_OK, "wait");
	driver.fakecuda_stepping(true);
	is_status(gpu->fill(device, raw, 1, PAGE, stream), GPUMEM_OK, "more");
	is_status(gpu->event_record(device, event, stream), GPUMEM_OK,
		  "and the event after that");
	is_status(gpu->event_sync(device, event), GPUMEM_OK, "is waited for");
	driver.fakecuda_stepping(false);
	is_status(gpu->event_query(device, event), GPUMEM_OK, "over");
	is_status(gpu->stream_query(device, stream), GPUMEM_OK, "too");
	is_uint(said.count, 0, "and none of it was called an error");
	is_status(gpu->free(device, raw, PAGE), GPUMEM_OK, "the block");
	is_status(gpu->event_destroy(device, event), GPUMEM_OK, "the event");
	is_status(gpu->stream_destroy(device, stream), GPUMEM_OK, "the stream");
}

struct owned {
	void *event;
	uint64_t raw, pinned, address;
	gpumem_page page;
};

static struct owned take(void *device)
{
	struct owned own = {0};

	if (gpu->event_create(device, &own.event) != GPUMEM_OK ||
	    gpu->alloc(device, PAGE, &own.raw) != GPUMEM_OK ||
	    gpu->kind_alloc(device, GPUMEM_KIND_PINNED, MIB, &own.pinned) !=
		    GPUMEM_OK)
		bail("%s", said.text);
	if (release == 5)
		return own;
	if (gpu->va_reserve(device, PAGE, PAGE, &own.address) != GPUMEM_OK ||
	    gpu->page_create(device, PAGE, &own.page) != GPUMEM_OK)
		bail("%s", said.text);
	return own;
}

#define LOST(call)                                                             \
	do {                                                                   \
		said.count = 0;                                                \
		is_status((call), GPUMEM_LOST, #call);                         \
		is_uint(said.count, 1, "with a sentence");                     \
	} while (0)

/* The driver beneath would give some of these, lost or not. */
static void virtual_is_lost(void *device, const struct owned *own)
{
	uint64_t out = UNTOUCHED;
	void *peer = device;

	LOST(gpu->page_create(device, PAGE, &out));
	LOST(gpu->page_create_shared(device, PAGE, &out));
	LOST(gpu->page_import(device, 0, PAGE, &out));
	LOST(gpu->map(device, own->address, &own->page, 1, PAGE));
	LOST(gpu->map_peers(device, own->address, &own->page, 1, PAGE, &peer,
			    1));
	LOST(gpu->open_mapped(device, own->address, 1, PAGE, &peer, 1));
	is_uint(out, UNTOUCHED, "nothing was given");
	(void)gpu->page_destroy(device, own->page, PAGE);
	(void)gpu->va_release(device, own->address, PAGE);
}

static void all_is_lost(void *device, const struct owned *own)
{
	struct gpumem_memory memory = GPUMEM_INIT(struct gpumem_memory);
	uint64_t out = UNTOUCHED;
	void *event = NULL;
	void *stream = NULL;

	LOST(gpu->memory_info(device, &memory));
	LOST(gpu->alloc(device, PAGE, &out));
	LOST(gpu->free(device, own->raw, PAGE));
	LOST(gpu->stream_create(device, &stream));
	LOST(gpu->stream_query(device, NULL));
	LOST(gpu->stream_sync(device, NULL));
	LOST(gpu->stream_wait(device, NULL, own->event));
	LOST(gpu->event_create(device, &event));
	LOST(gpu->event_record(device, own->event, NULL));
	LOST(gpu->event_query(device, own->event));
	LOST(gpu->event_sync(device, own->event));
	LOST(gpu->fill(device, own->raw, 0, PAGE, NULL));
	LOST(gpu->copy(device, own->raw, own->raw + MIB, MIB, NULL));
	LOST(gpu->capture_id(device, NULL, &out));
	LOST(gpu->kind_alloc(device, GPUMEM_KIND_PINNED, MIB, &out));
	LOST(gpu->kind_alloc(device, GPUMEM_KIND_MANAGED, MIB, &out));
	LOST(gpu->kind_free(device, GPUMEM_KIND_PINNED, own->pinned, MIB));
	is_uint(out, UNTOUCHED, "nothing was given");
	if (release >= 6)
		virtual_is_lost(device, own);
	is_int(runtime.hipPeekAtLastError(), 0, "the thread has no error");
}

static void the_end(int index, int lost)
{
	void *device = open_device(index);
	struct owned own = take(device);

	diag(lost ? "a device is lost" : "the runtime ends");
	if (lost)
		driver.fakecuda_lose(index, lost);
	else
		driver.fakecuda_deinit();
	all_is_lost(device, &own);
	(void)gpu->event_destroy(device, own.event);
	gpu->device_close(device);
	ok(true, "giving back what is gone is harmless");
}

static void checks(void)
{
	void *device = open_device(0);

	each_result(device);
	program_s_own(device);
	no_error(device);
	gpu->device_close(device);
	the_end(1, 719);
	the_end(2, 0);
}

int main(void)
{
	setenv("FAKECUDA_DEVICES", "3", 1);
	return on_all_releases(checks);
}
