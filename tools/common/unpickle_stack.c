/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The machine of unpickle.c: its input, its stack, and the lists and
 * dictionaries that it fills. These are named by index, so that one may hold
 * itself.
 */
#include "unpickle_stack.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool unpickle_fail(struct unpickle *unpickle, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(unpickle->reason, sizeof(unpickle->reason), format, args);
	va_end(args);
	return false;
}

void *unpickle_grow(struct unpickle *unpickle, void *list, size_t *room,
		    size_t count, size_t bytes)
{
	size_t more = *room ? *room : 8;
	void *grown;

	if (count <= *room)
		return list;
	while (more < count)
		more *= 2;
	grown = realloc(list, more * bytes);
	if (!grown) {
		(void)unpickle_fail(unpickle, "out of host memory");
		return NULL;
	}
	*room = more;
	return grown;
}

/* ---- the input ---- */

bool unpickle_take_more(struct unpickle *unpickle, size_t bytes,
			const unsigned char **at_out)
{
	if (!unpickle_window_fill(unpickle, bytes))
		return *unpickle->reason ||
		       unpickle_fail(unpickle,
				     "cut off: the pickle has no end");
	*at_out = unpickle->at;
	unpickle->at += bytes;
	return true;
}

/* ---- the stack ---- */

bool unpickle_push_grown(struct unpickle *unpickle, struct unpickled value)
{
	struct unpickled *stack =
		unpickle_grow(unpickle, unpickle->stack, &unpickle->stack_room,
			      unpickle->stack_count + 1, sizeof(value));

	if (!stack)
		return false;
	unpickle->stack = stack;
	unpickle->stack[unpickle->stack_count++] = value;
	return true;
}

bool unpickle_push_integer(struct unpickle *unpickle, int64_t integer)
{
	return unpickle_push(unpickle,
			     (struct unpickled){.kind = UNPICKLED_INTEGER,
						.integer = integer});
}

bool unpickle_push_other(struct unpickle *unpickle, size_t bytes)
{
	const unsigned char *unused;

	return unpickle_take(unpickle, bytes, &unused) &&
	       unpickle_push(unpickle,
			     (struct unpickled){.kind = UNPICKLED_OTHER});
}

bool unpickle_push_text(struct unpickle *unpickle, uint64_t bytes)
{
	const unsigned char *at = NULL;

	if (bytes > UINT32_MAX)
		return unpickle_fail(unpickle, "a text of more than 4 GiB");
	if (!unpickle_take(unpickle, (size_t)bytes, &at))
		return false;
	return unpickle_push(unpickle,
			     (struct unpickled){.kind = UNPICKLED_TEXT,
						.bytes = (uint32_t)bytes,
						.text = (const char *)at});
}

/* Nine bytes, of which the last is the sign's. */
static bool push_large(struct unpickle *unpickle)
{
	struct unpickled large = {.kind = UNPICKLED_LARGE};
	const unsigned char *sign = NULL;
	uint64_t value = 0;

	if (!unpickle_number(unpickle, 8, &value) ||
	    !unpickle_take(unpickle, 1, &sign))
		return false;
	large.integer = (int64_t)value;
	if (*sign || !(value >> 63))
		large.kind = UNPICKLED_OTHER;
	return unpickle_push(unpickle, large);
}

bool unpickle_push_long(struct unpickle *unpickle, uint64_t bytes)
{
	uint64_t value = 0;

	if (bytes == 9)
		return push_large(unpickle);
	if (bytes > 8)
		return unpickle_push_other(unpickle, (size_t)bytes);
	if (!unpickle_number(unpickle, (unsigned)bytes, &value))
		return false;
	if (bytes && bytes < 8 && value >> (8 * bytes - 1))
		value |= UINT64_MAX << 8 * bytes;
	return unpickle_push_integer(unpickle, (int64_t)value);
}

