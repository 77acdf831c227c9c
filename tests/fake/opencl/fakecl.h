/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What tests say to the OpenCL layer, which they find with dlsym() in the
 * library that OPENCL_LAYERS names. The environment says it for programs that
 * know nothing of it:
 *
 *     FAKECL_FAULT=NAME:NTH[+]:CODE[,...]   as fakecl_fault()
 *     FAKECL_AUDIT=FILE                     what is held when the process ends
 *     FAKECL_CROSSED=FILE                   how often a command came into a
 *                                           queue beside another thread's
 *     FAKECL_PROMPT=1                       what is flushed is over at once
 *
 * The file gets one line, "contexts 0 queues 0 memory 0 svm 0 events 0". All
 * of it may be called by any thread.
 */
#ifndef FAKECL_H
#define FAKECL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* References that were made or retained, and not released yet. */
struct fakecl_held {
	int64_t contexts, queues, memory, svm, events;
};

void fakecl_audit(struct fakecl_held *held_out);

/* The nth call from now on of that function, and with `onwards` all later ones,
 * fails with that code without reaching the implementation; NULL is what
 * clSVMAlloc gives then. False: no such function, or too many faults. */
bool fakecl_fault(const char *name, unsigned nth, bool onwards, int code);
void fakecl_heal(void);

/* The next call that fails for that calls fn first, once: what another thread
 * would do meanwhile. */
void fakecl_meanwhile(void (*fn)(void));

/* How often the function was called. */
uint64_t fakecl_calls(const char *name);

/* The commands that were tried since this was last asked, in their order:
 * "BarrierWithWaitList FillBuffer". What is too much is cut off. */
void fakecl_trail(char *text_out, size_t bytes);

/* From now on that clGet*Info function answers the question so: at most 256
 * bytes. NULL: as if it did not know it. False: no such function, or too many
 * answers. Unified shared memory is there (made of SVM) once a device is said
 * to have it. */
bool fakecl_lie(const char *name, unsigned what, const void *value,
		size_t bytes);
void fakecl_be_honest(void);

/* A fill or a copy; where to and where from are addresses, or offsets in a
 * buffer. */
struct fakecl_move {
	const char *name;
	uint64_t to, from, bytes;
};

/* From now on no memory is filled or copied, so there may be less of it than
 * there is said to be: fakecl_moves gives what was asked for since. */
void fakecl_pretend(bool on);
size_t fakecl_moves(struct fakecl_move *moves_out, size_t room);

#endif
