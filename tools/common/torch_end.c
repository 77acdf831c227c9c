/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The segments of a device at the end, and the blocks in them: what is live and
 * reserved then is what they say, whatever the history lacks.
 *
 * A block is live unless its state says otherwise. One that waits to be freed
 * is not: the program freed it, and torch.cuda.memory_allocated() leaves it
 * out.
 */
#include "torch_device.h"

#include <stdlib.h>

static bool keep(struct torch_device *device, struct torch_blocks *blocks,
		 const struct torch_block *block)
{
	size_t room = blocks->room ? blocks->room * 2 : 256;
	struct torch_block *list;

	if (blocks->count == blocks->room) {
		list = realloc(blocks->list, room * sizeof(*list));
		if (!list)
			return torch_no_memory(device->history);
		blocks->list = list;
		blocks->room = room;
	}
	blocks->list[blocks->count++] = *block;
	return true;
}

/* ---- what the file says ---- */

static bool read_state(struct torch_device *device,
		       const struct unpickled *state, bool *live_out)
{
	*live_out = !unpickled_is(state, "inactive") &&
		    !unpickled_is(state, "active_pending_free") &&
		    !unpickled_is(state, "active_awaiting_free");
	return !*live_out || unpickled_is(state, "active_allocated") ||
	       !state || state->kind != UNPICKLED_TEXT ||
	       torch_unknown(device->history, "state", state->text,
			     state->bytes);
}

/* What the program asked for; PyTorch 2.0 says it in another place. */
static uint64_t requested(const struct unpickle *unpickle,
			  const struct unpickled *block)
{
	const struct unpickled *history =
		unpickle_get(unpickle, block, "history");
	uint64_t bytes = 0;

	if (!unpickle_get_u64(unpickle, block, "requested_size", &bytes))
		(void)unpickle_get_u64(unpickle,
				       unpickle_item(unpickle, history, 0),
				       "real_size", &bytes);
	return bytes;
}

/* *address is where it begins if it does not say; then behind it. */
static bool read_block(struct torch_device *device,
		       const struct unpickled *dict, uint64_t *address,
		       struct torch_block *block)
{
	const struct unpickle *unpickle = device->unpickle;

	block->address = *address;
	(void)unpickle_get_bits(unpickle, dict, "address", &block->address);
	if (!unpickle_get_u64(unpickle, dict, "size", &block->bytes) ||
	    block->bytes > RECORDING_BYTES_MAX)
		return torch_fail(device->history,
				  "damaged: a block of a segment has no size");
	*address = block->address + block->bytes;
	block->requested = requested(unpickle, dict);
	if (block->requested > RECORDING_BYTES_MAX)
		return torch_fail(device->history,
				  "damaged: the size of a block");
	if (!torch_unknown_keys(device->history, unpickle, dict, TORCH_BLOCK) ||
	    !read_state(device, unpickle_get(unpickle, dict, "state"),
			&block->live))
		return false;
	block->live = block->live && (block->bytes || block->requested);
	return !block->live ||
	       (torch_read_tag(
			device, unpickle_get(unpickle, dict, "user_metadata"),
			unpickle_get(unpickle, dict, "internal_metadata"),
			&block->tag) &&
		torch_read_stack(device, unpickle_get(unpickle, dict, "frames"),
				 &block->stack));
}

static bool read_blocks(struct torch_device *device,
			const struct unpickled *blocks, uint64_t address,
			uint64_t stream)
{
	for (size_t i = 0; i < unpickle_count(device->unpickle, blocks); i++) {
		struct torch_block block = {.stream = stream};

		if (!torch_step(device->history) ||
		    !read_block(device,
				unpickle_item(device->unpickle, blocks, i),
				&address, &block) ||
		    !keep(device, &device->blocks, &block))
			return false;
	}
	return true;
}

bool torch_segment(struct torch_device *device, const struct unpickled *dict)
{
	const struct unpickle *unpickle = device->unpickle;
	struct torch_block segment = {0};
	uint64_t unused;

	(void)unpickle_get_bits(unpickle, dict, "stream", &segment.stream);
	if (!unpickle_get_bits(unpickle, dict, "address", &segment.address) ||
	    !unpickle_get_u64(unpickle, dict, "total_size", &segment.bytes) ||
	    segment.bytes > RECORDING_BYTES_MAX)
		return torch_fail(device->history,
				  "damaged: a segment has no address or size");
	device->history->segments = true;
	if (unpickle_get_u64(unpickle, dict, "allocated_size", &unused))
		device->history->totals = true;
	return torch_unknown_keys(device->history, unpickle, dict,
				  TORCH_SEGMENT) &&
	       keep(device, &device->segments, &segment) &&
	       read_blocks(device, unpickle_get(unpickle, dict, "blocks"),
			   segment.address, segment.stream);
}

