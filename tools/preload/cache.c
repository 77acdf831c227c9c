/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See cache.h. A bin has the sizes of an eighth of a power of two. The driver
 * gives small blocks in units of 512 bytes and others in pages of 2 MiB, so a
 * block of the same units costs nothing more than a new one; a sixteenth of the
 * request may be lost besides.
 */
#include "cache.h"

#include <sys/mman.h>

#define UNIT ((uint64_t)512)
#define PAGE ((uint64_t)2 << 20)
#define SMALL (PAGE / 2) /* several of these share a page */
#define BYTES_END ((uint64_t)1 << 48)
#define ROOM_FIRST 256
#define LOOKS 64 /* at entries of a bin, at most */

/* The bin of a size, below CACHE_BINS; it rises with the size. */
static unsigned bin_of(uint64_t bytes)
{
	uint64_t units = bytes / UNIT;
	unsigned top;

	if (units < 8)
		return (unsigned)units;
	top = 63 - (unsigned)__builtin_clzll(units);
	return (top - 2) * 8 + (units >> (top - 3) & 7);
}

uint64_t cache_limit(uint64_t bytes)
{
	uint64_t limit;

	if (bytes > SMALL)
		return ((bytes + PAGE - 1) & ~(PAGE - 1)) + bytes / 16;
	limit = ((bytes + UNIT - 1) & ~(UNIT - 1)) + bytes / 16;
	return limit < SMALL ? limit : SMALL;
}

static void append(struct cache *cache, struct cache_list *list,
		   enum cache_order order, uint32_t number)
{
	struct cache_list *beside = &cache->entries[number].beside[order];

	beside->first = list->last;
	beside->last = 0;
	if (list->last)
		cache->entries[list->last].beside[order].last = number;
	else
		list->first = number;
	list->last = number;
}

static void unlink(struct cache *cache, struct cache_list *list,
		   enum cache_order order, uint32_t number)
{
	struct cache_list *beside = &cache->entries[number].beside[order];

	if (beside->first)
		cache->entries[beside->first].beside[order].last = beside->last;
	else
		list->first = beside->last;
	if (beside->last)
		cache->entries[beside->last].beside[order].first =
			beside->first;
	else
		list->last = beside->first;
}

static bool grow(struct cache *cache)
{
	uint32_t room = cache->room ? cache->room * 2 : ROOM_FIRST;
	struct cache_entry *entries =
		mmap(NULL, room * sizeof(*entries), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (entries == MAP_FAILED)
		return false;
	for (uint32_t i = 0; i < cache->used; i++)
		entries[i] = cache->entries[i];
	if (cache->room)
		munmap(cache->entries, cache->room * sizeof(*entries));
	else
		cache->used = 1; /* number 0 is none */
	cache->entries = entries;
	cache->room = room;
	return true;
}

/* Of an entry that is in no list; 0: no memory. */
static uint32_t new_entry(struct cache *cache)
{
	uint32_t number = cache->free;

	if (number) {
		cache->free = cache->entries[number].beside[0].last;
		return number;
	}
	if (cache->used == cache->room && !grow(cache))
		return 0;
	return cache->used++;
}

bool cache_add(struct cache *cache, const struct cached *block)
{
	uint32_t number;

	if (block->bytes >= BYTES_END)
		return false;
	number = new_entry(cache);
	if (!number)
		return false;
	cache->entries[number].block = *block;
	append(cache, &cache->bins[block->device][bin_of(block->bytes)],
	       CACHE_BY_SIZE, number);
	append(cache, &cache->ages[block->device], CACHE_BY_AGE, number);
	return true;
}

static void take(struct cache *cache, uint32_t number, struct cached *block_out)
{
	struct cache_entry *entry = &cache->entries[number];

	*block_out = entry->block;
	unlink(cache, &cache->bins[block_out->device][bin_of(block_out->bytes)],
	       CACHE_BY_SIZE, number);
	unlink(cache, &cache->ages[block_out->device], CACHE_BY_AGE, number);
	entry->block.context = NULL;
	entry->beside[0].last = cache->free;
	cache->free = number;
}

/* The smallest that fits, of those at the beginning; 0: none. */
static uint32_t best_of(const struct cache *cache, const struct cache_list *bin,
			const void *context, uint64_t bytes, uint64_t limit,
			uint64_t done)
{
	uint32_t best = 0, number = bin->first;

	for (int looks = 0; number && looks < LOOKS; looks++) {
		const struct cache_entry *entry = &cache->entries[number];
		const struct cached *block = &entry->block;

		if (block->epoch > done)
			break; /* and so are those freed later */
		if (block->context == context && block->bytes >= bytes &&
		    block->bytes <= limit) {
			limit = block->bytes - 1;
			best = number;
			if (block->bytes == bytes)
				break;
		}
		number = entry->beside[CACHE_BY_SIZE].last;
	}
	return best;
}

bool cache_take(struct cache *cache, const void *context, int device,
		uint64_t bytes, uint64_t most, uint64_t done,
		struct cached *block_out)
{
	if (!cache->ages[device].first || bytes >= BYTES_END / 2)
		return false;
	for (unsigned bin = bin_of(bytes); bin <= bin_of(most); bin++) {
		uint32_t number = best_of(cache, &cache->bins[device][bin],
					  context, bytes, most, done);

		if (!number)
			continue;
		take(cache, number, block_out);
		return true;
	}
	return false;
}

const struct cached *cache_oldest(const struct cache *cache, int device)
{
	uint32_t number = cache->ages[device].first;

	return number ? &cache->entries[number].block : NULL;
}

bool cache_take_oldest(struct cache *cache, int device,
		       struct cached *block_out)
{
	uint32_t number = cache->ages[device].first;

	if (number)
		take(cache, number, block_out);
	return number;
}

bool cache_take_of(struct cache *cache, const void *context,
		   struct cached *block_out)
{
	for (uint32_t i = 1; context && i < cache->used; i++) {
		if (cache->entries[i].block.context != context)
			continue;
		take(cache, i, block_out);
		return true;
	}
	return false;
}

void cache_rename(struct cache *cache, const void *from, const void *to)
{
	for (uint32_t i = 1; from && i < cache->used; i++)
		if (cache->entries[i].block.context == from)
			cache->entries[i].block.context = to;
}
