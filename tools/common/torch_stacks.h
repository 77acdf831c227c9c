/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The stacks of a snapshot of PyTorch's, which names their frames: each
 * different place and each different stack once. A list of frames that the
 * pickle names many times is looked at once. No locks.
 */
#ifndef GPUMEM_TOOLS_TORCH_STACKS_H
#define GPUMEM_TOOLS_TORCH_STACKS_H

#include "recording_stack.h"
#include "trace_ids.h"
#include "unpickle.h"

/* Places and stacks are found by a hash of what they are. Stack number n begins
 * at frames[begin[n - 1]]. A list that is kept has its number, and one, as
 * note, a dictionary that of its place. */
struct torch_stacks {
	struct recording_stacks table; /* once all are read */
	struct recording_place *places;
	uint32_t *frames; /* places, from 0 on */
	size_t *begin;
	size_t place_count, place_room, frame_count, frame_room;
	size_t count, room;
	struct trace_ids place_ids, stack_ids;
};

void torch_stacks_init(struct torch_stacks *stacks);
/* The number of a list of frames; 0: it has none that has a name. False: out of
 * memory. */
bool torch_stacks_number(struct torch_stacks *stacks, struct unpickle *unpickle,
			 const struct unpickled *list, uint32_t *number_out);
/* Makes the table. False: out of memory. */
bool torch_stacks_finish(struct torch_stacks *stacks);
/* May be called again. */
void torch_stacks_free(struct torch_stacks *stacks);

#endif
