/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * docs/examples/arrayfire_manager.c does what ArrayFire demands of a memory
 * manager: over the stand-in arrayfire.c, with pointers as on CUDA and with
 * objects as on OpenCL. Run by examples.sh on two simulated GPUs.
 */
#include <arrayfire_manager.h>
#include "stand-in/arrayfire.h"

#include <gpumem/host.h>
#include <pthread.h>
#include <unistd.h>

#include "../tap.h"

#define MIB ((size_t)1 << 20)
#define GIB ((size_t)1 << 30)

static af_memory_manager handle;
static gpumem_device *devices[AF_DEVICES];

static void must(gpumem_status status)
{
	if (status != GPUMEM_OK)
		bail("%s", gpumem_error_text());
}

/* As ArrayFire's memAlloc(): one dimension. */
static void *array(size_t bytes)
{
	dim_t dims = (dim_t)bytes;
	void *ptr = NULL;

	if (af.manager->alloc(handle, &ptr, 0, 1, &dims, 1) != AF_SUCCESS)
		return NULL;
	return ptr;
}

static af_err unlock(void *ptr, int user)
{
	return af.manager->unlock(handle, ptr, user);
}

static size_t allocated(void *ptr)
{
	size_t bytes = 1;

	is_int(af.manager->allocated(handle, &bytes, ptr), AF_SUCCESS,
	       "allocated");
	return bytes;
}

static int is_locked(void *ptr)
{
	int locked = -1;

	is_int(af.manager->is_user_locked(handle, &locked, ptr), AF_SUCCESS,
	       "is_user_locked");
	return locked;
}

static uint64_t reserved(int i)
{
	struct gpumem_memory memory = GPUMEM_INIT(struct gpumem_memory);

	must(gpumem_device_memory(devices[i], &memory));
	return memory.reserved_bytes;
}

/* Who holds an array: ArrayFire, the user, or both. */
static void test_locks(void)
{
	void *ptr = array(3 * MIB);

	is_uint(allocated(ptr), 3 * MIB,
		"an array has the size of its request");
	is_int(is_locked(ptr), 0, "ArrayFire's, not the user's");
	is_int(af.manager->user_lock(handle, ptr), AF_SUCCESS, "user_lock");
	is_int(is_locked(ptr), 1, "now also the user's");
	is_int(unlock(ptr, 0), AF_SUCCESS, "ArrayFire lets go");
	is_uint(allocated(ptr), 3 * MIB, "the user still has it");
	is_int(af.manager->user_unlock(handle, ptr), AF_SUCCESS, "user_unlock");
	is_uint(allocated(ptr), 0, "nobody has it");
	is_int(is_locked(ptr), 0, "nor a lock on it");
	is_uint(af.native_frees, 0, "nothing was ArrayFire's to free");

	dim_t dims[3] = {10, 20, 30};
	is_int(af.manager->alloc(handle, &ptr, 1, 3, dims, 4), AF_SUCCESS,
	       "the user's own, of three dimensions");
	is_uint(allocated(ptr), 24000, "of that size");
	is_int(is_locked(ptr), 1, "is the user's");
	is_int(unlock(ptr, 1), AF_SUCCESS, "and the user's to free");
	is_uint(allocated(ptr), 0, "once");
}

static void test_requests(void)
{
	void *ptr = &ptr, *foreign = malloc(100);
	dim_t huge[2] = {INT64_MAX, 16};
	dim_t none = 0;

	is_int(af.manager->alloc(handle, &ptr, 0, 1, &none, 4), AF_SUCCESS,
	       "an array of nothing");
	is_ptr(ptr, NULL, "is NULL");
	is_int(unlock(NULL, 0), AF_SUCCESS, "which may be given back");
	is_int(af.manager->alloc(handle, &ptr, 0, 2, huge, 8), AF_ERR_SIZE,
	       "a size that is none");
	is_ptr(array(1000 * GIB), NULL, "more than there is");
	is_int(af.manager->user_lock(handle, foreign), AF_SUCCESS,
	       "memory that is the program's can be locked");
	is_int(af.manager->user_unlock(handle, foreign), AF_SUCCESS,
	       "and unlocked");
	is_uint(af.native_frees, 0, "which frees nothing");
	is_int(unlock(foreign, 0), AF_SUCCESS, "it is ArrayFire's to free");
	is_uint(af.native_frees, 1, "as its own manager does");
	af.native_frees = 0;
}

