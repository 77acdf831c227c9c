/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Snapshots of PyTorch's allocator, as torch.cuda.memory._dump_snapshot()
 * writes them, read as if they were recordings: the same events, in the order
 * of their times. A block whose allocation is not there was live when it began.
 * What PyTorch took from the driver is what its segments say. The metadata that
 * torch.cuda.memory._set_memory_metadata() gave an allocation is the tag of its
 * block, and the frames of a block are its stack, if they have names. No locks.
 */
#ifndef GPUMEM_TOOLS_TORCH_H
#define GPUMEM_TOOLS_TORCH_H

#include "recording.h"
#include "tag_names.h"
#include "torch_stacks.h"

enum { TORCH_DEVICES = 64 };

/* Each device is a pool, whose number is one more than the device's. */
struct torch_history {
	struct recording_event *events;
	uint64_t *order; /* where each stood: of two with one time the first */
	size_t count, room, next;
	struct tag_names tags;
	struct torch_stacks stacks;
	size_t steps_left; /* entries, segments and blocks to be looked at */
	uint64_t begin_us; /* since 1970 */
	uint64_t damaged;  /* entries that cannot be */
	char reason[160];
};

/* Is it a pickle? */
bool torch_is(const void *data, size_t bytes);
/* Nothing is kept of the bytes. False: reason says why. */
bool torch_open(struct torch_history *history, const void *data, size_t bytes);
/* As recording_next(): the events keep the same promises, but that an address
 * may be any number. */
bool torch_next(struct torch_history *history,
		struct recording_event *event_out);
/* The path of a tag; NULL: there is none. */
const char *torch_tag(const struct torch_history *history, uint16_t number);
void torch_close(struct torch_history *history);

#endif
