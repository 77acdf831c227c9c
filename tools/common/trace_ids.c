/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See trace_ids.h. Linear probing; an entry taken out is closed by shifting
 * the ones behind it, so there are no tombstones.
 */
#include "trace_ids.h"

#include <stdlib.h>
#include <sys/random.h>

#define FIRST_ROOM 1024u

void trace_ids_init(struct trace_ids *ids)
{
	*ids = (struct trace_ids){0};
	if (getrandom(&ids->seed, sizeof(ids->seed), GRND_NONBLOCK) < 0)
		ids->seed = (uint64_t)(uintptr_t)ids;
}

/* The finaliser of splitmix64. */
static uint64_t home(const struct trace_ids *ids, uint64_t id)
{
	uint64_t x = id ^ ids->seed;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return (x ^ (x >> 31)) & ids->mask;
}

/* Where the ID is, or the empty entry where it would be. */
static uint64_t locate(const struct trace_ids *ids, uint64_t id)
{
	uint64_t at = home(ids, id);

	while (ids->entries[at].slot != TRACE_NO_SLOT &&
	       ids->entries[at].id != id)
		at = (at + 1) & ids->mask;
	return at;
}

uint32_t trace_ids_find(const struct trace_ids *ids, uint64_t id)
{
	if (!ids->count)
		return TRACE_NO_SLOT;
	return ids->entries[locate(ids, id)].slot;
}

static bool grow(struct trace_ids *ids)
{
	struct trace_id *old = ids->entries;
	uint64_t old_room = old ? ids->mask + 1 : 0;
	uint64_t room = old ? old_room * 2 : FIRST_ROOM;
	struct trace_id *entries;

	if (room > SIZE_MAX / sizeof(*entries))
		return false;
	entries = malloc(room * sizeof(*entries));
	if (!entries)
		return false;
	for (uint64_t i = 0; i < room; i++)
		entries[i].slot = TRACE_NO_SLOT;
	ids->entries = entries;
	ids->mask = room - 1;
	for (uint64_t i = 0; i < old_room; i++)
		if (old[i].slot != TRACE_NO_SLOT)
			entries[locate(ids, old[i].id)] = old[i];
	free(old);
	return true;
}

bool trace_ids_add(struct trace_ids *ids, uint64_t id, uint32_t slot)
{
	bool full = !ids->entries || ids->count >= (ids->mask + 1) / 4 * 3;

	if (full && !grow(ids))
		return false;
	ids->entries[locate(ids, id)] = (struct trace_id){id, slot};
	ids->count++;
	return true;
}

uint32_t trace_ids_take(struct trace_ids *ids, uint64_t id)
{
	uint64_t hole, at;
	uint32_t slot;

	if (!ids->count)
		return TRACE_NO_SLOT;
	hole = at = locate(ids, id);
	slot = ids->entries[at].slot;
	if (slot == TRACE_NO_SLOT)
		return slot;
	for (;;) {
		at = (at + 1) & ids->mask;
		if (ids->entries[at].slot == TRACE_NO_SLOT)
			break;
		/* An entry may move back to the hole unless its home lies
		 * between the hole and itself. */
		if (((at - home(ids, ids->entries[at].id)) & ids->mask) <
		    ((at - hole) & ids->mask))
			continue;
		ids->entries[hole] = ids->entries[at];
		hole = at;
	}
	ids->entries[hole].slot = TRACE_NO_SLOT;
	ids->count--;
	return slot;
}

void trace_ids_free(struct trace_ids *ids)
{
	free(ids->entries);
	*ids = (struct trace_ids){0};
}
