/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * When all that the device was told to do before a free is over, without
 * waiting for it. An epoch begins with such a free: an event is recorded in
 * each stream that could use the block, in all contexts of the process, for
 * copies and peers reach across. A lane is such a stream:
 *
 *	the legacy stream of a context, whose events come after all work of the
 *	blocking streams, and so of the default streams of threads too;
 *	each stream that is not blocking;
 *	each stream that was destroyed, until its work is over.
 *
 * An event in the legacy stream holds up later work of blocking streams until
 * earlier work is over: less than cuMemFree() does, which returns only then. So
 * events are recorded in frees only.
 *
 * All with the mutex of the state. While a stream is captured nothing is
 * recorded or asked.
 */
#ifndef GPUMEM_PRELOAD_EPOCH_H
#define GPUMEM_PRELOAD_EPOCH_H

#include <stdbool.h>
#include <stdint.h>

/* A context whose destruction has begun: it and its handle may be gone, and
 * another may have the handle. */
#define CONTEXT_ENDING(context)                                                \
	((const void *)((uintptr_t)(context) | CONTEXT_MARK))
#define CONTEXT_MARK ((uintptr_t)1 << 63)

#define EPOCH_EVENTS 8
#define EPOCH_LANES 256

enum lane_kind { LANE_LEGACY, LANE_STREAM, LANE_DESTROYED };

/*
 * Of the events, `count` from `first` on, none is known to be over. An event
 * stands for its epoch and those that follow, up to the next event's.
 *
 *	epoch e is over <=> all lanes have count == 0 or epochs[first] > e
 */
struct lane {
	void *stream;
	const void *context;
	void *events[EPOCH_EVENTS]; /* NULL: not made yet */
	uint64_t epochs[EPOCH_EVENTS];
	uint8_t first, count;
	uint8_t kind;
};

struct epochs {
	struct lane *lanes; /* EPOCH_LANES, or NULL */
	unsigned count;
	uint64_t last; /* that began */
	bool captured; /* a capture has begun, and may go on */
	bool broken;   /* a stream is not known: no epoch is ever over */
};

/* What is current in the thread, so that contexts can be visited. */
struct visit {
	const void *own, *now;
};

void visit_begin(struct visit *visit);
/* False: the context cannot be made current. */
bool visit_context(struct visit *visit, const void *context);
void visit_end(struct visit *visit);

/* There is such a context; there is such a stream, which is not blocking. */
void epoch_add_context(struct epochs *epochs, const void *context);
void epoch_add_stream(struct epochs *epochs, void *stream, const void *context);
/* Before a stream is destroyed, blocking or not. */
void epoch_end_stream(struct epochs *epochs, void *stream);
bool epoch_knows(const struct epochs *epochs, const void *context);
void epoch_rename(struct epochs *epochs, const void *from, const void *to);
/* A context is gone. */
void epoch_drop(struct epochs *epochs, const void *context);

/* No stream is captured, no context is lost. `all`: each stream is asked though
 * no capture is known to have begun. */
bool epoch_quiet(struct epochs *epochs, struct visit *visit, bool all);
/* Begins one, while all is quiet. 0: it could not be. */
uint64_t epoch_begin(struct epochs *epochs, struct visit *visit);
/* The last that is over. */
uint64_t epoch_done(struct epochs *epochs, struct visit *visit);

#endif
