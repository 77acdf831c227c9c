/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Addresses, objects and views of the opencl backend, with memory that has
 * pointers and with memory that has none. Where there are pointers there are no
 * objects, and whether an address is of a block is seen by filling it.
 */
#include "fixture.h"

#include <errno.h>

#define BLOCKS 100

static void resolves(void *device, uint64_t block, uint64_t at, void *object)
{
	uint64_t offset = UNTOUCHED;
	void *found = NULL;

	is_status(gpu->object_of(device, block + at, &found, &offset),
		  GPUMEM_OK, "%llu bytes into it", (unsigned long long)at);
	is_ptr(found, object, "is the same object");
	is_uint(offset, at, "as far into that");
}

static bool objects; /* in this round */

/* Something that tells blocks apart; NULL: there is none. */
static void *object_at(void *device, uint64_t address)
{
	uint64_t offset;
	void *object = NULL;

	if (!objects)
		return gpu->fill(device, address, 0, 1, NULL) == GPUMEM_OK &&
				       !gpu->stream_sync(device, NULL)
			       ? device
			       : NULL;
	return gpu->object_of(device, address, &object, &offset) == GPUMEM_OK
		       ? object
		       : NULL;
}

/* Taken in one order and given back in another, so that the table changes in
 * its middle. */
static void test_table(void *device)
{
	uint64_t address[BLOCKS], bytes[BLOCKS];
	void *object[BLOCKS];
	int i, wrong = 0;

	for (i = 0; i < BLOCKS; i++) {
		bytes[i] = 64 * KIB * (uint64_t)(1 + i % 5);
		address[i] = take(device, bytes[i]);
		object[i] = object_at(device, address[i]);
	}
	for (i = 0; i < BLOCKS; i++) {
		wrong += !object[i];
		wrong += object_at(device, address[i]) != object[i];
		wrong += object_at(device, address[i] + bytes[i] - 1) !=
			 object[i];
	}
	is_int(wrong, 0, "each block's first and last byte is in its object");
	if (objects) {
		resolves(device, address[7], 0, object[7]);
		resolves(device, address[7], 12345, object[7]);
	}
	for (i = 0; i < BLOCKS; i++) {
		int at = i * 37 % BLOCKS;

		wrong += gpu->free(device, address[at], bytes[at]) != GPUMEM_OK;
		wrong += object_at(device, address[at]) != NULL;
		if (i + 1 < BLOCKS) {
			at = (i + 1) * 37 % BLOCKS;
			wrong += object_at(device, address[at]) != object[at];
		}
	}
	is_int(wrong, 0, "nor is one that was freed, and the others stay");
}

static void test_refusals(void *device, void *other)
{
	uint64_t address = take(device, MIB), out = UNTOUCHED;
	struct gpumem_device_info info = GPUMEM_INIT(struct gpumem_device_info);
	char host[16];

	(void)gpu->device_info(0, &info);
	is_status(gpu->free(device, address, MIB / 2), GPUMEM_INVALID,
		  "half a block");
	is_status(gpu->free(device, address + 64 * KIB, MIB - 64 * KIB),
		  GPUMEM_INVALID, "the rest of a block");
	is_status(gpu->free(other, address, MIB), GPUMEM_INVALID,
		  "another device's");
	says("another device");
	is_status(gpu->fill(device, address + 1, 1, MIB, NULL), GPUMEM_INVALID,
		  "a byte too far");
	is_status(gpu->fill(other, address, 1, MIB, NULL), GPUMEM_INVALID,
		  "another device fills it");
	is_status(
		gpu->copy(other, (uint64_t)(uintptr_t)host, address, 16, NULL),
		GPUMEM_INVALID, "another device reads it");
	is_status(gpu->copy(device, address + MIB - 8,
			    (uint64_t)(uintptr_t)host, 16, NULL),
		  GPUMEM_INVALID, "a copy over its end");
	is_status(gpu->alloc(device, info.max_alloc_bytes + 64 * KIB, &out),
		  GPUMEM_INVALID, "more than there is at a time");
	is_uint(out, UNTOUCHED, "and no address");
	is_status(gpu->free(device, address, MIB), GPUMEM_OK, "and free");
	said.count = 0;
	is_status(gpu->free(device, address, MIB), GPUMEM_INVALID, "not again");
	is_uint(said.count, 1, "which is said once");
}

