/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Between the files that write PyTorch's snapshots.
 */
#ifndef GPUMEM_TOOLS_TRACE_PYTORCH_H
#define GPUMEM_TOOLS_TRACE_PYTORCH_H

#include "pickle.h"
#include "regions.h"
#include "trace.h"

#include "common/frames.h"

/* Texts that come again. */
#define SNAPSHOT_WORD_LIST(X)                                                  \
	X(action)                                                              \
	X(active_allocated)                                                    \
	X(active_size)                                                         \
	X(addr)                                                                \
	X(address)                                                             \
	X(alloc)                                                               \
	X(allocated_size)                                                      \
	X(blocks)                                                              \
	X(device)                                                              \
	X(device_free)                                                         \
	X(filename)                                                            \
	X(frames)                                                              \
	X(free_completed)                                                      \
	X(free_requested)                                                      \
	X(inactive)                                                            \
	X(is_expandable)                                                       \
	X(large)                                                               \
	X(line)                                                                \
	X(name)                                                                \
	X(oom)                                                                 \
	X(requested_size)                                                      \
	X(segment_pool_id)                                                     \
	X(segment_type)                                                        \
	X(size)                                                                \
	X(state)                                                               \
	X(stream)                                                              \
	X(time_us)                                                             \
	X(total_size)                                                          \
	X(user_metadata)

enum snapshot_word {
#define SNAPSHOT_WORD(name) WORD_##name,
	SNAPSHOT_WORD_LIST(SNAPSHOT_WORD)
#undef SNAPSHOT_WORD
};

enum snapshot_stack { SNAPSHOT_ABSENT, SNAPSHOT_COMES, SNAPSHOT_WRITTEN };

struct snapshot_live {
	uint64_t address, bytes;
	uint64_t device;
	uint64_t stack;
};

struct snapshot {
	struct trace_source *source;
	struct pickle pickle;
	struct pickle_list entries; /* of the device that is being written */
	unsigned device;	    /* likewise */
	unsigned devices, hosts;    /* how many there are */
	struct regions regions[TORCH_POOLS]; /* devices, then hosts */
	struct snapshot_live *live; /* in the end by device and address */
	size_t live_count, live_room;
	struct frames frames;	     /* of all stacks that come */
	enum snapshot_stack *stacks; /* by the place in the recording's table */
};

/* One of those texts; a key and its number. */
void snapshot_word(struct snapshot *snapshot, enum snapshot_word word);
void snapshot_put(struct snapshot *snapshot, enum snapshot_word key,
		  uint64_t value);

/* pytorch_frames.c: a stack that will be written; false: out of memory. */
bool snapshot_want(struct snapshot *snapshot, uint64_t stack);
/* Once all were wanted. False: out of memory. */
bool snapshot_resolve(struct snapshot *snapshot);
/* A key and the list of its frames, which is empty where it is not known. */
void snapshot_frames(struct snapshot *snapshot, uint64_t stack);

/* Keys of the snapshot and all that belongs to them: of so many devices, or
 * hosts, from `first` on. */
bool snapshot_traces(struct snapshot *snapshot, const char *key, unsigned first,
		     unsigned count);
void snapshot_segments(struct snapshot *snapshot, const char *key,
		       unsigned first, unsigned count);

#endif
