/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Pointers that must not be freed, and what happens when they are: nothing, and
 * a sentence. Twice, never allocated, inside a block, of a pool that is gone;
 * small, large and cached; from the thread that freed it and from another.
 * Wrong arguments are in arguments.c.
 */
#include "fixture.h"
#include <pthread.h>
#include <sys/mman.h>

static gpumem_pool *pool;

/* The pool is as it was, to the byte. */
struct counters {
	struct gpumem_stats stats;
};

static struct counters remember(void)
{
	struct counters counters = {stats_of(pool)};

	return counters;
}

static void unchanged(const struct counters *before, const char *what)
{
	struct gpumem_stats now = stats_of(pool);

	ok(!memcmp(&now, &before->stats, sizeof(now)) &&
		   gpumem_pool_check(pool) == GPUMEM_OK,
	   "%s: nothing is changed", what);
}

/* Whoever asks: neither can it be freed nor used nor found. */
static void is_bad(const void *ptr, gpumem_stream stream, const char *what)
{
	struct gpumem_block found = GPUMEM_INIT(struct gpumem_block);
	struct counters before = remember();
	uint64_t usable;

	said(gpumem_free((void *)(uintptr_t)ptr, stream), GPUMEM_BAD_POINTER,
	     what);
	said(gpumem_free_own((void *)(uintptr_t)ptr), GPUMEM_BAD_POINTER, what);
	said(gpumem_free_sized((void *)(uintptr_t)ptr, 1000, stream),
	     GPUMEM_BAD_POINTER, what);
	said(gpumem_usable_bytes(ptr, &usable), GPUMEM_BAD_POINTER, what);
	said(gpumem_use_on((void *)(uintptr_t)ptr, stream), GPUMEM_BAD_POINTER,
	     what);
	said(gpumem_query(ptr, &found), GPUMEM_BAD_POINTER, what);
	unchanged(&before, what);
}

/* ---- freed already ---- */

static gpumem_status status_there;
static void *pointer_there;

static void *free_there(void *unused)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);

	(void)unused;
	/* With a cache of its own, and without one. */
	status_there = gpumem_free(pointer_there, NULL);
	must(gpumem_free(new_block(pool, 1000, NULL), NULL));
	if (status_there == GPUMEM_BAD_POINTER)
		status_there = gpumem_free(pointer_there, NULL);
	gpumem_last_error(&error);
	if (error.status != status_there || !error.text[0])
		status_there = GPUMEM_OK;
	return NULL;
}

static void freed_twice(size_t bytes, const char *what)
{
	gpumem_stream other = new_stream();
	void *ptr = new_block(pool, bytes, NULL);
	void *neighbour = new_block(pool, bytes, NULL);
	pthread_t thread;

	must(gpumem_free(ptr, NULL));
	is_bad(ptr, NULL, what);
	is_bad(ptr, other, what);
	pointer_there = ptr;
	if (pthread_create(&thread, NULL, free_there, NULL))
		bail("no thread");
	pthread_join(thread, NULL);
	is_status(status_there, GPUMEM_BAD_POINTER, "%s: in another thread",
		  what);
	must(gpumem_pool_trim(pool, 0, NULL));
	is_bad(ptr, NULL, what);
	must(gpumem_free(neighbour, NULL));
	must(gpumem_stream_sync(device, NULL));
	must(gpumem_pool_trim(pool, 0, NULL));
	/* The memory itself is gone, or another size's. */
	is_bad(ptr, NULL, what);
	must(gpumem_stream_destroy(device, other));
}

static void pending_twice(size_t bytes, const char *what)
{
	gpumem_stream other = new_stream();
	void *ptr = new_block(pool, bytes, NULL);
	struct gate gate;

	gate_launch(&gate, other, NULL, 0);
	must(gpumem_free(ptr, other));
	is_bad(ptr, NULL, what);
	is_bad(ptr, other, what);
	gate_open(&gate);
	must(gpumem_stream_destroy(device, other));
	must(gpumem_pool_trim(pool, 0, NULL));
	is_bad(ptr, NULL, what);
}

/* ---- never allocated ---- */

