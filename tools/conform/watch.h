/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What watch_slots.c has around every call of a slot: see watch.c. Private to
 * these files.
 */
#ifndef GPUMEM_TOOLS_CONFORM_WATCH_H
#define GPUMEM_TOOLS_CONFORM_WATCH_H

#include "conform.h"
#include "live.h"

#include <signal.h>

/* A call under way. */
struct watched {
	enum gpumem_slot slot;
	void *out; /* NULL: it has no output */
	size_t out_bytes;
	uint64_t printed_bytes; /* before it */
	sigset_t mask;		/* likewise */
	bool answers;		/* its status may be an answer, no failure */
};

/* Before all others: how error() is heard. False: that cannot be. */
bool watch_start(struct conform *c);
/* Fills the output with what no slot would write there. */
struct watched watch_begin(enum gpumem_slot slot, void *out, size_t out_bytes);
/* Looks at everything; the slot's status, or DRIVER if it is no status or if
 * the output was not set. */
gpumem_status watch_end(const struct watched *call, gpumem_status status);
/* The call gave [from, from + bytes) out: OK, or DRIVER when that cannot be. */
gpumem_status watch_address(const struct watched *call, uint64_t from,
			    uint64_t bytes, uint64_t alignment);
/* The call gave out what is live until it is given back, and not 0. */
gpumem_status watch_handle(const struct watched *call, enum live_class class,
			   uint64_t handle);
/* It wrote beyond its struct, or over the struct's size. */
void watch_beyond(const struct watched *call);
/* It failed and wrote into its struct. */
void watch_touched(const struct watched *call);

#endif
