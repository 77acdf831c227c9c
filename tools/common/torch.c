/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See torch.h: all devices, in the order of their times.
 */
#include "kineto.h"
#include "rmm.h"
#include "torch_device.h"
#include "umpire.h"

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

enum { LISTS = 4 };

/* What is read of the file: devices, then hosts. list[] has the containers of
 * the lists of which something was taken while the pickle was read, and one. */
struct reading {
	struct torch_history *history;
	struct torch_device *devices;
	size_t list[LISTS];
};

/* A list of the snapshot. */
static const struct {
	const char *key;
	unsigned first; /* pool */
	bool segments;
} lists[LISTS] = {
	{"device_traces", 0, false},
	{"segments", 0, true},
	{"host_traces", TORCH_DEVICES, false},
	{"host_segments", TORCH_DEVICES, true},
};

/* Begun when something is said of it. */
static struct torch_device *device_of(struct reading *reading,
				      struct unpickle *unpickle, uint64_t pool)
{
	struct torch_device *device = &reading->devices[pool];

	if (!device->history)
		torch_device_init(device, reading->history, unpickle,
				  (unsigned)pool);
	return device;
}

static bool too_many(struct torch_history *history)
{
	return torch_fail(history, "more than 64 devices");
}

static bool read_segment(struct reading *reading, struct unpickle *unpickle,
			 unsigned first, const struct unpickled *segment)
{
	uint64_t number = 0;

	(void)unpickle_get_u64(unpickle, segment, "device", &number);
	if (number >= TORCH_DEVICES)
		return too_many(reading->history);
	return torch_segment(device_of(reading, unpickle, first + number),
			     segment);
}

/* Entries of the device of that number, or segments. */
static bool read_items(struct reading *reading, struct unpickle *unpickle,
		       size_t which, size_t number,
		       const struct unpickled *items, size_t count)
{
	unsigned first = lists[which].first;
	bool ok =
		number < TORCH_DEVICES || !count || too_many(reading->history);

	for (size_t i = 0; i < count && ok; i++) {
		ok = torch_step(reading->history);
		if (ok && lists[which].segments)
			ok = read_segment(reading, unpickle, first, &items[i]);
		else if (ok)
			ok = torch_entry(
				device_of(reading, unpickle, first + number),
				&items[i]);
	}
	return ok;
}

/* ---- while the pickle is read ---- */

static bool watch(struct unpickle *unpickle, const struct unpickle_part *part,
		  void *user, bool *taken_out)
{
	struct reading *reading = user;

	for (size_t i = 0; i < LISTS; i++) {
		if (!unpickled_is(part->key, lists[i].key))
			continue;
		if (reading->list[i] && reading->list[i] != part->list + 1)
			return torch_fail(reading->history,
					  "damaged: a key comes twice");
		reading->list[i] = part->list + 1;
		*taken_out = true;
		return read_items(reading, unpickle, i, part->index,
				  part->items, part->count);
	}
	return true;
}

/* ---- what is left then ---- */

/* A list for each device, or of pinned memory one for all; or of segments. */
static bool read_list(struct reading *reading, struct unpickle *unpickle,
		      size_t which, const struct unpickled *list)
{
	const struct unpickled *first = unpickle_item(unpickle, list, 0);
	size_t count = unpickle_count(unpickle, list);

	if (first && (first->kind == UNPICKLED_DICT || lists[which].segments))
		return read_items(reading, unpickle, which, 0, first, count);
	for (size_t i = 0; i < count; i++)
		if (!read_items(reading, unpickle, which, i,
				unpickle_item(unpickle, &first[i], 0),
				unpickle_count(unpickle, &first[i])))
			return false;
	return true;
}

