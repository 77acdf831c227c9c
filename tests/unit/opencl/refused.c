/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A buffer that the implementation does not take back stays a block of its
 * device, though meanwhile the last place in the table of all blocks went to
 * another device, and there is no host memory for a larger one. For that
 * realloc() is this file's. The slots of the backend are called directly: a
 * pool has few blocks. One thread.
 */
#include "layered.h"
#include <gpumem/backend.h>

#if ADDRESS_SANITIZER || THREAD_SANITIZER
int main(void)
{
	skip_all("a sanitizer has a realloc of its own");
	return EXIT_SUCCESS;
}
#else

/* More blocks than the table's first room for them; how much that is, and
 * that it doubles, is the plugin's business: each number is tried. */
enum { BLOCKS_MAX = 140, BYTES = 4096 };

static const struct gpumem_backend *ops;
static void *device_of[2];
static uint64_t block[BLOCKS_MAX], others[BLOCKS_MAX];
static unsigned other_count;
static _Atomic bool no_memory;

void *realloc(void *ptr, size_t bytes)
{
	static void *(*real)(void *ptr, size_t bytes);

	if (atomic_load(&no_memory))
		return NULL;
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "realloc");
	return real(ptr, bytes);
}

static void open_devices(void)
{
	int index = 0;

	option("opencl.memory", "buffer");
	must(gpumem_backend_table("opencl", &ops));
	must(ops->device_open(0, &device_of[0]));
	must(ops->device_adopt(context, native, &index));
	must(ops->device_open(index, &device_of[1]));
}

/* Another thread takes a block of another device; then there is no memory. */
static void take_the_place(void)
{
	must(ops->alloc(device_of[1], BYTES, &others[other_count++]));
	atomic_store(&no_memory, true);
}

/* Whether the last block, whose release fails, is still there. */
static bool survives(unsigned last)
{
	gpumem_status status;
	uint64_t offset;
	void *object;

	if (!cl.fakecl_fault("clReleaseMemObject", 1, false, OUT_OF_RESOURCES))
		bail("the layer has no clReleaseMemObject");
	cl.fakecl_meanwhile(take_the_place);
	status = ops->free(device_of[0], block[last], BYTES);
	atomic_store(&no_memory, false);
	cl.fakecl_heal();
	if (status != GPUMEM_DRIVER)
		bail("the release gave %s", gpumem_status_name(status));
	return !ops->object_of(device_of[0], block[last], &object, &offset);
}

int main(void)
{
	struct fakecl_held before;
	unsigned i, lost = 0, stuck = 0;

	alarm(120);
	layered_start();
	open_devices();
	cl.fakecl_audit(&before);
	for (i = 0; i < BLOCKS_MAX; i++) {
		must(ops->alloc(device_of[0], BYTES, &block[i]));
		if (!survives(i))
			lost++;
		must(ops->free(device_of[1], others[--other_count], BYTES));
	}
	is_uint(lost, 0, "no block is forgotten that could not be released");
	for (i = 0; i < BLOCKS_MAX; i++)
		stuck += ops->free(device_of[0], block[i], BYTES) != GPUMEM_OK;
	is_uint(stuck, 0, "all of them are released later");
	is_int(left(&before), 0, "and nothing is held");
	ops->device_close(device_of[1]);
	ops->device_close(device_of[0]);
	return done_testing();
}
#endif
