/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The parts of the snapshot that torch.cuda.memory._snapshot() returns, as a
 * pickle, which PyTorch's memory_viz opens: what happened, and what lies where.
 * Who writes one says which, in this order:
 *
 *     gm_torch_begin()
 *     gm_torch_traces(), and for each device gm_torch_device(), entries
 *     gm_torch_segments(), and each segment with its blocks
 *     perhaps both once more, of pinned host memory
 *     gm_torch_end()
 *
 * and has a function that writes the frames of a stack. The tools compile it
 * too. No lock, no host memory. Texts are UTF-8.
 */
#ifndef GM_BASE_TORCH_H
#define GM_BASE_TORCH_H

#include "pickle.h"

/* Texts that come again. */
#define GM_TORCH_WORD_LIST(X)                                                  \
	X(action)                                                              \
	X(active_allocated)                                                    \
	X(active_pending_free)                                                 \
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

enum gm_torch_word {
#define GM_TORCH_WORD(name) GM_TORCH_##name,
	GM_TORCH_WORD_LIST(GM_TORCH_WORD)
#undef GM_TORCH_WORD
};

struct gm_torch {
	struct gm_pickle pickle;
	struct gm_pickle_list devices, entries, segments, blocks;
	bool in_traces, in_device, in_segments, in_segment;
	/* Writes a list of frames, each by gm_torch_frame(), for that stack; 0:
	 * an empty one. */
	void (*frames)(struct gm_torch *torch, uint64_t stack, void *user);
	void *user;
};

/* Something that happened. */
struct gm_torch_entry {
	enum gm_torch_word action;
	uint64_t address, bytes, stream, time_us, stack;
	uint64_t free_bytes; /* of the device, with an oom */
	const char *tag;     /* NULL: none */
};

struct gm_torch_block {
	enum gm_torch_word state;
	uint64_t address, bytes, requested_bytes, stack;
};

struct gm_torch_segment {
	unsigned device;
	uint64_t begin, bytes;
	uint64_t allocated_bytes, active_bytes, requested_bytes; /* sums */
};

/* pickle.write, pickle.user, frames and user are set. */
void gm_torch_begin(struct gm_torch *torch);
void gm_torch_traces(struct gm_torch *torch, bool host);
void gm_torch_device(struct gm_torch *torch);
void gm_torch_put(struct gm_torch *torch, const struct gm_torch_entry *entry);
void gm_torch_segments(struct gm_torch *torch, bool host);
void gm_torch_segment(struct gm_torch *torch,
		      const struct gm_torch_segment *segment);
/* Of the segment before; one of no bytes is left out. */
void gm_torch_block(struct gm_torch *torch, const struct gm_torch_block *block);
/* With the library's version. */
void gm_torch_end(struct gm_torch *torch, const char *library);

/* A frame, within a list of them. */
void gm_torch_frame(struct gm_torch *torch, const char *name, const char *file,
		    uint64_t line);

#endif
