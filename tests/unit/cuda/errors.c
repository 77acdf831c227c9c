/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the driver's results become in the cuda backend, and that the end of the
 * driver, or of a device, harms nobody.
 */
#include "fixture.h"

static const struct {
	int code;
	gpumem_status status;
	const char *part; /* of the sentence */
} meanings[] = {
	{1, GPUMEM_INVALID, "cuMemAlloc"},
	{2, GPUMEM_NO_MEMORY, "cuMemAlloc of 2097152 bytes"},
	{3, GPUMEM_DRIVER, "fork"},
	{4, GPUMEM_LOST, "ending"},
	{36, GPUMEM_UNSUPPORTED, "newer driver"},
	{46, GPUMEM_DRIVER, "compute mode"},
	{100, GPUMEM_NO_DEVICE, "nvidia-smi"},
	{101, GPUMEM_NO_DEVICE, "nvidia-smi"},
	{201, GPUMEM_LOST, "cudaDeviceReset"},
	{205, GPUMEM_DRIVER, "cuMemAlloc"},
	{214, GPUMEM_LOST, "started again"},
	{226, GPUMEM_LOST, "started again"},
	{304, GPUMEM_DRIVER, "cuMemAlloc"},
	{400, GPUMEM_INVALID, "cuMemAlloc"},
	{700, GPUMEM_LOST, "started again"},
	{701, GPUMEM_DRIVER, "cuMemAlloc"},
	{702, GPUMEM_LOST, "started again"},
	{704, GPUMEM_DRIVER, "cuMemAlloc"},
	{709, GPUMEM_LOST, "cudaDeviceReset"},
	{710, GPUMEM_LOST, "started again"},
	{712, GPUMEM_DRIVER, "cuMemAlloc"},
	{714, GPUMEM_LOST, "started again"},
	{715, GPUMEM_LOST, "started again"},
	{716, GPUMEM_LOST, "started again"},
	{717, GPUMEM_LOST, "started again"},
	{718, GPUMEM_LOST, "started again"},
	{719, GPUMEM_LOST, "started again"},
	{720, GPUMEM_DRIVER, "cuMemAlloc"},
	{721, GPUMEM_LOST, "started again"},
	{800, GPUMEM_DRIVER, "may not use CUDA"},
	{801, GPUMEM_UNSUPPORTED, "cuMemAlloc"},
	{810, GPUMEM_LOST, "started again"},
	{900, GPUMEM_CAPTURING, "cuMemAlloc"},
	{906, GPUMEM_CAPTURING, "cuMemAlloc"},
	{908, GPUMEM_CAPTURING, "cuMemAlloc"},
	{909, GPUMEM_DRIVER, "cuMemAlloc"},
	{911, GPUMEM_LOST, "started again"},
	{999, GPUMEM_DRIVER, "cuMemAlloc"},
	{12345, GPUMEM_DRIVER, "cuMemAlloc"},
};

static void each_result(void *device)
{
	uint64_t address;

	for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++) {
		address = UNTOUCHED;
		said.count = 0;
		driver.fakecuda_fault("cuMemAlloc_v2", 1, false,
				      meanings[i].code);
		is_status(gpu->alloc(device, PAGE, &address),
			  meanings[i].status, "result %d", meanings[i].code);
		is_int(said.code, meanings[i].code, "is told as it is");
		is_uint(said.count, 1, "once");
		if (!ok(strstr(said.text, meanings[i].part) != NULL,
			"with the sentence that belongs to it"))
			diag("%s", said.text);
		is_uint(address, UNTOUCHED, "and no address");
	}
	driver.fakecuda_heal();
	driver.fakecuda_fault("cuMemAlloc_v2", 1, false, 2);
	(void)gpu->alloc(device, PAGE, &address);
	is_str(said.name, "CUDA_ERROR_OUT_OF_MEMORY", "the driver's name");
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
	driver.fakecuda_stepping(false);
	is_status(gpu->stream_sync(device, stream), GPUMEM_OK, "wait");
	is_status(gpu->event_query(device, event), GPUMEM_OK, "over");
	is_status(gpu->stream_query(device, stream), GPUMEM_OK, "too");
	is_uint(said.count, 0, "and none of it was called an error");
	is_status(gpu->free(device, raw, PAGE), GPUMEM_OK, "the block");
	is_status(gpu->event_destroy(device, event), GPUMEM_OK, "the event");
	is_status(gpu->stream_destroy(device, stream), GPUMEM_OK, "the stream");
}

/* Every slot of a device, of things that it has or had. */
static void all_are(gpumem_status want, void *device, void *event, uint64_t raw,
		    uint64_t address, gpumem_page page, int fd)
{
	struct gpumem_memory memory = GPUMEM_INIT(struct gpumem_memory);
	uint64_t out = UNTOUCHED;
	int other = 0;

	other += gpu->memory_info(device, &memory) != want;
	other += gpu->alloc(device, PAGE, &out) != want;
	other += gpu->free(device, raw, PAGE) != want;
	other += gpu->event_record(device, event, NULL) != want;
	other += gpu->event_query(device, event) != want;
	other += gpu->event_sync(device, event) != want;
	other += gpu->stream_wait(device, NULL, event) != want;
	other += gpu->stream_query(device, NULL) != want;
	other += gpu->stream_sync(device, NULL) != want;
	other += gpu->fill(device, raw, 0, PAGE, NULL) != want;
	other += gpu->copy(device, raw, raw + MIB, MIB, NULL) != want;
	other += gpu->capture_id(device, NULL, &out) != want;
	/* The driver would give these, lost or not. */
	other += gpu->page_create(device, PAGE, &out) != want;
	other += gpu->page_create_shared(device, PAGE, &out) != want;
	other += gpu->page_import(device, fd, PAGE, &out) != want;
	other += gpu->map(device, address, &page, 1, PAGE) != want;
	is_int(other, 0, "all slots that use the device say so");
	is_uint(out, UNTOUCHED, "and nothing else");
	/* Pages belong to no context, so these may go. */
	(void)gpu->unmap(device, address, 1, PAGE);
	(void)gpu->page_destroy(device, page, PAGE);
	(void)gpu->va_release(device, address, PAGE);
}

static void the_end(int index, int lost)
{
	uint64_t raw = 0, address = 0;
	void *device = open_device(index);
	void *event = NULL;
	gpumem_page page = 0;
	int fd = -1;

	diag(lost ? "a device is lost" : "the driver ends");
	if (gpu->event_create(device, &event) != GPUMEM_OK ||
	    gpu->alloc(device, PAGE, &raw) != GPUMEM_OK ||
	    gpu->va_reserve(device, PAGE, PAGE, &address) != GPUMEM_OK ||
	    gpu->page_create_shared(device, PAGE, &page) != GPUMEM_OK ||
	    gpu->page_export(device, page, PAGE, &fd) != GPUMEM_OK ||
	    gpu->map(device, address, &page, 1, PAGE) != GPUMEM_OK)
		bail("%s", said.text);
	if (lost)
		driver.fakecuda_lose(index, lost);
	else
		driver.fakecuda_deinit();
	all_are(GPUMEM_LOST, device, event, raw, address, page, fd);
	(void)close(fd);
	(void)gpu->event_destroy(device, event);
	gpu->device_close(device);
	ok(true, "giving back what is gone is harmless");
}

int main(void)
{
	void *device;

	setenv("FAKECUDA_DEVICES", "3", 1);
	cuda_start();
	device = open_device(0);
	each_result(device);
	no_error(device);
	gpu->device_close(device);
	the_end(1, 719);
	the_end(2, 0);
	return done_testing();
}
