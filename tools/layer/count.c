/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The state of the process, its ledger, and what is in it. The ledger is made
 * when there is something to count. A block's bytes are in the ledger while it
 * is in the table, exactly: both change under the mutex.
 */
#include "layer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct layer_state {
	pthread_mutex_t mutex; /* guards all of it */
	bool tried;	       /* to make the ledger */
	struct ledger *ledger; /* NULL: there is none */
	struct blocks blocks;
	cl_device_id devices[LEDGER_DEVICES]; /* of the rows; NULL: free */
};

static char ledgers[LEDGER_FOLDER]; /* "": not started by gpumem-run */
static struct layer_state *state;   /* NULL, or constant */
static _Atomic uint64_t serial;

__attribute__((constructor)) static void layer_begin(void)
{
	const char *folder = secure_getenv(LEDGER_VARIABLE);
	struct layer_state *made;

	if (!folder || !*folder || strlen(folder) >= sizeof(ledgers))
		return;
	made = mmap(NULL, sizeof(*made), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (made == MAP_FAILED)
		return;
	/* Without it a child would count into its parent's ledger. */
	if (madvise(made, sizeof(*made), MADV_WIPEONFORK)) {
		munmap(made, sizeof(*made));
		return;
	}
	strcpy(ledgers, folder);
	state = made;
}

__attribute__((destructor)) static void layer_end(void)
{
	if (state && state->ledger)
		atomic_store(&state->ledger->exited, 1);
}

bool layer_active(void)
{
	return state;
}

/* A mutex of zeros is one that nobody holds. NULL: there is no ledger, and
 * nothing is locked. */
static struct ledger *lock(void)
{
	pthread_mutex_lock(&state->mutex);
	if (!state->ledger)
		pthread_mutex_unlock(&state->mutex);
	return state->ledger;
}

/* The same; there is one from now on, if it can be made. A child has none that
 * only ends what its parent made. */
static struct ledger *lock_first(void)
{
	pthread_mutex_lock(&state->mutex);
	if (!state->tried)
		state->ledger = ledger_make(ledgers, LEDGER_OPENCL);
	state->tried = true;
	pthread_mutex_unlock(&state->mutex);
	return lock();
}

static void unlock(void)
{
	pthread_mutex_unlock(&state->mutex);
}

static void add(_Atomic uint64_t *value, uint64_t more)
{
	atomic_store(value, atomic_load(value) + more);
}

static void raise_peak(_Atomic uint64_t *peak, uint64_t value)
{
	if (value > atomic_load(peak))
		atomic_store(peak, value);
}

/* With the mutex. `bytes` may be a negative number. */
static void change(const struct block *block, uint64_t bytes)
{
	struct ledger_device *device = &state->ledger->devices[block->device];
	struct ledger_counts *counts = &device->kinds[block->kind];

	add(&counts->current_bytes, bytes);
	raise_peak(&counts->peak_bytes, counts->current_bytes);
	if (block->kind == LEDGER_HOST_PTR)
		return;
	add(&device->current_bytes, bytes);
	raise_peak(&device->peak_bytes, device->current_bytes);
}

/* With the mutex. */
static int find_row(cl_device_id device)
{
	for (int i = 0; i < LEDGER_DEVICES && state->devices[i]; i++)
		if (state->devices[i] == device)
			return i;
	return -1;
}

int layer_row(cl_device_id device)
{
	int row;

	if (!lock())
		return -1;
	row = find_row(device);
	unlock();
	return row;
}

int layer_row_add(cl_device_id device, const char *name)
{
	struct ledger *ledger = lock_first();
	int row;

	if (!ledger)
		return -1;
	row = find_row(device); /* another thread may have been here */
	for (int i = 0; row < 0 && i < LEDGER_DEVICES; i++)
		if (!state->devices[i])
			row = i;
	if (row >= 0 && !state->devices[row]) {
		state->devices[row] = device;
		snprintf(ledger->devices[row].name,
			 sizeof(ledger->devices[row].name), "%s", name);
	}
	unlock();
	return row;
}

bool layer_charge(const struct block *block)
{
	struct ledger *ledger = lock();
	bool ok;

	if (!ledger)
		return false;
	ok = blocks_put(&state->blocks, block);
	if (ok) {
		change(block, block->bytes);
		add(&ledger->devices[block->device].kinds[block->kind].allocs,
		    1);
	}
	unlock();
	return ok;
}

void layer_failure(enum ledger_kind kind, int row)
{
	struct ledger *ledger = lock();

	if (!ledger)
		return;
	add(&ledger->devices[row].kinds[kind].failures, 1);
	unlock();
}

bool layer_discharge(enum block_space space, uint64_t key)
{
	struct ledger *ledger = lock();
	struct block block;
	bool known;

	if (!ledger)
		return false;
	known = blocks_take(&state->blocks, space, key, &block);
	if (known) {
		change(&block, -block.bytes);
		add(&ledger->devices[block.device].kinds[block.kind].frees, 1);
	}
	unlock();
	return known;
}

void layer_move(enum block_space from, enum block_space to, uint64_t key)
{
	struct block block;

	if (!lock())
		return;
	/* There is room: one was taken just now. */
	if (blocks_take(&state->blocks, from, key, &block)) {
		block.space = (uint8_t)to;
		(void)blocks_put(&state->blocks, &block);
	}
	unlock();
}

void layer_note(enum ledger_note note)
{
	struct ledger *ledger = lock();

	if (!ledger)
		return;
	add(&ledger->notes[note], 1);
	unlock();
}

/* Not in the pages that a child sees as zeros: an object of the parent's must
 * not have the number of one of its own. */
uint64_t layer_serial(void)
{
	return atomic_fetch_add(&serial, 1) + 1;
}
