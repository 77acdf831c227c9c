/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* A heap's life, its walk, and its sums; see heap.h. */
#include "heap.h"
#include "local.h"
#include "base/error.h"
#include "base/option.h"

#include <stdlib.h>
#include <unistd.h>

/* The memory of the machine. One that does not say how much it has does not
 * bound anything. */
static uint64_t host_bytes(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);

	return pages > 0 && bytes > 0 ? (uint64_t)pages * (uint64_t)bytes
				      : 1ull << (GM_ADDRESS_BITS - 1);
}

/* What is no page of the device comes in segments, and has other bounds: pinned
 * memory that of the machine, managed memory both together. */
static void set_kind(struct gm_heap *heap, gpumem_kind kind)
{
	const struct gpumem_device_info *info = &heap->driver.device->info;

	heap->driver.kind = kind;
	heap->vm = kind == GPUMEM_KIND_DEVICE &&
		   gm_device_has(heap->driver.device, GPUMEM_CAP_VM) &&
		   gm_option_bool("vm");
	heap->capacity_bytes = info->total_bytes;
	heap->max_alloc_bytes = info->max_alloc_bytes;
	if (kind == GPUMEM_KIND_DEVICE)
		return;
	heap->capacity_bytes = host_bytes();
	if (kind == GPUMEM_KIND_MANAGED)
		heap->capacity_bytes += info->total_bytes;
	heap->max_alloc_bytes = heap->capacity_bytes;
}

static gpumem_status set_page_bytes(struct gm_heap *heap, uint64_t asked)
{
	uint64_t granularity = heap->driver.device->info.granularity_bytes;
	/* On a device of small granularity: the smallest that holds a run. */
	uint64_t least = granularity > GM_RUN_MAX ? granularity : GM_RUN_MAX;
	uint64_t most = GM_PAGE_BYTES_MAX, largest;

	while (most > heap->capacity_bytes)
		most /= 2;
	if (asked & (asked - 1) || (asked && (asked < least || asked > most)))
		return gm_fail(GPUMEM_INVALID,
			       "a page of %llu bytes (page_bytes, option "
			       "`page`) is no power of two from %llu to %llu",
			       (unsigned long long)asked,
			       (unsigned long long)least,
			       (unsigned long long)most);
	heap->page_bytes = asked ? asked : least;
	largest = gm_option_bytes("handle_max") / heap->page_bytes;
	heap->handle_pages =
		largest ? (size_t)1 << (63 - __builtin_clzll(largest)) : 1;
	return GPUMEM_OK;
}

/* How the heap's memory reaches other processes, which may be without pages. */
static gpumem_status set_share(struct gm_heap *heap, uint32_t share)
{
	const struct gpumem_device *device = heap->driver.device;
	bool fd = heap->vm && gm_device_has(device, GPUMEM_CAP_SHARE_FD);

	if (share > GPUMEM_SHARE_IPC)
		return gm_fail(GPUMEM_INVALID,
			       "%u is no way to share (`shareable`)",
			       (unsigned)share);
	if (share && heap->driver.kind != GPUMEM_KIND_DEVICE)
		return gm_fail(GPUMEM_UNSUPPORTED,
			       "only device memory can be shared with other "
			       "processes: leave out `kind` or `shareable`");
	if (share == GPUMEM_SHARE_ANY)
		share = fd ? GPUMEM_SHARE_FD : GPUMEM_SHARE_IPC;
	if (share == GPUMEM_SHARE_FD && !fd)
		return gm_fail(GPUMEM_UNSUPPORTED,
			       "%s has no pages that can be shared, or option "
			       "`vm` is off",
			       device->info.name);
	if (share == GPUMEM_SHARE_IPC &&
	    !gm_device_has(device, GPUMEM_CAP_SHARE_IPC))
		return gm_fail(GPUMEM_UNSUPPORTED,
			       "%s cannot share memory with other processes so",
			       device->info.name);
	heap->share = (gpumem_share)share;
	heap->vm = heap->vm && share != GPUMEM_SHARE_IPC;
	heap->driver.share_pages = share == GPUMEM_SHARE_FD;
	return GPUMEM_OK;
}

/* Held for well under a microsecond as a rule: spinning a little is cheaper
 * than to sleep and be woken. */
static int init_mutex(pthread_mutex_t *mutex)
{
	pthread_mutexattr_t attr;
	int error;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ADAPTIVE_NP);
	error = pthread_mutex_init(mutex, &attr);
	pthread_mutexattr_destroy(&attr);
	return error;
}

