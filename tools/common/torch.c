/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See torch.h: all devices, in the order of their times.
 */
#include "rmm.h"
#include "torch_device.h"

#include <stdio.h>
#include <stdlib.h>

/* A list may be named many times, but no file needs more than it has bytes. */
bool torch_step(struct torch_history *history)
{
	if (history->steps_left--)
		return true;
	history->steps_left = 0;
	return torch_fail(history, "damaged: more than the file has room for");
}

/* ---- reading ---- */

/* The device of a segment; NULL: there is none of that number, which is told.
 */
static struct torch_device *find_device(struct torch_device *devices,
					const struct unpickled *segment)
{
	const struct unpickle *unpickle = devices->unpickle;
	uint64_t number = 0;

	(void)unpickle_get_u64(unpickle, segment, "device", &number);
	if (number < TORCH_DEVICES)
		return &devices[number];
	(void)torch_fail(devices->history, "more than 64 devices");
	return NULL;
}

static bool read_segments(struct torch_device *devices,
			  const struct unpickled *segments)
{
	const struct unpickle *unpickle = devices->unpickle;

	for (size_t i = 0; i < unpickle_count(unpickle, segments); i++) {
		const struct unpickled *segment =
			unpickle_item(unpickle, segments, i);
		struct torch_device *device = find_device(devices, segment);

		if (!device || !torch_step(device->history) ||
		    !torch_segment(device, segment))
			return false;
	}
	return true;
}

static bool read_entries(struct torch_device *device,
			 const struct unpickled *entries)
{
	for (size_t i = 0; i < unpickle_count(device->unpickle, entries); i++)
		if (!torch_step(device->history) ||
		    !torch_entry(device,
				 unpickle_item(device->unpickle, entries, i)))
			return false;
	return true;
}

/* A list for each device; of pinned memory there may be one for all. */
static bool read_traces(struct torch_device *devices,
			const struct unpickled *traces)
{
	const struct unpickle *unpickle = devices->unpickle;
	const struct unpickled *first = unpickle_item(unpickle, traces, 0);

	if (first && first->kind == UNPICKLED_DICT)
		return read_entries(devices, traces);
	for (size_t i = 0; i < unpickle_count(unpickle, traces); i++) {
		const struct unpickled *entries =
			unpickle_item(unpickle, traces, i);

		if (i >= TORCH_DEVICES && unpickle_count(unpickle, entries))
			return torch_fail(devices->history,
					  "more than 64 devices");
		if (i < TORCH_DEVICES && !read_entries(&devices[i], entries))
			return false;
	}
	return true;
}

static bool read_both(struct torch_device *devices, const char *traces,
		      const char *segments)
{
	const struct unpickle *unpickle = devices->unpickle;
	const struct unpickled *root = &unpickle->root;

	return read_traces(devices, unpickle_get(unpickle, root, traces)) &&
	       read_segments(devices, unpickle_get(unpickle, root, segments));
}

static bool read_all(struct torch_history *history,
		     const struct unpickle *unpickle)
{
	struct torch_device *devices = calloc(TORCH_POOLS, sizeof(*devices));
	bool ok = devices != NULL;

	if (!ok)
		return torch_no_memory(history);
	for (unsigned i = 0; i < TORCH_POOLS; i++)
		torch_device_init(&devices[i], history, unpickle, i);
	ok = read_both(devices, "device_traces", "segments") &&
	     read_both(&devices[TORCH_DEVICES], "host_traces", "host_segments");
	for (unsigned i = 0; i < TORCH_POOLS; i++) {
		ok = ok && torch_finish(&devices[i]);
		torch_device_free(&devices[i]);
	}
	free(devices);
	return ok;
}

static bool read_snapshot(struct torch_history *history,
			  const struct unpickle *unpickle)
{
	if (!unpickle_get(unpickle, &unpickle->root, "segments"))
		return torch_fail(history, "it is a pickle, but no snapshot of "
					   "PyTorch's: it has no segments");
	return torch_unknown_keys(history, unpickle, &unpickle->root,
				  TORCH_ROOT) &&
	       read_all(history, unpickle);
}