/* What the backend fills, the program finds in the view, and nothing else. */
static void test_view(void *device)
{
	uint64_t address = take(device, MIB), align;
	struct gpumem_device_info info = GPUMEM_INIT(struct gpumem_device_info);
	unsigned char bytes[1000] = {0};
	gpumem_stream queue = NULL;
	void *view = NULL;

	(void)gpu->device_info(0, &info);
	align = info.alignment_bytes;
	if (gpu->stream_create(device, &queue) != GPUMEM_OK)
		bail("%s", said.text);
	is_status(gpu->view_create(device, address + 5 * align, 1000, &view),
		  GPUMEM_OK, "a view of the middle");
	(void)gpu->fill(device, address, 1, MIB, queue);
	(void)gpu->fill(device, address + 5 * align, 7, 1, queue);
	(void)gpu->fill(device, address + 5 * align + 999, 9, 1, queue);
	is_int(cl.clEnqueueReadBuffer(queue, view, 1, 0, 1000, bytes, 0, NULL,
				      NULL),
	       0, "is read by the program");
	ok(bytes[0] == 7 && bytes[999] == 9 && bytes[1] == 1, "from its start");
	ok(cl.clEnqueueReadBuffer(queue, view, 1, 0, 1001, bytes, 0, NULL,
				  NULL) != 0,
	   "and not beyond its end");
	cl.clRetainMemObject(view);
	said.count = 0;
	is_status(gpu->view_destroy(device, view), GPUMEM_BUSY,
		  "the program still holds it");
	is_uint(said.count, 0, "which is no failure");
	cl.clReleaseMemObject(view);
	is_status(gpu->view_destroy(device, view), GPUMEM_OK,
		  "and now it does not");
	view = NULL;
	is_status(gpu->view_create(device, address + 1, 1000, &view),
		  GPUMEM_INVALID, "none at an odd place");
	says("a multiple of");
	is_status(gpu->view_create(device, address + MIB - align, 2 * align,
				   &view),
		  GPUMEM_INVALID, "none over the end");
	is_ptr(view, NULL, "and no object");
	is_status(gpu->stream_destroy(device, queue), GPUMEM_OK, "the queue");
	is_status(gpu->free(device, address, MIB), GPUMEM_OK, "the block");
}

static void test_no_objects(void *device)
{
	uint64_t address = take(device, MIB), offset = UNTOUCHED;
	void *object = NULL;

	is_status(gpu->object_of(device, address, &object, &offset),
		  GPUMEM_UNSUPPORTED, "a pointer has no object");
	says("opencl.memory:buffer");
	is_status(gpu->view_create(device, address, MIB, &object),
		  GPUMEM_UNSUPPORTED, "and no view");
	is_ptr(object, NULL, "nothing is given");
	is_uint(offset, UNTOUCHED, "nor how far");
	is_status(gpu->free(device, address, MIB), GPUMEM_OK, "free");
}

/* Nobody can read what is no memory: the system says so without a signal. */
static void test_no_pointer(void *device)
{
	uint64_t address = take(device, MIB);
	int ends[2];

	if (pipe(ends))
		bail("pipe");
	is_int(write(ends[1], (void *)(uintptr_t)address, 1), -1,
	       "nothing is behind the address");
	is_int(errno, EFAULT, "for the host");
	close(ends[0]);
	close(ends[1]);
	is_status(gpu->free(device, address, MIB), GPUMEM_OK, "free");
}

static void try(const char *memory)
{
	struct gpumem_device_info info = GPUMEM_INIT(struct gpumem_device_info);
	void *device, *other;
	uint64_t before;

	diag("memory: %s", memory);
	memory_option = memory;
	objects = strcmp(memory, "buffer") == 0;
	if (gpu->device_info(0, &info) != GPUMEM_OK)
		bail("%s", said.text);
	is_int((info.caps & GPUMEM_CAP_OBJECTS) != 0, objects,
	       "whether addresses are pointers is said");
	device = open_device(0);
	other = open_device(1);
	before = free_bytes(device);
	test_table(device);
	test_refusals(device, other);
	if (objects) {
		test_view(device);
		test_no_pointer(device);
	} else {
		test_no_objects(device);
	}
	is_uint(free_bytes(device), before, "all was given back");
	gpu->device_close(other);
	gpu->device_close(device);
}

static void test_options(void)
{
	struct gpumem_device_info info = GPUMEM_INIT(struct gpumem_device_info);
	void *device = NULL;
	uint64_t total;

	memory_option = "usm";
	is_status(gpu->device_info(0, &info), GPUMEM_UNSUPPORTED,
		  "a memory that the device has not");
	says("unified shared memory");
	memory_option = "nonsense";
	is_status(gpu->device_open(0, &device), GPUMEM_INVALID,
		  "a memory that is none");
	says("opencl.memory is \"nonsense\"");
	is_ptr(device, NULL, "and no device");
	memory_option = "auto";
	capacity_option = "1024";
	is_status(gpu->device_info(0, &info), GPUMEM_INVALID,
		  "a device that is too small");
	says("opencl.capacity");
	capacity_option = "1610612736";
	is_status(gpu->device_info(0, &info), GPUMEM_OK, "a smaller device");
	is_uint(info.total_bytes, 1536 * MIB, "is as small");
	capacity_option = "0";
	is_status(gpu->device_info(0, &info), GPUMEM_OK, "all of it");
	total = info.total_bytes;
	capacity_option = "12.5%";
	is_status(gpu->device_info(0, &info), GPUMEM_OK, "an eighth of it");
	is_uint(info.total_bytes, total / 8, "is an eighth");
	is_status(gpu->device_info(2, &info), GPUMEM_NO_DEVICE,
		  "a device that is not there");
}

int main(void)
{
	opencl_start();
	capacity_option = "536870912";
	try("svm");
	try("buffer");
	test_options();
	return done_testing();
}
