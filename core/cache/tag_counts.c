/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* What a heap and its threads count by tag in: see local.h, extent/tags.h. */
#include "cache.h"
#include "base/error.h"

gpumem_status gm_local_make_tags(struct gm_heap *heap)
{
	struct gm_group *group = gm_group_own(heap);

	if (!heap->tags)
		heap->tags = gm_tags_new();
	if (!heap->tags)
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no host memory to count blocks by tag");
	if (group && !group->tags) {
		group->tags = gm_tag_deltas_new();
		heap->caches->tagged_count += group->tags != NULL;
	}
	return GPUMEM_OK;
}

void gm_locals_forget_tags(struct gm_heap *heap)
{
	struct gm_local *local = heap->caches->locals;

	for (; local; local = local->next)
		if (local->group->tags)
			local->group->tags->last = 0;
}
