/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Zeroed blocks: to the last byte that they hold, in the order of their stream,
 * on memory that was used before; and what becomes of the block when the fill
 * cannot be queued.
 */
#include "fixture.h"

static gpumem_pool *pool;
static bool objects; /* a kernel cannot use the address of a block */

static const size_t sizes[] = {1, 1000, 16 * KIB, 3 * MIB + 1};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static gpumem_status zeroed(size_t bytes, gpumem_stream stream, uint32_t flags,
			    void **ptr_out, uint64_t *usable_out)
{
	struct gpumem_alloc_options options =
		GPUMEM_INIT(struct gpumem_alloc_options);

	options.flags = GPUMEM_ALLOC_ZERO | flags;
	return gpumem_alloc_with(pool, bytes, stream, &options, ptr_out,
				 usable_out);
}

/* Bytes that are not 0. The stream has nothing to do. */
static uint64_t dirt(const void *ptr, uint64_t bytes)
{
	static unsigned char copy[4 * MIB];
	uint64_t found = 0;

	must(gpumem_copy(device, copy, ptr, (size_t)bytes, NULL));
	must(gpumem_stream_sync(device, NULL));
	for (uint64_t i = 0; i < bytes; i++)
		found += copy[i] != 0;
	return found;
}

/* A block that was written to its last byte and freed. */
static void *used_block(size_t bytes, gpumem_stream stream)
{
	void *ptr = new_block(pool, bytes, stream);
	uint64_t usable = 0;

	must(gpumem_usable_bytes(ptr, &usable));
	must(gpumem_fill(device, ptr, 0xa5, (size_t)usable, stream));
	must(gpumem_free(ptr, stream));
	return ptr;
}

static void test_content(size_t bytes, uint32_t flags)
{
	void *before = used_block(bytes, NULL), *ptr = NULL;
	uint64_t usable = 0;

	must(zeroed(bytes, NULL, flags, &ptr, &usable));
	is_ptr(ptr, before, "%zu bytes, used before", bytes);
	is_uint(dirt(ptr, usable), 0, "all %llu that it holds are 0",
		(ull)usable);
	is_uint(stats_of(pool).requested.current, flags ? usable : bytes,
		"and count as before");
	must(gpumem_free(ptr, NULL));
}

/* Work that was queued before writes first. */
static void test_order(size_t bytes)
{
	gpumem_stream stream = new_stream();
	void *before = used_block(bytes, stream), *ptr = NULL;
	struct gate gate = {0};
	uint64_t usable = 0;

	gate_launch(&gate, stream, objects ? NULL : before, bytes);
	must(zeroed(bytes, stream, 0, &ptr, &usable));
	is_ptr(ptr, before, "%zu bytes that work still writes to", bytes);
	gate_finish(&gate, stream);
	is_uint(dirt(ptr, usable), 0, "are 0 after that work");
	must(gpumem_free(ptr, stream));
	must(gpumem_stream_destroy(device, stream));
}

/* The fill becomes part of the graph, which `host` drops: nothing else may
 * happen to the stream. */
static void test_capture(size_t bytes)
{
	gpumem_stream stream = new_stream();
	void *before = used_block(bytes, stream), *ptr = NULL;

	must(gpumem_stream_sync(device, stream));
	must(gpumem_host_capture(0, stream, true));
	must(zeroed(bytes, stream, 0, &ptr, NULL));
	must(gpumem_host_capture(0, stream, false));
	is_ptr(ptr, before, "%zu bytes while the stream is captured", bytes);
	is_uint(dirt(ptr, 1), 1, "are filled by the graph, not now");
	is_uint(gpumem_host_capture_violations(), 0, "nothing is disturbed");
	must(gpumem_free(ptr, stream));
	must(gpumem_stream_destroy(device, stream));
}

