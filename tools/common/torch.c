/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See torch.h: all devices, in the order of their times.
 */
#include "torch_device.h"

#include <stdio.h>
#include <stdlib.h>

static uint64_t find_first(const struct unpickle *unpickle,
			   const struct unpickled *traces)
{
	uint64_t first = UINT64_MAX, us;

	for (size_t i = 0; i < TORCH_DEVICES; i++) {
		const struct unpickled *entries =
			unpickle_item(unpickle, traces, i);

		for (size_t j = 0; j < unpickle_count(unpickle, entries); j++)
			if (unpickle_get_u64(
				    unpickle,
				    unpickle_item(unpickle, entries, j),
				    "time_us", &us) &&
			    us < first)
				first = us;
	}
	return first == UINT64_MAX ? 0 : first;
}

static bool read_devices(struct torch_history *history,
			 const struct unpickle *unpickle)
{
	const struct unpickled *traces =
		unpickle_get(unpickle, &unpickle->root, "device_traces");
	const struct unpickled *segments =
		unpickle_get(unpickle, &unpickle->root, "segments");
	bool ok = true;

	if (!segments)
		return torch_fail(history, "it is a pickle, but no snapshot of "
					   "PyTorch's: it has no segments");
	history->begin_us = find_first(unpickle, traces);
	for (unsigned i = 0; i < TORCH_DEVICES && ok; i++) {
		struct torch_device device = {.history = history,
					      .unpickle = unpickle,
					      .first_us = history->begin_us,
					      .pool = (uint16_t)(i + 1)};

		trace_ids_init(&device.live);
		trace_ids_init(&device.seen);
		ok = torch_read_device(
			&device, unpickle_item(unpickle, traces, i), segments);
		trace_ids_free(&device.live);
		trace_ids_free(&device.seen);
	}
	return ok;
}

/* The order of events with the same time is that of the file; but what was
 * there at the beginning comes first. */
static int rank(const struct recording_event *event)
{
	if (event->kind == GPUMEM_RECORD_POOL)
		return 0;
	return event->kind == GPUMEM_RECORD_LIVE ? 1 : 2;
}

static int compare(const void *a, const void *b, void *events)
{
	const struct recording_event *all = events;
	uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;

	if (all[one].time_ns != all[other].time_ns)
		return all[one].time_ns < all[other].time_ns ? -1 : 1;
	if (rank(&all[one]) != rank(&all[other]))
		return rank(&all[one]) - rank(&all[other]);
	return one < other ? -1 : one > other;
}

static bool sort(struct torch_history *history)
{
	history->order = malloc((history->count + 1) * sizeof(*history->order));
	if (!history->order)
		return torch_fail(history, "out of host memory");
	for (size_t i = 0; i < history->count; i++)
		history->order[i] = i;
	qsort_r(history->order, history->count, sizeof(*history->order),
		compare, history->events);
	return true;
}

bool torch_is(const void *data, size_t bytes)
{
	const unsigned char *at = data;

	return bytes >= 2 && at[0] == 0x80 && at[1] <= 5;
}

bool torch_open(struct torch_history *history, const void *data, size_t bytes)
{
	struct unpickle unpickle;
	bool ok;

	*history = (struct torch_history){.steps_left = bytes * TORCH_DEVICES};
	tag_names_init(&history->tags);
	torch_stacks_init(&history->stacks);
	if (!unpickle_open(&unpickle, data, bytes))
		return torch_fail(history, unpickle.reason);
	ok = read_devices(history, &unpickle) && sort(history) &&
	     (torch_stacks_finish(&history->stacks) ||
	      torch_fail(history, "out of host memory"));
	unpickle_close(&unpickle);
	if (!ok)
		torch_close(history);
	return ok;
}

bool torch_next(struct torch_history *history,
		struct recording_event *event_out)
{
	if (history->next == history->count)
		return false;
	*event_out = history->events[history->order[history->next++]];
	return true;
}

const char *torch_tag(const struct torch_history *history, uint16_t number)
{
	return tag_names_path(&history->tags, number);
}

void torch_close(struct torch_history *history)
{
	tag_names_free(&history->tags);
	torch_stacks_free(&history->stacks);
	free(history->events);
	free(history->order);
	history->events = NULL;
	history->order = NULL;
	history->count = history->next = 0;
}
