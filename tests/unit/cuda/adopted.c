/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Pools in the program's own CUcontexts, by the library over the strict double
 * of NVIDIA's driver: two contexts of one device, each with blocks, streams and
 * limits of its own, the primary context, and one that is destroyed.
 */
#include "../../fake/cuda/fakecuda.h"
#include "../lib/fixture.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

static struct {
	int (*create)(void **out, unsigned flags, int device);
	int (*destroy)(void *context);
	int (*pop)(void **out);
	int (*get)(void **out);
	int (*set)(void *context);
	int (*retain)(void **out, int device);
	int (*release)(int device);
	__typeof__(fakecuda_audit) *audit;
} cu;

static void find(void *library, const char *name, void *function_out)
{
	void *address = library ? dlsym(library, name) : NULL;

	if (!address)
		bail("no %s", name);
	memcpy(function_out, &address, sizeof(address));
}

static void load(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	find(library, "cuCtxCreate_v2", &cu.create);
	find(library, "cuCtxDestroy_v2", &cu.destroy);
	find(library, "cuCtxPopCurrent_v2", &cu.pop);
	find(library, "cuCtxGetCurrent", &cu.get);
	find(library, "cuCtxSetCurrent", &cu.set);
	find(library, "cuDevicePrimaryCtxRetain", &cu.retain);
	find(library, "cuDevicePrimaryCtxRelease_v2", &cu.release);
	find(library, "fakecuda_audit", &cu.audit);
}

static void *new_context(void)
{
	void *context = NULL, *popped = NULL;

	if (cu.create(&context, 0, 0) || cu.pop(&popped))
		bail("cuCtxCreate");
	return context;
}

static gpumem_device *adopt(void *context)
{
	gpumem_device *adopted = NULL;

	must(gpumem_device_adopt("cuda", context, NULL, &adopted));
	return adopted;
}

static struct fakecuda_held audit(void)
{
	struct fakecuda_held held;

	cu.audit(&held);
	return held;
}

/* Blocks of many sizes on two streams, which pass memory to each other. */
static void use(gpumem_device *one)
{
	gpumem_pool *pool = NULL;
	gpumem_stream streams[2] = {NULL, NULL};
	void *blocks[24];

	must(gpumem_pool_create(one, NULL, &pool));
	must(gpumem_stream_create(one, &streams[1]));
	for (int round = 0; round < 4; round++) {
		for (int i = 0; i < 24; i++) {
			size_t bytes = (size_t)700 << i % 14;
			gpumem_stream stream = streams[(i + round) % 2];

			must(gpumem_alloc(pool, bytes, stream, &blocks[i]));
			must(gpumem_fill(one, blocks[i], 5, bytes, stream));
			must(gpumem_use_on(blocks[i], streams[i % 2]));
		}
		for (int i = 0; i < 24; i++)
			must(gpumem_free(blocks[i], streams[(i + round) % 2]));
	}
	must(gpumem_pool_check(pool));
	must(gpumem_stream_sync(one, streams[0]));
	must(gpumem_stream_destroy(one, streams[1]));
	must(gpumem_pool_trim(pool, 0, NULL));
	is_uint(stats_of(pool).reserved.current, 0, "all memory goes back");
	must(gpumem_pool_destroy(pool, 0));
}

static void test_two(void)
{
	void *contexts[2] = {new_context(), new_context()}, *current = &current;
	gpumem_device *first = adopt(contexts[0]), *second = adopt(contexts[1]);
	gpumem_device *again = adopt(contexts[0]);
	void *context = NULL, *native = &context;
	struct fakecuda_held before = audit(), after;

	ok(first == again && first != second, "a device for each context");
	must(gpumem_device_close(again));
	use(first);
	use(second);
	use(first);
	must(gpumem_device_native(second, &context, &native));
	ok(context == contexts[1] && !native, "what was adopted is behind it");
	ok(!cu.get(&current) && !current, "no context is left current");
	must(gpumem_device_close(first));
	must(gpumem_device_close(second));
	after = audit();
	is_uint(after.contexts, before.contexts, "the contexts stay");
	is_uint(after.used_bytes + after.events + after.streams, 0,
		"with nothing in them");
	cu.destroy(contexts[0]);
	cu.destroy(contexts[1]);
}

