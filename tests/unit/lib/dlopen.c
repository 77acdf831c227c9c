/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A program that was not linked with the library opens it when it is running
 * already and has threads, uses it, and closes it again, while threads still
 * have caches that must go with them. All of it silently. The library is looked
 * for where GPUMEM_TEST_LIBRARY says, or where the build leaves it.
 */
#include "../../tap.h"
#include <dlfcn.h>
#include <gpumem/gpumem.h>
#include <pthread.h>
#include <unistd.h>

enum { THREADS = 4 };

/* The calls that are made here; no symbol of the library is linked. */
static struct {
	__typeof__(gpumem_device_open) *device_open;
	__typeof__(gpumem_device_close) *device_close;
	__typeof__(gpumem_pool_create) *pool_create;
	__typeof__(gpumem_pool_destroy) *pool_destroy;
	__typeof__(gpumem_pool_check) *pool_check;
	__typeof__(gpumem_alloc) *alloc;
	__typeof__(gpumem_free) *free;
	__typeof__(gpumem_last_error) *last_error;
} gpumem;

static void *library;
static gpumem_pool *pool;
static pthread_barrier_t barrier;
static unsigned long failed[THREADS];

static void *open_library(void)
{
	static const char *const place[] = {
		"../../../.libs", "../../../../.libs", "../../..", "."};
	const char *named = getenv("GPUMEM_TEST_LIBRARY");
	char self[4000] = "", path[4100];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	void *handle = named ? dlopen(named, RTLD_NOW | RTLD_LOCAL) : NULL;

	if (named || length <= 0)
		return handle;
	*strrchr(self, '/') = '\0';
	for (size_t i = 0; !handle && i < sizeof(place) / sizeof(place[0]);
	     i++) {
		snprintf(path, sizeof(path), "%s/%s/libgpumem.so", self,
			 place[i]);
		handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	return handle;
}

static void *symbol(const char *name)
{
	void *address = dlsym(library, name);

	if (!address)
		bail("%s is not there", name);
	return address;
}

static void look_up(void)
{
	*(void **)&gpumem.device_open = symbol("gpumem_device_open");
	*(void **)&gpumem.device_close = symbol("gpumem_device_close");
	*(void **)&gpumem.pool_create = symbol("gpumem_pool_create");
	*(void **)&gpumem.pool_destroy = symbol("gpumem_pool_destroy");
	*(void **)&gpumem.pool_check = symbol("gpumem_pool_check");
	*(void **)&gpumem.alloc = symbol("gpumem_alloc");
	*(void **)&gpumem.free = symbol("gpumem_free");
	*(void **)&gpumem.last_error = symbol("gpumem_last_error");
}

/* Leaves a cache and a last error behind. */
static unsigned long use(void)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);
	unsigned long wrong = 0;
	void *ptr[40];

	for (size_t i = 0; i < 40; i++)
		wrong += gpumem.alloc(pool, i * 5000 + 1, NULL, &ptr[i]) != 0;
	for (size_t i = 0; i < 40; i++)
		wrong += gpumem.free(ptr[i], NULL) != 0;
	wrong += gpumem.free(&error, NULL) != GPUMEM_BAD_POINTER;
	gpumem.last_error(&error);
	return wrong + (error.status != GPUMEM_BAD_POINTER || !error.text[0]);
}

static void *thread(void *number)
{
	pthread_barrier_wait(&barrier); /* the library is open */
	failed[(intptr_t)number] = use();
	pthread_barrier_wait(&barrier); /* used */
	pthread_barrier_wait(&barrier); /* closed */
	return NULL;
}

/* Not tidy: all is left open, as by a program in a hurry. */
static void close_all(gpumem_device *device, bool tidy)
{
	if (tidy) {
		is_int(gpumem.pool_check(pool), 0, "the pool is sound");
		is_int(gpumem.pool_destroy(pool, false), 0, "pool_destroy");
		is_int(gpumem.device_close(device), 0, "device_close");
	}
	is_int(dlclose(library), 0, "the library is closed");
}

static void open_use_close(bool tidy)
{
	pthread_t threads[THREADS];
	gpumem_device *device = NULL;

	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	for (intptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, thread, (void *)i))
			bail("no thread");
	library = open_library();
	if (!library)
		bail("no library: %s", dlerror());
	look_up();
	if (gpumem.device_open("host:0", &device) ||
	    gpumem.pool_create(device, NULL, &pool))
		bail("no pool");
	pthread_barrier_wait(&barrier);
	is_uint(use(), 0, "main uses it");
	pthread_barrier_wait(&barrier);
	close_all(device, tidy);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		is_uint(failed[i], 0, "a thread used it, and ended after");
	}
	pthread_barrier_destroy(&barrier);
}

int main(void)
{
	alarm(120);
	if (dlsym(RTLD_DEFAULT, "gpumem_version"))
		skip_all("this program was linked with the library");
	for (long i = scaled(20, 5); i > 0; i--)
		open_use_close(true);
	open_use_close(false);
	return done_testing();
}
