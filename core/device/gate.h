/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Before a driver: who takes memory goes before who gives it back. A driver has
 * a lock of its own, which a thread that makes one call after the other takes
 * again before those that wait for it wake up (tests/device/lock.c). So who
 * takes memory is counted, by call and for a growth as a whole, and waits for
 * nobody; a trim, and the end of a pool, look between two calls whether
 * somebody is in, and pause until as many have left as were in then. Who comes
 * during a pause does not prolong it, so that both sides get on.
 *
 * One gate for each backend, and so for each driver: its lock may be one for
 * all of its devices. No clock; while nobody gives memory back it costs two
 * atomic additions. It is no lock: nothing is guarded by it.
 *
 *     left <= entered; entered - left threads are in
 *
 * Who pauses holds no heap's mutex, and is not in: that would have no end.
 */
#ifndef GM_DEVICE_GATE_H
#define GM_DEVICE_GATE_H

#include <gpumem/backend.h>
#include <pthread.h>
#include <stdatomic.h>

struct gm_gate {
	_Atomic uint64_t entered, left;
	_Atomic unsigned paused; /* threads; changed under the mutex */
	pthread_mutex_t mutex;
	pthread_cond_t opened; /* somebody left, and somebody is paused */
	const struct gpumem_backend *ops;
	struct gm_gate *next;
};

/* The backend's, made when it is first asked for, and never freed; NULL: no
 * host memory. Under a lock of the caller's. */
struct gm_gate *gm_gate_of(const struct gpumem_backend *ops);

/* May be nested, for one gate: the thread is in until it has left as often.
 * Nothing is called in between that gives way. */
void gm_gate_enter(struct gm_gate *gate);
void gm_gate_leave(struct gm_gate *gate);

void gm_gate_give_way(struct gm_gate *gate);

#endif
