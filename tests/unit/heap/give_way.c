/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A trim beside other heaps that grow: between two of its calls these go first
 * (device/gate.h). The driver of these tests stops in a call until it is told
 * to go on, and writes down who called what.
 */
#include "fixture.h"
#include "../device/hooked.h"
#include <sched.h>

#define PAGE (2 * MIB)

enum { PAGES = 3 * GM_STEP_HANDLES, GROWERS = 2 };

/* One that grows. */
struct grower {
	struct gm_heap heap;
	pthread_t thread;
	const char *stops_in; /* this slot, once */
	gpumem_status refuse; /* what that call gives */
	_Atomic bool stopped, go;
	gpumem_status status;
};

static struct grower grower[GROWERS];
static _Thread_local struct grower *self;

/* A letter for each call: the trim's U and D; of growing heaps c and m when
 * they begin, C and M when they end. */
static pthread_mutex_t story_mutex = PTHREAD_MUTEX_INITIALIZER;
static char story[512];

static void tell(char letter)
{
	pthread_mutex_lock(&story_mutex);
	story[strlen(story)] = letter;
	pthread_mutex_unlock(&story_mutex);
}

/* What the call of a growing heap does before the driver's own. */
static gpumem_status stop_in(const char *slot)
{
	if (!self->stops_in || strcmp(self->stops_in, slot) != 0)
		return GPUMEM_OK;
	self->stops_in = NULL;
	atomic_store(&self->stopped, true);
	while (!atomic_load(&self->go))
		sched_yield();
	return self->refuse;
}

static gpumem_status before(const char *slot, size_t count)
{
	if (!strcmp(slot, "unmap") || !strcmp(slot, "page_destroy"))
		tell(slot[0] == 'u' ? 'U' : 'D');
	if (!strcmp(slot, "unmap") && count > GM_STEP_HANDLES)
		bail("%zu handles are unmapped at once", count);
	if (!self || (strcmp(slot, "page_create") && strcmp(slot, "map")))
		return GPUMEM_OK;
	tell(slot[0] == 'm' ? 'm' : 'c');
	return stop_in(slot);
}

static void after(const char *slot)
{
	if (self && !strcmp(slot, "page_create"))
		tell('C');
	if (self && !strcmp(slot, "map"))
		tell('M');
}

static void *grow(void *arg)
{
	struct grower *me = arg;
	struct gm_attempt attempt = {0};
	struct gm_extent *made = NULL;
	struct gm_arena *arena;

	self = me;
	pthread_mutex_lock(&me->heap.mutex);
	must(gm_arena_of(&me->heap, NULL, &arena));
	me->status = gm_space_grow(&me->heap, &attempt, arena, 2 * PAGE,
				   me->heap.unit, &made);
	pthread_mutex_unlock(&me->heap.mutex);
	return NULL;
}

static struct grower *grower_make(unsigned i)
{
	const struct gm_heap_config config = {.page_bytes = PAGE};

	must(gm_heap_init(&grower[i].heap, device, &config));
	return &grower[i];
}

/* Its heap begins to grow, and stops in a call. */
static void grower_start(struct grower *me, const char *stops_in,
			 gpumem_status refuse)
{
	me->stops_in = stops_in;
	me->refuse = refuse;
	atomic_store(&me->stopped, false);
	atomic_store(&me->go, false);
	if (pthread_create(&me->thread, NULL, grow, me))
		bail("no thread");
	while (!atomic_load(&me->stopped))
		sched_yield();
}

static void grower_go(struct grower *me)
{
	atomic_store(&me->go, true);
	pthread_join(me->thread, NULL);
}

static void *trim(void *unused)
{
	(void)unused;
	must(heap_trim(0));
	return NULL;
}

static pthread_t trim_start(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, trim, NULL))
		bail("no thread");
	return thread;
}

static void wait_for_pause(void)
{
	while (atomic_load(&device->gate->paused) != 1)
		sched_yield();
}

/* So many free pages, and one block more that is live. */
static struct gm_extent *make_free(size_t pages)
{
	struct gm_arena *arena = arena_of(NULL);
	struct gm_extent *some = block(arena, pages * PAGE);
	struct gm_extent *live = block(arena, PAGE);

	block_give(arena, some);
	return live;
}

static void restart(void)
{
	heap_start_with(0, PAGE);
	memset(story, 0, sizeof(story));
}

/* So many of a letter are in the story so far. */
static size_t told(char letter)
{
	size_t count = 0;

	pthread_mutex_lock(&story_mutex);
	for (const char *at = story; *at; at++)
		count += *at == letter;
	pthread_mutex_unlock(&story_mutex);
	return count;
}

/* The heap that is trimmed is at the disposal of its threads meanwhile. */
static struct gm_extent *use_meanwhile(void)
{
	struct gm_extent *extent;

