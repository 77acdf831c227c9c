/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Between the files that write PyTorch's snapshots.
 */
#ifndef GPUMEM_TOOLS_TRACE_PYTORCH_H
#define GPUMEM_TOOLS_TRACE_PYTORCH_H

#include "base/torch.h"
#include "common/frames.h"
#include "regions.h"
#include "trace.h"

enum snapshot_stack { SNAPSHOT_ABSENT, SNAPSHOT_COMES, SNAPSHOT_WRITTEN };

struct snapshot_live {
	uint64_t address, bytes;
	uint64_t device;
	uint64_t stack;
};

struct snapshot {
	struct trace_source *source;
	struct gm_torch torch;
	unsigned device;		     /* the one that is being written */
	unsigned devices, hosts;	     /* how many there are */
	struct regions regions[TORCH_POOLS]; /* devices, then hosts */
	struct snapshot_live *live; /* in the end by device and address */
	size_t live_count, live_room;
	struct frames frames;	     /* of all stacks that come */
	enum snapshot_stack *stacks; /* by the place in the recording's table */
};

/* pytorch_frames.c: a stack that will be written; false: out of memory. */
bool snapshot_want(struct snapshot *snapshot, uint64_t stack);
/* Once all were wanted. False: out of memory. */
bool snapshot_resolve(struct snapshot *snapshot);
/* The list of its frames, which is empty where it is not known. */
void snapshot_frames(struct gm_torch *torch, uint64_t stack, void *user);

/* Of the devices, or of the hosts. */
bool snapshot_traces(struct snapshot *snapshot, bool host);
void snapshot_segments(struct snapshot *snapshot, bool host);

#endif
