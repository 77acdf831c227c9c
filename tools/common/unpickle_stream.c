/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Long lists of a pickle, taken part by part: what the caller has seen is not
 * kept. That needs to be known beforehand: which values the pickle names again.
 */
#include "unpickle_stack.h"

#include <stdlib.h>

/* Items for which a list or dictionary keeps its room when it is dropped. */
enum { SMALL = 64 };

/* ---- what is named again ---- */

bool unpickle_scan(struct unpickle *unpickle)
{
	const unsigned char *unused;
	uint64_t opcode = 0, operand = 0;

	while (unpickle_number(unpickle, 1, &opcode) && opcode != '.') {
		unsigned char code = (unsigned char)opcode;
		unsigned width = unpickle_width(code);
		uint64_t behind = code == 'G' ? 8 : 0;

		if (width && !unpickle_number(unpickle, width, &operand))
			break;
		unpickle->memo.puts +=
			code == 0x94 || code == 'q' || code == 'r';
		if ((code == 'h' || code == 'j') &&
		    !unpickle_memo_scan(unpickle, operand))
			return false;
		if (unpickle_instructions[code] & UNPICKLE_HAS_BYTES)
			behind = operand;
		if (behind && !unpickle_take(unpickle, (size_t)behind, &unused))
			break;
	}
	unpickle_memo_begin(unpickle);
	/* What is damaged is told where it is run. */
	*unpickle->reason = '\0';
	return unpickle_window_rewind(unpickle);
}

/* ---- what nobody needs any more ---- */

bool unpickle_is_kept(const struct unpickle *unpickle,
		      const struct unpickled *value)
{
	return unpickled_is_container(value) &&
	       unpickle->containers[value->container].holders > 1;
}

bool unpickle_is_named(const struct unpickle *unpickle,
		       const struct unpickled *value)
{
	return unpickled_is_container(value) &&
	       unpickle->containers[value->container].named;
}

/* What it holds is put on the stack. A small one keeps its room. */
static bool drop_one(struct unpickle *unpickle, size_t index)
{
	struct unpickled_container *container = &unpickle->containers[index];

	for (size_t i = 0; i < container->count; i++)
		if (unpickled_is_container(&container->items[i]) &&
		    !unpickle_push(unpickle, container->items[i]))
			return false;
	container->count = 0;
	if (container->room > SMALL) {
		free(container->items);
		container->items = NULL;
		container->room = 0;
	}
	container->note = unpickle->dropped;
	unpickle->dropped = (uint32_t)index + 1;
	return true;
}

/* The stack above what is on it holds what is left to be dropped. */
bool unpickle_drop(struct unpickle *unpickle, const struct unpickled *value)
{
	size_t below = unpickle->stack_count;

	if (unpickled_is_container(value) && !unpickle_push(unpickle, *value))
		return false;
	while (unpickle->stack_count > below) {
		struct unpickled last =
			unpickle->stack[--unpickle->stack_count];

		if (!--unpickle->containers[last.container].holders &&
		    !drop_one(unpickle, last.container))
			return false;
	}
	return true;
}

/* Nothing is pushed: a watcher looks at what is on the stack. */
void unpickle_forget(struct unpickle *unpickle, const struct unpickled *list)
{
	struct unpickled_container *container =
		&unpickle->containers[list->container];
	uint32_t left = 0;

	for (size_t i = 0; i < container->count; i++) {
		const struct unpickled *item = &container->items[i];

		if (unpickle_is_kept(unpickle, item))
			unpickle->containers[item->container].holders--;
		else if (unpickled_is_container(item))
			container->items[left++] = *item;
	}
	container->count = left;
	if (left)
		return;
	free(container->items);
	container->items = NULL;
	container->room = 0;
}

uint32_t unpickle_note(const struct unpickle *unpickle,
		       const struct unpickled *value)
{
	return unpickle->containers[value->container].note;
}

void unpickle_set_note(struct unpickle *unpickle, const struct unpickled *value,
		       uint32_t note)
{
	unpickle->containers[value->container].note = note;
}

/* ---- lists ---- */

/* The key in the outermost dictionary of which the value at that place of the
 * stack is the list; NULL: it is not known to be one's. */
static const struct unpickled *key_of(const struct unpickle *unpickle,
				      size_t place)
{
	const struct unpickled *key = &unpickle->stack[place - 1];
	bool inside = unpickle->mark_count && unpickle->marks[0] == 1 &&
		      (unpickle->mark_count == 1 || unpickle->marks[1] > place);

	return inside && place >= 2 && place % 2 == 0 &&
			       unpickle->stack[0].kind == UNPICKLED_DICT &&
			       key->kind == UNPICKLED_TEXT
		       ? key
		       : NULL;
}

/* Of the list at that place: the list that it is in, or itself if it is a
 * key's; false: neither. */
static bool find_list(const struct unpickle *unpickle, size_t place,
		      size_t *list_out)
{
	for (size_t i = place;
	     i >= 2 && unpickle->stack[i].kind == UNPICKLED_LIST; i--)
		if (key_of(unpickle, i)) {
			*list_out = i;
			return true;
		}
	return false;
}

bool unpickle_stream(struct unpickle *unpickle, size_t place, size_t count,
		     bool *taken_out)
{
	const struct unpickled *list = &unpickle->stack[place];
	struct unpickle_part part = {.items = list + 1, .count = count};
	size_t outer;

	*taken_out = false;
	if (!unpickle->watch || list[1].kind != UNPICKLED_DICT ||
	    unpickle->containers[list->container].count ||
	    !find_list(unpickle, place, &outer))
		return true;
	part.key = &unpickle->stack[outer - 1];
	part.list = unpickle->stack[outer].container;
	part.index = place == outer ? 0
				    : unpickle->containers[part.list].count +
					      (place - outer - 1);
	unpickle->stack_count = place + 1 + count;
	if (!unpickle->watch(unpickle, &part, unpickle->user, taken_out))
		return unpickle_fail(unpickle, "stopped");
	for (size_t i = 0; *taken_out && i < count; i++) {
		struct unpickled item = unpickle->stack[place + 1 + i];

		if (!unpickle_drop(unpickle, &item))
			return false;
	}
	unpickle->stack_count = place + 1;
	return true;
}
