/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The caches of threads, the slow path; see local.h. */
#include "cache.h"
#include "base/error.h"
#include "base/fork.h"
#include "base/scope.h"

#include <linux/membarrier.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What gm_local_last is before there is one: nobody's. */
static struct gm_local nobody;

_Thread_local struct gm_local *gm_local_last = &nobody;
_Thread_local uint32_t gm_local_tag;
_Thread_local struct gm_local *gm_local_own;
static _Thread_local bool ending; /* thread_exit() has run */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t exit_key;
static bool exit_key_made, have_membarrier;
static unsigned shard_count;

/* A thread that ends and a heap that ends both want to unlink a cache.
 * Locks, in this order: cache/local.c:lifetime, extent/heap_core.h:mutex. */
static pthread_mutex_t lifetime = PTHREAD_MUTEX_INITIALIZER;

int gm_membarrier(int command)
{
	return (int)syscall(SYS_membarrier, command, 0, 0);
}

void gm_local_set_tag(uint32_t tag)
{
	gm_local_tag = tag;
	if (gm_local_last != &nobody)
		atomic_store_explicit(&gm_local_last->tag, tag,
				      memory_order_relaxed);
}

void gm_local_unlink(struct gm_local *local)
{
	struct gm_heap *heap = atomic_load(&local->heap);

	if (local->prev)
		local->prev->next = local->next;
	else
		heap->caches->locals = local->next;
	if (local->next)
		local->next->prev = local->prev;
	gm_group_leave(heap, local);
	atomic_store(&local->heap, NULL);
}

/* The heap is alive, but may just have taken the cache away. */
static void retire(struct gm_heap *heap, struct gm_local *local)
{
	pthread_mutex_lock(&heap->mutex);
	if (atomic_load(&local->heap) == heap) {
		gm_local_flush(local);
		gm_local_fold(local);
		gm_local_unlink(local);
	}
	pthread_mutex_unlock(&heap->mutex);
}

/* At the end of a thread: its cached blocks go back, then the caches, which
 * have room for each other's groups. In a forked child the caches read as zero,
 * and the links to them are gone with them. */
static void thread_exit(void *unused)
{
	GM_SCOPE;
	struct gm_local *local;

	(void)unused;
	if (gm_forked())
		return;
	ending = true;
	pthread_mutex_lock(&lifetime);
	for (local = gm_local_own; local; local = local->next_of_thread) {
		struct gm_heap *heap = atomic_load(&local->heap);

		if (heap)
			retire(heap, local);
	}
	while ((local = gm_local_own)) {
		gm_local_own = local->next_of_thread;
		gm_fork_private_free(local, sizeof(*local));
	}
	gm_local_last = &nobody;
	pthread_mutex_unlock(&lifetime);
}

void gm_locals_end_call(void)
{
	if (ending && gm_local_own)
		thread_exit(NULL);
}

static void init_once(void)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);

	shard_count = processors < GM_SHARDS_MIN   ? GM_SHARDS_MIN
		      : processors > GM_SHARDS_MAX ? GM_SHARDS_MAX
						   : (unsigned)processors;
	exit_key_made = pthread_key_create(&exit_key, thread_exit) == 0;
	have_membarrier =
		gm_membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
}

gpumem_status gm_caches_init(struct gm_heap *heap)
{
	struct gm_caches *caches;

	pthread_once(&once, init_once);
	if (!exit_key_made)
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no thread-specific key is left in the process");
	caches = calloc(1, sizeof(*caches));
	if (!caches)
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no host memory for the caches of a pool");
	caches->membarrier = have_membarrier;
	caches->shard_count = shard_count;
	caches->metadata.heap = heap;
	heap->caches = caches;
	return GPUMEM_OK;
}

void gm_caches_fini(struct gm_heap *heap)
{
	if (!heap->caches)
		return;
	gm_metadata_fini(&heap->caches->metadata);
	free(heap->caches);
	heap->caches = NULL;
}

uint64_t gm_caches_host_bytes(const struct gm_heap *heap)
{
	const struct gm_local *local = heap->caches->locals;
	const struct gm_arena *arena = gm_arena_first(heap);
	uint64_t bytes =
		sizeof(*heap->caches) +
		gm_metadata_host_bytes(&heap->caches->metadata) +
		heap->caches->tagged_count * gm_tag_deltas_host_bytes();

	for (; local; local = local->next)
		bytes += sizeof(*local);
	for (; arena; arena = gm_arena_after(heap, arena))
		bytes += gm_slabs_host_bytes(arena);
	return bytes;
}

/* A cache of this thread that belongs to nobody, or a new one. */
static struct gm_local *obtain(void)
{
	struct gm_local *local = gm_local_own;

	while (local && atomic_load(&local->heap))
		local = local->next_of_thread;
	if (local)
		return local;
	/* Any value but NULL makes thread_exit() run. In the last of the rounds
	 * in which a thread's values end it would not (gm_locals_end_call). */
	if (!ending && pthread_setspecific(exit_key, &nobody))
		return NULL;
	local = gm_fork_private(sizeof(*local));
	if (!local)
		return NULL;
	local->next_of_thread = gm_local_own;
	gm_local_own = local;
	return local;
}

static unsigned count_own(const struct gm_heap *heap)
{
	const struct gm_group *group = gm_group_own(heap);

	return group ? atomic_load(&group->count) : 0;
}

