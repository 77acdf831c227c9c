/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* A heap's life, its walk, and its sums; see heap.h. */
#include "heap.h"
#include "base/clock.h"
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
	heap->capacity_bytes = info->total_bytes;
	heap->max_alloc_bytes = info->max_alloc_bytes;
	if (kind == GPUMEM_KIND_DEVICE) {
		if (heap->driver.device->limit_bytes < heap->capacity_bytes)
			heap->capacity_bytes = heap->driver.device->limit_bytes;
		return;
	}
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
	if (gm_space_has_pages(heap))
		heap->spans.page_bytes = heap->page_bytes;
	largest = gm_option_bytes(GM_BYTES_handle_max) / heap->page_bytes;
	/* Each page can go to another process by itself. */
	if (heap->driver.share_pages)
		largest = 1;
	heap->space->handle_pages =
		largest ? (size_t)1 << (63 - __builtin_clzll(largest)) : 1;
	return GPUMEM_OK;
}

static bool can_have_pages(const struct gm_heap *heap)
{
	return heap->driver.kind == GPUMEM_KIND_DEVICE &&
	       gm_device_has(heap->driver.device, GPUMEM_CAP_VM) &&
	       gm_option_bool(GM_BOOL_vm);
}

/* How the heap's memory reaches other processes. */
static gpumem_status set_share(struct gm_heap *heap, uint32_t share)
{
	const struct gpumem_device *device = heap->driver.device;
	bool fd = can_have_pages(heap) &&
		  gm_device_has(device, GPUMEM_CAP_SHARE_FD);

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
	heap->driver.share_pages = share == GPUMEM_SHARE_FD;
	return GPUMEM_OK;
}

/* What goes to other processes so is an allocation of the driver's. */
static const struct gm_model *model_of(const struct gm_heap *heap)
{
	return can_have_pages(heap) && heap->share != GPUMEM_SHARE_IPC
		       ? &gm_pages
		       : &gm_segments;
}

/* Held for well under a microsecond as a rule: spinning a little is cheaper
 * than to sleep and be woken. glibc's does when told to; musl's always. */
static int init_mutex(pthread_mutex_t *mutex)
{
	pthread_mutexattr_t attr;
	int error;

	pthread_mutexattr_init(&attr);
#ifdef __GLIBC__
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ADAPTIVE_NP);
#endif
	error = pthread_mutex_init(mutex, &attr);
	pthread_mutexattr_destroy(&attr);
	return error;
}

static void help_nobody(struct gm_heap *heap)
{
	(void)heap;
}

static bool ask_nobody(struct gm_heap *heap, uint64_t needed_bytes,
		       gpumem_status why)
{
	(void)heap;
	(void)needed_bytes;
	(void)why;
	return false;
}

static bool wait_for_nobody(struct gm_heap *heap, bool *waited_out)
{
	(void)heap;
	*waited_out = false;
	return false;
}

static const struct gm_helpers no_helpers = {.trim_others = help_nobody,
					     .wait_for_others = wait_for_nobody,
					     .ask_program = ask_nobody};

/* What each module has of its own. */
static gpumem_status make_modules(struct gm_heap *heap)
{
	gpumem_status status = gm_order_init(heap, gm_slab_put_pending);

	if (status == GPUMEM_OK)
		status = gm_space_init(heap, model_of(heap));
	if (status == GPUMEM_OK)
		status = gm_caches_init(heap);
	if (status != GPUMEM_OK)
		return status;
	heap->policy = calloc(1, sizeof(*heap->policy));
	if (!heap->policy)
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no host memory for a pool");
	pthread_mutex_init(&heap->policy->trim_mutex, NULL);
	return GPUMEM_OK;
}

static gpumem_status end_modules(struct gm_heap *heap)
{
	gpumem_status status = gm_space_fini(heap);

	gm_order_fini(heap);
	gm_caches_fini(heap);
	gm_nodes_fini(&heap->nodes);
	gm_tags_end(heap->tags);
	heap->tags = NULL;
	if (heap->policy) {
		pthread_mutex_destroy(&heap->policy->trim_mutex);
		gm_track_fini(&heap->policy->track);
	}
	free(heap->policy);
	heap->policy = NULL;
	return status;
}