static bool read_lists(struct reading *reading, struct unpickle *unpickle)
{
	for (size_t i = 0; i < LISTS; i++) {
		const struct unpickled *list =
			unpickle_get(unpickle, &unpickle->root, lists[i].key);
		bool is_list = list && list->kind == UNPICKLED_LIST;

		if (reading->list[i] &&
		    (!is_list || list->container + 1 != reading->list[i]))
			return torch_fail(reading->history,
					  "damaged: a key comes twice");
		if (is_list && !read_list(reading, unpickle, i, list))
			return false;
	}
	return true;
}

static bool read_rest(struct reading *reading, struct unpickle *unpickle)
{
	struct torch_history *history = reading->history;

	if (!unpickle_get(unpickle, &unpickle->root, "segments"))
		return torch_fail(history, "it is a pickle, but no snapshot of "
					   "PyTorch's: it has no segments");
	if (!torch_unknown_keys(history, unpickle, &unpickle->root,
				TORCH_ROOT) ||
	    !read_lists(reading, unpickle))
		return false;
	for (unsigned i = 0; i < TORCH_POOLS; i++)
		if (reading->devices[i].history &&
		    !torch_finish(&reading->devices[i]))
			return false;
	return true;
}

static bool read_whole(struct reading *reading, struct unpickle *unpickle,
		       const void *data, size_t bytes)
{
	reading->history->steps_left = bytes * TORCH_DEVICES;
	return unpickle_open_watched(unpickle, data, bytes, watch, reading);
}

/* Its bytes were counted when it was scanned. */
static bool read_parts(struct reading *reading, struct unpickle *unpickle,
		       const struct unpickle_input *input)
{
	if (!unpickle_scan_input(unpickle, input))
		return false;
	reading->history->steps_left = unpickle->bytes * TORCH_DEVICES;
	return unpickle_run_input(unpickle, watch, reading);
}

/* input NULL: of the data. */
static bool read_pickle(struct reading *reading,
			const struct unpickle_input *input, const void *data,
			size_t bytes)
{
	struct unpickle unpickle;
	bool ok = input ? read_parts(reading, &unpickle, input)
			: read_whole(reading, &unpickle, data, bytes);

	if (!ok) {
		if (!*reading->history->reason)
			(void)torch_fail(reading->history, unpickle.reason);
		return false;
	}
	ok = read_rest(reading, &unpickle);
	unpickle_close(&unpickle);
	return ok;
}

static bool read_snapshot(struct torch_history *history,
			  const struct unpickle_input *input, const void *data,
			  size_t bytes)
{
	struct torch_device *devices = calloc(TORCH_POOLS, sizeof(*devices));
	struct reading reading = {.history = history, .devices = devices};
	bool ok;

	if (!devices)
		return torch_no_memory(history);
	ok = read_pickle(&reading, input, data, bytes);
	for (unsigned i = 0; i < TORCH_POOLS; i++)
		torch_device_free(&devices[i]);
	free(devices);
	return ok;
}

bool torch_is_pickle(const void *data, size_t bytes)
{
	const unsigned char *at = data;

	return bytes >= 2 && at[0] == 0x80 && at[1] <= 5;
}

bool torch_is(const void *data, size_t bytes)
{
	return torch_is_pickle(data, bytes) || rmm_is(data, bytes) ||
	       kineto_is(data, bytes) || umpire_is(data, bytes);
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

static bool open_pickle(struct torch_history *history,
			const struct unpickle_input *input, const void *data,
			size_t bytes)
{
	torch_history_init(history, "PyTorch",
			   "snapshot of PyTorch's allocator");
	history->dated = true;
	return torch_history_finish(history,
				    read_snapshot(history, input, data, bytes));
}

bool torch_open(struct torch_history *history, const void *data, size_t bytes)
{
	if (torch_is_pickle(data, bytes))
		return open_pickle(history, NULL, data, bytes);
	if (kineto_is(data, bytes))
		return kineto_open(history, data, bytes);
	if (umpire_is(data, bytes))
		return umpire_open(history, data, bytes);
	return rmm_open(history, data, bytes);
}

bool torch_open_input(struct torch_history *history,
		      const struct unpickle_input *input)
{
	return open_pickle(history, input, NULL, 0);
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
