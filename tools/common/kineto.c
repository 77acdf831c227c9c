/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See kineto.h. Such a file may be large, and most of it is of others: it is
 * scanned for the objects of traceEvents, and only those that are of memory
 * are read as JSON.
 */
#include "kineto.h"

#include "foreign.h"

#include <ctype.h>
#include <jansson.h>
#include <string.h>

struct kineto {
	struct foreign foreign;
	json_t *pid;			/* of the first event */
	json_int_t type;		/* of the devices; 0: not said yet */
	uint64_t before[TORCH_DEVICES]; /* bytes that were live before */
	uint64_t told[TORCH_DEVICES];	/* those of them that were freed */
	uint64_t reserved[TORCH_DEVICES];
	bool said[TORCH_DEVICES]; /* what was reserved */
	const char *key, *object; /* the last text; an event's beginning */
	size_t key_bytes, depth;
	bool in_events;
};

/* ---- events ---- */

static bool read_integer(struct kineto *kineto, const json_t *args,
			 const char *key, json_int_t *value_out)
{
	const json_t *value = json_object_get(args, key);

	*value_out = json_integer_value(value);
	return json_is_integer(value) ||
	       foreign_fail(&kineto->foreign,
			    "a [memory] event without a whole number as Addr, "
			    "Bytes, Device Id or Device Type");
}

/* Another kind of device, or another process, has the same numbers. */
static bool check_same(struct kineto *kineto, const json_t *event,
		       json_int_t type)
{
	json_t *pid = json_object_get(event, "pid");

	if (!kineto->type)
		kineto->type = type;
	if (!kineto->pid)
		kineto->pid = json_incref(pid);
	if (kineto->type != type)
		return foreign_fail(&kineto->foreign,
				    "memory of a second Device Type");
	return !pid || json_equal(pid, kineto->pid) ||
	       foreign_fail(&kineto->foreign,
			    "memory of a second process: give a file of one");
}

static uint64_t read_time(struct torch_history *history, const json_t *event)
{
	double us = json_number_value(json_object_get(event, "ts"));
	uint64_t time = us >= 1 && us < 1e15 * 9 ? (uint64_t)us : 0;

	if (time && (!history->begin_us || time < history->begin_us))
		history->begin_us = time;
	return time;
}

/* Of the first event of a device. What was live before it is PyTorch's total
 * without it. */
static void read_total(struct kineto *kineto, const json_t *args, unsigned id,
		       json_int_t bytes)
{
	json_int_t total =
		json_integer_value(json_object_get(args, "Total Allocated"));

	if (!kineto->foreign.devices[id].history && total >= 0 && total > bytes)
		kineto->before[id] = (uint64_t)total - (uint64_t)bytes;
}

/* Every event says what PyTorch has of the driver then. Where it is not said,
 * or not known, it is as it was. */
static bool read_reserved(struct kineto *kineto, const json_t *args,
			  unsigned id, struct torch_event event)
{
	const json_t *value = json_object_get(args, "Total Reserved");
	json_int_t total =
		json_is_integer(value) ? json_integer_value(value) : -1;
	bool first = !kineto->said[id];
	uint64_t before = kineto->reserved[id], now = (uint64_t)total;
	struct torch_events *events;

	if (total < 0)
		return true;
	if (now > RECORDING_BYTES_MAX)
		return foreign_fail(&kineto->foreign,
				    "no device has as much as its Total "
				    "Reserved");
	kineto->said[id] = true;
	kineto->reserved[id] = now;
	events = foreign_pool(&kineto->foreign, id)->events;
	if (first)
		events->begin_reserved = now;
	if (first || now == before)
		return true;
	event.kind = now > before ? GPUMEM_RECORD_GROW : GPUMEM_RECORD_SHRINK;
	event.bytes = now > before ? now - before : before - now;
	return torch_events_add(events, event) ||
	       torch_no_memory(kineto->foreign.history);
}

static bool act(struct kineto *kineto, unsigned id, struct torch_event event,
		json_int_t bytes)
{
	struct torch_device *device = foreign_pool(&kineto->foreign, id);
	const struct range *block;

	if (event.kind == GPUMEM_RECORD_OOM)
		return torch_events_add(device->events, event) ||
		       torch_no_memory(device->history);
	if (bytes > 0)
		return torch_alloc(device, event);
	block = ranges_find(&device->live, event.address, event.address);
	if (!block || block->first != event.address)
		kineto->told[id] += event.bytes;
	else if (torch_events_get(device->events, block->value).bytes !=
		 event.bytes)
		return foreign_fail(&kineto->foreign,
				    "a block is freed that has other Bytes");
	return torch_free(device, event, true);
}

