/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The state of the process, for count.c, which counts, and limit.c. No other
 * file of the layer knows it.
 */
#ifndef GPUMEM_LAYER_STATE_H
#define GPUMEM_LAYER_STATE_H

#include "layer.h"
#include "../preload/recorder.h"

#include <pthread.h>

struct layer_state {
	pthread_mutex_t mutex;	       /* guards all of it */
	bool tried;		       /* to make the ledger */
	struct ledger *_Atomic ledger; /* NULL: there is none; read at exit */
	struct blocks blocks;
	struct recorder recorder;
	cl_device_id devices[LEDGER_DEVICES]; /* of the rows; NULL: free */
	uint64_t totals[LEDGER_DEVICES];      /* bytes that they have */
	uint64_t in_flight[LEDGER_DEVICES];   /* bytes, see limit.c */
};

extern struct layer_state *layer_state; /* NULL, or constant */

/* NULL: there is no ledger, and nothing is locked. */
struct ledger *layer_lock(void);
void layer_unlock(void);
/* With the mutex. */
void layer_add(_Atomic uint64_t *value, uint64_t more);

/* Reads the environment, once, before threads. */
void limit_init(void);

/* All with the mutex, and a ledger. */

/* Beside what is in flight. */
bool limit_fits(const struct block *block);
void limit_refuse(const struct block *wanted);
/* This thread has it in flight from now on; no more. */
void limit_begin(const struct block *block);
void limit_end(void);

#endif
