/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The invariants of slab.h; see check.h. */
#include "slab.h"
#include "extent/check.h"
#include "base/error.h"

typedef unsigned long long ull;

static bool is_entry(uintptr_t entry, const struct gm_slab *slab,
		     uint32_t offset)
{
	return gm_slab_of_entry(entry) == slab &&
	       gm_entry_class(entry) == slab->class_index &&
	       gm_entry_arena(entry) == slab->arena->slabs->number &&
	       gm_entry_offset(entry, 0) == offset;
}

/* A word may be noted right now: the mark is last. */
static bool is_more(const struct gm_slab *slab, uint32_t slot, uint32_t mark)
{
	uint16_t more = atomic_load(
		gm_mark_more(&slab->class, gm_slab_mark(slab, slot)));

	if (mark & GM_MARK_MORE)
		return more;
	return !more || (gm_mark_live(mark) && more == GM_MORE_USER);
}

gpumem_status gm_check_slab(const struct gm_heap *heap,
			    const struct gm_extent *extent,
			    struct gm_tally *tally)
{
	const struct gm_slab *slab =
		gm_slab_of_entry(gm_map_get(extent->address));
	uint32_t bits = 0;
	uint64_t gone, asleep = 0;

	EXPECT(slab && slab->extent == extent && gm_metadata_heap(slab) == heap,
	       "the map does not lead to the run at %#zx", extent->address);
	EXPECT(slab->arena == extent->arena &&
		       slab->class.run_bytes == extent->bytes &&
		       slab->address % GM_RUN_UNIT == 0,
	       "the slab at %#zx is not what its extent says", extent->address);
	EXPECT(atomic_load(&slab->stream) == (slab->arena->dropped
						      ? &gm_stream_gone
						      : slab->arena->stream),
	       "the slab at %#zx is not of its arena's stream",
	       extent->address);
	for (size_t at = 0; at < extent->bytes; at += GM_RUN_UNIT)
		EXPECT(is_entry(gm_map_get(extent->address + at), slab,
				(uint32_t)at),
		       "the map misses part of the run at %#zx",
		       extent->address);
	for (uint32_t i = 0; i < slab->class.slots; i++) {
		uint32_t mark = atomic_load(gm_slab_mark(slab, i));
		bool is_free = slab->free[i / 64] >> (i % 64) & 1;

		EXPECT(is_more(slab, i, mark),
		       "what slot %u of the slab at %#zx has more is not what "
		       "its mark says",
		       i, extent->address);
		bits += is_free;
		EXPECT(!is_free || !mark,
		       "slot %u of the slab at %#zx is free "
		       "and in use",
		       i, extent->address);
		if (mark == GM_MARK_PENDING) {
			tally->pending += slab->class.bytes;
		} else if (mark) {
			gpumem_status status;

			EXPECT(gm_mark_live(mark) &&
				       gm_mark_bytes(mark) <= slab->class.bytes,
			       "slot %u of the slab at %#zx has mark %#x", i,
			       extent->address, mark);
			tally->requested += gm_mark_bytes(mark);
			tally->allocated += slab->class.bytes;
			tally->blocks++;
			gone = gm_slot_gone_bytes(heap, slab, i);
			tally->sleeping += gone;
			asleep += gone;
			status = gm_check_more(heap, gm_slab_more(slab, i),
					       gm_mark_bytes(mark), tally);
			if (status != GPUMEM_OK)
				return status;
		} else if (!is_free) {
			tally->cached_slots++;
		}
	}
	EXPECT(bits == slab->free_count,
	       "the slab at %#zx counts %u free slots, not %u", extent->address,
	       slab->free_count, bits);
	EXPECT(slab->asleep == gm_pages_touch_away(&heap->spans,
						   extent->address,
						   extent->bytes),
	       "the slab at %#zx is asleep, or its pages are", extent->address);
	tally->free_slabs += bits > 0 && !slab->asleep;
	tally->slab_part_bytes +=
		extent->bytes -
		(uint64_t)(slab->class.slots - bits) * slab->class.bytes -
		(gm_pages_gone_bytes(&heap->spans, extent->address,
				     extent->bytes) -
		 asleep);
	return GPUMEM_OK;
}

/* The lists that an arena takes slots from. */
static gpumem_status check_lists(const struct gm_arena *arena,
				 struct gm_tally *tally)
{
	const struct gm_slabs *slabs = arena->slabs;

	for (unsigned i = 0; slabs && i < GM_CLASS_COUNT; i++) {
		const struct gm_slab *slab = slabs->empty[i];

		EXPECT(!slab || slab->free_count == slab->class.slots,
		       "the slab at %#zx is not empty", slab->address);
		tally->free_slabs -= slab != NULL;
		for (unsigned l = 0; l < GM_SLAB_LEVELS; l++) {
			slab = slabs->partial[i][l];
			for (; slab; slab = slab->next) {
				EXPECT(slab->arena == arena &&
					       slab->class_index == i &&
					       gm_slab_level(slab) == l &&
					       slab->level == l,
				       "the slab at %#zx is in a wrong list",
				       slab->address);
				tally->free_slabs--;
			}
		}
	}
	return GPUMEM_OK;
}

gpumem_status gm_check_slabs(const struct gm_heap *heap, struct gm_tally *tally)
{
	const struct gm_arena *arena = gm_arena_first(heap);
	gpumem_status status = GPUMEM_OK;

	for (; arena && status == GPUMEM_OK;
	     arena = gm_arena_after(heap, arena))
		status = check_lists(arena, tally);
	if (status != GPUMEM_OK)
		return status;
	EXPECT(!tally->free_slabs, "%llu slabs with free slots are in no list",
	       (ull)tally->free_slabs);
	return GPUMEM_OK;
}
