/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What becomes of a freed block whose view the program holds: it is kept from
 * everybody, told of, and goes once the view is released. One thread.
 */
#include "views.h"

static unsigned warnings;

static void log_line(gpumem_log_level level, const char *text, void *user)
{
	(void)user;
	if (level != GPUMEM_LOG_WARN)
		return;
	warnings++;
	diag("%s", text);
}

static void test_held(size_t bytes)
{
	char *ptr = new_block(pool, bytes, NULL), *next;
	void *view = view_of(ptr);
	uint64_t reserved;

	warnings = 0;
	must(gpumem_fill(device, ptr, 5, bytes, NULL));
	gpumem_host_object_retain(view);
	is_status(gpumem_free(ptr, NULL), GPUMEM_OK,
		  "%zu bytes, freed while held", bytes);
	finish_work();
	ok(quarantined() >= bytes && quarantined() < 2 * bytes,
	   "%llu bytes are in quarantine", (ull)quarantined());
	is_uint(stats_of(pool).pending_bytes, quarantined(), "are pending");
	is_uint(stats_of(pool).blocks.current, 0, "no block is live");
	is_status(gpumem_free(ptr, NULL), GPUMEM_BAD_POINTER, "freed twice");
	next = new_block(pool, bytes, NULL);
	ok(next != ptr, "it is not used again");
	must(gpumem_fill(device, next, 6, bytes, NULL));
	must(gpumem_free(next, NULL));
	finish_work();
	trim(pool);
	trim(pool);
	reserved = reserved_of(pool);
	ok(reserved >= bytes, "its segment stays: %llu bytes", (ull)reserved);
	ok(gpumem_host_object_memory(view) &&
		   *(char *)gpumem_host_object_memory(view) == 5,
	   "and its content");
	is_uint(warnings, 1, "which is told, once");
	sound(pool, "sound in quarantine");
	gpumem_host_object_release(view);
	is_uint(trim(pool), reserved, "released, it goes with the next trim");
	is_uint(quarantined() + stats_of(pool).pending_bytes, 0, "all of it");
	sound(pool, "sound afterwards");
}

/* Where nothing can be queued, who holds a view is told at the free. */
static void test_told(void)
{
	void *ptr = new_block(pool, 1000, NULL), *view = view_of(ptr);

	warnings = 0;
	gpumem_host_object_retain(view);
	must(gpumem_free(ptr, NULL));
	is_uint(warnings, 1, "told at once");
	gpumem_host_object_release(view);
}

/* Nobody trims: the memory is found before there is none. */
static void test_out_of_memory(void)
{
	void *ptr = new_block(pool, 40 * MIB, NULL), *more = NULL;
	void *view = view_of(ptr);

	gpumem_host_object_retain(view);
	must(gpumem_free(ptr, NULL));
	is_status(gpumem_alloc(pool, 40 * MIB, NULL, &more), GPUMEM_NO_MEMORY,
		  "a held view keeps memory from others");
	ok(strstr(last_text(), "holds views"), "%s", last_text());
	ok(strstr(last_text(), ", quarantined 40.00 MiB, reserved "),
	   "and it says how much of it");
	gpumem_host_object_release(view);
	is_status(gpumem_alloc(pool, 40 * MIB, NULL, &more), GPUMEM_OK,
		  "a released one does not");
	must(gpumem_free(more, NULL));
}

/* The vendor holds the object for what is queued: that is no quarantine to be
 * told of. */
static void test_work(gpumem_stream own, gpumem_stream stream)
{
	void *ptr = new_block(pool, MIB, own);
	void *view = view_of(ptr);
	struct gate gate = {0};

	warnings = 0;
	if (stream != own)
		must(gpumem_use_on(ptr, stream));
	gate_launch(&gate, stream, NULL, 0);
	gpumem_host_object_retain(view);
	must(gpumem_free(ptr, own));
	trim(pool);
	ok(quarantined() >= MIB, "held by work");
	is_uint(warnings, 0, "is not told");
	gpumem_host_object_release(view);
	gate_finish(&gate, stream);
	trim(pool);
	is_uint(quarantined(), 0, "and is over with the work");
	is_uint(warnings, 0, "nor is it told then");
}

/* The view goes with the free though the block waits for a stream. */
static void test_pending(gpumem_stream stream)
{
	void *ptr = new_block(pool, 1000, NULL);
	struct gate gate = {0};

	(void)view_of(ptr);
	must(gpumem_use_on(ptr, stream));
	gate_launch(&gate, stream, NULL, 0);
	must(gpumem_free(ptr, stream));
	is_uint(gpumem_host_views(0), 0, "a pending block has no view");
	ok(stats_of(pool).pending_bytes && !quarantined(),
	   "and is not in quarantine");
	gate_finish(&gate, stream);
	trim(pool);
	is_uint(stats_of(pool).pending_bytes, 0, "it ends with the work");
}

