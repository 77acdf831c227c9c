/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * From where in the program the blocks that are live at a moment were
 * allocated. Blocks whose stack the file does not have are left out. No locks.
 */
#ifndef GPUMEM_TOOLS_REPORT_STACKS_H
#define GPUMEM_TOOLS_REPORT_STACKS_H

#include "model.h"

#include "common/frames.h"
#include "common/json.h"

/* blocks > 0 of them are live */
struct stacks_one {
	const struct recording_stack *stack;
	uint64_t bytes, blocks;
	size_t first; /* span */
};

#define STACKS_NONE SIZE_MAX

/* Most bytes first. rank[] is by the place in the recording's table of stacks:
 * where it is in `of`, or STACKS_NONE. */
struct stacks_list {
	struct stacks_one *of;
	size_t *rank;
	size_t count;
};

struct stacks {
	const struct model *model;
	struct stacks_list peak, end;
	struct frames frames; /* of all that are listed */
};

/* The largest `most` at the end, and at the peak unless only the end is shown.
 * False: out of memory, and both lists are empty. */
bool stacks_read(struct stacks *stacks, const struct model *model, size_t most,
		 bool only_end);
void stacks_free(struct stacks *stacks);
/* Where the span's stack is in the list; STACKS_NONE: it is not. */
size_t stacks_find(const struct stacks *stacks, const struct stacks_list *list,
		   const struct model_span *span);

/* stacks_print.c: nothing if the list is empty. False: out of memory. */
bool stacks_print(const struct stacks *stacks, const struct stacks_list *list,
		  const char *when);
json_t *stacks_json(const struct stacks *stacks, const struct stacks_list *list,
		    bool *ok);

#endif
