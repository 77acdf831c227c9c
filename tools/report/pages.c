/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See pages.h.
 */
#include "pages.h"

#include <stdlib.h>

/* The first and the last page of a block; addresses end at 2^64. */
struct range {
	uint64_t first, last;
};

static struct range range_of(uint64_t address, uint64_t bytes)
{
	uint64_t last;

	if (__builtin_add_overflow(address, bytes - 1, &last))
		last = UINT64_MAX;
	return (struct range){address / PAGES_BYTES, last / PAGES_BYTES};
}

/* Pools of different devices may have the same addresses. */
static uint64_t key_of(uint16_t pool, uint64_t page)
{
	return (uint64_t)pool << 48 | page;
}

void pages_init(struct pages *pages)
{
	*pages = (struct pages){0};
	trace_ids_init(&pages->ids);
}

void pages_free(struct pages *pages)
{
	trace_ids_free(&pages->ids);
	free(pages->users);
	pages->users = NULL;
}

static uint32_t add_page(struct pages *pages, uint64_t key)
{
	size_t room = pages->room ? pages->room * 2 : 1024;
	uint32_t *users;

	if (pages->count == pages->room) {
		if (room >= TRACE_NO_SLOT)
			return TRACE_NO_SLOT;
		users = realloc(pages->users, room * sizeof(*users));
		if (!users)
			return TRACE_NO_SLOT;
		pages->users = users;
		pages->room = room;
	}
	if (!trace_ids_add(&pages->ids, key, (uint32_t)pages->count))
		return TRACE_NO_SLOT;
	pages->users[pages->count] = 0;
	return (uint32_t)pages->count++;
}

static bool use(struct pages *pages, uint64_t key)
{
	uint32_t slot = trace_ids_find(&pages->ids, key);

	if (slot == TRACE_NO_SLOT)
		slot = add_page(pages, key);
	if (slot == TRACE_NO_SLOT)
		return false;
	pages->in_use += !pages->users[slot]++;
	return true;
}

static void leave(struct pages *pages, uint64_t key)
{
	uint32_t slot = trace_ids_find(&pages->ids, key);

	pages->in_use -= !--pages->users[slot];
}

bool pages_add(struct pages *pages, uint16_t pool, uint64_t address,
	       uint64_t bytes)
{
	struct range range = range_of(address, bytes);

	if (!use(pages, key_of(pool, range.first)))
		return false;
	if (range.first == range.last)
		return true;
	if (!use(pages, key_of(pool, range.last)))
		return false;
	pages->in_use += range.last - range.first - 1;
	return true;
}

void pages_drop(struct pages *pages, uint16_t pool, uint64_t address,
		uint64_t bytes)
{
	struct range range = range_of(address, bytes);

	leave(pages, key_of(pool, range.first));
	if (range.first == range.last)
		return;
	leave(pages, key_of(pool, range.last));
	pages->in_use -= range.last - range.first - 1;
}