/* The calling thread's oldest cache of the heap is nobody's then. */
static void end_oldest(struct gm_heap *heap)
{
	struct gm_local *local = gm_local_own, *oldest = NULL;

	for (; local; local = local->next_of_thread)
		if (atomic_load(&local->heap) == heap &&
		    (!oldest || local->serial < oldest->serial))
			oldest = local;
	gm_local_flush(oldest);
	gm_local_unlink(oldest);
}

gpumem_status gm_local_of(struct gm_heap *heap, struct gm_arena *arena,
			  struct gm_local **local_out)
{
	struct gm_local *local = gm_local_own;

	while (local && !gm_local_is(local, heap, arena->stream))
		local = local->next_of_thread;
	if (!local) {
		gpumem_status status = gm_slabs_make(arena);

		if (status != GPUMEM_OK)
			return status;
		if (count_own(heap) >= GM_LOCALS_MAX)
			end_oldest(heap);
		local = obtain();
		if (!local)
			return gm_fail(GPUMEM_NO_HOST_MEMORY,
				       "no host memory for a thread's cache");
		local->stream = arena->stream;
		local->exchange = !heap->caches->membarrier;
		atomic_store(&local->claimed, gm_caches_claim(heap));
		local->arena = arena;
		atomic_store(&local->idle_ticks, 0);
		local->arena_number = arena->slabs->number
					      ? arena->slabs->number
					      : GM_ARENA_NUMBERS;
		local->serial = heap->caches->local_serial++;
		local->shard = local->serial % heap->caches->shard_count;
		local->prev = NULL;
		local->next = heap->caches->locals;
		if (local->next)
			local->next->prev = local;
		heap->caches->locals = local;
		gm_group_join(heap, local);
		atomic_store(&local->heap, heap);
	}
	gm_local_use(local);
	*local_out = local;
	return GPUMEM_OK;
}

/* It is in no set any more. */
static void give_back(struct gm_local *local, struct gm_extent *extent)
{
	*gm_cached_sum(&local->cached, extent->bytes) -= extent->bytes;
	gm_map_set(extent->address, 0);
	(void)gm_arena_release(local->arena, extent);
}

static void give_back_large(struct gm_local *local, struct gm_cached_set *set)
{
	while (set->count)
		give_back(local, set->extent[--set->count]);
}

void gm_local_make_room(struct gm_local *local, size_t bytes)
{
	struct gm_cached *ready = &local->cached;

	give_back_large(local, gm_cached_set_of(ready, bytes));
	for (unsigned i = 0; !gm_cached_has_room(ready, bytes); i++)
		give_back_large(local, &ready->set[i]);
}

bool gm_local_holds(const struct gm_local *local)
{
	for (unsigned i = 0; i < GM_CLASS_COUNT; i++)
		if (local->bin[i].count)
			return true;
	return local->cached.bytes || local->cached.huge_bytes;
}

void gm_local_flush(struct gm_local *local)
{
	for (unsigned i = 0; i < GM_CLASS_COUNT; i++) {
		struct gm_bin *bin = &local->bin[i];

		while (bin->count)
			gm_slab_put_slot(&bin->slot[--bin->count]);
	}
	for (unsigned i = 0; i < GM_CACHED_SETS; i++)
		give_back_large(local, &local->cached.set[i]);
	give_back_large(local, &local->cached.set[GM_CACHED_HUGE]);
}

void gm_locals_flush_huge(struct gm_heap *heap)
{
	struct gm_local *local = gm_local_own;

	for (; local; local = local->next_of_thread)
		if (gm_local_is(local, heap, local->stream))
			give_back_large(local,
					&local->cached.set[GM_CACHED_HUGE]);
}

void gm_locals_flush_own(struct gm_heap *heap)
{
	struct gm_local *local = gm_local_own;

	for (; local; local = local->next_of_thread)
		if (gm_local_is(local, heap, local->stream))
			gm_local_flush(local);
}

static bool give_back_one(struct gm_local *local, struct gm_extent *extent)
{
	struct gm_cached_set *set =
		&local->cached.set[gm_cached_set_number(extent->bytes)];

	for (uint32_t i = 0; i < set->count; i++) {
		if (set->extent[i] != extent)
			continue;
		set->extent[i] = set->extent[--set->count];
		give_back(local, extent);
		return true;
	}
	return false;
}

bool gm_locals_give_back(struct gm_heap *heap, struct gm_extent *extent)
{
	struct gm_local *local = gm_local_own;

	for (; local; local = local->next_of_thread)
		if (gm_local_is(local, heap, local->stream) &&
		    give_back_one(local, extent))
			return true;
	return false;
}

void gm_locals_detach(struct gm_heap *heap)
{
	pthread_mutex_lock(&lifetime);
	pthread_mutex_lock(&heap->mutex);
	while (heap->caches->locals) {
		struct gm_local *local = heap->caches->locals;

		gm_local_fold(local);
		for (unsigned i = 0; i < GM_CLASS_COUNT; i++)
			local->bin[i].count = 0;
		local->cached = (struct gm_cached){0};
		atomic_store(&local->claimed, GM_CLAIMED);
		gm_local_unlink(local);
	}
	pthread_mutex_unlock(&heap->mutex);
	pthread_mutex_unlock(&lifetime);
}