static void foreign(void)
{
	static char constant[4096];
	char *heap = malloc(100000);
	char *mapped = mmap(NULL, 1 << 20, PROT_READ,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int stack = 0;

	is_bad(&stack, NULL, "stack");
	is_bad(heap, NULL, "malloc");
	is_bad(mapped, NULL, "mmap");
	is_bad(constant, NULL, "static");
	is_bad((void *)(uintptr_t)1, NULL, "1");
	is_bad((void *)(uintptr_t)256, NULL, "256");
	is_bad((void *)(uintptr_t)0x7fffffffffff, NULL, "47 bits");
	is_bad((void *)(uintptr_t)0xffffffffffff, NULL, "48 bits");
	is_bad((void *)(uintptr_t)0x1000000000000, NULL, "49 bits");
	is_bad((void *)(uintptr_t)0x8000000000000000, NULL, "no address");
	is_bad((void *)UINTPTR_MAX, NULL, "the last byte");
	is_bad((void *)(UINTPTR_MAX - 255), NULL, "the last 256");
	free(heap);
	munmap(mapped, 1 << 20);
}

/* ---- inside, beside ---- */

/* May not be freed, but is part of a live block. */
static void is_inside(void *ptr, const void *start, const char *what)
{
	struct gpumem_block found = GPUMEM_INIT(struct gpumem_block);
	struct counters before = remember();

	said(gpumem_free(ptr, NULL), GPUMEM_BAD_POINTER, what);
	said(gpumem_use_on(ptr, NULL), GPUMEM_BAD_POINTER, what);
	is_status(gpumem_query(ptr, &found), GPUMEM_OK, "%s: is known", what);
	is_ptr(found.ptr, start, "%s: where it begins", what);
	unchanged(&before, what);
}

static void interior(size_t bytes, const char *what)
{
	char *ptr = new_block(pool, bytes, NULL);

	is_inside(ptr + 1, ptr, what);
	is_inside(ptr + 255, ptr, what);
	is_inside(ptr + bytes / 2, ptr, what);
	is_inside(ptr + bytes - 1, ptr, what);
	is_inside(ptr + (bytes - 1) / 256 * 256, ptr, what);
	if (bytes > 128 * KIB)
		is_inside(ptr + 64 * KIB, ptr, what);
	must(gpumem_free(ptr, NULL));
	is_bad(ptr + 1, NULL, what);
}

/* ---- of a pool that is gone ---- */

static void pool_gone(bool force)
{
	gpumem_pool *kept = pool, *gone = new_pool(0);
	char *small = new_block(gone, 1000, NULL),
	     *large = new_block(gone, MIB, NULL);
	char *cached = new_block(gone, 2 * MIB, NULL);

	must(gpumem_free(cached, NULL));
	if (!force) {
		must(gpumem_free(small, NULL));
		must(gpumem_free(large, NULL));
	} else {
		said(gpumem_pool_destroy(gone, 0), GPUMEM_BUSY,
		     "a pool with live blocks");
		small[999] = large[MIB - 1] = 7;
		is_uint(stats_of(gone).blocks.current, 2, "it is as it was");
	}
	is_status(gpumem_pool_destroy(gone, force ? GPUMEM_DESTROY_FORCE : 0),
		  GPUMEM_OK, "destroyed");
	pool = kept;
	is_bad(small, NULL, "small, of a pool that is gone");
	is_bad(large, NULL, "large, of a pool that is gone");
	is_bad(cached, NULL, "cached, of a pool that is gone");
	is_bad(large + 100 * KIB, NULL, "inside, of a pool that is gone");
}

/* The wrong stream is no mistake: it waits. The wrong pool cannot be named. */
static void stream_of_another(void)
{
	gpumem_stream other = new_stream();
	void *small = new_block(pool, 1000, other),
	     *large = new_block(pool, MIB, NULL);

	must(gpumem_free(small, NULL));
	must(gpumem_free(large, other));
	is_bad(small, other, "freed elsewhere");
	is_bad(large, NULL, "freed elsewhere");
	must(gpumem_stream_destroy(device, other));
}

int main(void)
{
	open_device(120);
	pool = new_pool(0);
	is_status(gpumem_free(NULL, NULL), GPUMEM_OK, "NULL may be freed");
	freed_twice(1000, "small");
	freed_twice(40 * KIB, "not so small");
	freed_twice(100 * KIB, "large");
	freed_twice(40 * MIB, "too large for a cache");
	pending_twice(1000, "small, pending");
	pending_twice(MIB, "large, pending");
	foreign();
	interior(3000, "in a small block");
	interior(48 * KIB, "in a block of 48 KiB");
	interior(MIB, "in a large block");
	interior(70 * MIB, "in a very large block");
	pool_gone(false);
	pool_gone(true);
	stream_of_another();
	is_status(gpumem_pool_destroy(pool, 0), GPUMEM_OK, "destroy");
	is_uint(gpumem_host_used_bytes(0), 0, "the device is empty");
	must(gpumem_device_close(device));
	return done_testing();
}