gpumem_status gm_heap_init(struct gm_heap *heap, struct gpumem_device *device,
			   const struct gm_heap_config *config)
{
	gpumem_status status;

	*heap = (struct gm_heap){.limit_bytes = config->limit_bytes,
				 .soft_limit_bytes = config->soft_limit_bytes};
	gm_driver_init(&heap->driver, device);
	set_kind(heap, config->kind);
	status = set_share(heap, config->share);
	if (status)
		return status;
	heap->driver.peers = config->peers;
	heap->driver.peer_count = config->peer_count;
	heap->unit = device->info.alignment_bytes;
	if (heap->unit > GM_SMALL_MAX)
		return gm_fail(GPUMEM_UNSUPPORTED,
			       "%s aligns memory to %zu bytes, more than a "
			       "pool can",
			       device->info.name, heap->unit);
	heap->waste = gm_option_fraction(heap->vm ? "waste" : "segment_waste");
	heap->waste_max = gm_option_fraction("waste_max");
	heap->decay.period_ns = gm_decay_period_ns(gm_option_count("decay_ms"));
	gm_classes_init(&heap->classes, (uint32_t)heap->unit,
			gm_option_bytes("cache"));
	gm_pending_init(&heap->pending);
	status = set_page_bytes(heap, config->page_bytes);
	if (!status)
		status = gm_heap_limits_judge(heap, heap->soft_limit_bytes,
					      heap->limit_bytes);
	if (!status)
		status = gm_locals_init(heap);
	if (status)
		return status;
	if (init_mutex(&heap->mutex))
		return gm_fail(GPUMEM_NO_HOST_MEMORY, "no mutex for a pool");
	status = gm_space_init(heap);
	if (status) {
		gm_nodes_fini(&heap->nodes);
		pthread_mutex_destroy(&heap->mutex);
	}
	return status;
}

/* Live blocks leave the map of addresses, so that a stale pointer is known as
 * one and not found in a heap that is gone. */
static void forget_blocks(struct gm_heap *heap)
{
	struct gm_extent *extent = gm_heap_first(heap);

	for (; extent; extent = gm_heap_next(heap, extent)) {
		if (gm_extent_is(extent, GM_EXTENT_RUN))
			gm_slab_forget(
				gm_slab_of_entry(gm_map_get(extent->address)));
		else if (gm_extent_is(extent, GM_EXTENT_LARGE) ||
			 gm_extent_is(extent, GM_EXTENT_READY))
			gm_map_set(extent->address, 0);
	}
}

static void end_arenas(struct gm_arena **list)
{
	while (*list) {
		struct gm_arena *arena = *list;

		*list = arena->next;
		gm_arena_fini(arena);
	}
}

gpumem_status gm_heap_fini(struct gm_heap *heap)
{
	gpumem_status status;

	gm_locals_detach(heap);
	gm_pending_fini(heap);
	forget_blocks(heap);
	end_arenas(&heap->arenas);
	end_arenas(&heap->private_arenas);
	gm_uses_fini(heap);
	gm_events_fini(heap);
	status = gm_space_fini(heap);
	gm_heads_fini(&heap->heads);
	gm_nodes_fini(&heap->nodes);
	pthread_mutex_destroy(&heap->mutex);
	return status;
}

struct gm_extent *gm_heap_first(const struct gm_heap *heap)
{
	return heap->space.spans ? heap->space.spans->first : NULL;
}

struct gm_extent *gm_heap_next(const struct gm_heap *heap,
			       const struct gm_extent *extent)
{
	const struct gm_span *next;

	if (extent->next)
		return gm_extent_next(&heap->nodes, extent);
	next = gm_span_of(heap, extent->address)->next;
	return next ? next->first : NULL;
}

bool gm_heap_capturing(struct gm_heap *heap, gpumem_stream stream)
{
	uint64_t id = 0;

	/* One that cannot be asked is left alone too. */
	return gm_driver_capture_id(&heap->driver, stream, &id) || id;
}

bool gm_heap_any_capturing(struct gm_heap *heap)
{
	const struct gm_arena *arena = heap->private_arenas;

	for (; arena; arena = arena->next)
		if (arena->routed && gm_heap_capturing(heap, arena->stream))
			return true;
	for (arena = heap->arenas; arena; arena = arena->next)
		if (!arena->dropped && gm_heap_capturing(heap, arena->stream))
			return true;
	return false;
}

void gm_heap_reserve(struct gm_heap *heap, uint64_t bytes, uint64_t segments)
{
	gm_gauge_add(&heap->books.reserved, bytes);
	gm_gauge_add(&heap->books.segments, segments);
	if (heap->driver.kind == GPUMEM_KIND_DEVICE)
		atomic_fetch_add(&heap->driver.device->reserved_bytes, bytes);
}

void gm_heap_unreserve(struct gm_heap *heap, uint64_t bytes, uint64_t segments)
{
	heap->returned_bytes += bytes;
	gm_gauge_sub(&heap->books.reserved, bytes);
	gm_gauge_sub(&heap->books.segments, segments);
	if (heap->driver.kind == GPUMEM_KIND_DEVICE)
		atomic_fetch_sub(&heap->driver.device->reserved_bytes, bytes);
}

uint64_t gm_heap_host_bytes(const struct gm_heap *heap)
{
	const struct gm_local *local = heap->locals;
	const struct gm_arena *arena = gm_arena_first(heap);
	uint64_t bytes = gm_nodes_bytes(&heap->nodes) +
			 gm_heads_host_bytes(&heap->heads);

	for (; local; local = local->next)
		bytes += sizeof(*local);
	for (; arena; arena = gm_arena_after(heap, arena))
		bytes += sizeof(*arena) + gm_depot_host_bytes(&arena->depot);
	bytes += heap->space.high_page * sizeof(*heap->space.page);
	bytes += heap->space.spare_room * sizeof(*heap->space.spare);
	bytes += heap->events.room * sizeof(*heap->events.event);
	bytes += heap->uses.bucket_count * sizeof(*heap->uses.bucket);
	bytes += heap->uses.count * sizeof(struct gm_use);
	/* Its share of the map of addresses. */
	bytes += (heap->books.reserved.current >> GM_GRANULE_SHIFT) *
		 sizeof(uintptr_t);
	return bytes;
}
