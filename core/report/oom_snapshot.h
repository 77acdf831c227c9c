/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Option `oom_snapshot`: at the first out of memory the process writes down, by
 * itself, what it has and how it came to that: a file that PyTorch's memory_viz
 * opens, and beside it a text. What is written was collected first, pool after
 * pool, each while it is stopped: other threads go on, and what they did in
 * between may be in one part and not in another. Without host memory for all of
 * it nothing is written.
 *
 *     oom_snapshot.c        when, and to which files
 *     oom_snapshot_find.c   collects: blocks, events, stacks
 *     oom_snapshot_write.c  the snapshot
 *     oom_snapshot_text.c   the text
 */
#ifndef GM_REPORT_OOM_SNAPSHOT_H
#define GM_REPORT_OOM_SNAPSHOT_H

#include "oom.h"

/* A piece of a pool's addresses that has memory. */
struct gm_found_block {
	uint64_t address, bytes, requested_bytes, stack;
	uint64_t pool; /* its number */
	uint32_t tag;
	uint8_t device; /* the number behind the colon */
	uint8_t state;	/* gpumem_block_state */
};

/* Something that was recorded of a block. */
struct gm_found_event {
	uint64_t real_ns, address, bytes, stream, stack;
	uint64_t before_bytes; /* of a RESIZE: what it had */
	uint64_t order;	       /* in which they were read */
	uint16_t tag;
	uint8_t device;
	uint8_t kind;
};

/* A stack, and whether it was written. */
struct gm_found_stack {
	uint64_t stack;
	bool written;
};

/*
 *     block    by pool, then by address
 *     event    by device, then by time
 *     stack    ascending, each once
 */
struct gm_found {
	struct gm_found_block *block;
	struct gm_found_event *event;
	struct gm_found_stack *stack;
	size_t block_count, event_count, stack_count;
	size_t block_room, event_room;
	unsigned devices;
};

/* Called without a lock. False: there is no host memory for it; gm_found_end()
 * is its end either way. */
bool gm_found_collect(struct gm_found *found);
void gm_found_end(struct gm_found *found);
struct gm_found_stack *gm_found_stack(const struct gm_found *found,
				      uint64_t stack);
unsigned gm_found_device(const char *name);

/* Bytes on their way to a file: not more than RLIMIT_FSIZE, whose signal would
 * end the program. What could not be written is seen at the end. */
struct gm_sink {
	int fd;
	uint64_t room_bytes;
	size_t used;
	bool failed;
	char buffer[16384];
};

void gm_sink_write(const void *bytes, size_t count, void *sink);

void gm_snapshot_write(struct gm_found *found, const struct gm_oom *oom,
		       struct gm_sink *sink);
void gm_snapshot_text(const struct gm_found *found, const struct gm_oom *oom,
		      const char *text, struct gm_sink *sink);

/* Whether the option names a file that was not written yet. */
bool gm_snapshot_wanted(void);
/* Writes both files, if so. `text` is the sentence. Called without a lock. */
void gm_snapshot_tell(const struct gm_oom *oom, const char *text);

#endif
