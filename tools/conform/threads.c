/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Every slot from many threads at once. Each thread has memory, addresses,
 * pages, a stream and an event of its own, and looks at its own bytes. See
 * conform.h.
 */
#include "conform.h"

#include <pthread.h>

#define THREADS 8
#define ROUNDS 16

struct worker {
	const struct conform *c;
	uint8_t value;
	gpumem_status status; /* the first that was not OK */
	const char *slot;     /* and where */
	pthread_t thread;
};

static bool good(struct worker *w, gpumem_status status, const char *slot)
{
	if (status == GPUMEM_OK)
		return true;
	if (w->status == GPUMEM_OK) {
		w->status = status;
		w->slot = slot;
	}
	return false;
}

static void use_raw(struct worker *w)
{
	const struct conform *c = w->c;
	uint64_t bytes = conform_raw(c, 65536), address;

	if (!good(w, c->ops->alloc(c->device, bytes, &address), "alloc"))
		return;
	good(w, conform_paint(c, address, w->value, bytes), "fill");
	good(w, conform_verify(c, address, w->value, bytes), "copy");
	good(w, c->ops->free(c->device, address, bytes), "free");
}

/* False when the page may still be mapped. */
static bool use_mapped(struct worker *w, uint64_t address, gpumem_page page)
{
	const struct conform *c = w->c;
	uint64_t bytes = c->info.granularity_bytes;

	if (!good(w, c->ops->map(c->device, address, &page, 1, bytes), "map"))
		return true;
	good(w, conform_paint(c, address, w->value, bytes), "fill mapped");
	good(w, conform_verify(c, address, w->value, bytes), "copy mapped");
	return good(w, c->ops->unmap(c->device, address, 1, bytes), "unmap");
}

static void use_virtual(struct worker *w)
{
	const struct conform *c = w->c;
	uint64_t bytes = c->info.granularity_bytes, address;
	gpumem_page page;

	if (!conform_has(c, GPUMEM_CAP_VM))
		return;
	if (!good(w, c->ops->va_reserve(c->device, bytes, bytes, &address),
		  "va_reserve"))
		return;
	if (good(w, c->ops->page_create(c->device, bytes, &page),
		 "page_create")) {
		if (!use_mapped(w, address, page))
			return;
		good(w, c->ops->page_destroy(c->device, page, bytes),
		     "page_destroy");
	}
	good(w, c->ops->va_release(c->device, address, bytes), "va_release");
}

static void use_event(struct worker *w, gpumem_stream stream)
{
	const struct conform *c = w->c;
	void *event;
	gpumem_status status;

	if (!good(w, c->ops->event_create(c->device, &event), "event_create"))
		return;
	good(w, c->ops->event_record(c->device, event, stream), "event_record");
	status = c->ops->event_query(c->device, event);
	if (status != GPUMEM_NOT_READY)
		good(w, status, "event_query");
	good(w, c->ops->stream_wait(c->device, stream, event), "stream_wait");
	good(w, c->ops->event_sync(c->device, event), "event_sync");
	good(w, c->ops->stream_sync(c->device, stream), "stream_sync");
	good(w, c->ops->event_destroy(c->device, event), "event_destroy");
}

static void use_stream(struct worker *w)
{
	const struct conform *c = w->c;
	gpumem_stream stream;

	if (!conform_has(c, GPUMEM_CAP_STREAMS))
		return;
	if (!good(w, c->ops->stream_create(c->device, &stream),
		  "stream_create"))
		return;
	use_event(w, stream);
	use_event(w, NULL);
	good(w, c->ops->stream_destroy(c->device, stream), "stream_destroy");
}

static void *work(void *arg)
{
	struct worker *w = arg;

	for (int i = 0; i < ROUNDS && w->status == GPUMEM_OK; i++) {
		struct gpumem_memory memory = GPUMEM_INIT(struct gpumem_memory);

		use_raw(w);
		use_virtual(w);
		if (i % 8 == 0)
			use_stream(w);
		good(w, w->c->ops->memory_info(w->c->device, &memory),
		     "memory_info");
	}
	return NULL;
}

/* Each has a raw block and a page at one time. */
static int count_threads(const struct conform *c)
{
	uint64_t each = conform_raw(c, 65536) + c->info.granularity_bytes;
	uint64_t fit = c->budget_bytes / each;

	return fit < THREADS ? (int)fit : THREADS;
}

void conform_threads(struct conform *c)
{
	int started = 0, bad = 0, wanted = count_threads(c);
	struct worker workers[THREADS];

	if (c->one_thread) {
		conform_skip(c, "threads", "left out by --one-thread");
		return;
	}
	if (wanted < 2) {
		conform_skip(c, "threads", "there is not room for two");
		return;
	}
	for (; started < wanted; started++) {
		struct worker *w = &workers[started];

		*w = (struct worker){.c = c,
				     .value = (uint8_t)(17 * (started + 1))};
		if (pthread_create(&w->thread, NULL, work, w))
			break;
	}
	for (int i = 0; i < started; i++) {
		pthread_join(workers[i].thread, NULL);
		bad += workers[i].status != GPUMEM_OK;
	}
	conform_ok(c, started == wanted && !bad,
		   "%d threads use every slot at once", wanted);
	for (int i = 0; i < started; i++)
		if (workers[i].status != GPUMEM_OK)
			conform_note("thread %d: %s gave %s", i,
				     workers[i].slot,
				     gpumem_status_name(workers[i].status));
}