/* Of a stream that goes, and of a graph. */
static void test_streams(void)
{
	gpumem_stream stream = new_stream();
	gpumem_graph *graph = NULL;
	void *view[3], *ptr[3];

	must(gpumem_graph_create(pool, &graph));
	ptr[0] = new_block(pool, MIB, stream);
	ptr[1] = new_block(pool, 1000, stream);
	must(gpumem_graph_begin(graph, stream));
	ptr[2] = new_block(pool, MIB, stream);
	must(gpumem_graph_end(graph, stream));
	for (int i = 0; i < 3; i++) {
		view[i] = view_of(ptr[i]);
		gpumem_host_object_retain(view[i]);
	}
	must(gpumem_free(ptr[0], stream));
	must(gpumem_free(ptr[2], stream));
	must(gpumem_stream_destroy(device, stream));
	must(gpumem_free(ptr[1], NULL));
	must(gpumem_graph_destroy(graph, NULL));
	trim(pool);
	ok(quarantined() >= 2 * MIB, "views outlive stream and graph");
	sound(pool, "sound without them");
	for (int i = 0; i < 3; i++) {
		ok(gpumem_host_object_memory(view[i]) != NULL,
		   "and show memory");
		gpumem_host_object_release(view[i]);
	}
	trim(pool);
	is_uint(quarantined() + reserved_of(pool), 0, "all of it goes");
}

static void test_destroy(void)
{
	void *live = new_block(pool, MIB, NULL);
	void *freed = new_block(pool, 1000, NULL);
	void *held = view_of(freed), *of_live = view_of(live);

	gpumem_host_object_retain(held);
	must(gpumem_free(freed, NULL));
	is_status(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE), GPUMEM_BUSY,
		  "a pool with a held view does not end");
	ok(strstr(last_text(), "views"), "%s", last_text());
	ok(gpumem_host_object_memory(held) != NULL, "the memory is there");
	gpumem_host_object_release(held);
	of_live = view_of(live);
	gpumem_host_object_retain(of_live);
	is_status(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE), GPUMEM_BUSY,
		  "nor with one of a live block");
	must(gpumem_free(live, NULL));
	is_status(gpumem_pool_destroy(pool, 0), GPUMEM_BUSY, "freed or not");
	sound(pool, "and is sound");
	gpumem_host_object_release(of_live);
	(void)view_of(new_block(pool, 1000, NULL));
	is_status(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE), GPUMEM_OK,
		  "views that nobody holds go");
	is_uint(gpumem_host_views(0), 0, "all");
	ok(device_end(), "no memory is left");
}

static void test_lost(void)
{
	void *small = new_block(pool, 1000, NULL), *view = view_of(small);
	void *large = new_block(pool, MIB, NULL), *more = NULL;
	void *held = view_of(large), *live = new_block(pool, 1000, NULL);
	uint64_t before;

	gpumem_host_object_retain(held);
	must(gpumem_free(large, NULL));
	(void)view_of(live);
	must(gpumem_host_faults("*@1+:lost"));
	is_status(gpumem_view(new_block(pool, 1000, NULL), &more), GPUMEM_LOST,
		  "of a lost device there is no view");
	must(gpumem_host_faults(NULL));
	is_status(gpumem_view(small, &more), GPUMEM_OK, "but the one that was");
	is_ptr(more, view, "there");
	before = quarantined();
	is_status(gpumem_free(small, NULL), GPUMEM_OK, "its block is freed");
	is_uint(quarantined(), before, "and kept by nothing");
	sound(pool, "sound when lost");
	is_status(gpumem_pool_destroy(pool, GPUMEM_DESTROY_FORCE), GPUMEM_OK,
		  "and the pool ends");
	must(gpumem_device_close(device));
	is_ptr(gpumem_host_object_memory(held), NULL, "nothing is there");
	gpumem_host_object_release(held);
}

int main(void)
{
	gpumem_stream stream;

	alarm(60);
	gpumem_log_set(GPUMEM_LOG_WARN, log_line, NULL);
	start("1GiB");
	test_held(1000);
	test_held(3 * MIB + 5);
	test_held(40 * MIB);
	stream = new_stream();
	test_work(NULL, NULL);
	test_work(stream, stream);
	test_work(NULL, stream);
	test_pending(stream);
	test_streams();
	must(gpumem_stream_destroy(device, stream));
	end();
	start("64MiB");
	test_out_of_memory();
	test_destroy();
	start("64MiB");
	test_lost();
	option("host.streams", "off");
	start("1GiB");
	test_held(3 * MIB);
	test_told();
	end();
	return done_testing();
}