/* All that does not change any more. */
static gpumem_status configure(struct gm_heap *heap,
			       const struct gm_heap_config *config)
{
	const struct gpumem_device_info *info = &heap->driver.device->info;
	struct gm_budget *budget = &heap->space->budget;
	gpumem_status status;

	heap->driver.peers = config->peers;
	heap->driver.peer_count = config->peer_count;
	heap->unit = info->alignment_bytes;
	if (heap->unit > GM_SMALL_MAX)
		return gm_fail(GPUMEM_UNSUPPORTED,
			       "%s aligns memory to %zu bytes, more than a "
			       "pool can",
			       info->name, heap->unit);
	gm_budget_read_options(heap);
	budget->limit_bytes = config->limit_bytes;
	budget->soft_limit_bytes = config->soft_limit_bytes;
	heap->policy->helpers = config->helpers ? config->helpers : &no_helpers;
	heap->policy->wait = gm_option_bool(GM_BOOL_wait);
	heap->policy->decay.period_ns =
		gm_ns_of_ms(gm_option_count(GM_COUNT_decay_ms));
	gm_classes_init(&heap->classes, (uint32_t)heap->unit,
			gm_option_bytes(GM_BYTES_cache));
	status = set_page_bytes(heap, config->page_bytes);
	return status != GPUMEM_OK
		       ? status
		       : gm_limits_judge(heap, budget->soft_limit_bytes,
					 budget->limit_bytes);
}

gpumem_status gm_heap_init(struct gm_heap *heap, struct gpumem_device *device,
			   const struct gm_heap_config *config)
{
	gpumem_status status;

	*heap = (struct gm_heap){.seqno = GM_SEQNO_BASE};
	gm_driver_init(&heap->driver, device);
	set_kind(heap, config->kind);
	status = set_share(heap, config->share);
	if (status == GPUMEM_OK)
		status = make_modules(heap);
	if (status == GPUMEM_OK)
		status = configure(heap, config);
	if (status != GPUMEM_OK)
		goto end_modules;
	if (init_mutex(&heap->mutex)) {
		status = gm_fail(GPUMEM_NO_HOST_MEMORY, "no mutex for a pool");
		goto end_modules;
	}
	status = gm_space_start(heap);
	if (status == GPUMEM_OK) {
		gm_ladder_tell(heap);
		return GPUMEM_OK;
	}
	pthread_mutex_destroy(&heap->mutex);
end_modules:
	(void)end_modules(heap);
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
			 gm_extent_is(extent, GM_EXTENT_CACHED))
			gm_map_set(extent->address, 0);
	}
}

static void end_arenas(struct gm_arena **list)
{
	while (*list) {
		struct gm_arena *arena = *list;

		gm_slabs_fini(arena);
		gm_arena_fini(arena);
	}
}

gpumem_status gm_heap_fini(struct gm_heap *heap)
{
	gpumem_status status;

	gm_locals_detach(heap);
	gm_pending_fini(heap);
	forget_blocks(heap);
	end_arenas(&heap->order->arenas);
	end_arenas(&heap->order->private_arenas);
	status = end_modules(heap);
	pthread_mutex_destroy(&heap->mutex);
	return status;
}

uint64_t gm_heap_host_bytes(const struct gm_heap *heap)
{
	return gm_nodes_bytes(&heap->nodes) + gm_order_host_bytes(heap) +
	       gm_space_host_bytes(heap) + gm_caches_host_bytes(heap) +
	       sizeof(*heap->policy) +
	       heap->policy->track.room * sizeof(struct gm_track_entry) +
	       (heap->tags ? gm_tags_host_bytes() : 0) +
	       /* Its share of the map of addresses. */
	       (heap->counters.reserved.current >> GM_GRANULE_SHIFT) *
		       sizeof(uintptr_t);
}
