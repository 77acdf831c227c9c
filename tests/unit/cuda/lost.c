/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A device that is found lost by a look at a pending block, over the double of
 * NVIDIA's driver: only that look fails, so whatever else has the driver's code
 * and name has them from there. One thread.
 */
#include "../../fake/cuda/fakecuda.h"
#include "../lib/fixture.h"
#include <dlfcn.h>
#include <stdlib.h>

enum { LAUNCH_FAILED = 719 };

static gpumem_pool *pool;
static gpumem_stream stream;

static void *find(void *library, const char *name)
{
	void *address = library ? dlsym(library, name) : NULL;

	if (!address)
		bail("no %s", name);
	return address;
}

/* A block whose last use, on a stream that stands still, is not over. */
static void leave_pending(void *library)
{
	__typeof__(fakecuda_stepping) *stepping;
	void *ptr, *address = find(library, "fakecuda_stepping");

	memcpy(&stepping, &address, sizeof(stepping));
	ptr = new_block(pool, 3 * MIB, NULL);
	stepping(true);
	must(gpumem_use_on(ptr, stream));
	must(gpumem_fill(device, ptr, 1, 3 * MIB, stream));
	must(gpumem_free(ptr, NULL));
	ok(stats_of(pool).pending_bytes >= 3 * MIB, "a block is pending");
	stepping(false);
}

static void fail_events(void *library)
{
	__typeof__(fakecuda_fault) *fault;
	void *address = find(library, "fakecuda_fault");

	memcpy(&fault, &address, sizeof(fault));
	if (!fault("cuEventQuery", 1, true, LAUNCH_FAILED))
		bail("the double has no cuEventQuery");
}

static void told(gpumem_status status, const char *what)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);

	is_status(status, GPUMEM_LOST, "%s", what);
	gpumem_last_error(&error);
	is_int(error.status, GPUMEM_LOST, "as the last error has it");
	is_int(error.native_code, LAUNCH_FAILED, "the driver's code");
	is_str(error.native_name, "CUDA_ERROR_LAUNCH_FAILED", "and name");
	is_str(error.backend, "cuda", "and whose they are");
	ok(strstr(error.text, "cuda:0: event_query: ") &&
		   strstr(error.text, "(CUDA_ERROR_LAUNCH_FAILED, 719)"),
	   "%s", error.text);
}

static void test_every_call(void)
{
	struct gpumem_memory memory = GPUMEM_INIT(struct gpumem_memory);
	gpumem_pool *other = NULL;
	gpumem_stream another = NULL;
	void *ptr = NULL;

	told(gpumem_alloc(pool, 5 * MIB, NULL, &ptr), "who notices it");
	told(gpumem_alloc(pool, 100, NULL, &ptr), "who allocates later");
	told(gpumem_pool_trim(pool, 0, NULL), "who trims");
	told(gpumem_stream_sync(device, stream), "who waits");
	told(gpumem_stream_create(device, &another), "who wants a stream");
	told(gpumem_device_memory(device, &memory), "who asks");
	told(gpumem_pool_create(device, NULL, &other), "who wants a pool");
}

int main(void)
{
	const char *folder = getenv("top_builddir");
	char path[4096];
	void *library;

	alarm(120);
	folder = folder ? folder : ".";
	snprintf(path, sizeof(path), "%s/backends/.libs/cuda.so", folder);
	if (access(path, F_OK))
		skip_all("configured without cuda");
	snprintf(path, sizeof(path), "%s/backends/.libs", folder);
	setenv("GPUMEM_PLUGIN_PATH", path, 1);
	snprintf(path, sizeof(path), "%s/tests/fake/cuda/.libs/libcuda.so.1",
		 folder);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	option("cuda.library", path);
	must(gpumem_device_open("cuda:0", &device));
	pool = new_pool(0);
	stream = new_stream();
	leave_pending(library);
	fail_events(library);
	test_every_call();
	must(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	return done_testing();
}