static bool is_pickle(const void *data, size_t bytes)
{
	const unsigned char *at = data;

	return bytes >= 2 && at[0] == 0x80 && at[1] <= 5;
}

bool torch_is(const void *data, size_t bytes)
{
	return is_pickle(data, bytes) || rmm_is(data, bytes);
}

/* ---- the whole ---- */

void torch_history_init(struct torch_history *history, const char *program,
			const char *what)
{
	*history = (struct torch_history){.program = program, .what = what};
	tag_names_init(&history->tags);
	tag_names_init(&history->unknown);
	torch_stacks_init(&history->stacks);
}

bool torch_history_finish(struct torch_history *history, bool ok)
{
	if (ok && !torch_stacks_finish(&history->stacks))
		ok = torch_no_memory(history);
	if (ok)
		torch_rewind(history);
	else
		torch_close(history);
	return ok;
}

static bool open_pickle(struct torch_history *history, const void *data,
			size_t bytes)
{
	struct unpickle unpickle;
	bool ok;

	torch_history_init(history, "PyTorch",
			   "snapshot of PyTorch's allocator");
	history->dated = true;
	history->steps_left = bytes * TORCH_DEVICES;
	if (!unpickle_open(&unpickle, data, bytes))
		return torch_history_finish(
			history, torch_fail(history, unpickle.reason));
	ok = read_snapshot(history, &unpickle);
	unpickle_close(&unpickle);
	return torch_history_finish(history, ok);
}

bool torch_open(struct torch_history *history, const void *data, size_t bytes)
{
	return is_pickle(data, bytes) ? open_pickle(history, data, bytes)
				      : rmm_open(history, data, bytes);
}

/* ---- events ---- */

static uint64_t since(const struct torch_history *history, uint64_t us)
{
	return us > history->begin_us ? (us - history->begin_us) * 1000 : 0;
}

/* False: there is no next event of the pool. */
static bool advance(struct torch_history *history, unsigned pool)
{
	struct recording_event *head = &history->heads[pool];

	if (!torch_events_next(&history->pools[pool], &history->cursors[pool],
			       head))
		return false;
	head->pool = (uint16_t)(pool + 1);
	head->time_ns = since(history, head->time_ns);
	return true;
}

void torch_rewind(struct torch_history *history)
{
	history->active_count = 0;
	for (unsigned i = 0; i < TORCH_POOLS; i++) {
		history->cursors[i] = (struct torch_cursor){0};
		if (!torch_events_none(&history->pools[i]) &&
		    advance(history, i))
			history->active[history->active_count++] = (uint8_t)i;
	}
}

/* What was there at the beginning comes first. */
static int rank(const struct recording_event *event)
{
	if (event->kind == GPUMEM_RECORD_POOL)
		return 0;
	return event->kind == GPUMEM_RECORD_LIVE ? 1 : 2;
}

static bool is_before(const struct recording_event *one,
		      const struct recording_event *other)
{
	return one->time_ns != other->time_ns ? one->time_ns < other->time_ns
					      : rank(one) < rank(other);
}

bool torch_next(struct torch_history *history,
		struct recording_event *event_out)
{
	uint8_t *active = history->active;
	unsigned next = 0;

	if (!history->active_count)
		return false;
	for (unsigned i = 1; i < history->active_count; i++)
		if (is_before(&history->heads[active[i]],
			      &history->heads[active[next]]))
			next = i;
	*event_out = history->heads[active[next]];
	if (advance(history, active[next]))
		return true;
	history->active_count--;
	for (unsigned i = next; i < history->active_count; i++)
		active[i] = active[i + 1];
	return true;
}

const char *torch_tag(const struct torch_history *history, uint16_t number)
{
	return tag_names_path(&history->tags, number);
}

void torch_close(struct torch_history *history)
{
	tag_names_free(&history->tags);
	tag_names_free(&history->unknown);
	torch_stacks_free(&history->stacks);
	for (unsigned i = 0; i < TORCH_POOLS; i++)
		torch_events_free(&history->pools[i]);
	history->active_count = 0;
}
