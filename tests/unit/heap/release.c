/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What happens to a heap while memory is on its way to the driver: its mutex is
 * free then. The driver of these tests calls back in the middle of such a call,
 * and there the heap is looked at, used, and changed; then the call succeeds or
 * is refused.
 */
#include "fixture.h"
#include "../device/hooked.h"

#define PAGE (2 * MIB)

static struct gm_arena *arena;

/* What a call does: fn() in its middle, then it is refused or not. Each is for
 * one call. */
static struct {
	void (*fn)(void);
	gpumem_status refuse;
	unsigned calls;
} next;

static gpumem_status interrupt(const char *slot, size_t count)
{
	void (*fn)(void) = next.fn;
	gpumem_status status = next.refuse;

	(void)count;
	if (strcmp(slot, "unmap") && strcmp(slot, "free"))
		return GPUMEM_OK;
	next.calls++;
	next.fn = NULL;
	next.refuse = GPUMEM_OK;
	if (fn)
		fn();
	return status;
}

static void restart(const char *vm)
{
	if (arena)
		heap_end();
	option("vm", vm);
	heap_start();
	arena = arena_of(NULL);
}

static bool is_free(void)
{
	if (pthread_mutex_trylock(&heap.mutex))
		return false;
	pthread_mutex_unlock(&heap.mutex);
	return true;
}

static void look(void)
{
	ok(is_free(), "the mutex is free meanwhile");
	ok(heap.space->releasing_bytes >= PAGE, "something is leaving");
	sound("and all is in order");
}

/* Three free pages between live blocks, so that each goes by itself; the first
 * is of the arena `from`, and was freed last. */
static struct gm_extent *kept[4];

static void make_three(struct gm_arena *from)
{
	struct gm_extent *gone[3];

	for (int i = 0; i < 3; i++) {
		kept[i] = block(arena, PAGE);
		gone[i] = block(i ? arena : from, PAGE);
	}
	kept[3] = block(arena, PAGE);
	for (int i = 2; i >= 0; i--)
		block_give(i ? arena : from, gone[i]);
}

static void free_kept(void)
{
	for (int i = 0; i < 4; i++)
		block_give(arena, kept[i]);
}

static void test_looked_at(const char *vm)
{
	restart(vm);
	make_three(arena);
	next.fn = look;
	must(heap_trim(0));
	is_uint(heap_reserved(), 4 * PAGE, "what was unused is gone");
	next.fn = look;
	next.refuse = GPUMEM_DRIVER;
	free_kept();
	is_status(heap_trim(0), GPUMEM_DRIVER, "a refusal is told");
	sound("and what did not go is ours again");
	must(heap_trim(0));
	is_uint(heap_reserved(), 0, "and goes the next time");
	is_uint(heap.space->releasing_bytes, 0, "nothing is leaving");
}

/* Others use what lies around it: the pieces meet again. */
static void free_around(void)
{
	free_kept();
	sound("neighbours are freed meanwhile");
}

static void test_neighbours(const char *vm, gpumem_status refuse)
{
	restart(vm);
	make_three(arena);
	next.fn = free_around;
	next.refuse = refuse;
	is_status(heap_trim(4 * PAGE), refuse, "a trim");
	sound("neighbours were freed");
	must(heap_trim(0));
	is_uint(heap_reserved(), 0, "all can go");
}

/* The stream whose page is leaving goes, and all its memory finds an receiver.
 */
static gpumem_stream stream;

static void drop_stream(void)
{
	pthread_mutex_lock(&heap.mutex);
	must(gm_heap_drop(arena_of(stream)));
	pthread_mutex_unlock(&heap.mutex);
	must(gm_stream_sync(device, stream));
	must(gm_stream_destroy(device, stream));
	pthread_mutex_lock(&heap.mutex);
	gm_heap_transfer(arena, NULL, true);
	pthread_mutex_unlock(&heap.mutex);
	ok(!gm_arena_find(&heap, stream) && !heap.order->arenas->next,
	   "a stream goes meanwhile");
	sound("and its memory has an receiver");
}

static void test_stream_goes(const char *vm, gpumem_status refuse)
{
	restart(vm);
	stream = stream_new();
	make_three(arena_of(stream));
	next.fn = drop_stream;
	next.refuse = refuse;
	is_status(heap_trim(0), refuse, "a trim while a stream goes");
	sound("it went");
	must(heap_trim(0));
	is_uint(heap_reserved(), 4 * PAGE, "and its memory can go");
	free_kept();
	must(heap_trim(0));
	is_uint(heap_reserved(), 0, "with all the rest");
}

/* The heap grows, and makes the list of spare pages longer, in the middle. */
static void grow(void)
{
	struct gm_extent *extent[6];

	pthread_mutex_lock(&heap.mutex);
	for (int i = 0; i < 6; i++) {
		extent[i] = block(arena, PAGE + (size_t)i * PAGE / 2);
		touch(extent[i]);
	}
	for (int i = 0; i < 6; i++)
		block_give(arena, extent[i]);
	pthread_mutex_unlock(&heap.mutex);
	sound("the heap grows meanwhile");
}

static void test_grows(const char *vm, gpumem_status refuse, const char *faults)
{
	restart(vm);
	make_three(arena);
	next.fn = grow;
	next.refuse = refuse;
	must(gpumem_host_faults(faults));
	(void)heap_trim(0);
	sound("the heap has grown");
	must(gpumem_host_faults(NULL));
	free_kept();
	must(heap_trim(0));
	is_uint(heap_reserved(), 0, "all can go");
}

/* What the driver never takes keeps nothing else back. */
static void test_stuck(const char *faults)
{
	restart("on");
	make_three(arena);
	must(gpumem_host_faults(faults));
	(void)heap_trim(0);
	must(gpumem_host_faults(NULL));
	is_uint(heap_reserved(), 5 * PAGE, "%s: one page stays", faults);
	sound("%s", faults);
	free_kept();
	must(heap_trim(0));
	is_uint(heap_reserved(), 0, "and goes in the end");
}

int main(void)
{
	static const char *const mode[] = {"on", "off"};

	alarm(60);
	device_start();
	hook_driver(device, (struct hooks){interrupt, NULL});
	for (int i = 0; i < 2; i++) {
		test_looked_at(mode[i]);
		test_neighbours(mode[i], GPUMEM_OK);
		test_neighbours(mode[i], GPUMEM_DRIVER);
		test_stream_goes(mode[i], GPUMEM_OK);
		test_stream_goes(mode[i], GPUMEM_DRIVER);
		test_grows(mode[i], GPUMEM_OK, NULL);
		test_grows(mode[i], GPUMEM_DRIVER, NULL);
	}
	test_grows("on", GPUMEM_OK, "page_destroy@1");
	test_grows("on", GPUMEM_OK, "page_destroy@1+");
	test_stuck("unmap@1");
	test_stuck("page_destroy@1");
	heap_end();
	option("vm", NULL);
	unhook_driver(device);
	device_end();
	return done_testing();
}
