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
	X(frames)                                                              \
	X(free_completed)                                                      \
	X(free_requested)                                                      \
	X(inactive)                                                            \
	X(is_expandable)                                                       \
	X(large)                                                               \
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

struct snapshot_live {
	uint64_t address, bytes;
	uint64_t device;
};

struct snapshot {
	struct trace_source *source;
	struct pickle pickle;
	struct pickle_list entries; /* of the device that is being written */
	unsigned device, devices;
	struct regions regions[TORCH_DEVICES];
	struct snapshot_live *live; /* in the end by device and address */
	size_t live_count, live_room;
};

/* One of those texts; a key and its number; a key and an empty list. */
void snapshot_word(struct snapshot *snapshot, enum snapshot_word word);
void snapshot_put(struct snapshot *snapshot, enum snapshot_word key,
		  uint64_t value);
void snapshot_no_frames(struct snapshot *snapshot);

/* Keys of the snapshot and all that belongs to them. */
bool snapshot_traces(struct snapshot *snapshot);
void snapshot_segments(struct snapshot *snapshot);

#endif
