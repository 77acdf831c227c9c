/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See umpire.h. Early versions write what the program asks before and after it
 * is done, and its result only then; later ones once, afterwards. A free has no
 * size. The log begins with its program, so that of each allocator it says
 * on which other it rests, and of the last what memory it is.
 */
#include "umpire.h"

#include "umpire_names.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* ---- blocks ---- */

static bool allocate(struct umpire *umpire, struct torch_device *device,
		     struct torch_event event, const struct umpire_said *said)
{
	json_int_t bytes = json_integer_value(said->size);

	if (!json_is_integer(said->size) || bytes < 0)
		return foreign_fail(&umpire->foreign,
				    "expected a number of bytes as size");
	event.bytes = (uint64_t)bytes;
	if (event.bytes > RECORDING_BYTES_MAX)
		return foreign_fail(&umpire->foreign,
				    "no block is as large as its size");
	if (event.bytes)
		return torch_alloc(device, event);
	(void)trace_ids_take(&umpire->empty, event.address);
	return trace_ids_add(&umpire->empty, event.address, 0) ||
	       torch_no_memory(umpire->foreign.history);
}

/* What was never allocated is of somebody else, who told Umpire of it. */
static bool deallocate(struct umpire *umpire, struct torch_device *device,
		       struct torch_event event)
{
	const struct range *block =
		ranges_find(&device->live, event.address, event.address);

	event.tag = 0;
	if (block && block->first == event.address)
		return torch_free(device, event, true);
	if (trace_ids_take(&umpire->empty, event.address) == TRACE_NO_SLOT)
		umpire->foreign.history->damaged++;
	return true;
}

/* Without a pointer an allocation is only about to be. */
static bool act(struct umpire *umpire, const struct umpire_said *said,
		bool begins)
{
	struct torch_event event = {.us = said->us};
	struct torch_device *device;
	uint8_t memory;

	if (!said->pointer && begins)
		return true;
	if (!said->pointer || !foreign_pointer(said->pointer, &event.address))
		return foreign_fail(&umpire->foreign,
				    "expected an address as pointer");
	if (!event.address)
		return true;
	if (!umpire_find(umpire, said, &event.tag))
		return false;
	memory = umpire->memory[event.tag];
	if (memory == UMPIRE_CPU)
		return true;
	device = foreign_pool(&umpire->foreign, memory - UMPIRE_POOL);
	return begins ? allocate(umpire, device, event, said)
		      : deallocate(umpire, device, event);
}

/* ---- lines ---- */

/* What changes no block's beginning or end. Of reallocate and move only some
 * versions say what becomes of the block: they are none of these. */
static bool is_nothing(const char *event)
{
	static const char *const names[] = {"version",
					    "mpi",
					    "copy",
					    "memset",
					    "coalesce",
					    "release",
					    "setDefaultAllocator",
					    "set_default_allocator",
					    "allocation_map_insert",
					    "allocation_map_remove",
					    "allocation_map_find",
					    "allocation_map_clear",
					    "destroy_allocator"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(event, names[i]))
			return true;
	return false;
}

static bool follow(struct umpire *umpire, const struct umpire_said *said)
{
	const char *event = said->event ? said->event : "";

	if (!strcmp(event, "allocate") || !strcmp(event, "named_allocate"))
		return act(umpire, said, true);
	if (!strcmp(event, "deallocate"))
		return act(umpire, said, false);
	if (!strcmp(event, "makeMemoryResource") ||
	    !strcmp(event, "make_memory_resource"))
		return umpire_make(umpire, said, NULL);
	if (!strcmp(event, "makeAllocator") || !strcmp(event, "make_allocator"))
		return umpire_make(umpire, said, said->base ? said->base : "");
	return is_nothing(event) ||
	       foreign_fail(&umpire->foreign,
			    "an event of Umpire's that is not read");
}

static const char *text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static struct umpire_said read_early(const json_t *line)
{
	const json_t *payload = json_object_get(line, "payload");
	const json_t *result = json_object_get(line, "result");
	struct umpire_said said = {
		.event = text_of(line, "event"),
		.allocator = text_of(payload, "allocator_ref"),
		.pointer = text_of(payload, "memory_ptr"),
		.name = text_of(payload, "allocator_name"),
		.base = json_string_value(
			json_array_get(json_object_get(payload, "args"), 0)),
		.size = json_object_get(payload, "size")};

	if (!said.name)
		said.name = text_of(payload, "name");
	if (!said.pointer)
		said.pointer = text_of(result, "memory_ptr");
	if (!said.allocator)
		said.allocator = json_is_string(result)
					 ? json_string_value(result)
					 : text_of(result, "allocator_ref");
	return said;
}

