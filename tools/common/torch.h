/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Snapshots of PyTorch's allocator, as torch.cuda.memory._dump_snapshot()
 * writes them, read as if they were recordings: the same events, those of a
 * device in the order of the file. What PyTorch took from the driver is what
 * its segments say. The metadata that torch.cuda.memory._set_memory_metadata()
 * gave an allocation, or _annotate_memory() a live block, is the tag of the
 * block, and the frames of a block are its stack, if they have names. No locks.
 */
#ifndef GPUMEM_TOOLS_TORCH_H
#define GPUMEM_TOOLS_TORCH_H

#include "recording.h"
#include "tag_names.h"
#include "torch_events.h"
#include "torch_stacks.h"
#include "unpickle.h"

/* The keys of an entry. */
#define TORCH_ENTRY_KEYS(X)                                                    \
	X(action)                                                              \
	X(addr)                                                                \
	X(size)                                                                \
	X(stream)                                                              \
	X(time_us)                                                             \
	X(frames)                                                              \
	X(compile_context)                                                     \
	X(user_metadata)                                                       \
	X(pool_id)                                                             \
	X(internal_metadata)                                                   \
	X(device_free)                                                         \
	X(version)

#define TORCH_ENTRY_KEY(name) TORCH_ENTRY_##name,
enum { TORCH_ENTRY_KEYS(TORCH_ENTRY_KEY) TORCH_ENTRY_COUNT };

enum {
	TORCH_DEVICES = 64,
	TORCH_POOLS = 2 * TORCH_DEVICES /* those of pinned memory come last */
};

/* The pool of a device is one more than its number. Of pinned memory PyTorch
 * has a pool for each device as well; it is TORCH_DEVICES more. */
struct torch_history {
	struct torch_events pools[TORCH_POOLS]; /* number 1 is the first */
	struct torch_cursor cursors[TORCH_POOLS];
	struct recording_event heads[TORCH_POOLS]; /* the next; kind 0: none */
	struct tag_names tags;
	struct tag_names unknown; /* keys, actions and states that are new */
	struct torch_stacks stacks;
	uint8_t guess[TORCH_ENTRY_COUNT]; /* which key an entry has there */
	size_t steps_left;   /* entries, segments and blocks to be looked at */
	uint64_t begin_us;   /* 0: not known */
	uint64_t damaged;    /* entries that cannot be */
	const char *what;    /* it is: "snapshot of PyTorch's allocator" */
	const char *program; /* "PyTorch" */
	bool dated;	     /* begin_us is since 1970 */
	uint64_t unended;    /* blocks of which nobody said when they ended */
	uint8_t active[TORCH_POOLS]; /* those that have a next event */
	unsigned active_count;
	bool segments; /* there are some */
	bool totals;   /* they say what they have: they are PyTorch's own */
	char reason[160];
};

/* Is it a pickle, or a file of others that is read likewise: rmm.h, umpire.h,
 * kineto.h? */
bool torch_is(const void *data, size_t bytes);
bool torch_is_pickle(const void *data, size_t bytes);
/* Nothing is kept of the bytes. False: reason says why. */
bool torch_open(struct torch_history *history, const void *data, size_t bytes);
/* The same of a pickle that is read twice. */
bool torch_open_input(struct torch_history *history,
		      const struct unpickle_input *input);

/* torch_file.c: the same of a pickle in a file. NONE: it is none, or cannot be
 * read twice, and nothing has happened. BAD: reason says why. */
enum torch_file { TORCH_FILE_NONE, TORCH_FILE_OPEN, TORCH_FILE_BAD };
enum torch_file torch_open_file(struct torch_history *history,
				const char *path);

/* ---- for those that read such files ---- */

void torch_history_init(struct torch_history *history, const char *program,
			const char *what);
/* Once all is read, well or not: gives `ok`. */
bool torch_history_finish(struct torch_history *history, bool ok);

/* ---- events ---- */

/* As recording_next(): the events keep the same promises, but that an address
 * may be any number. */
bool torch_next(struct torch_history *history,
		struct recording_event *event_out);
/* Begins with the first event again. */
void torch_rewind(struct torch_history *history);
/* The path of a tag; NULL: there is none. */
const char *torch_tag(const struct torch_history *history, uint16_t number);
void torch_close(struct torch_history *history);

#endif
