/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What follows when the hot path has found nothing: if the thread or the block
 * has a tag, or the heap is recorded, the same again with what that takes; then
 * once more, when the depot has refilled the cache or has taken some of it. See
 * local.h.
 */
#include "cache.h"
#include "hot.h"

static bool may_be_recorded(void)
{
	return atomic_load_explicit(&gm_recorder.generation,
				    memory_order_relaxed) != 0;
}

_Atomic bool gm_words_used;

/* Blocks of the process may have more than their size: tags, or words. */
static bool may_have_more(void)
{
	return atomic_load_explicit(&gm_tag_count, memory_order_relaxed) != 0 ||
	       atomic_load_explicit(&gm_words_used, memory_order_relaxed);
}

void *gm_local_alloc_again(struct gm_heap *heap, size_t bytes,
			   gpumem_stream stream, uint32_t tag)
{
	void *ptr = NULL;

	if (tag || may_be_recorded())
		ptr = gm_hot_alloc(heap, bytes, stream, tag, GM_HOT_AGAIN);
	if (!ptr && gm_local_refill_for(heap, bytes, stream))
		ptr = gm_hot_alloc(heap, bytes, stream, tag, GM_HOT_AFTER);
	return ptr;
}

bool gm_local_free_again(void *ptr, bool any, gpumem_stream stream)
{
	if ((may_have_more() || may_be_recorded()) &&
	    gm_hot_free(ptr, any, stream, GM_HOT_AGAIN))
		return true;
	return (any ? gm_local_flush_for_own(ptr)
		    : gm_local_flush_for(ptr, stream)) &&
	       gm_hot_free(ptr, any, stream, GM_HOT_AGAIN);
}
