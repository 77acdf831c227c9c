/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Tracking of live blocks (base/track.h). While it is on no thread uses its
 * cache without the heap's mutex, as with a hook: each block that begins passes
 * note_alloc() of alloc.c, and each that ends free_unrecorded() of free.c. The
 * hot path knows nothing of it. Blocks keep their addresses when they are
 * resized, and graphs and views change nothing about who is live.
 */
#include "heap.h"

void gm_heap_gate(struct gm_heap *heap)
{
	heap->caches->gated = heap->policy->hook.fn || heap->policy->tracked ||
			      heap->space->away.pages;
}

void gm_heap_track_begin(struct gm_heap *heap, unsigned frames)
{
	gm_stack_init();
	gm_heap_stop(heap);
	heap->policy->tracked = true;
	atomic_store(&heap->policy->track_frames, frames);
	gm_heap_gate(heap);
	gm_heap_go(heap);
}

void gm_heap_track_end(struct gm_heap *heap)
{
	gm_heap_stop(heap);
	heap->policy->tracked = false;
	atomic_store(&heap->policy->track_frames, 0);
	gm_track_fini(&heap->policy->track);
	gm_heap_gate(heap);
	gm_heap_go(heap);
}