/* An array that work on ArrayFire's stream still uses. */
static void test_order(void)
{
	struct gpumem_block block = GPUMEM_INIT(struct gpumem_block);
	void *stream = af.streams[0], *first, *next;

	first = array(4 * MIB);
	must(gpumem_query(first, &block));
	is_ptr(block.stream, stream, "an array is on ArrayFire's stream");
	must(gpumem_host_hold(0, stream, true));
	must(gpumem_fill(devices[0], first, 1, 4 * MIB, stream));
	is_int(unlock(first, 0), AF_SUCCESS, "freed before the work is done");
	next = array(4 * MIB);
	is_ptr(next, first, "its memory is the stream's again at once");
	must(gpumem_host_hold(0, stream, false));
	must(gpumem_stream_sync(devices[0], stream));
	is_int(unlock(next, 0), AF_SUCCESS, "and freed");
}

/* On OpenCL an array is the vendor's object. */
static void test_object(void)
{
	struct gpumem_block block = GPUMEM_INIT(struct gpumem_block);
	void *object = array(MIB);
	unsigned char *seen = gpumem_host_object_memory(object);

	ok(seen != NULL, "an array is an object");
	must(gpumem_view_block(devices[0], object, &block));
	is_ptr(block.stream, af.streams[0], "on ArrayFire's queue");
	memset(seen, 1, MIB);
	is_uint(gpumem_host_views(2), 1, "of its own");
	is_int(unlock(object, 0), AF_SUCCESS, "which is freed with it");
	must(gpumem_stream_sync(devices[0], af.streams[0]));
	is_int(af.manager->signal_memory_cleanup(handle), AF_SUCCESS,
	       "cleanup");
	is_uint(gpumem_host_views(2), 0, "and gone");
}

/* What is free goes back when ArrayFire asks for it, of the active device. */
static void test_cleanup(void)
{
	void *on[AF_DEVICES];
	uint64_t before[AF_DEVICES];

	for (af.active = 0; af.active < AF_DEVICES; af.active++) {
		on[af.active] = array(64 * MIB);
		before[af.active] = reserved(af.active);
		ok(before[af.active] >= 64 * MIB, "device %d has memory",
		   af.active);
	}
	af.active = 0;
	is_int(unlock(on[0], 0), AF_SUCCESS, "one is freed");
	is_int(unlock(on[1], 0), AF_SUCCESS, "and that of another device");
	ok(reserved(0) >= 64 * MIB, "the pool keeps it");
	is_int(af.manager->signal_memory_cleanup(handle), AF_SUCCESS,
	       "cleanup");
	ok(reserved(0) < before[0], "then it goes back");
	ok(reserved(1) >= 64 * MIB, "of that device alone");
	af.active = 1;
	af.manager->remove_memory_management(handle, 1);
	is_uint(reserved(1), 0, "a device that is removed has nothing");
	void *again = array(MIB);
	ok(again != NULL, "until it is used again");
	is_int(unlock(again, 0), AF_SUCCESS, "freed");
	af.active = 0;
}

static void test_pressure(void)
{
	float pressure = -1;
	int exceeds = -1;
	void *most;

	is_int(af.manager->get_memory_pressure(handle, &pressure), AF_SUCCESS,
	       "pressure");
	ok(pressure >= 0 && pressure < 0.1f, "of nothing is low");
	(void)af.manager->jit_tree_exceeds_memory_pressure(handle, &exceeds,
							   MIB);
	is_int(exceeds, 0, "a small tree may grow");
	most = array(1800 * MIB);
	(void)af.manager->get_memory_pressure(handle, &pressure);
	ok(pressure >= 1, "of a device that is nearly full is high");
	(void)af.manager->jit_tree_exceeds_memory_pressure(handle, &exceeds,
							   1000 * MIB);
	is_int(exceeds, 1, "a tree of half of it may not grow");
	(void)af.manager->jit_tree_exceeds_memory_pressure(handle, &exceeds,
							   100 * MIB);
	is_int(exceeds, 0, "a small one still may");
	is_int(unlock(most, 0), AF_SUCCESS, "freed");
	(void)af.manager->get_memory_pressure(handle, &pressure);
	ok(pressure < 0.1f, "and low again");
}