static bool read_memory(struct kineto *kineto, const json_t *json, bool oom)
{
	const json_t *args = json_object_get(json, "args");
	struct torch_event event = {.kind = oom ? GPUMEM_RECORD_OOM : 0};
	json_int_t type, id, bytes, address = 0;

	if (!read_integer(kineto, args, "Device Type", &type))
		return false;
	if (!type)
		return true;
	if (!read_integer(kineto, args, "Device Id", &id) ||
	    !read_integer(kineto, args, "Bytes", &bytes) ||
	    (!oom && !read_integer(kineto, args, "Addr", &address)) ||
	    !check_same(kineto, json, type))
		return false;
	if (id < 0 || id >= TORCH_DEVICES)
		return foreign_fail(&kineto->foreign,
				    "a Device Id that is not from 0 to 63");
	event.us = read_time(kineto->foreign.history, json);
	event.address = (uint64_t)address;
	event.bytes = bytes < 0 ? -(uint64_t)bytes : (uint64_t)bytes;
	event.thread =
		(uint32_t)json_integer_value(json_object_get(json, "tid"));
	if (event.bytes > RECORDING_BYTES_MAX)
		return foreign_fail(&kineto->foreign,
				    "no block is as large as its Bytes");
	if (!bytes)
		return true;
	read_total(kineto, args, (unsigned)id, oom ? 0 : bytes);
	return read_reserved(kineto, args, (unsigned)id, event) &&
	       act(kineto, (unsigned)id, event, bytes);
}

static bool read_event(struct kineto *kineto, const char *text, size_t bytes)
{
	static const char memory[] = "[memory]", oom[] = "[OutOfMemory]";
	const char *name;
	json_t *json;
	bool ok = true;

	if (!memmem(text, bytes, memory, sizeof(memory) - 1) &&
	    !memmem(text, bytes, oom, sizeof(oom) - 1))
		return true;
	json = json_loadb(text, bytes, 0, NULL);
	if (!json)
		return foreign_fail(&kineto->foreign,
				    "an event of memory that is no JSON");
	name = json_string_value(json_object_get(json, "name"));
	if (name && (!strcmp(name, memory) || !strcmp(name, oom)))
		ok = read_memory(kineto, json, !strcmp(name, oom));
	json_decref(json);
	return ok;
}

/* ---- the file ---- */

static const char *find_quote(const char *at, const char *end)
{
	while (at < end && *at != '"')
		at += *at == '\\' ? 2 : 1;
	return at < end ? at : NULL;
}

static void open_container(struct kineto *kineto, const char *at)
{
	static const char events[] = "traceEvents";

	if (kineto->depth == 1)
		kineto->in_events =
			*at == '[' && kineto->key_bytes == sizeof(events) - 1 &&
			!memcmp(kineto->key, events, sizeof(events) - 1);
	if (kineto->depth == 2 && kineto->in_events && *at == '{')
		kineto->object = at;
	kineto->depth++;
}

static bool close_container(struct kineto *kineto, const char *at)
{
	const char *object = kineto->object;

	if (!kineto->depth)
		return foreign_fail(&kineto->foreign, "it is no JSON");
	if (--kineto->depth != 2 || !object)
		return true;
	kineto->object = NULL;
	return read_event(kineto, object, (size_t)(at + 1 - object));
}

static bool read_all(struct kineto *kineto, const char *at, const char *end)
{
	const char *text;

	for (kineto->foreign.line = 1; at < end; at++) {
		if (*at == '\n') {
			kineto->foreign.line++;
		} else if (*at == '"') {
			text = at + 1;
			at = find_quote(text, end);
			if (!at)
				break;
			kineto->key = text;
			kineto->key_bytes = (size_t)(at - text);
		} else if (*at == '{' || *at == '[') {
			open_container(kineto, at);
		} else if ((*at == '}' || *at == ']') &&
			   !close_container(kineto, at)) {
			return false;
		}
	}
	if (!at || kineto->depth)
		return foreign_fail(&kineto->foreign, "the file is cut off");
	return !foreign_is_empty(&kineto->foreign) ||
	       torch_fail(kineto->foreign.history,
			  "it has no [memory] events of a GPU: the profiler "
			  "writes them with profile_memory=True");
}

/* Blocks that were live before and were not freed are one, where none is. */
static bool begin_rest(struct kineto *kineto)
{
	for (unsigned i = 0; i < TORCH_DEVICES; i++) {
		struct torch_event event = {.bytes = kineto->before[i] -
						     kineto->told[i]};

		event.address = UINT64_MAX - event.bytes;
		if (kineto->before[i] <= kineto->told[i])
			continue;
		if (event.bytes > RECORDING_BYTES_MAX ||
		    ranges_find(&kineto->foreign.devices[i].live, event.address,
				UINT64_MAX))
			return torch_fail(kineto->foreign.history,
					  "damaged: Total Allocated");
		if (!torch_begin_unsaid(&kineto->foreign.devices[i], event))
			return false;
	}
	return true;
}

bool kineto_is(const void *data, size_t bytes)
{
	static const char events[] = "\"traceEvents\"";
	static const char schema[] = "\"schemaVersion\"";
	const char *text = data, *end = text + bytes;

	while (text < end && isspace((unsigned char)*text))
		text++;
	bytes = (size_t)(end - text);
	return bytes && *text == '{' &&
	       (memmem(text, bytes, events, sizeof(events) - 1) ||
		memmem(text, bytes, schema, sizeof(schema) - 1));
}

bool kineto_open(struct torch_history *history, const void *data, size_t bytes)
{
	struct kineto kineto = {0};
	bool ok;

	torch_history_init(history, "PyTorch", "profile of PyTorch");
	ok = foreign_begin(&kineto.foreign, history) &&
	     read_all(&kineto, data, (const char *)data + bytes) &&
	     begin_rest(&kineto);
	ok = foreign_end(&kineto.foreign, ok);
	json_decref(kineto.pid);
	return torch_history_finish(history, ok);
}