/* One that is free has no items, but may have room for some. */
bool unpickle_push_container(struct unpickle *unpickle,
			     enum unpickled_kind kind)
{
	size_t index = unpickle->container_count;
	struct unpickled_container *containers = unpickle->containers;

	if (unpickle->dropped) {
		index = unpickle->dropped - 1;
		unpickle->dropped = containers[index].note;
	} else {
		if (index == UINT32_MAX)
			return unpickle_fail(unpickle,
					     "more than 4294967295 lists");
		containers = unpickle_grow(unpickle, containers,
					   &unpickle->container_room, index + 1,
					   sizeof(*containers));
		if (!containers)
			return false;
		containers[index] = (struct unpickled_container){0};
		unpickle->containers = containers;
		unpickle->container_count++;
	}
	containers[index].note = 0;
	containers[index].named = 0;
	containers[index].holders = 1;
	return unpickle_push(
		unpickle, (struct unpickled){.kind = kind, .container = index});
}

static bool append(struct unpickle *unpickle,
		   struct unpickled_container *container,
		   const struct unpickled *items, size_t count)
{
	size_t room = container->room;
	struct unpickled *all;

	if (!count)
		return true;
	if (count > UINT32_MAX / 2 - container->count)
		return unpickle_fail(unpickle,
				     "a list of more than 2147483647 items");
	all = unpickle_grow(unpickle, container->items, &room,
			    container->count + count, sizeof(*all));
	if (!all)
		return false;
	memcpy(all + container->count, items, count * sizeof(*all));
	container->items = all;
	container->room = (uint32_t)room;
	container->count += (uint32_t)count;
	return true;
}

bool unpickle_fill(struct unpickle *unpickle, size_t count,
		   enum unpickled_kind kind)
{
	const struct unpickled *items;
	bool taken = false;

	if (unpickle->stack_count <= count)
		return unpickle_fail(unpickle, "damaged: the stack is empty");
	unpickle->stack_count -= count;
	items = &unpickle->stack[unpickle->stack_count];
	if (items[-1].kind != kind || (kind == UNPICKLED_DICT && count % 2))
		return unpickle_fail(unpickle,
				     "damaged: values for what holds none");
	if (count && kind == UNPICKLED_LIST &&
	    !unpickle_stream(unpickle, unpickle->stack_count - 1, count,
			     &taken))
		return false;
	items = &unpickle->stack[unpickle->stack_count];
	return taken ||
	       append(unpickle, &unpickle->containers[items[-1].container],
		      items, count);
}

bool unpickle_above_mark(struct unpickle *unpickle, size_t *count_out)
{
	size_t mark;

	if (!unpickle->mark_count)
		return unpickle_fail(unpickle, "damaged: there is no mark");
	mark = unpickle->marks[--unpickle->mark_count];
	if (mark > unpickle->stack_count)
		return unpickle_fail(unpickle,
				     "damaged: a mark above the stack");
	*count_out = unpickle->stack_count - mark;
	return true;
}

bool unpickle_gather(struct unpickle *unpickle, size_t count,
		     enum unpickled_kind kind)
{
	struct unpickled made;

	if (unpickle->stack_count < count)
		return unpickle_fail(unpickle, "damaged: the stack is empty");
	if (!unpickle_push_container(unpickle, kind))
		return false;
	made = unpickle->stack[unpickle->stack_count - 1];
	memmove(&unpickle->stack[unpickle->stack_count - count],
		&unpickle->stack[unpickle->stack_count - 1 - count],
		count * sizeof(made));
	unpickle->stack[unpickle->stack_count - 1 - count] = made;
	return unpickle_fill(unpickle, count, kind);
}

bool unpickle_mark(struct unpickle *unpickle)
{
	size_t *marks =
		unpickle_grow(unpickle, unpickle->marks, &unpickle->mark_room,
			      unpickle->mark_count + 1, sizeof(*marks));

	if (!marks)
		return false;
	unpickle->marks = marks;
	unpickle->marks[unpickle->mark_count++] = unpickle->stack_count;
	return true;
}
