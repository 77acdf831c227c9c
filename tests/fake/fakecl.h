/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What tests say to the OpenCL layer, which they find with dlsym() in the
 * library that OPENCL_LAYERS names. The environment says it for programs that
 * know nothing of it:
 *
 *     FAKECL_FAULT=NAME:NTH[+]:CODE[,...]   as fakecl_fault()
 *     FAKECL_AUDIT=FILE                     what is held when the process ends
 *
 * The file gets one line, "contexts 0 queues 0 memory 0 svm 0 events 0". All
 * of it may be called by any thread.
 */
#ifndef FAKECL_H
#define FAKECL_H

#include <stdbool.h>
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

/* How often the function was called. */
uint64_t fakecl_calls(const char *name);

#endif
