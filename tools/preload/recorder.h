/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The recording of `gpumem-run --record`: what a program holds of device
 * memory, written by the library's own writer, core/record, into the format of
 * gpumem_record(5). The blocks of each kind of a device are a pool. A process
 * begins its file with its first event; none means no file. NVIDIA's driver and
 * AMD's runtime are recorded in one file. What the ledger
 * counts and what is recorded change at the same moment, but the two know
 * nothing of each other's figures.
 *
 * The caller locks: all of a recorder is under the mutex of the state that it
 * is in, so nobody writes while the file is opened or closed, as core/record
 * demands. It is in pages that a forked child sees as zeros: a child that has
 * memory of its own begins a file of its own, and never writes to its parent's.
 *
 * Where a file cannot be had the ledger says why, and nothing else happens. The
 * writer calls the program's malloc() when it opens its file, and not again.
 */
#ifndef GPUMEM_PRELOAD_RECORDER_H
#define GPUMEM_PRELOAD_RECORDER_H

#include "blocks.h"
#include "ledger.h"

#include <pthread.h>

#define RECORDER_CLASSES 64

/* A recorder of zeros has not begun. */
struct recorder {
	bool tried;		/* to open the file */
	bool open;		/* => a block can be recorded */
	_Atomic uint32_t alive; /* enum gm_fork_state, once it has begun */
	uint64_t made;		/* bytes of addresses, see recorder.c */
	uint64_t spare[RECORDER_CLASSES]; /* one of them; 0: none */
	struct blocks spares;		  /* `link`: the next one */
	/* Of AMD's runtime, and of all others; 0: not defined. */
	uint16_t pools[2][LEDGER_DEVICES][LEDGER_KINDS];
};

/* Reads the environment, once, before threads. */
void recorder_init(const char *ledgers);

/* A block of the table is the program's from now on. */
void recorder_alloc(struct recorder *recorder, struct ledger *ledger,
		    struct block *block);
/* A block leaves the table: its memory may be another's from now on. */
void recorder_stamp(const struct recorder *recorder, struct block *block);
/* It has been freed, when it was stamped. */
void recorder_free(struct recorder *recorder, const struct block *block);
/* So many bytes of a device were not to be had; `limit`: by the limit. */
void recorder_oom(struct recorder *recorder, struct ledger *ledger,
		  const struct block *wanted, bool limit);
/* At the exit of the process, without the mutex: nothing is recorded any more.
 * If that is not to be had soon, because a handler that interrupted its holder
 * exits, the recording stays without an end. */
void recorder_end(struct recorder *recorder, pthread_mutex_t *mutex);

/* Between the files of it. Whether events can be written, after a first try to
 * open the file. */
bool recorder_begin(struct recorder *recorder, struct ledger *ledger);
/* Before the file may be made longer or shorter. */
void recorder_check_file(void);

#endif
