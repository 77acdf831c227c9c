/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Handles: numbers that say which slot of a table an object is in, and how
 * many there were before it. The real driver's are pointers, and using one
 * after its end is undefined; here it is always found out.
 *
 *     handle = serial << 24 | slot << 4 | kind
 */
#include "object.h"

#include <stdlib.h>

#define SLOT_BITS 20

static struct fake_object **slots;
static uint32_t slot_count, slot_room, live;
static uint64_t serial;

static bool find_slot(uint32_t *slot_out)
{
	static uint32_t hint;
	uint32_t room = slot_room ? slot_room * 2 : 64;
	struct fake_object **grown;

	for (uint32_t i = 0; live < slot_count && i < slot_count; i++) {
		uint32_t slot = (hint + i) % slot_count;

		if (!slots[slot]) {
			*slot_out = hint = slot;
			return true;
		}
	}
	if (slot_count == 1u << SLOT_BITS)
		return false;
	if (slot_count == slot_room) {
		grown = realloc(slots, room * sizeof(*slots));
		if (!grown)
			return false;
		slots = grown;
		slot_room = room;
	}
	*slot_out = slot_count++;
	return true;
}

void *fake_object_new(int kind, size_t bytes)
{
	struct fake_object *object = calloc(1, bytes);
	uint32_t slot;

	if (!object || !find_slot(&slot)) {
		free(object);
		return NULL;
	}
	object->kind = kind;
	object->handle = ++serial << 24 | (uint64_t)slot << 4 | (unsigned)kind;
	slots[slot] = object;
	live++;
	return object;
}

static uint32_t slot_of(uint64_t handle)
{
	return (uint32_t)(handle >> 4) & ((1u << SLOT_BITS) - 1);
}

void fake_object_retire(void *thing)
{
	struct fake_object *object = thing;

	if (!object->handle)
		return;
	slots[slot_of(object->handle)] = NULL;
	live--;
	object->handle = 0;
}

bool fake_object_rename(void *thing, uint64_t handle)
{
	struct fake_object *object = thing;
	uint32_t slot = slot_of(handle);

	if (slot >= slot_count || (slots[slot] && slots[slot] != object))
		return false;
	slots[slot_of(object->handle)] = NULL;
	slots[slot] = object;
	object->handle = handle;
	return true;
}

void *fake_object_find(int kind, const void *name)
{
	uint64_t handle = (uintptr_t)name;
	uint32_t slot = slot_of(handle);

	if (slot >= slot_count || !slots[slot] ||
	    slots[slot]->handle != handle || slots[slot]->kind != kind)
		return NULL;
	return slots[slot];
}

void *fake_object_next(int kind, uint32_t *slot)
{
	while (*slot < slot_count) {
		struct fake_object *object = slots[(*slot)++];

		if (object && object->kind == kind)
			return object;
	}
	return NULL;
}

uint64_t fake_object_count(int kind)
{
	uint64_t count = 0;
	uint32_t slot = 0;

	while (fake_object_next(kind, &slot))
		count++;
	return count;
}
