/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Memory that is named by objects: which object holds an address, the view of a
 * block and its end. One thread.
 */
#include "views.h"
#include <sys/wait.h>

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

	must(gpumem_device_get_info(device, &info));
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
	must(gpumem_pool_destroy(pinned, GPUMEM_DESTROY_FORCE));
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
	is_status(gpumem_resize(ptr, bytes / 2, NULL, NULL), GPUMEM_BUSY,
		  "a block with a view keeps its size");
	is_status(gpumem_resize(ptr, bytes + 1, NULL, NULL), GPUMEM_BUSY,
		  "so does one with room for more");
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
	alarm(60);
	start("1GiB");
	test_objects();
	test_unsupported();
	test_view(1000);
	test_view(3 * MIB + 5);
	test_view(40 * MIB);
	test_fork();
	end();
	option("host.streams", "off");
	start("1GiB");
	test_view(1000);
	end();
	return done_testing();
}
