/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The snapshot, in PyTorch's format (base/torch.h): of each device what was
 * recorded, and the out of memory as the last thing; then what lies where, each
 * run of addresses that have memory as a segment. No lock is held: names of
 * frames are asked of the dynamic linker.
 */
#include "oom_snapshot.h"
#include "base/line.h"
#include "base/stack.h"
#include "base/torch.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { FIRST_STACK = 256, TEXT_BYTES = 1024 };

/* ---- frames ---- */

static void put_frame(struct gm_torch *torch, const void *address)
{
	char name[TEXT_BYTES], file[TEXT_BYTES];
	struct gm_frame frame;

	gm_frame_find(address, &frame);
	if (frame.symbol)
		gm_line_copy(name, sizeof(name), frame.symbol);
	else
		snprintf(name, sizeof(name), "%#llx",
			 (unsigned long long)frame.offset);
	gm_line_copy(file, sizeof(file), frame.module);
	gm_torch_frame(torch, name, file, 0);
}

static void put_stack(struct gm_torch *torch, const struct gm_stack *stack)
{
	struct gm_pickle_list list;

	gm_pickle_list(&torch->pickle, &list);
	for (uint32_t i = 0; stack && i < stack->count; i++) {
		gm_pickle_item(&torch->pickle, &list);
		put_frame(torch, stack->frame[i]);
	}
	gm_pickle_list_end(&torch->pickle, &list);
}

/* Written where it comes first; after that readers have the same list again. */
static void put_frames(struct gm_torch *torch, uint64_t stack, void *user)
{
	const struct gm_found *found = user;
	struct gm_found_stack *is = gm_found_stack(found, stack);
	uint32_t number = is ? (uint32_t)(is - found->stack) + FIRST_STACK : 0;

	if (is && is->written) {
		gm_pickle_again(&torch->pickle, number);
		return;
	}
	put_stack(torch, is ? (const struct gm_stack *)(uintptr_t)stack : NULL);
	if (!is)
		return;
	gm_pickle_name(&torch->pickle, number);
	is->written = true;
}

/* ---- what happened ---- */

static void put_event(struct gm_torch *torch,
		      const struct gm_found_event *event,
		      enum gm_torch_word action, uint64_t bytes, uint64_t stack)
{
	char tag[TEXT_BYTES] = "";
	struct gm_torch_entry entry = {.action = action,
				       .address = event->address,
				       .bytes = bytes,
				       .stream = event->stream,
				       .time_us = event->real_ns / 1000,
				       .stack = stack};

	if (event->tag)
		gm_line_copy(tag, sizeof(tag), gm_tag_path(event->tag));
	entry.tag = *tag ? tag : NULL;
	gm_torch_put(torch, &entry);
}

static void put_free(struct gm_torch *torch, const struct gm_found_event *event,
		     uint64_t bytes)
{
	put_event(torch, event, GM_TORCH_free_requested, bytes, 0);
	put_event(torch, event, GM_TORCH_free_completed, bytes, 0);
}

static void put_what(struct gm_torch *torch, const struct gm_found_event *event)
{
	if (event->kind == GPUMEM_RECORD_FREE ||
	    event->kind == GPUMEM_RECORD_RESIZE)
		put_free(torch, event, event->before_bytes);
	if (event->kind != GPUMEM_RECORD_FREE)
		put_event(torch, event, GM_TORCH_alloc, event->bytes,
			  event->stack);
}

static void put_oom(struct gm_torch *torch, const struct gm_oom *oom)
{
	struct gm_torch_entry entry = {
		.action = GM_TORCH_oom,
		.bytes = oom->request->bytes,
		.stream = (uintptr_t)oom->request->stream,
		.free_bytes = oom->known ? oom->memory.free_bytes : 0};
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	entry.time_us =
		(uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
	gm_torch_put(torch, &entry);
}

static void put_traces(struct gm_torch *torch, const struct gm_found *found,
		       const struct gm_oom *oom)
{
	unsigned failed = gm_found_device(oom->pool->device->info.name);
	size_t at = 0;

	gm_torch_traces(torch, false);
	for (unsigned i = 0; i < found->devices || i <= failed; i++) {
		gm_torch_device(torch);
		for (; at < found->event_count && found->event[at].device == i;
		     at++)
			put_what(torch, &found->event[at]);
		if (i == failed)
			put_oom(torch, oom);
	}
}

/* ---- what lies where ---- */

static bool follows(const struct gm_found_block *before,
		    const struct gm_found_block *block)
{
	return before->pool == block->pool &&
	       before->address + before->bytes == block->address;
}

static void put_block(struct gm_torch *torch, const struct gm_found_block *from)
{
	struct gm_torch_block block = {.state = GM_TORCH_inactive,
				       .address = from->address,
				       .bytes = from->bytes,
				       .requested_bytes = from->requested_bytes,
				       .stack = from->stack};

	if (from->state == GPUMEM_BLOCK_LIVE)
		block.state = GM_TORCH_active_allocated;
	if (from->state == GPUMEM_BLOCK_PENDING)
		block.state = GM_TORCH_active_pending_free;
	gm_torch_block(torch, &block);
}

static void put_segment(struct gm_torch *torch,
			const struct gm_found_block *block, size_t count)
{
	struct gm_torch_segment segment = {.device = block->device,
					   .begin = block->address};

	for (size_t i = 0; i < count; i++) {
		segment.bytes += block[i].bytes;
		if (block[i].state == GPUMEM_BLOCK_LIVE)
			segment.allocated_bytes += block[i].bytes;
		if (block[i].state != GPUMEM_BLOCK_FREE)
			segment.active_bytes += block[i].bytes;
		segment.requested_bytes += block[i].requested_bytes;
	}
	gm_torch_segment(torch, &segment);
	for (size_t i = 0; i < count; i++)
		put_block(torch, &block[i]);
}

static void put_segments(struct gm_torch *torch, const struct gm_found *found)
{
	const struct gm_found_block *block = found->block;
	size_t first = 0;

	gm_torch_segments(torch, false);
	for (size_t i = 1; i <= found->block_count; i++)
		if (i == found->block_count ||
		    !follows(&block[i - 1], &block[i])) {
			put_segment(torch, block + first, i - first);
			first = i;
		}
}

void gm_snapshot_write(struct gm_found *found, const struct gm_oom *oom,
		       struct gm_sink *sink)
{
	struct gm_torch torch = {
		.pickle = {.write = gm_sink_write, .user = sink},
		.frames = put_frames,
		.user = found};

	gm_torch_begin(&torch);
	put_traces(&torch, found, oom);
	put_segments(&torch, found);
	gm_torch_end(&torch, GPUMEM_VERSION_STRING);
}