	sound("while the trim is paused");
	pthread_mutex_lock(&heap.mutex);
	extent = block_fit(arena_of(NULL), PAGE, heap.unit);
	pthread_mutex_unlock(&heap.mutex);
	ok(extent != NULL, "a block of its free memory");
	return extent;
}

/* Once a growth is in, one call of the trim follows at most, and the growth
 * ends before the next. */
static void test_order(const char *slot, gpumem_status refuse)
{
	struct gm_extent *live[2];
	struct grower *other;
	pthread_t trimmer;

	restart();
	live[0] = make_free(PAGES);
	memset(story, 0, sizeof(story));
	other = grower_make(0);
	grower_start(other, slot, refuse);
	trimmer = trim_start();
	wait_for_pause();
	is_uint(told('U'), 1, "%s: the trim has made one call", slot);
	is_uint(told('D'), 0, "%s: and no other", slot);
	live[1] = use_meanwhile();
	grower_go(other);
	pthread_join(trimmer, NULL);
	is_status(other->status, refuse, "%s: the growth", slot);
	is_uint(told('D'), PAGES - 1, "%s: all is gone", slot);
	if (!refuse)
		ok(strrchr(story, 'M') < strchr(story, 'D'),
		   "%s: the growth was first: %s", slot, story);
	is_uint(heap.counters.reserved.current, 2 * PAGE,
		"%s: but the live blocks", slot);
	for (int i = 0; i < 2; i++)
		block_give(arena_of(NULL), live[i]);
	must(gm_heap_fini(&other->heap));
	heap_end();
}

/* Who comes while the trim is paused does not prolong the pause; the next one
 * is for them. */
static void test_progress(void)
{
	struct grower *first = grower_make(0), *second = grower_make(1);
	pthread_t trimmer;

	restart();
	make_free(PAGES);
	memset(story, 0, sizeof(story));
	grower_start(first, "page_create", GPUMEM_OK);
	trimmer = trim_start();
	wait_for_pause();
	grower_start(second, "page_create", GPUMEM_OK);
	is_uint(told('D'), 0, "paused for the first");
	grower_go(first);
	while (told('D') < GM_STEP_HANDLES)
		sched_yield();
	wait_for_pause();
	is_uint(told('D'), GM_STEP_HANDLES,
		"a step was made while the second is in its call");
	is_uint(told('U'), 1, "no more than one");
	grower_go(second);
	pthread_join(trimmer, NULL);
	is_uint(told('D'), PAGES, "and then all go");
	must(gm_heap_fini(&first->heap));
	must(gm_heap_fini(&second->heap));
	heap_end();
}

static void *end(void *unused)
{
	(void)unused;
	must(gm_heap_fini(&heap));
	return NULL;
}

/* The end of a heap is as long a row of calls as a trim. */
static void test_end(void)
{
	struct grower *other;
	pthread_t thread;

	restart();
	make_free(PAGES);
	memset(story, 0, sizeof(story));
	other = grower_make(0);
	grower_start(other, "map", GPUMEM_OK);
	if (pthread_create(&thread, NULL, end, NULL))
		bail("no thread");
	wait_for_pause();
	is_uint(told('U'), 1, "a heap ends: one call");
	is_uint(told('D'), 0, "and a pause");
	grower_go(other);
	pthread_join(thread, NULL);
	is_uint(told('D'), PAGES + 1, "then all go");
	must(gm_heap_fini(&other->heap));
}

/* Without virtual memory each step is one call. */
static void test_segments(void)
{
	struct gm_arena *arena;
	struct gm_extent *extent[2];

	option("vm", "off");
	heap_start();
	arena = arena_of(NULL);
	for (int i = 0; i < 2; i++)
		extent[i] = block(arena, 4 * MIB);
	for (int i = 0; i < 2; i++)
		block_give(arena, extent[i]);
	gm_gate_enter(device->gate);
	{
		pthread_t trimmer = trim_start();

		wait_for_pause();
		is_uint(calls(GPUMEM_CALL_FREE), 1, "segments: one call");
		gm_gate_leave(device->gate);
		pthread_join(trimmer, NULL);
	}
	is_uint(calls(GPUMEM_CALL_FREE), 2, "segments: then the other");
	heap_end();
	option("vm", NULL);
}

int main(void)
{
	alarm(60);
	option("host.capacity", "256MiB");
	must(gm_device_open("host:0", &device));
	test_segments();
	hook_driver(device, (struct hooks){before, after});
	test_order("page_create", GPUMEM_OK);
	test_order("map", GPUMEM_OK);
	test_order("map", GPUMEM_NO_MEMORY);
	test_order("page_create", GPUMEM_DRIVER);
	test_progress();
	test_end();
	unhook_driver(device);
	device_end();
	return done_testing();
}
