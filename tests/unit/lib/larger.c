/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Small requests where no run of slots fits any more: they get a slot of a
 * larger size class, or a large block, before they are refused.
 */
#include "fixture.h"

#define LIMIT MIB
#define LEAST (16 * KIB + 256) /* that a block of its own holds */

static gpumem_pool *pool;
static gpumem_stream stream;

static gpumem_status get(size_t bytes, size_t alignment, uint32_t flags,
			 void **ptr_out, uint64_t *usable_out)
{
	struct gpumem_alloc_options options =
		GPUMEM_INIT(struct gpumem_alloc_options);

	options.alignment = alignment;
	options.flags = flags;
	return gpumem_alloc_with(pool, bytes, stream, &options, ptr_out,
				 usable_out);
}

static uint64_t holds(const void *ptr)
{
	uint64_t bytes;

	must(gpumem_usable_bytes(ptr, &bytes));
	return bytes;
}

/* All but so many bytes of the limit are in one block. */
static void *begin(bool vm, size_t left)
{
	device_start("64MiB", vm);
	pool = new_pool(LIMIT);
	stream = new_stream();
	return new_block(pool, LIMIT - left, stream);
}

static void end(void)
{
	must(gpumem_stream_sync(device, stream));
	is_status(gpumem_pool_check(pool), GPUMEM_OK, "the pool is sound");
	must(gpumem_pool_trim(pool, 0, NULL));
	is_uint(stats_of(pool).reserved.current, 0, "and gives all back");
	must(gpumem_pool_destroy(pool, 0));
	must(gpumem_stream_destroy(device, stream));
	ok(device_end(), "nothing is left");
}

/* Two blocks of their own fit, and no third. */
static void test_own(bool vm, uint32_t flags)
{
	void *most = begin(vm, 40 * KIB), *ptr[3] = {NULL};
	uint64_t usable[2] = {0};

	must(get(14 * KIB, 0, flags, &ptr[0], &usable[0]));
	must(get(13 * KIB, 0, flags, &ptr[1], &usable[1]));
	ok(usable[0] == LEAST && usable[1] == LEAST && holds(ptr[0]) == LEAST &&
		   holds(ptr[1]) == LEAST,
	   "vm %d, flags %u: what they hold is told", vm, flags);
	is_uint(stats_of(pool).requested.current,
		LIMIT - 40 * KIB +
			(flags & GPUMEM_ALLOC_WHOLE ? 2 * LEAST : 27 * KIB),
		"what was requested is counted");
	is_status(get(14 * KIB, 0, flags, &ptr[2], NULL),
		  flags & GPUMEM_ALLOC_NO_GROW ? GPUMEM_NO_MEMORY
					       : GPUMEM_LIMIT,
		  "a third is refused");
	is_status(gpumem_pool_check(pool), GPUMEM_OK, "the pool is sound");
	must(gpumem_free(ptr[0], stream));
	must(gpumem_free(ptr[1], stream));
	must(gpumem_free(most, stream));
	end();
}

static void test_aligned(void)
{
	void *most = begin(true, 60 * KIB), *ptr;
	uint64_t usable;

	must(get(1, 16 * KIB, 0, &ptr, &usable));
	is_uint(usable, LEAST, "an aligned block of its own");
	is_uint((uintptr_t)ptr % (16 * KIB), 0, "is aligned");
	must(gpumem_free(ptr, stream));
	must(gpumem_free(most, stream));
	end();
}

/* All that it holds is zero. */
static void test_zero(void)
{
	static unsigned char copy[LEAST];
	void *most = begin(true, 20 * KIB), *ptr;
	uint64_t usable, dirt = 0;

	ptr = new_block(pool, LEAST, stream);
	must(gpumem_fill(device, ptr, 0xa5, LEAST, stream));
	must(gpumem_free(ptr, stream));
	must(get(12 * KIB, 0, GPUMEM_ALLOC_ZERO, &ptr, &usable));
	is_uint(usable, LEAST, "a block of its own");
	must(gpumem_copy(device, copy, ptr, LEAST, stream));
	must(gpumem_stream_sync(device, stream));
	for (size_t i = 0; i < LEAST; i++)
		dirt += copy[i] != 0;
	is_uint(dirt, 0, "is zero to its end");
	must(gpumem_free(ptr, stream));
	must(gpumem_free(most, stream));
	end();
}

/* Slots of 10 and of 16 KiB are free, and nothing else that is large enough. */
static void test_slot(void)
{
	void *most, *narrow, *slot, *ptr, *rest, *none = NULL;
	uint64_t usable;

	most = begin(true, 256 * KIB);
	narrow = new_block(pool, 10 * KIB, stream);
	slot = new_block(pool, 16 * KIB, stream);
	rest = new_block(pool, stats_of(pool).largest_free_bytes, stream);
	must(get(9 * KIB, 4 * KIB, 0, &ptr, &usable));
	ok(usable == 16 * KIB && holds(ptr) == usable,
	   "a slot of the next class that is so aligned");
	is_uint((uintptr_t)ptr % (4 * KIB), 0, "and is");
	ok((char *)ptr > (char *)slot - 128 * KIB &&
		   (char *)ptr < (char *)slot + 128 * KIB,
	   "in the same run");
	is_status(get(17 * KIB, 0, 0, &none, NULL), GPUMEM_LIMIT,
		  "what is not small gets none");
	must(gpumem_free(narrow, stream));
	must(gpumem_free(slot, stream));
	must(gpumem_free(ptr, stream));
	must(gpumem_free(rest, stream));
	must(gpumem_free(most, stream));
	end();
}

static void nothing(void *arg)
{
	(void)arg;
}

/* What is pending would do, for who may wait for it. */
static void test_no_wait(void)
{
	gpumem_stream other;
	void *most = begin(true, 160 * KIB), *used, *ptr;

	other = new_stream();
	used = new_block(pool, 100 * KIB, stream);
	must(gpumem_host_hold(0, other, true));
	must(gpumem_host_launch(0, other, nothing, NULL));
	must(gpumem_use_on(used, other));
	must(gpumem_free(used, stream));
	must(get(12 * KIB, 0, GPUMEM_ALLOC_NO_WAIT, &ptr, NULL));
	ok(stats_of(pool).pending_bytes >= 100 * KIB, "it is still pending");
	is_uint(holds(ptr), LEAST, "since a block of its own fitted");
	must(gpumem_host_hold(0, other, false));
	must(gpumem_stream_sync(device, other));
	must(gpumem_free(ptr, stream));
	must(gpumem_free(most, stream));
	must(gpumem_stream_destroy(device, other));
	end();
}

int main(void)
{
	alarm(60);
	option("host.page", "64KiB");
	option("decay_ms", "0");
	for (int vm = 0; vm < 2; vm++) {
		test_own(vm, 0);
		test_own(vm, GPUMEM_ALLOC_NO_WAIT | GPUMEM_ALLOC_NO_GROW);
		test_own(vm, GPUMEM_ALLOC_WHOLE);
	}
	test_aligned();
	test_zero();
	test_slot();
	test_no_wait();
	return done_testing();
}
