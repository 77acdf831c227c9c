/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Pointers to blocks; see block.h. */
#include "block.h"
#include "heap.h"
#include "extent/map.h"
#include "base/error.h"
#include "base/fork.h"

static gpumem_status bad_pointer(const void *ptr, const char *why)
{
	return gm_fail(GPUMEM_BAD_POINTER, "%p %s", ptr, why);
}

static struct gm_heap *heap_of_entry(uintptr_t entry)
{
	const struct gm_slab *slab = gm_slab_of_entry(entry);

	if (slab)
		return slab->heap;
	return ((struct gm_extent *)entry)->heap;
}

static gpumem_status resolve_small(const void *ptr, struct gm_block *block)
{
	const struct gm_slab *slab = block->slab;
	uint32_t offset = (uint32_t)((uintptr_t)ptr - slab->address);

	block->slot = gm_class_slot(&slab->class, offset);
	if (block->slot >= slab->class.slots ||
	    block->slot * slab->class.bytes != offset)
		return bad_pointer(ptr, "is not the start of a block");
	if (!gm_mark_live(atomic_load(gm_slab_mark(slab, block->slot))))
		return bad_pointer(ptr, "was freed already");
	return GPUMEM_OK;
}

/* Under the heap's mutex: once more, since the entry was read without. */
static gpumem_status resolve(const void *ptr, struct gm_heap *heap,
			     struct gm_block *block)
{
	uintptr_t entry = gm_map_get((uintptr_t)ptr);

	*block = (struct gm_block){.heap = heap,
				   .slab = gm_slab_of_entry(entry)};
	if (!entry || heap_of_entry(entry) != heap)
		return bad_pointer(ptr, "was freed already");
	if (block->slab)
		return resolve_small(ptr, block);
	block->extent = (struct gm_extent *)entry;
	if (block->extent->address != (uintptr_t)ptr)
		return bad_pointer(ptr, "is not the start of a block");
	if (!gm_extent_is(block->extent, GM_EXTENT_LARGE))
		return bad_pointer(ptr, "was freed already");
	return GPUMEM_OK;
}

gpumem_status gm_block_lock(const void *ptr, struct gm_block *block)
{
	uintptr_t entry;
	struct gm_heap *heap;
	gpumem_status status;

	if (gm_forked())
		return gm_fail(GPUMEM_FORKED, "the process was forked; its "
					      "parent owns the block");
	entry = gm_map_get((uintptr_t)ptr);
	if (!entry)
		return bad_pointer(ptr, "is no live block of any pool: never "
					"allocated here, or freed already");
	heap = heap_of_entry(entry);
	pthread_mutex_lock(&heap->mutex);
	gm_locals_fold_own(heap);
	status = resolve(ptr, heap, block);
	if (status != GPUMEM_OK)
		pthread_mutex_unlock(&heap->mutex);
	return status;
}

uintptr_t gm_block_address(const struct gm_block *block)
{
	if (block->extent)
		return block->extent->address;
	return block->slab->address +
	       (uintptr_t)block->slot * block->slab->class.bytes;
}

gpumem_stream gm_block_own_stream(const struct gm_block *block)
{
	const struct gm_arena *arena;

	if (block->slab)
		return atomic_load(&block->slab->stream);
	arena = block->extent->arena;
	return arena->dropped ? &gm_stream_gone : arena->stream;
}

void gm_block_share(const struct gm_block *block)
{
	if (block->slab)
		atomic_fetch_or(gm_slab_mark(block->slab, block->slot),
				GM_MARK_SHARED);
	else
		block->extent->shared = true;
}