static struct umpire_said read_late(const json_t *line)
{
	const json_t *args = json_object_get(line, "string_args");

	return (struct umpire_said){
		.event = text_of(line, "name"),
		.allocator = text_of(args, "allocator_ref"),
		.pointer = text_of(args, "pointer"),
		.name = text_of(json_object_get(line, "tags"),
				"allocator_name"),
		.base = text_of(args, "arg0"),
		.size = json_object_get(json_object_get(line, "numeric_args"),
					"size")};
}

static bool read_object(struct umpire *umpire, const json_t *line)
{
	struct torch_history *history = umpire->foreign.history;
	const char *kind = text_of(line, "kind");
	const char *category = text_of(line, "category");
	json_t *uid = json_object_get(line, "uid");
	json_int_t ns = json_integer_value(json_object_get(line, "timestamp"));
	struct umpire_said said;

	if (!umpire->uid)
		umpire->uid = json_incref(uid);
	if (uid && !json_equal(uid, umpire->uid))
		return foreign_fail(&umpire->foreign,
				    "it is of a second process, another uid");
	if (category && strcmp(category, "operation"))
		return true;
	if (!category && (!kind || strcmp(kind, "replay")))
		return foreign_fail(&umpire->foreign,
				    "it is no event of Umpire's");
	said = category ? read_late(line) : read_early(line);
	said.us = ns > 0 ? (uint64_t)ns / 1000 : 0;
	if (!history->begin_us)
		history->begin_us = said.us;
	return follow(umpire, &said);
}

/* complete: the line has an end. Otherwise its program may have been killed
 * while it wrote. */
static bool read_line(struct umpire *umpire, const char *text, size_t bytes,
		      bool complete)
{
	json_t *line;
	bool ok;

	if (!bytes || *text == '#' || (bytes == 1 && *text == '\r'))
		return true;
	line = json_loadb(text, bytes, 0, NULL);
	if (!line && !complete) {
		umpire->foreign.history->damaged++;
		return true;
	}
	ok = line ? read_object(umpire, line)
		  : foreign_fail(&umpire->foreign,
				 "it is no event of Umpire's");
	json_decref(line);
	return ok;
}

static bool read_all(struct umpire *umpire, const char *at, const char *end)
{
	const char *newline;

	for (; at < end; at = newline ? newline + 1 : end) {
		newline = memchr(at, '\n', (size_t)(end - at));
		umpire->foreign.line++;
		if (!read_line(umpire, at,
			       (size_t)((newline ? newline : end) - at),
			       newline != NULL))
			return false;
	}
	return !foreign_is_empty(&umpire->foreign) ||
	       torch_fail(umpire->foreign.history,
			  "it has no allocations of a GPU's memory");
}

/* ---- the whole ---- */

bool umpire_is(const void *data, size_t bytes)
{
	static const char *const keys[] = {"\"kind\"", "\"category\""};
	const char *text = data, *end = text + bytes, *newline = text;
	size_t length;

	while (text < end && strchr("#\r\n", *text) &&
	       (newline = memchr(text, '\n', (size_t)(end - text))))
		text = newline + 1;
	if (text == end || *text != '{')
		return false;
	newline = memchr(text, '\n', (size_t)(end - text));
	length = (size_t)((newline ? newline : end) - text);
	for (size_t i = 0; i < 2; i++)
		if (memmem(text, length, keys[i], strlen(keys[i])))
			return true;
	return false;
}

bool umpire_open(struct torch_history *history, const void *data, size_t bytes)
{
	struct umpire *umpire = calloc(1, sizeof(*umpire));
	bool ok;

	torch_history_init(history, "Umpire", "log of Umpire");
	if (!umpire)
		return torch_no_memory(history);
	trace_ids_init(&umpire->names);
	trace_ids_init(&umpire->empty);
	ok = foreign_begin(&umpire->foreign, history) &&
	     read_all(umpire, data, (const char *)data + bytes);
	ok = foreign_end(&umpire->foreign, ok);
	json_decref(umpire->uid);
	trace_ids_free(&umpire->names);
	trace_ids_free(&umpire->empty);
	free(umpire);
	return torch_history_finish(history, ok);
}
