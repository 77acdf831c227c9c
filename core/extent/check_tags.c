/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The invariants of tags.h; see check.h. What the walk finds of each tag is
 * added up beside what was counted. */
#include "check.h"
#include "heap_core.h"

typedef unsigned long long ull;

void gm_check_tags_begin(const struct gm_heap *heap)
{
	uint32_t count = heap->tags ? atomic_load(&gm_tag_count) : 0;

	for (uint32_t i = 1; i <= count; i++)
		heap->tags->of[i].walked_bytes =
			heap->tags->of[i].walked_blocks = 0;
}

gpumem_status gm_check_more(const struct gm_heap *heap, uint16_t more,
			    uint64_t requested, struct gm_tally *tally)
{
	unsigned tag = more & GM_MORE_TAG;

	tally->shared += (more & GM_MORE_SHARED) != 0;
	if (!tag)
		return GPUMEM_OK;
	EXPECT(heap->tags && gm_tag_is(tag),
	       "a block has tag %u, which is none", tag);
	heap->tags->of[tag].walked_bytes += requested;
	heap->tags->of[tag].walked_blocks++;
	return GPUMEM_OK;
}

static gpumem_status check_limits(const struct gm_tags *tags, uint32_t count)
{
	uint32_t limits = 0;

	for (uint32_t i = 1; i <= count; i++) {
		const struct gm_tag *tag = &tags->of[i];
		uint64_t held = tag->limit_bytes ? gm_tag_held(tags, i) : 0;

		limits += tag->limit_bytes != 0;
		EXPECT(tag->held_bytes == held,
		       "the limit of tag \"%s\" counts %llu bytes, and it and "
		       "those inside it have %llu",
		       gm_tag_path(i), (ull)tag->held_bytes, (ull)held);
	}
	EXPECT(limits == tags->limit_count,
	       "%u tags have a limit, the counter says %u", limits,
	       tags->limit_count);
	return GPUMEM_OK;
}

gpumem_status gm_check_tags(const struct gm_heap *heap)
{
	uint32_t count = heap->tags ? atomic_load(&gm_tag_count) : 0;

	for (uint32_t i = 1; i <= count; i++) {
		const struct gm_tag *tag = &heap->tags->of[i];

		EXPECT(tag->walked_bytes == tag->bytes.current &&
			       tag->walked_blocks == tag->blocks.current,
		       "tag \"%s\" has %llu blocks with %llu bytes; its "
		       "counters say %llu and %llu",
		       gm_tag_path(i), (ull)tag->walked_blocks,
		       (ull)tag->walked_bytes, (ull)tag->blocks.current,
		       (ull)tag->bytes.current);
		EXPECT(tag->bytes.current <= tag->bytes.peak &&
			       tag->blocks.current <= tag->blocks.peak,
		       "tag \"%s\" has more than its peak", gm_tag_path(i));
	}
	return count ? check_limits(heap->tags, count) : GPUMEM_OK;
}
