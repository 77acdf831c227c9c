/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Each driver call of each slot fails once. The slot must say so, have undone
 * what it did, have left the thread alone, and work when it is called again.
 * Compiled for each vendor, behind its fixture, and what it says of its own:
 *
 *	names[]			the calls of a life, each of which fails
 *	thread_is_as_it_was()	the context or device, and the capture mode
 *	put_back()		what a call has not put back that was to
 *	is_around(name)		a call that puts the thread back, felt or not
 *	unfelt_of(name)		how many are not felt: a number, ANY, or LAST
 *				of a call of device_close(), which does not fail
 *	own_steps()		events in another context
 */
#ifndef GPU_FAULTS_H
#define GPU_FAULTS_H

#include "double.h"
#include <limits.h>

#define NAME_COUNT (sizeof(names) / sizeof(names[0]))
#define ANY UINT_MAX
#define LAST (UINT_MAX - 1)
#define COUNT 4
#define SOME 64 /* bytes to work on: what is touched costs time */

/* Of the run under way. */
static struct {
	bool around; /* the call that fails is also made to put the thread back
		      */
	unsigned failed, wrong;
	struct fakecuda_held before;
	unsigned said;
} run;

/* What the device has now, beside what every one has. */
static bool has_vm = true, has_names = true;

static void wrong(const char *what, const char *call)
{
	run.wrong++;
	diag("%s: %s (%s)", call, what, said.text);
}

static void step_begins(void)
{
	run.before = audit();
	run.said = said.count;
}

static void step_failed(const char *call)
{
	struct fakecuda_held after = audit();

	run.failed++;
	if (said.count == run.said)
		wrong("failed without a word", call);
	if (memcmp(&after, &run.before, sizeof(after)) != 0)
		wrong("failed and left something changed", call);
	if (!run.around && !thread_is_as_it_was())
		wrong("failed and left the thread changed", call);
	if (run.around)
		put_back();
}

