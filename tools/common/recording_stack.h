/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Stacks of a recording, and the modules that their addresses lie in: tables of
 * what the file defines, whose texts and addresses stay within it. No locks.
 */
#ifndef GPUMEM_TOOLS_RECORDING_STACK_H
#define GPUMEM_TOOLS_RECORDING_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* number != 0, count > 0 */
struct recording_stack {
	uint64_t number;
	const uint64_t *frames; /* addresses behind calls, innermost first */
	const uint32_t *places; /* or NULL, and frames are NULL */
	size_t count;
};

static inline uint64_t
recording_stack_frame(const struct recording_stack *stack, size_t at)
{
	return stack->places ? stack->places[at] : stack->frames[at];
}

/* A mapping of code: [begin, end), begin < end. */
struct recording_module {
	uint64_t begin, end;
	uint64_t offset;  /* in the file, of begin */
	const char *path; /* as the kernel says it; NULL: of no file */
	const char *line; /* in the recording */
};

/* Of a file that names its frames; one of the texts is known. */
struct recording_place {
	char *function, *file; /* NULL: not known */
	uint32_t line;	       /* 0: not known */
};

/* stack[] is in the order of numbers, each of which it has once; module[] in
 * that of begin. Where there are places, frames are not addresses but numbers
 * of these, which the table does not own. */
struct recording_stacks {
	struct recording_stack *stack;
	struct recording_module *module;
	size_t count, module_count;
	const struct recording_place *place; /* NULL: frames are addresses */
	size_t place_count;
};

/* Room for so many; false: out of memory. */
bool recording_stacks_init(struct recording_stacks *stacks, size_t count,
			   size_t module_count);
/* Definitions, in the order of the file: of two of one number the first counts,
 * and what cannot be is left out. `content` is aligned to 8. */
void recording_stacks_add(struct recording_stacks *stacks, uint64_t number,
			  const void *content, size_t bytes);
/* A stack of places, the last of all by its number. */
void recording_stacks_add_places(struct recording_stacks *stacks,
				 uint64_t number, const uint32_t *places,
				 size_t count);
/* A line of /proc/PID/maps. */
void recording_stacks_add_module(struct recording_stacks *stacks,
				 const char *line);
/* Once all were added, before anything is looked up. */
void recording_stacks_sort(struct recording_stacks *stacks);
void recording_stacks_free(struct recording_stacks *stacks);

/* NULL: there is none of that number. */
const struct recording_stack *
recording_stacks_find(const struct recording_stacks *stacks, uint64_t number);
/* The module that the address lies in, the one that begins nearest to it; NULL:
 * it is not known. */
const struct recording_module *
recording_stacks_module(const struct recording_stacks *stacks,
			uint64_t address);

#endif
