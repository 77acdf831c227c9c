/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Names for the addresses of stacks: the module that one lies in, and its
 * function, file and line, which addr2line of binutils finds in the module's
 * file, in a process of its own, once for each module. Whatever is missing or
 * damaged, an address only has fewer names. No locks.
 */
#ifndef GPUMEM_TOOLS_FRAMES_H
#define GPUMEM_TOOLS_FRAMES_H

#include "recording_stack.h"

/* Texts from outside, not clean. */
struct frame_place {
	char *function, *file; /* NULL: not known */
	uint32_t line;	       /* 0: not known */
};

/* An address behind a call. Calls that were inlined have a place each,
 * innermost first. offset is of the byte before it:
 *
 *     module != NULL, elf: an address of the module's file, as addr2line and
 *     debuggers have it
 *     module != NULL, not elf: where it is in the file
 *     module == NULL: the address in the process
 *
 * Of a file that names its frames address is the number of a place, which is
 * known, and `named` is true; there is no module. */
struct frame {
	uint64_t address, offset;
	const char *module; /* its path, in the recording */
	struct frame_place *places;
	size_t count;
	bool elf, named;
};

/* Once resolved: in the order of addresses, each once. */
struct frames {
	struct frame *frames;
	size_t count, room;
	bool missing; /* there is no addr2line, which was told */
};

/* Those of a stack are wanted. False: out of memory. */
bool frames_add(struct frames *frames, const struct recording_stack *stack);
/* Finds their names, once all were added. False: out of memory. */
bool frames_resolve(struct frames *frames,
		    const struct recording_stacks *stacks);
/* One that was added. */
const struct frame *frames_find(const struct frames *frames, uint64_t address);
void frames_free(struct frames *frames);

/* A frame has at least one line: "function at file:line", or with less known
 * "module+0x1a2b". Not clean; for free(). NULL: out of memory. */
size_t frames_lines(const struct frame *frame);
char *frames_line(const struct frame *frame, size_t line);
/* The function alone, or "module+0x1a2b". */
char *frames_function(const struct frame *frame, size_t line);

/* ---- frames_elf.c: from places in a file to its addresses ---- */

enum { FRAMES_SEGMENTS = 128 };

struct frames_elf {
	struct frames_segment {
		uint64_t offset, bytes, address;
	} segment[FRAMES_SEGMENTS]; /* with code */
	size_t count;
};

/* False: it cannot be read, or is no ELF file of this machine. */
bool frames_elf_read(struct frames_elf *elf, const char *path);
/* False: no code is there. */
bool frames_elf_address(const struct frames_elf *elf, uint64_t offset,
			uint64_t *address_out);

/* ---- frames_names.c ---- */

/* The places of frames of one module, all of which are elf. False: out of
 * memory. */
bool frames_names(struct frames *frames, struct frame **of, size_t count);

#endif
