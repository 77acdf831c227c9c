/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Call stacks: where in the program something was asked of the library, as
 * addresses, and each of the program's different stacks only once. Names are
 * found when somebody reads them (gm_frame_find()): a capture must be quick.
 *
 *     no two stacks have the same frames
 *     a stack stays where it is, and valid, until the process ends
 *     there are at most GM_STACKS_MAX of them
 *
 * No lock of ours. The unwinder and gm_frame_find() may take the dynamic
 * linker's: who calls them must hold none that a constructor of a shared object
 * may wait for, and so no lock of the library at all.
 */
#ifndef GM_BASE_STACK_H
#define GM_BASE_STACK_H

#include <gpumem/gpumem.h>
#include <stdatomic.h>

enum { GM_FRAMES_MAX = GPUMEM_FRAMES_MAX, GM_STACKS_MAX = 1 << 18 };

/* The innermost frame comes first. Each is the address behind a call. */
struct gm_stack {
	const struct gm_stack *next; /* of its bucket */
	uint64_t hash;
	_Atomic uint32_t recorded; /* in which recording: record/stacks.c */
	uint32_t count;
	void *frame[];
};

/* Before the first gm_stack_here(): the unwinder takes its memory now. */
void gm_stack_init(void);

/* The calling thread's stack from the program's call into the library on, at
 * most max (1 to GM_FRAMES_MAX) frames of it. NULL: it cannot be had, because
 * there is no unwinder or no memory, or there are too many stacks. */
const struct gm_stack *gm_stack_here(unsigned max);

/* Where a frame is. The offset is that of the call, as addr2line takes it. */
struct gm_frame {
	char module[4096];  /* path of the program or shared object; "": none */
	uint64_t offset;    /* in it; without one the address */
	const char *symbol; /* exported, of dladdr(); NULL: none */
};

void gm_frame_find(const void *frame, struct gm_frame *frame_out);

#endif
