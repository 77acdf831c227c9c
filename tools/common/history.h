/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Which blocks are live, event by event. What a recording leaves out, because
 * it was overwritten or lost, is made good here: whoever listens sees each
 * block begin once and end once, or be live at the end. No locks.
 */
#ifndef GPUMEM_TOOLS_HISTORY_H
#define GPUMEM_TOOLS_HISTORY_H

#include "history_early.h"
#include "recording.h"
#include "trace_ids.h"

struct history_block {
	uint64_t address, bytes, stream;
	uint64_t begin_bytes; /* before it was resized */
	uint64_t begin_ns;
	uint64_t stack;	       /* that it was allocated with; 0: not known */
	uint64_t id;	       /* from 1 on, in the order in which they begin */
	uint32_t next, before; /* of the pool, or next that is free */
	uint32_t thread;
	uint16_t pool, tag;
};

/* An event, and the block that it is of, as it was before; NULL: it is of a
 * pool. Of a block that ends:
 *
 *     event->bytes == block->bytes, event->pool == block->pool
 *
 * False stops. */
typedef bool (*history_fn)(const struct recording_event *event,
			   const struct history_block *block, void *user);

typedef bool (*history_live_fn)(const struct history_block *block, void *user);

/* live_bytes is the sum of all live blocks, and fits. first[pool] and the
 * blocks' next and before are lists, which TRACE_NO_SLOT ends. */
struct history {
	history_fn fn;
	void *user;
	struct trace_ids ids; /* by what stands for a live block's address */
	struct history_early early;
	struct history_block *blocks;
	uint32_t *first; /* of each pool */
	uint64_t room, used, begun;
	uint32_t free_slot;
	uint64_t live_bytes;
	uint64_t unknown; /* ends, uses, resizes of blocks not known to live */
	uint64_t unended; /* blocks whose end is not there, but whose address
			     was used again */
	bool whole;	  /* set by the caller: no event was lost */
	bool by_pool;	  /* likewise: pools may have the same addresses */
	bool failed;	  /* out of memory */
};

/* False: out of memory; history_free() is right all the same. */
bool history_init(struct history *history, history_fn fn, void *user);
/* The next event. False: the listener stopped, or `failed`. */
bool history_feed(struct history *history, const struct recording_event *event);
/* The blocks that are live, in the order in which they began; false: out of
 * memory, or fn stopped. */
bool history_visit(struct history *history, history_live_fn fn, void *user);
void history_free(struct history *history);

#endif
