/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A depot: cached slots of one arena that are in no thread's cache, in batches.
 * Threads that free what others allocate pass slots on here, without the heap's
 * mutex and without touching slabs (after the depots of Bonwick and Adams,
 * Magazines and Vmem, 2001). It depends on no slab.
 *
 * It is cut into shards, one for each of a few threads. A shard has a lock that
 * no thread waits for: if it is held, the next shard is tried, and after the
 * last the slabs. Threads come here with their cache locked (local.h), so a
 * thread that has stopped all caches has exclusive access to all depots.
 *
 *     shard.count[c] == length of shard.full[c] <= GM_SHARD_BATCHES
 *     0 < count <= GM_BATCH_SLOTS               in a full batch
 *     a batch was ever put  =>  used
 */
#ifndef GM_CACHE_DEPOT_H
#define GM_CACHE_DEPOT_H

#include "extent/size_class.h"

#include <stdatomic.h>
#include <stdbool.h>

enum {
	GM_BATCH_SLOTS = GM_BIN_SLOTS / 2,
	GM_SHARDS_MIN = 4, /* as many as processors, within these */
	GM_SHARDS_MAX = 64,
	GM_SHARD_BATCHES = 64 /* of one class */
};

typedef _Atomic uint16_t gm_mark; /* see slab.h */

/* A slot that is ready to be handed out. */
struct gm_slot {
	uintptr_t address;
	gm_mark *mark;
};

struct gm_batch {
	struct gm_batch *next;
	unsigned count;
	struct gm_slot slot[GM_BATCH_SLOTS];
};

struct gm_shard {
	_Alignas(GM_LINE) _Atomic bool taken;
	uint8_t count[GM_CLASS_COUNT];
	_Atomic(struct gm_batch *) full[GM_CLASS_COUNT];
	struct gm_batch *empty;
	size_t host_bytes; /* of all its batches */
};

struct gm_depot {
	_Alignas(GM_LINE) _Atomic bool used; /* read by all threads */
	unsigned shard_count;
	struct gm_shard *shard;
};

/* False: no host memory. */
bool gm_depot_init(struct gm_depot *depot, unsigned shard_count);

/* Puts slots into a shard; false: they are not taken, for want of room or of
 * host memory, or since the shard is taken. 0 < count <= GM_BATCH_SLOTS. */
bool gm_depot_put(struct gm_depot *depot, unsigned shard, unsigned class_index,
		  const struct gm_slot *slots, unsigned count);

/* Takes one batch, at best of the shard. Returns how many slots; 0: none was to
 * be had. There is room for GM_BATCH_SLOTS. */
unsigned gm_depot_take(struct gm_depot *depot, unsigned shard,
		       unsigned class_index, struct gm_slot *slots);

/* With all caches stopped: how many slots of a class; the host memory of shards
 * and batches; that of batches back, after the last slot was taken. */
uint64_t gm_depot_count(const struct gm_depot *depot, unsigned class_index);
size_t gm_depot_host_bytes(const struct gm_depot *depot);
void gm_depot_shrink(struct gm_depot *depot);
/* At the end of a heap: what slots there are is forgotten. */
void gm_depot_fini(struct gm_depot *depot);

#endif
