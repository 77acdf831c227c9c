/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The order of a recording's events: chunks are merged by a heap of those that
 * are under way, about as many as there were threads, for a thread writes one
 * at a time.
 */
#include "recording.h"

#include <stdlib.h>

static bool ends_block(const struct recording_event *event)
{
	return event->kind == GPUMEM_RECORD_FREE ||
	       event->kind == GPUMEM_RECORD_POOL_END;
}

/* The order of gpumem_record(5). */
static bool is_before(const struct recording_chunk *a,
		      const struct recording_chunk *b)
{
	if (a->head_time != b->head_time)
		return a->head_time < b->head_time;
	if (ends_block(&a->head) != ends_block(&b->head))
		return ends_block(&a->head);
	return a->sequence < b->sequence;
}

static int compare(const void *a, const void *b)
{
	return is_before(a, b) ? -1 : is_before(b, a);
}

void recording_sort(struct recording *recording)
{
	qsort(recording->chunks, recording->count, sizeof(*recording->chunks),
	      compare);
}

static void swap(struct recording_chunk **heap, size_t a, size_t b)
{
	struct recording_chunk *one = heap[a];

	heap[a] = heap[b];
	heap[b] = one;
}

static void push(struct recording *recording, struct recording_chunk *chunk)
{
	struct recording_chunk **heap = recording->heap;
	size_t at = recording->heap_count++;

	heap[at] = chunk;
	for (; at && is_before(heap[at], heap[(at - 1) / 2]); at = (at - 1) / 2)
		swap(heap, at, (at - 1) / 2);
}

/* heap[0] has changed. */
static void sink(struct recording *recording)
{
	struct recording_chunk **heap = recording->heap;
	size_t count = recording->heap_count;

	for (size_t at = 0, child = 1; child < count; child = 2 * at + 1) {
		if (child + 1 < count &&
		    is_before(heap[child + 1], heap[child]))
			child++;
		if (!is_before(heap[child], heap[at]))
			return;
		swap(heap, at, child);
		at = child;
	}
}

bool recording_next(struct recording *recording,
		    struct recording_event *event_out)
{
	struct recording_chunk **heap = recording->heap;

	while (recording->begun < recording->count &&
	       (!recording->heap_count ||
		is_before(&recording->chunks[recording->begun], heap[0])))
		push(recording, &recording->chunks[recording->begun++]);
	if (!recording->heap_count)
		return false;
	*event_out = heap[0]->head;
	event_out->time_ns = recording_since(recording, heap[0]->head_time);
	if (!recording_advance(recording, heap[0]))
		heap[0] = heap[--recording->heap_count];
	sink(recording);
	return true;
}
