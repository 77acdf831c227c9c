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

/* NULL: it was a large block when the entry was read, and is free. */
static struct gm_heap *heap_of_entry(uintptr_t entry)
{
	if (entry & 1)
		return gm_entry_heap(entry);
	return gm_extent_heap((const struct gm_extent *)entry);
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
	if (!heap)
		return bad_pointer(ptr, "was freed already");
	pthread_mutex_lock(&heap->mutex);
	gm_locals_fold_own(heap, 0);
	status = resolve(ptr, heap, block);
	if (status != GPUMEM_OK)
		pthread_mutex_unlock(&heap->mutex);
	return status;
}

/* The slab may be gone by now. */
static bool small_size(uintptr_t entry, uint32_t offset,
		       struct gm_block_size *size)
{
	const struct gm_class *class = gm_entry_slots(entry);
	uint32_t slot = gm_class_slot(class, offset), mark;

	if (slot >= class->slots || slot * class->bytes != offset)
		return false;
	mark = atomic_load_explicit(gm_entry_mark(entry, class, slot),
				    memory_order_relaxed);
	size->requested = gm_mark_bytes(mark);
	size->usable = class->bytes;
	return gm_mark_live(mark);
}

static bool large_size(const struct gm_extent *extent, uintptr_t address,
		       struct gm_block_size *size)
{
	if (extent->address != address ||
	    !gm_extent_is(extent, GM_EXTENT_LARGE))
		return false;
	size->requested = extent->requested;
	size->usable = extent->bytes;
	return true;
}

bool gm_block_peek(const void *ptr, struct gm_block_size *size_out)
{
	uintptr_t address = (uintptr_t)ptr, entry = gm_map_get(address);

	if (!entry || gm_forked())
		return false;
	if (entry & 1)
		return small_size(entry, gm_entry_offset(entry, address),
				  size_out);
	return large_size((const struct gm_extent *)entry, address, size_out);
}

gpumem_status gm_block_size(const void *ptr, struct gm_block_size *size_out)
{
	struct gm_block block;
	gpumem_status status = gm_block_lock(ptr, &block);

	if (status != GPUMEM_OK)
		return status;
	size_out->requested = gm_block_requested(&block);
	size_out->usable =
		block.slab ? block.slab->class.bytes : block.extent->bytes;
	pthread_mutex_unlock(&block.heap->mutex);
	return GPUMEM_OK;
}

uint64_t gm_block_requested(const struct gm_block *block)
{
	if (block->extent)
		return block->extent->requested;
	return gm_mark_bytes(
		atomic_load(gm_slab_mark(block->slab, block->slot)));
}

uint16_t gm_block_more(const struct gm_block *block)
{
	return block->extent ? gm_extent_more(block->extent)
			     : gm_slab_more(block->slab, block->slot);
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
		gm_slab_add_more(block->slab, block->slot, GM_MORE_SHARED);
	else
		gm_extent_add_more(block->extent, GM_MORE_SHARED);
}
