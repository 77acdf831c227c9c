/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Blocks that the program freed and the driver still has: whole allocations, by
 * size and by age. It knows neither the driver nor when a block may be handed
 * out; its pages are its own, as those of blocks.h. The caller locks. A cache
 * of zeros is empty.
 */
#ifndef GPUMEM_PRELOAD_CACHE_H
#define GPUMEM_PRELOAD_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CACHE_DEVICES 32
#define CACHE_BINS 304

struct cached {
	uint64_t address, bytes; /* as the driver allocated it */
	uint64_t epoch;		 /* when that is over, nothing uses it */
	uint64_t stamp;		 /* how many frees its device had seen */
	const void *context;
	int device;
};

enum cache_order { CACHE_BY_SIZE, CACHE_BY_AGE, CACHE_ORDERS };

/* Numbers of entries; 0: none. */
struct cache_list {
	uint32_t first, last;
};

struct cache_entry {
	struct cached block;
	struct cache_list beside[CACHE_ORDERS]; /* before it, after it */
};

/* Each entry is in the list of its age and in that of its size, or free. Both
 * lists are in the order in which the blocks were freed. */
struct cache {
	struct cache_entry *entries;
	uint32_t room, used, free;
	struct cache_list ages[CACHE_DEVICES];
	struct cache_list bins[CACHE_DEVICES][CACHE_BINS];
};

/* The largest block that is handed out for a request of that many bytes. */
uint64_t cache_limit(uint64_t bytes);

/* False: no memory, or it is too large. */
bool cache_add(struct cache *cache, const struct cached *block);
/* Takes the smallest of `bytes` to `most` whose epoch is at most `done`. False:
 * there is none. */
bool cache_take(struct cache *cache, const void *context, int device,
		uint64_t bytes, uint64_t most, uint64_t done,
		struct cached *block_out);
/* The one that was freed first. NULL: the device has none. */
const struct cached *cache_oldest(const struct cache *cache, int device);
/* Takes that one. False: there is none. */
bool cache_take_oldest(struct cache *cache, int device,
		       struct cached *block_out);
/* Some block of that context; false: it has none. */
bool cache_take_of(struct cache *cache, const void *context,
		   struct cached *block_out);
void cache_rename(struct cache *cache, const void *from, const void *to);

#endif