static void *arrays_of_a_thread(void *failed)
{
	void *kept[16] = {NULL};

	for (long i = 0; i < scaled(4000, 400); i++) {
		void **at = &kept[i % 16];

		if (unlock(*at, 0) != AF_SUCCESS)
			*(bool *)failed = true;
		*at = array((size_t)(i % 100 + 1) * 1000);
	}
	for (int i = 0; i < 16; i++)
		if (unlock(kept[i], 0) != AF_SUCCESS)
			*(bool *)failed = true;
	return NULL;
}

static void test_threads(void)
{
	pthread_t threads[4];
	bool failed[4] = {false};
	float pressure;

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, arrays_of_a_thread,
			       &failed[i]);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	ok(!failed[0] && !failed[1] && !failed[2] && !failed[3],
	   "arrays of four threads");
	(void)af.manager->get_memory_pressure(handle, &pressure);
	ok(pressure == 0, "leave nothing");
	is_uint(af.native_frees, 0, "and are all ours");
}

/* A device as ArrayFire has it, and its stream. */
static void open_device(int i)
{
	char name[16];

	snprintf(name, sizeof(name), "host:%d", i);
	must(af.backend == AF_BACKEND_OPENCL
		     ? gpumem_device_adopt("host", &af, &af.streams[i],
					   &devices[i])
		     : gpumem_device_open(name, &devices[i]));
	must(gpumem_stream_create(devices[i], &af.streams[i]));
}

static void with_backend(af_backend backend)
{
	char text[] = "arrays of mine";

	must(gpumem_option_set("host.objects",
			       backend == AF_BACKEND_OPENCL ? "on" : "off"));
	af.backend = backend;
	for (int i = 0; i < AF_DEVICES; i++)
		open_device(i);
	af.max_bytes = 2 * GIB;
	is_int(gpumem_arrayfire_enable(&handle), AF_SUCCESS, "enabled");
	ok(af.manager == handle, "it is ArrayFire's manager");
	af.manager->add_memory_management(handle, 0);
	test_locks();
	test_requests();
	if (backend == AF_BACKEND_CUDA)
		test_order();
	else
		test_object();
	test_cleanup();
	test_pressure();
	test_threads();
	is_int(af.manager->print_info(handle, text, 0), AF_SUCCESS,
	       "a report on standard output");
	is_int(gpumem_arrayfire_disable(handle), AF_SUCCESS, "disabled");
	ok(!af.manager, "ArrayFire has its own again");
	for (int i = 0; i < AF_DEVICES; i++) {
		is_uint(reserved(i), 0, "device %d has nothing left", i);
		must(gpumem_stream_destroy(devices[i], af.streams[i]));
		must(gpumem_device_close(devices[i]));
	}
}

/* An option is read when a device is opened: not while it still is. */
static void test_closed(void)
{
	struct gpumem_device_info info = GPUMEM_INIT(struct gpumem_device_info);

	must(gpumem_option_set("host.capacity", "5GiB"));
	must(gpumem_device_open("host:0", &devices[0]));
	must(gpumem_device_get_info(devices[0], &info));
	is_uint(info.total_bytes, 5 * GIB, "its devices were closed");
	must(gpumem_device_close(devices[0]));
}

int main(void)
{
	alarm(120);
	must(gpumem_option_set("host.devices", "2"));
	must(gpumem_option_set("host.capacity", "4GiB"));
	af.backend = AF_BACKEND_CPU;
	is_int(gpumem_arrayfire_enable(&handle), AF_ERR_NOT_SUPPORTED,
	       "the processor's own backend is refused");
	with_backend(AF_BACKEND_CUDA);
	test_closed();
	with_backend(AF_BACKEND_OPENCL);
	return done_testing();
}
