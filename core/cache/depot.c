/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Batches of cached slots between threads; see depot.h. */
#include "depot.h"

#include <stdlib.h>
#include <string.h>

bool gm_depot_init(struct gm_depot *depot, unsigned shard_count)
{
	size_t bytes = shard_count * sizeof(*depot->shard);

	*depot = (struct gm_depot){.shard = aligned_alloc(GM_LINE, bytes)};
	if (!depot->shard)
		return false;
	memset(depot->shard, 0, bytes);
	depot->shard_count = shard_count;
	return true;
}

static bool try_lock(struct gm_shard *shard)
{
	return !atomic_load_explicit(&shard->taken, memory_order_relaxed) &&
	       !atomic_exchange_explicit(&shard->taken, true,
					 memory_order_acquire);
}

static void unlock(struct gm_shard *shard)
{
	atomic_store_explicit(&shard->taken, false, memory_order_release);
}

/* The head of a list: read without the lock to see whether there is one at
 * all, changed with it. */
static struct gm_batch *first(const struct gm_shard *shard,
			      unsigned class_index)
{
	return atomic_load_explicit(&shard->full[class_index],
				    memory_order_relaxed);
}

static void set_first(struct gm_shard *shard, unsigned class_index,
		      struct gm_batch *batch)
{
	atomic_store_explicit(&shard->full[class_index], batch,
			      memory_order_relaxed);
}

static struct gm_batch *empty_batch(struct gm_shard *shard)
{
	struct gm_batch *batch = shard->empty;

	if (batch) {
		shard->empty = batch->next;
		return batch;
	}
	batch = malloc(sizeof(*batch));
	if (batch)
		shard->host_bytes += sizeof(*batch);
	return batch;
}

static bool put(struct gm_shard *shard, unsigned class_index,
		const struct gm_slot *slots, unsigned count)
{
	struct gm_batch *batch;

	if (shard->count[class_index] == GM_SHARD_BATCHES)
		return false;
	batch = empty_batch(shard);
	if (!batch)
		return false;
	memcpy(batch->slot, slots, count * sizeof(*slots));
	batch->count = count;
	batch->next = first(shard, class_index);
	set_first(shard, class_index, batch);
	shard->count[class_index]++;
	return true;
}

bool gm_depot_put(struct gm_depot *depot, unsigned shard, unsigned class_index,
		  const struct gm_slot *slots, unsigned count)
{
	struct gm_shard *mine = &depot->shard[shard];
	bool done;

	if (!try_lock(mine))
		return false;
	done = put(mine, class_index, slots, count);
	/* Written once only: all threads read this line. */
	if (done && !atomic_load_explicit(&depot->used, memory_order_relaxed))
		atomic_store_explicit(&depot->used, true, memory_order_relaxed);
	unlock(mine);
	return done;
}

static unsigned take(struct gm_shard *shard, unsigned class_index,
		     struct gm_slot *slots)
{
	struct gm_batch *batch = first(shard, class_index);

	if (!batch)
		return 0;
	set_first(shard, class_index, batch->next);
	shard->count[class_index]--;
	memcpy(slots, batch->slot, batch->count * sizeof(*slots));
	batch->next = shard->empty;
	shard->empty = batch;
	return batch->count;
}

unsigned gm_depot_take(struct gm_depot *depot, unsigned shard,
		       unsigned class_index, struct gm_slot *slots)
{
	unsigned count = 0;

	if (!atomic_load_explicit(&depot->used, memory_order_relaxed))
		return 0;
	for (unsigned i = 0; i < depot->shard_count && !count; i++) {
		struct gm_shard *other =
			&depot->shard[(shard + i) % depot->shard_count];

		if (!first(other, class_index) || !try_lock(other))
			continue;
		count = take(other, class_index, slots);
		unlock(other);
	}
	return count;
}

uint64_t gm_depot_count(const struct gm_depot *depot, unsigned class_index)
{
	uint64_t count = 0;

	for (unsigned i = 0; i < depot->shard_count; i++) {
		const struct gm_batch *batch =
			first(&depot->shard[i], class_index);

		for (; batch; batch = batch->next)
			count += batch->count;
	}
	return count;
}

size_t gm_depot_host_bytes(const struct gm_depot *depot)
{
	size_t bytes = depot->shard_count * sizeof(*depot->shard);

	for (unsigned i = 0; i < depot->shard_count; i++)
		bytes += depot->shard[i].host_bytes;
	return bytes;
}

static void free_batches(struct gm_shard *shard, struct gm_batch *batch)
{
	while (batch) {
		struct gm_batch *next = batch->next;

		shard->host_bytes -= sizeof(*batch);
		free(batch);
		batch = next;
	}
}

void gm_depot_shrink(struct gm_depot *depot)
{
	for (unsigned i = 0; i < depot->shard_count; i++) {
		struct gm_shard *shard = &depot->shard[i];

		free_batches(shard, shard->empty);
		shard->empty = NULL;
	}
	atomic_store_explicit(&depot->used, false, memory_order_relaxed);
}

void gm_depot_fini(struct gm_depot *depot)
{
	gm_depot_shrink(depot);
	for (unsigned i = 0; i < depot->shard_count; i++)
		for (unsigned c = 0; c < GM_CLASS_COUNT; c++)
			free_batches(&depot->shard[i],
				     first(&depot->shard[i], c));
	free(depot->shard);
	*depot = (struct gm_depot){0};
}
