/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The limit of a device: what the program has there and what is kept. A call
 * that allocates asks first, so that of each device, at every instant and
 * however many threads allocate,
 *
 *	reserved_bytes + managed.current_bytes + in_flight <= limit
 *
 * with the figures of its ledger, but for what is taken for graphs, which is
 * known behind the call. What is in flight is in no figure,
 * but the driver has it or is about to: it is being allocated, freed, or given
 * back.
 * What is kept goes back to the driver before a call is refused. Of NVIDIA's
 * driver and of AMD's runtime a process has as much of each.
 *
 * A limit in percent is one of the memory of the device, which is asked for
 * that when the process first allocates there, or looks how much is left.
 *
 * A thread has one call in flight at most. Without a ledger there is no limit,
 * nor of what could not be followed.
 */
#ifndef GPUMEM_PRELOAD_LIMIT_H
#define GPUMEM_PRELOAD_LIMIT_H

#include "count.h"

/* All between preload_enter_api() and preload_leave(). */

/* With the mutex: gives back something that is kept of that device, or waits
 * for another thread that does. False: there is no such thing. */
typedef bool limit_giver(struct preload_state *state, int device);

/* Before the driver allocates: so much is in flight from now on. False: that is
 * more than is left, it was counted as refused, and the answer is that there is
 * no memory. `out` is where the program wants the address: of a wrong one the
 * driver says so. `wanted` has space, kind, device and bytes. `give` may be
 * NULL. */
bool limit_ask(const void *out, const struct block *wanted, limit_giver *give);
/* Of rows that the driver makes longer. */
uint64_t limit_rows(uint64_t width, uint64_t height);

/* With the mutex: whether what nobody could ask for, as of graphs, has made it
 * more than that. */
bool limit_passed(const struct preload_state *state, enum ledger_api api,
		  int device);

/* With the mutex: a block leaves the figures, and the driver is told next. */
void limit_take(struct preload_state *state, const struct block *block);
/* With the mutex: the call's bytes are in the figures now, or nowhere. */
void limit_end(struct preload_state *state);
/* The same without the mutex, if it has not ended yet. */
void limit_leave(void);

/* What this thread has in flight, while calls inside its own allocate or free.
 */
struct limit_flight {
	enum ledger_api api;
	int device;
	uint64_t bytes;
};
struct limit_flight limit_set_aside(void);
void limit_take_up(struct limit_flight flight);

/* Of a device in bytes, as the driver says; 0: it does not. Without the mutex.
 */
uint64_t cuda_total_bytes(int device);
uint64_t hip_total_bytes(int device);

/* What a program is to see of a device that has so much. Without a limit
 * nothing changes. */
uint64_t limit_total(uint64_t total_bytes);
/* The same of its free memory, of which what is kept is a part. */
uint64_t limit_left(enum ledger_api api, int device, uint64_t free_bytes);

#endif