/* ---- what follows ---- */

/* Is there nothing but what the segments have? PyTorch lists all of them; a
 * file without any of which the history says that there were some is one where
 * they were given back. */
static bool is_whole(const struct torch_device *device)
{
	const struct torch_history *history = device->history;

	return history->totals || (!history->segments && device->grows);
}

/* An end that was found without free_requested is one of a block that had been
 * freed before, if that is recorded. */
static void settle_doubts(struct torch_device *device)
{
	struct torch_events *events = device->events;

	for (size_t i = 0; device->free_requested && i < device->doubt_count;
	     i++) {
		const struct torch_doubt *doubt = &device->doubts[i];

		events->list[doubt->event].kind = 0;
		events->inserted[doubt->inserted].event.kind = 0;
	}
}

/* The block that the history says is live there, if it can be this one. */
static struct range *same(struct torch_device *device,
			  const struct torch_block *block)
{
	struct range *live =
		ranges_find(&device->live, block->address, block->address);
	uint64_t bytes;

	if (!live || live->first != block->address)
		return NULL;
	bytes = torch_events_get(device->events, live->value).bytes;
	return bytes == block->requested || !block->requested ? live : NULL;
}

/* No two of them are at one place. */
static bool check_apart(struct torch_device *device)
{
	for (size_t i = 0; i < device->blocks.count; i++) {
		const struct torch_block *block = &device->blocks.list[i];
		uint64_t bytes = block->bytes > block->requested
					 ? block->bytes
					 : block->requested;
		struct range range = {.first = block->address};

		if (!block->live || !bytes)
			continue;
		range.last = range_last(block->address, bytes);
		if (ranges_find(&device->at_end, range.first, range.last))
			return torch_fail(
				device->history,
				"damaged: two blocks of the segments overlap");
		if (!ranges_add(&device->at_end, range))
			return torch_no_memory(device->history);
	}
	return true;
}

/* Those that the history does not have. */
static bool begin_blocks(struct torch_device *device)
{
	for (size_t i = 0; i < device->blocks.count; i++) {
		struct torch_block *block = &device->blocks.list[i];
		struct torch_event event = {.address = block->address,
					    .bytes = block->requested
							     ? block->requested
							     : block->bytes,
					    .stream = block->stream,
					    .stack = block->stack,
					    .tag = block->tag};

		if (block->live && event.bytes &&
		    !torch_begin_unsaid(device, event))
			return false;
	}
	return true;
}

static bool end_blocks(struct torch_device *device, uint64_t first,
		       uint64_t last)
{
	struct range *live;

	while ((live = ranges_find(&device->live, first, last)))
		if (!torch_end_unsaid(device, live, device->events->last_us))
			return false;
	return true;
}

/* All that the history says is live, and the segments do not. */
static bool end_others(struct torch_device *device)
{
	for (size_t i = 0; i < device->blocks.count; i++) {
		struct torch_block *block = &device->blocks.list[i];
		struct range *live = block->live ? same(device, block) : NULL;

		if (live) {
			ranges_remove(&device->live, live);
			block->live = false;
		}
	}
	for (size_t i = 0; i < device->blocks.count; i++) {
		const struct torch_block *block = &device->blocks.list[i];

		if (block->bytes &&
		    !end_blocks(device, block->address,
				range_last(block->address, block->bytes)))
			return false;
	}
	return !is_whole(device) || end_blocks(device, 0, UINT64_MAX);
}

static bool settle_segments(struct torch_device *device)
{
	for (size_t i = 0; i < device->segments.count; i++) {
		const struct torch_block *segment = &device->segments.list[i];
		struct torch_event event = {.address = segment->address,
					    .bytes = segment->bytes};
		uint64_t known;

		if (!event.bytes)
			continue;
		if (!ranges_cut(&device->mapped, segment->address,
				range_last(segment->address, segment->bytes),
				&known))
			return torch_no_memory(device->history);
		if (known < segment->bytes &&
		    !torch_grow_unsaid(device, event, segment->bytes - known))
			return false;
	}
	return true;
}

/* What was mapped, and is not there at the end. */
static bool shrink_rest(struct torch_device *device)
{
	struct range *rest;

	while (is_whole(device) &&
	       (rest = ranges_find(&device->mapped, 0, UINT64_MAX))) {
		struct torch_event event = {.us = device->events->last_us,
					    .address = rest->first,
					    .bytes = rest->last - rest->first +
						     1};

		if (!torch_shrink(device, event))
			return false;
	}
	return true;
}

bool torch_finish(struct torch_device *device)
{
	settle_doubts(device);
	return check_apart(device) && end_others(device) &&
	       begin_blocks(device) && settle_segments(device) &&
	       shrink_rest(device) &&
	       (torch_events_finish(device->events) ||
		torch_no_memory(device->history));
}
