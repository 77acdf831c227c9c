/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Memory that is named by objects: which object holds an address, the view of a
 * block and its end, and what becomes of a freed block whose view the program
 * holds. One thread.
 */
#include "lib_fixture.h"
#include <sys/wait.h>

static gpumem_pool *pool;
static unsigned warnings;

static void log_line(gpumem_log_level level, const char *text, void *user)
{
	(void)user;
	if (level != GPUMEM_LOG_WARN)
		return;
	warnings++;
	diag("%s", text);
}

static void start(const char *capacity)
{
	option("host.objects", "on");
	device_start(capacity, true);
	pool = new_pool(0);
	warnings = 0;
}

static void end(void)
{
	must(gpumem_pool_destroy(pool, false));
	is_uint(gpumem_host_views(0), 0, "no view is left");
	ok(device_end(), "no memory is left");
}

static void *view_of(const void *ptr)
{
	void *view = NULL;

	must(gpumem_view(ptr, &view));
	return view;
}

static void finish_work(void)
{
	struct gpumem_device_info info = GPUMEM_INIT(struct gpumem_device_info);

	must(gpumem_device_info(device, &info));
	if (info.caps & GPUMEM_CAP_STREAMS)
		must(gpumem_stream_sync(device, NULL));
}

static uint64_t quarantined(void)
{
	return stats_of(pool).quarantined_bytes;
}

/* The byte that a kernel would see there. */
static int byte_at(const void *ptr)
{
	const unsigned char *memory;
	uint64_t offset = 0;
	void *object = NULL;

	must(gpumem_object(ptr, &object, &offset));
	memory = gpumem_host_object_memory(object);
	return memory[offset];
}

static bool can_be_read(const void *ptr)
{
	ssize_t got;
	int pipes[2];

	if (pipe(pipes))
		bail("no pipe");
	got = write(pipes[1], ptr, 1);
	close(pipes[0]);
	close(pipes[1]);
	return got == 1;
}

static void test_objects(void)
{
	struct gpumem_device_info info = GPUMEM_INIT(struct gpumem_device_info);
	char *small = new_block(pool, 1000, NULL);
	char *large = new_block(pool, 3 * MIB, NULL), copy[2] = {0};
	void *object[2] = {NULL};
	uint64_t offset[2] = {0};

	must(gpumem_device_info(device, &info));
	is_uint(info.caps & (GPUMEM_CAP_OBJECTS | GPUMEM_CAP_VM |
			     GPUMEM_CAP_HOST_ACCESS),
		GPUMEM_CAP_OBJECTS, "objects, and nothing with pointers");
	ok(!can_be_read(small) && !can_be_read(large + MIB),
	   "an address cannot be used");
	must(gpumem_fill(device, small, 1, 1000, NULL));
	must(gpumem_fill(device, large, 2, MIB, NULL));
	must(gpumem_fill(device, large + MIB, 3, 2 * MIB, NULL));
	must(gpumem_copy(device, large, large + 2 * MIB, 1, NULL));
	must(gpumem_copy(device, copy, small, 2, NULL));
	finish_work();
	is_int(byte_at(small + 999), 1, "the end of a small block");
	is_int(byte_at(large + MIB - 1), 2, "the middle of a large one");
	is_int(byte_at(large + MIB), 3, "and the byte after");
	is_int(byte_at(large), 3, "copied from there");
	is_int(copy[1], 1, "copied to the host");
	must(gpumem_object(large, &object[0], &offset[0]));
	must(gpumem_object(large + 12345, &object[1], &offset[1]));
	ok(object[0] == object[1] && offset[1] == offset[0] + 12345,
	   "one block is in one object");
	must(gpumem_free(large, NULL));
	is_status(gpumem_object(large, &object[0], &offset[0]),
		  GPUMEM_BAD_POINTER, "no freed block is in any");
	ok(object[0] == object[1], "and the output is left alone");
	must(gpumem_free(small, NULL));
}

/* What has no objects says so. */
static void test_unsupported(void)
{
	struct gpumem_pool_config config =
		GPUMEM_INIT(struct gpumem_pool_config);
	uint64_t offset = 7;
	void *object = NULL, *ptr = NULL;
	gpumem_pool *pinned = NULL;

	config.kind = GPUMEM_KIND_PINNED;
	must(gpumem_pool_create(device, &config, &pinned));
	ptr = new_block(pinned, 1000, NULL);
	is_status(gpumem_view(ptr, &object), GPUMEM_UNSUPPORTED,
		  "pinned memory has no views");
	is_status(gpumem_object(ptr, &object, &offset), GPUMEM_UNSUPPORTED,
		  "nor objects");
	must(gpumem_pool_destroy(pinned, true));
	end();
	option("host.objects", "off");
	device_start("1GiB", true);
	pool = new_pool(0);
	ptr = new_block(pool, 1000, NULL);
	is_status(gpumem_view(ptr, &object), GPUMEM_UNSUPPORTED,
		  "memory of addresses has no views");
	is_status(gpumem_object(ptr, &object, &offset), GPUMEM_UNSUPPORTED,
		  "nor objects");
	ok(!object && offset == 7, "no output is touched: %s", last_text());
	sound(pool, "a refused view leaves nothing");
	must(gpumem_free(ptr, NULL));
	end();
	start("1GiB");
}