struct visitor {
	void *contexts[2];
	gpumem_device *devices[2];
	bool same;
};

static void *adopt_often(void *argument)
{
	struct visitor *visitor = argument;

	visitor->same = true;
	for (int i = 0; i < 300; i++) {
		gpumem_device *one = adopt(visitor->contexts[i % 2]);

		visitor->same &= one == visitor->devices[i % 2];
		must(gpumem_device_close(one));
	}
	return NULL;
}

static void test_threads(void)
{
	struct visitor visitors[4] = {0};
	pthread_t threads[4];
	void *contexts[2] = {new_context(), new_context()};
	gpumem_device *kept = adopt(contexts[0]), *other = adopt(contexts[1]);
	bool same = true;

	for (int i = 0; i < 4; i++) {
		visitors[i].contexts[0] = contexts[0];
		visitors[i].contexts[1] = contexts[1];
		visitors[i].devices[0] = kept;
		visitors[i].devices[1] = other;
		if (pthread_create(&threads[i], NULL, adopt_often,
				   &visitors[i]))
			bail("pthread_create");
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		same &= visitors[i].same;
	}
	ok(same, "threads that adopt a context at once get the same device");
	must(gpumem_device_close(kept));
	must(gpumem_device_close(other));
	cu.destroy(contexts[0]);
	cu.destroy(contexts[1]);
}

static void test_primary(void)
{
	gpumem_device *named = NULL, *adopted;
	void *primary = NULL;

	if (cu.retain(&primary, 0))
		bail("cuDevicePrimaryCtxRetain");
	must(gpumem_device_open("cuda:0", &named));
	adopted = adopt(primary);
	is_ptr(adopted, named, "the primary context is that of cuda:0");
	must(gpumem_device_close(named));
	use(adopted);
	must(gpumem_device_close(adopted));
	is_uint(audit().contexts, 1, "which the program keeps");
	cu.release(0);
}

static void test_gone(void)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);
	void *context = new_context(), *ptr = NULL, *other = NULL;
	gpumem_device *adopted = adopt(context);
	gpumem_pool *pool = NULL;

	must(gpumem_pool_create(adopted, NULL, &pool));
	must(gpumem_alloc(pool, 3 * MIB, NULL, &ptr));
	if (cu.destroy(context))
		bail("cuCtxDestroy");
	is_status(gpumem_alloc(pool, 900 * MIB, NULL, &other), GPUMEM_LOST,
		  "of a context that was destroyed");
	gpumem_last_error(&error);
	ok(strstr(error.text, "has destroyed the device's context"), "%s",
	   error.text);
	GPUMEM_IGNORE(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE));
	is_status(gpumem_device_close(adopted), GPUMEM_OK, "it is closed");
	is_status(gpumem_device_adopt("cuda", context, NULL, &adopted),
		  GPUMEM_INVALID, "and not adopted again");
	gpumem_last_error(&error);
	ok(strstr(error.text, "none, or was destroyed"), "%s", error.text);
}

int main(void)
{
	const char *folder = getenv("top_builddir");
	char path[4096];

	alarm(120);
	folder = folder ? folder : ".";
	snprintf(path, sizeof(path), "%s/backends/.libs/cuda.so", folder);
	if (access(path, F_OK))
		skip_all("configured without cuda");
	snprintf(path, sizeof(path), "%s/backends/.libs", folder);
	setenv("GPUMEM_PLUGIN_PATH", path, 1);
	setenv("FAKECUDA_STRICT", "1", 1);
	snprintf(path, sizeof(path), "%s/tests/fake/cuda/.libs/libcuda.so.1",
		 folder);
	load(path);
	option("cuda.library", path);
	must(gpumem_device_open("cuda:0", &device)); /* starts the driver */
	must(gpumem_device_close(device));
	test_two();
	option("vm", "off");
	test_two();
	option("vm", NULL);
	test_threads();
	test_primary();
	test_gone();
	return done_testing();
}
