/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Where the vendor names memory by objects: which object holds an address, and
 * the objects that stand for one block, its view; and back from a view to its
 * block. A block with a view is marked as shared (order/uses.h), so that its
 * free takes the slow path; what becomes of the view then is in heap/free.c and
 * order/pending.c. The heap is locked meanwhile.
 */
#include "pool.h"
#include "heap/block.h"
#include "base/error.h"
#include "device/object.h"
#include "extent/map.h"

#include <stdlib.h>

/* Only what the driver's own alloc gave has an object. */
static gpumem_status check_objects(struct gm_heap *heap)
{
	const struct gpumem_device *device = heap->driver.device;

	if (gm_device_has(device, GPUMEM_CAP_OBJECTS) &&
	    !gm_space_has_pages(heap) &&
	    heap->driver.kind == GPUMEM_KIND_DEVICE)
		return GPUMEM_OK;
	return gm_fail(GPUMEM_UNSUPPORTED,
		       "the memory of pool \"%s\" on %s has addresses, and no "
		       "objects",
		       gm_pool_of_heap(heap)->name, device->info.name);
}

gpumem_status gm_pool_object(const void *ptr, void **object_out,
			     uint64_t *offset_out)
{
	struct gpumem_block block;
	uint64_t offset = 0;
	void *object = NULL;
	gpumem_status status = gm_pool_query(ptr, &block);

	if (status == GPUMEM_OK)
		status = check_objects(&block.pool->heap);
	if (status == GPUMEM_OK)
		status = gm_object_of(block.pool->device, (uintptr_t)ptr,
				      &object, &offset);
	if (status != GPUMEM_OK)
		return status;
	*object_out = object;
	*offset_out = offset;
	return GPUMEM_OK;
}

static gpumem_status view_locked(struct gm_block *block, void **view_out)
{
	struct gm_heap *heap = block->heap;
	uintptr_t address = gm_block_address(block);
	struct gm_uses *uses = &heap->order->uses;
	struct gm_use *use;
	gpumem_status status = check_objects(heap);
	void *view;

	if (status == GPUMEM_OK)
		status = gm_uses_of(uses, address, &use);
	if (status != GPUMEM_OK)
		return status;
	view = use->view;
	if (!view)
		status = gm_view_create(heap->driver.device, address,
					gm_block_requested(block), &view);
	if (status != GPUMEM_OK) {
		/* A block that is marked keeps its entry, also an empty one
		 * (end_view). */
		if (!(gm_block_more(block) & GM_MORE_SHARED))
			free(gm_uses_take(uses, address));
		return status;
	}
	if (!use->view)
		gm_uses_set_view(uses, use, view);
	gm_block_share(block);
	*view_out = view;
	return GPUMEM_OK;
}

gpumem_status gm_pool_view(const void *ptr, void **view_out)
{
	struct gm_block block;
	gpumem_status status = gm_pool_explain(ptr, gm_block_lock(ptr, &block));

	if (status != GPUMEM_OK)
		return status;
	status = view_locked(&block, view_out);
	pthread_mutex_unlock(&block.heap->mutex);
	return status;
}

static gpumem_status end_view(struct gm_heap *heap, struct gm_use *use,
			      void *user)
{
	gpumem_status status = gm_view_destroy(heap->driver.device, use->view);

	if (status == GPUMEM_BUSY)
		return status;
	gm_first_keep(user, status);
	gm_uses_set_view(&heap->order->uses, use, NULL);
	return GPUMEM_OK;
}

struct search {
	const void *view;
	struct gpumem_block *block;
	bool found;
};

static void describe(struct gpumem_pool *pool, uintptr_t address,
		     struct gpumem_block *block)
{
	uintptr_t entry = gm_map_get(address);
	const struct gm_slab *slab = gm_slab_of_entry(entry);

	if (slab)
		gm_pool_describe_slot(
			pool, slab,
			gm_class_slot(&slab->class,
				      gm_entry_offset(entry, address)),
			block);
	else
		gm_pool_describe(pool, (const struct gm_extent *)entry, block);
}

static bool look_for(struct gpumem_pool *pool, const char *name, void *user)
{
	struct search *search = user;
	struct gm_heap *heap = &pool->heap;
	const struct gm_use *use;

	(void)name;
	pthread_mutex_lock(&heap->mutex);
	use = gm_uses_find_view(&heap->order->uses, search->view);
	search->found = use != NULL;
	if (use)
		describe(pool, use->address, search->block);
	pthread_mutex_unlock(&heap->mutex);
	return !search->found;
}

gpumem_status gm_pool_view_block(struct gpumem_device *device, const void *view,
				 struct gpumem_block *block_out)
{
	struct search search = {.view = view, .block = block_out};

	if (!gm_device_has(device, GPUMEM_CAP_OBJECTS))
		return gm_fail(GPUMEM_UNSUPPORTED,
			       "the memory of %s has addresses, and no views",
			       device->info.name);
	gm_pool_visit(device, look_for, &search);
	if (!search.found)
		return gm_fail(GPUMEM_BAD_POINTER,
			       "%p is the view of no live block on %s", view,
			       device->info.name);
	return GPUMEM_OK;
}

gpumem_status gm_pool_end_views(struct gpumem_pool *pool,
				struct gm_first *first)
{
	struct gm_heap *heap = &pool->heap;
	gpumem_status status;

	pthread_mutex_lock(&heap->mutex);
	/* The vendor may hold some for work that is queued. */
	if (heap->order->pending.held_bytes)
		while (gm_pending_wait(heap))
			;
	status = gm_pending_end_views(heap, first);
	if (status == GPUMEM_OK)
		status = gm_uses_each_view(heap, end_view, first);
	pthread_mutex_unlock(&heap->mutex);
	if (status != GPUMEM_OK)
		return gm_fail(status,
			       "the program holds views of blocks of pool "
			       "\"%s\" on %s: release them first",
			       pool->name, pool->device->info.name);
	return GPUMEM_OK;
}