static void test_fault(size_t bytes, const char *fault, gpumem_status status)
{
	void *again, *before = used_block(bytes, NULL), *ptr = &pool;
	struct gpumem_stats stats;
	uint64_t usable = 7;

	must(gpumem_host_faults(fault));
	is_status(zeroed(bytes, NULL, 0, &ptr, &usable), status,
		  "%zu bytes, %s: %s", bytes, fault, last_text());
	must(gpumem_host_faults(NULL));
	ok(ptr == &pool && usable == 7, "no output is touched");
	stats = stats_of(pool);
	is_uint(stats.blocks.current, 0, "no block stays");
	is_uint(stats.requested.current, 0, "none is counted");
	is_uint(stats.pending_bytes, 0, "none is pending");
	again = new_block(pool, bytes, NULL);
	is_ptr(again, before, "its memory is free again");
	must(gpumem_free(again, NULL));
	sound(pool, "sound");
}

/* What needs no fill makes none. */
static void test_nothing(void)
{
	void *ptr = &pool;
	uint64_t usable = 7;

	must(gpumem_host_faults("fill@1+"));
	must(zeroed(0, NULL, 0, &ptr, &usable));
	ok(!ptr && !usable, "no bytes need no zeros");
	must(gpumem_host_faults(NULL));
}

static void test_kinds(void)
{
	static const gpumem_kind kinds[] = {GPUMEM_KIND_PINNED,
					    GPUMEM_KIND_MANAGED};
	gpumem_pool *usual = pool;

	for (size_t i = 0; i < COUNT(kinds); i++) {
		struct gpumem_pool_config config =
			GPUMEM_INIT(struct gpumem_pool_config);

		config.kind = kinds[i];
		must(gpumem_pool_create(device, &config, &pool));
		test_content(1000, 0);
		test_content(3 * MIB, 0);
		must(gpumem_pool_destroy(pool, 0));
	}
	pool = usual;
}

static void run(bool vm)
{
	device_start("256MiB", vm);
	pool = new_pool(0);
	for (size_t i = 0; i < COUNT(sizes); i++) {
		test_content(sizes[i], 0);
		test_content(sizes[i], GPUMEM_ALLOC_WHOLE);
		test_order(sizes[i]);
		test_capture(sizes[i]);
		test_fault(sizes[i], "fill@1", GPUMEM_DRIVER);
		test_fault(sizes[i], "fill@1:no_memory", GPUMEM_NO_MEMORY);
	}
	test_nothing();
	test_kinds();
	must(gpumem_pool_destroy(pool, 0));
	ok(device_end(), "nothing is left");
}

static void test_no_copy(void)
{
	void *ptr = &pool;

	option("host.copy", "off");
	device_start("256MiB", true);
	pool = new_pool(0);
	is_status(zeroed(1000, NULL, 0, &ptr, NULL), GPUMEM_UNSUPPORTED,
		  "a device that cannot fill: %s", last_text());
	is_ptr(ptr, &pool, "no output is touched");
	is_uint(stats_of(pool).reserved.current, 0, "nothing was taken");
	must(gpumem_pool_destroy(pool, 0));
	ok(device_end(), "nothing is left");
	option("host.copy", NULL);
}

static void test_lost(void)
{
	void *ptr = &pool;

	device_start("256MiB", true);
	pool = new_pool(0);
	must(gpumem_host_faults("fill@1:lost"));
	is_status(zeroed(1000, NULL, 0, &ptr, NULL), GPUMEM_LOST,
		  "the device is lost in the fill");
	is_ptr(ptr, &pool, "no output is touched");
	is_uint(stats_of(pool).blocks.current, 0, "no block stays");
	must(gpumem_host_faults(NULL));
	(void)!gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE);
	(void)!gpumem_device_close(device);
}

int main(void)
{
	alarm(60);
	run(true);
	run(false);
	option("host.objects", "on");
	objects = true;
	run(false);
	option("host.objects", NULL);
	test_no_copy();
	test_lost();
	return done_testing();
}
