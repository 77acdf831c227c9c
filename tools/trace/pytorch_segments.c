/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The part of a snapshot that says what lies where at the end.
 */
#include "pytorch.h"

static void put_block(struct snapshot *snapshot, enum gm_torch_word state,
		      uint64_t address, uint64_t bytes, uint64_t stack)
{
	const struct gm_torch_block block = {.state = state,
					     .address = address,
					     .bytes = bytes,
					     .requested_bytes = bytes,
					     .stack = stack};

	gm_torch_block(&snapshot->torch, &block);
}

/* Live blocks, and what is free between them: all of the region. */
static void put_segment(struct snapshot *snapshot, unsigned device,
			const struct region *region,
			const struct snapshot_live *live, size_t count)
{
	struct gm_torch_segment segment = {.device = device,
					   .begin = region->begin,
					   .bytes = region->last -
						    region->begin + 1};
	uint64_t at = region->begin;

	for (size_t i = 0; i < count; i++)
		segment.requested_bytes += live[i].bytes;
	segment.allocated_bytes = segment.requested_bytes;
	segment.active_bytes = segment.requested_bytes;
	gm_torch_segment(&snapshot->torch, &segment);
	for (size_t i = 0; i < count; i++) {
		put_block(snapshot, GM_TORCH_inactive, at, live[i].address - at,
			  0);
		put_block(snapshot, GM_TORCH_active_allocated, live[i].address,
			  live[i].bytes, live[i].stack);
		at = live[i].address + live[i].bytes;
	}
	put_block(snapshot, GM_TORCH_inactive, at, region->last - at + 1, 0);
}

void snapshot_segments(struct snapshot *snapshot, bool host)
{
	unsigned first = host ? TORCH_DEVICES : 0;
	unsigned count = host ? snapshot->hosts : snapshot->devices;
	const struct snapshot_live *live = snapshot->live;
	const struct snapshot_live *end = live + snapshot->live_count;

	while (live < end && live->device < first)
		live++;
	gm_torch_segments(&snapshot->torch, host);
	for (unsigned i = 0; i < count; i++) {
		const struct regions *regions = &snapshot->regions[first + i];

		for (size_t j = 0; j < regions->count; j++) {
			const struct region *region = &regions->list[j];
			const struct snapshot_live *inside = live;

			while (live < end && live->device == first + i &&
			       live->address <= region->last)
				live++;
			put_segment(snapshot, i, region, inside,
				    (size_t)(live - inside));
		}
	}
}
