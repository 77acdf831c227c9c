/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The part of a snapshot that says what lies where at the end.
 */
#include "pytorch.h"

static void put_block(struct snapshot *snapshot, struct pickle_list *blocks,
		      const struct snapshot_live *block,
		      enum snapshot_word state)
{
	if (!block->bytes)
		return;
	pickle_item(&snapshot->pickle, blocks);
	pickle_dict(&snapshot->pickle);
	snapshot_put(snapshot, WORD_address, block->address);
	snapshot_put(snapshot, WORD_size, block->bytes);
	snapshot_put(snapshot, WORD_requested_size, block->bytes);
	snapshot_word(snapshot, WORD_state);
	snapshot_word(snapshot, state);
	snapshot_frames(snapshot, block->stack);
	pickle_dict_end(&snapshot->pickle);
}

/* Live blocks, and what is free between them: all of the region. */
static void put_blocks(struct snapshot *snapshot, const struct region *region,
		       const struct snapshot_live *live, size_t count)
{
	struct pickle_list blocks;
	uint64_t at = region->begin;

	snapshot_word(snapshot, WORD_blocks);
	pickle_list(&snapshot->pickle, &blocks);
	for (size_t i = 0; i < count; i++) {
		struct snapshot_live gap = {.address = at,
					    .bytes = live[i].address - at};

		put_block(snapshot, &blocks, &gap, WORD_inactive);
		put_block(snapshot, &blocks, &live[i], WORD_active_allocated);
		at = live[i].address + live[i].bytes;
	}
	put_block(snapshot, &blocks,
		  &(struct snapshot_live){.address = at,
					  .bytes = region->last - at + 1},
		  WORD_inactive);
	pickle_list_end(&snapshot->pickle, &blocks);
}

static void put_segment(struct snapshot *snapshot, unsigned device,
			const struct region *region,
			const struct snapshot_live *live, size_t count)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < count; i++)
		bytes += live[i].bytes;
	pickle_dict(&snapshot->pickle);
	snapshot_put(snapshot, WORD_device, device);
	snapshot_put(snapshot, WORD_address, region->begin);
	snapshot_put(snapshot, WORD_total_size,
		     region->last - region->begin + 1);
	snapshot_put(snapshot, WORD_allocated_size, bytes);
	snapshot_put(snapshot, WORD_active_size, bytes);
	snapshot_put(snapshot, WORD_requested_size, bytes);
	snapshot_put(snapshot, WORD_stream, 0);
	snapshot_word(snapshot, WORD_segment_type);
	snapshot_word(snapshot, WORD_large);
	snapshot_word(snapshot, WORD_segment_pool_id);
	pickle_two(&snapshot->pickle, 0, 0);
	snapshot_word(snapshot, WORD_is_expandable);
	pickle_bool(&snapshot->pickle, true);
	snapshot_frames(snapshot, 0);
	put_blocks(snapshot, region, live, count);
	pickle_dict_end(&snapshot->pickle);
}

void snapshot_segments(struct snapshot *snapshot, const char *key,
		       unsigned first, unsigned count)
{
	const struct snapshot_live *live = snapshot->live;
	const struct snapshot_live *end = live + snapshot->live_count;
	struct pickle_list segments;

	while (live < end && live->device < first)
		live++;
	pickle_text(&snapshot->pickle, key);
	pickle_list(&snapshot->pickle, &segments);
	for (unsigned i = 0; i < count; i++) {
		const struct regions *regions = &snapshot->regions[first + i];

		for (size_t j = 0; j < regions->count; j++) {
			const struct region *region = &regions->list[j];
			const struct snapshot_live *inside = live;

			while (live < end && live->device == first + i &&
			       live->address <= region->last)
				live++;
			pickle_item(&snapshot->pickle, &segments);
			put_segment(snapshot, i, region, inside,
				    (size_t)(live - inside));
		}
	}
	pickle_list_end(&snapshot->pickle, &segments);
}