#define STEP(call)                                                             \
	do {                                                                   \
		step_begins();                                                 \
		if ((call) == GPUMEM_OK)                                       \
			break;                                                 \
		step_failed(#call);                                            \
		if ((call) != GPUMEM_OK)                                       \
			wrong("fails a second time", #call);                   \
	} while (0)

/* Of the vendor's. */
static void own_steps(void *device, void *event);
static void destroy(void *device, void *event);

static void streams(void *device, void *stream)
{
	void *event = NULL;
	uint64_t id;

	STEP(gpu->event_create(device, &event));
	STEP(gpu->event_record(device, event, stream));
	STEP(gpu->event_query(device, event));
	own_steps(device, event);
	STEP(gpu->event_sync(device, event));
	STEP(gpu->stream_wait(device, stream, event));
	STEP(gpu->event_record(device, event, NULL));
	STEP(gpu->capture_id(device, stream, &id));
	STEP(gpu->stream_query(device, stream));
	STEP(gpu->stream_sync(device, stream));
	destroy(device, event);
}

/* The peer is let in to what there is already. */
static void memory(void *device, void *peer, void *stream)
{
	unsigned char handle[GPUMEM_SHARE_HANDLE_BYTES];
	struct gpumem_memory info = GPUMEM_INIT(struct gpumem_memory);
	uint64_t address = 0;

	STEP(gpu->memory_info(device, &info));
	STEP(gpu->alloc(device, PAGE, &address));
	STEP(gpu->peer_enable(device, peer));
	STEP(gpu->fill(device, address, 1, SOME, stream));
	STEP(gpu->copy(device, address, address + MIB, SOME, stream));
	if (has_names)
		STEP(gpu->ipc_export(device, address, PAGE, handle));
	STEP(gpu->free(device, address, PAGE));
	for (int i = 1; i <= 2; i++) {
		gpumem_kind kind = (gpumem_kind)i;

		STEP(gpu->kind_alloc(device, kind, MIB, &address));
		STEP(gpu->kind_free(device, kind, address, MIB));
	}
}

/* The process's own. */
static void pinned(void *device)
{
	static _Alignas(4096) char own[4096];

	STEP(gpu->host_pin(device, own, sizeof(own)));
	STEP(gpu->host_unpin(device, own, sizeof(own)));
}

/* A map or unmap that failed has left all as it was: the next is of all. */
static void virtual(void *device, void *stream)
{
	gpumem_page pages[COUNT] = {0};
	uint64_t address = 0;

	STEP(gpu->va_reserve(device, COUNT * PAGE, PAGE, &address));
	for (int i = 0; i < COUNT; i++)
		STEP(gpu->page_create(device, PAGE, &pages[i]));
	STEP(gpu->map(device, address, pages, COUNT, PAGE));
	STEP(gpu->fill(device, address + PAGE, 1, SOME, stream));
	STEP(gpu->unmap(device, address, COUNT, PAGE));
	STEP(gpu->map(device, address, pages, COUNT, PAGE));
	STEP(gpu->unmap(device, address, COUNT, PAGE));
	for (int i = 0; i < COUNT; i++)
		STEP(gpu->page_destroy(device, pages[i], PAGE));
	STEP(gpu->va_release(device, address, COUNT * PAGE));
}

/* Of one process: an import is another page of the same memory. */
static void shared(void *device, void *peer)
{
	gpumem_page page = 0, again = 0;
	uint64_t address = 0;
	int fd = -1;

	STEP(gpu->page_create_shared(device, PAGE, &page));
	STEP(gpu->page_export(device, page, PAGE, &fd));
	STEP(gpu->page_import(device, fd, PAGE, &again));
	STEP(gpu->va_reserve(device, PAGE, PAGE, &address));
	STEP(gpu->map_peers(device, address, &page, 1, PAGE, &peer, 1));
	STEP(gpu->open_mapped(device, address, 1, PAGE, &peer, 1));
	STEP(gpu->unmap(device, address, 1, PAGE));
	STEP(gpu->va_release(device, address, PAGE));
	STEP(gpu->page_destroy(device, again, PAGE));
	STEP(gpu->page_destroy(device, page, PAGE));
	close(fd);
}

static void life(void)
{
	struct gpumem_device_info info = GPUMEM_INIT(struct gpumem_device_info);
	void *device = NULL, *stream = NULL, *peer = NULL;
	bool can = false;
	int count;

	STEP(gpu->device_count(&count));
	STEP(gpu->device_info(0, &info));
	STEP(gpu->device_open(0, &device));
	STEP(gpu->device_open(1, &peer));
	STEP(gpu->peer_query(device, peer, &can));
	STEP(gpu->stream_create(device, &stream));
	memory(device, peer, stream);
	pinned(device);
	streams(device, stream);
	if (has_vm) {
		virtual(device, stream);
		shared(device, peer);
	}
	STEP(gpu->stream_destroy(device, stream));
	gpu->device_close(peer);
	gpu->device_close(device);
}

static void fail_each(const char *name, uint64_t calls, int code)
{
	struct fakecuda_held before = audit(), after;
	unsigned unfelt = 0, bad = 0;

	if (unfelt_of(name) == LAST)
		return;
	run.around = is_around(name);
	for (unsigned nth = 1; nth <= calls; nth++) {
		run.failed = run.wrong = 0;
		fail_call(name, nth, false, code);
		life();
		heal_calls();
		if (run.around)
			put_back();
		unfelt += !run.failed;
		after = audit();
		bad += run.wrong || !thread_is_as_it_was() ||
		       memcmp(&before, &after, sizeof(after)) != 0;
	}
	is_uint(bad, 0, "%s fails with %d at each of %llu calls", name, code,
		(unsigned long long)calls);
	if (unfelt_of(name) != ANY)
		is_uint(unfelt, unfelt_of(name), "and each is felt");
}

/* Which calls one life makes, each of which there is a name for. */
static void fail_all(void)
{
	uint64_t before[NAME_COUNT], calls[NAME_COUNT];
	uint64_t all = count_calls(NULL);
	size_t i;

	run.failed = run.wrong = 0;
	for (i = 0; i < NAME_COUNT; i++)
		before[i] = count_calls(names[i]);
	life();
	all = count_calls(NULL) - all;
	is_uint(run.failed + run.wrong, 0, "nothing fails by itself");
	for (i = 0; i < NAME_COUNT; i++) {
		calls[i] = count_calls(names[i]) - before[i];
		all -= calls[i];
	}
	is_uint(all, 0, "every call of it is one that is made to fail");
	for (i = 0; i < NAME_COUNT; i++) {
		fail_each(names[i], calls[i], 999);
		fail_each(names[i], calls[i], 2);
	}
}

#endif
