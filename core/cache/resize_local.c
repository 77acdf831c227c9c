/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A small block that gets larger or smaller in its slot: only its mark and the
 * counts of the thread change. As the hot path (hot.h), without the mutex: the
 * owner locks a cache of the thread. Large blocks are heap/resize.c's.
 */
#include "cache.h"
#include "base/error.h"

gpumem_status gm_slot_too_small(void)
{
	return gm_refuse(GPUMEM_BUSY,
			 "a small block cannot grow beyond what it holds");
}

/* So much has drifted that it must be folded in first. */
static bool drifted(const struct gm_delta *requested)
{
	return requested->high > GM_DRIFT_BYTES ||
	       gm_delta_now(requested) < -GM_DRIFT_BYTES;
}

/* A use on another stream may be added meanwhile by another thread, under the
 * mutex: the block takes the slow path then. */
static bool change(gm_mark *mark, size_t bytes, struct gm_group *group)
{
	uint16_t before = atomic_load(mark);

	if (before - 1u >= GM_SMALL_MAX ||
	    !atomic_compare_exchange_strong(mark, &before, (uint16_t)bytes))
		return false;
	if (bytes > before)
		gm_delta_add(&group->counts.requested, bytes - before,
			     &group->above->requested, GM_STEP_BYTES);
	else
		gm_delta_sub(&group->counts.requested, before - bytes);
	return true;
}

/* The cache is locked, and the entry's arena is its own. */
static gpumem_status resize(struct gm_local *local, uintptr_t entry,
			    uintptr_t address, size_t bytes,
			    uint64_t *holds_out)
{
	const struct gm_heap *heap = atomic_load(&local->heap);
	const struct gm_class *class = &heap->classes.of[gm_entry_class(entry)];
	uint32_t offset = gm_entry_offset(entry, address);
	uint32_t slot = gm_class_slot(class, offset);
	gm_mark *mark = gm_entry_mark(entry, class, slot);

	if (slot >= class->slots || slot * class->bytes != offset ||
	    drifted(&local->group->counts.requested))
		return GPUMEM_NOT_READY;
	if (bytes > class->bytes)
		return gm_mark_live(atomic_load(mark)) ? GPUMEM_BUSY
						       : GPUMEM_NOT_READY;
	if (!change(mark, bytes, local->group))
		return GPUMEM_NOT_READY;
	*holds_out = class->bytes;
	return GPUMEM_OK;
}

gpumem_status gm_local_resize(void *ptr, size_t bytes, gpumem_stream stream,
			      uint64_t *holds_out)
{
	uintptr_t entry = gm_map_get((uintptr_t)ptr);
	struct gm_local *local = gm_local_last;
	gpumem_status status = GPUMEM_NOT_READY;
	uint32_t claimed;

	if (!(entry & 1) || !bytes)
		return status;
	if (local->stream != stream ||
	    gm_entry_arena(entry) != local->arena_number)
		local = gm_local_home(entry, stream);
	if (!local || !atomic_load(&local->heap) ||
	    !gm_local_lock_recorded(local, &claimed))
		return status;
	if (gm_entry_arena(entry) == local->arena_number)
		status = resize(local, entry, (uintptr_t)ptr, bytes, holds_out);
	if (claimed & GM_CLAIM_RECORDED && status == GPUMEM_OK)
		gm_local_record(local, GPUMEM_RECORD_RESIZE,
				gm_record_now_after(), ptr, bytes, 0);
	gm_local_unlock(local);
	return status == GPUMEM_BUSY ? gm_slot_too_small() : status;
}