static void test_view(size_t bytes)
{
	char *ptr = new_block(pool, bytes, NULL);
	uint64_t host_bytes = stats_of(pool).host_bytes;
	void *view = view_of(ptr), *other = NULL;
	const unsigned char *memory = gpumem_host_object_memory(view);

	is_ptr(view_of(ptr), view, "%zu bytes: the same view again", bytes);
	ok(stats_of(pool).host_bytes > host_bytes, "which is counted");
	is_uint(gpumem_host_views(0), 1, "there is one");
	must(gpumem_fill(device, ptr, 77, bytes, NULL));
	finish_work();
	ok(memory[0] == 77 && memory[bytes - 1] == 77, "shows the block");
	is_status(gpumem_view(ptr + 1, &other), GPUMEM_BAD_POINTER,
		  "of a block as a whole");
	sound(pool, "sound with a view");
	must(gpumem_free(ptr, NULL));
	is_uint(gpumem_host_views(0), 0, "the free ends it");
	is_uint(quarantined(), 0, "and the block");
	is_status(gpumem_view(ptr, &other), GPUMEM_BAD_POINTER,
		  "which has no view any more");
	ok(!other, "no output is touched");
	is_status(gpumem_free(ptr, NULL), GPUMEM_BAD_POINTER, "freed twice");
	is_ptr(new_block(pool, bytes, NULL), ptr, "it is used again at once");
	is_uint(gpumem_host_views(0), 0, "without a view");
	must(gpumem_free(ptr, NULL));
	sound(pool, "sound without");
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
	is_status(gpumem_pool_destroy(pool, true), GPUMEM_BUSY,
		  "a pool with a held view does not end");
	ok(strstr(last_text(), "views"), "%s", last_text());
	ok(gpumem_host_object_memory(held) != NULL, "the memory is there");
	gpumem_host_object_release(held);
	of_live = view_of(live);
	gpumem_host_object_retain(of_live);
	is_status(gpumem_pool_destroy(pool, true), GPUMEM_BUSY,
		  "nor with one of a live block");
	must(gpumem_free(live, NULL));
	is_status(gpumem_pool_destroy(pool, false), GPUMEM_BUSY,
		  "freed or not");
	sound(pool, "and is sound");
	gpumem_host_object_release(of_live);
	(void)view_of(new_block(pool, 1000, NULL));
	is_status(gpumem_pool_destroy(pool, true), GPUMEM_OK,
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
	is_status(gpumem_pool_destroy(pool, true), GPUMEM_OK,
		  "and the pool ends");
	must(gpumem_device_close(device));
	is_ptr(gpumem_host_object_memory(held), NULL, "nothing is there");
	gpumem_host_object_release(held);
}

static void test_fork(void)
{
	void *ptr = new_block(pool, 1000, NULL), *view = NULL;
	uint64_t offset;
	int status = 1;
	pid_t child = fork();

	if (!child)
		_exit(gpumem_view(ptr, &view) != GPUMEM_FORKED ||
		      gpumem_object(ptr, &view, &offset) != GPUMEM_FORKED);
	waitpid(child, &status, 0);
	is_int(status, 0, "a child has neither");
	must(gpumem_free(ptr, NULL));
}

int main(void)
{
	gpumem_stream stream;

	alarm(60);
	gpumem_log_set(GPUMEM_LOG_WARN, log_line, NULL);
	start("1GiB");
	test_objects();
	test_unsupported();
	test_view(1000);
	test_view(3 * MIB + 5);
	test_view(40 * MIB);
	test_held(1000);
	test_held(3 * MIB + 5);
	test_held(40 * MIB);
	stream = new_stream();
	test_work(NULL, NULL);
	test_work(stream, stream);
	test_work(NULL, stream);
	test_pending(stream);
	test_streams();
	test_fork();
	must(gpumem_stream_destroy(device, stream));
	end();
	start("64MiB");
	test_out_of_memory();
	test_destroy();
	start("64MiB");
	test_lost();
	option("host.streams", "off");
	start("1GiB");
	test_view(1000);
	test_held(3 * MIB);
	test_told();
	end();
	return done_testing();
}
