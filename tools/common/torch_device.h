/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Between the files that read PyTorch's snapshots: what is kept of a device, or
 * of pinned memory, while its entries and segments are read.
 *
 * Entries come in the order of the file, which is that of the allocator; their
 * times are not always. Any kind of them may be missing, and all of a stretch
 * during which nothing was recorded. What is missing is told by two rules: no
 * two live blocks overlap, and the segments say what is live at the end. Where
 * nobody says when, a block begins as early, and ends as late, as it can.
 */
#ifndef GPUMEM_TOOLS_TORCH_DEVICE_H
#define GPUMEM_TOOLS_TORCH_DEVICE_H

#include "ranges.h"
#include "torch.h"
#include "trace_ids.h"
#include "unpickle.h"

/* An end that counts only if the recording has no free_requested: otherwise it
 * is of a block that was freed before the recording began. */
struct torch_doubt {
	size_t event, inserted;
};

/* A block of a segment, or a segment, at the end. */
struct torch_block {
	uint64_t address, bytes, stream;
	uint64_t requested; /* 0: not known */
	uint32_t stack;
	uint16_t tag;
	bool live;
};

struct torch_blocks {
	struct torch_block *list;
	size_t count, room;
};

/* live: the number of the event that began each block; gone: behind how many
 * events the last block of an address ended. mapped and unmapped are the same
 * of what was taken from the driver. at_end: blocks that are live in the end.
 * pending: addresses of blocks that the program freed and PyTorch has not.
 * tags: of blocks that are not live yet. */
struct torch_device {
	struct torch_history *history;
	struct unpickle *unpickle;
	struct torch_events *events;
	struct ranges live, gone, mapped, unmapped, at_end;
	struct trace_ids pending, tags;
	struct torch_doubt *doubts;
	size_t doubt_count, doubt_room;
	struct torch_blocks blocks, segments; /* at the end */
	bool free_requested;		      /* is recorded */
	bool grows; /* what is taken from the driver is recorded */
};

/* Writes the reason; gives false. */
bool torch_fail(struct torch_history *history, const char *reason);
bool torch_no_memory(struct torch_history *history);
/* torch.c: something more of the file is looked at. False: it cannot have that
 * much. */
bool torch_step(struct torch_history *history);

void torch_device_init(struct torch_device *device,
		       struct torch_history *history, struct unpickle *unpickle,
		       unsigned pool);
void torch_device_free(struct torch_device *device);
/* The next entry of the device. */
bool torch_entry(struct torch_device *device, const struct unpickled *entry);

/* torch_blocks.c: what happens to blocks */
bool torch_alloc(struct torch_device *device, struct torch_event event);
bool torch_free(struct torch_device *device, struct torch_event event,
		bool completed);
/* A text is put on a live block. */
bool torch_annotate(struct torch_device *device,
		    const struct torch_event *event);
/* The end of a block that nobody said. */
bool torch_end_unsaid(struct torch_device *device, struct range *block,
		      uint64_t us);
/* Of a block that is not live the beginning, which nobody said, in front of all
 * that comes now. */
bool torch_begin_unsaid(struct torch_device *device, struct torch_event event);

/* torch_segments.c: the same of segments */
bool torch_grow(struct torch_device *device, struct torch_event event,
		bool whole);
bool torch_shrink(struct torch_device *device, struct torch_event event);
/* Memory that must have been there, of which nobody said since when. */
bool torch_grow_unsaid(struct torch_device *device, struct torch_event event,
		       uint64_t bytes);

/* torch_end.c: a segment that is there at the end; and, once all entries and
 * segments were, what follows from them */
bool torch_segment(struct torch_device *device,
		   const struct unpickled *segment);
bool torch_finish(struct torch_device *device);

/* torch_unknown.c: a name is new; a dictionary may have keys that are. False:
 * out of memory. */
enum torch_dict { TORCH_ROOT, TORCH_SEGMENT, TORCH_BLOCK };
bool torch_unknown(struct torch_history *history, const char *what,
		   const char *text, size_t bytes);
bool torch_unknown_keys(struct torch_history *history,
			const struct unpickle *unpickle,
			const struct unpickled *dict, enum torch_dict which);

/* The values of an entry's keys, NULL without one; it may have others, too. */
bool torch_entry_values(struct torch_device *device,
			const struct unpickled *entry,
			const struct unpickled *values[TORCH_ENTRY_COUNT]);

/* torch_names.c: the tag of an entry or block by its user_metadata and
 * internal_metadata, and its stack by its frames, each of which may be NULL; 0:
 * none. False: out of memory. */
bool torch_read_tag(struct torch_device *device, const struct unpickled *user,
		    const struct unpickled *internal, uint16_t *tag_out);
bool torch_read_stack(struct torch_device *device,
		      const struct unpickled *frames, uint32_t *stack_out);

#endif
