/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The state of the process, its ledger, and what is in it. The ledger is made
 * when there is something to count. A block's bytes are in the ledger while it
 * is in the table, exactly: both change under the mutex.
 */
#include "state.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static char ledgers[LEDGER_FOLDER]; /* "": not started by gpumem-run */
static _Atomic uint64_t serial;
struct layer_state *layer_state;

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
	limit_init();
	recorder_init(folder);
	layer_state = made;
}

__attribute__((destructor)) static void layer_end(void)
{
	if (!layer_state || !layer_state->ledger)
		return;
	atomic_store(&layer_state->ledger->exited, 1);
	recorder_end(&layer_state->recorder, &layer_state->mutex);
}

bool layer_active(void)
{
	return layer_state;
}

/* A mutex of zeros is one that nobody holds. */
struct ledger *layer_lock(void)
{
	pthread_mutex_lock(&layer_state->mutex);
	if (!layer_state->ledger)
		pthread_mutex_unlock(&layer_state->mutex);
	return layer_state->ledger;
}

/* The same; there is one from now on, if it can be made. A child has none that
 * only ends what its parent made. */
static struct ledger *lock_first(void)
{
	pthread_mutex_lock(&layer_state->mutex);
	if (!layer_state->tried)
		layer_state->ledger = ledger_make(ledgers, LEDGER_OPENCL);
	layer_state->tried = true;
	pthread_mutex_unlock(&layer_state->mutex);
	return layer_lock();
}

void layer_unlock(void)
{
	pthread_mutex_unlock(&layer_state->mutex);
}

void layer_add(_Atomic uint64_t *value, uint64_t more)
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
	struct ledger_device *device =
		&layer_state->ledger->devices[block->device];
	struct ledger_counts *counts = &device->kinds[block->kind];

	layer_add(&counts->current_bytes, bytes);
	raise_peak(&counts->peak_bytes, counts->current_bytes);
	if (block->kind == LEDGER_HOST_PTR)
		return;
	layer_add(&device->current_bytes, bytes);
	raise_peak(&device->peak_bytes, device->current_bytes);
}

/* With the mutex. */
static int find_row(cl_device_id device)
{
	for (int i = 0; i < LEDGER_DEVICES && layer_state->devices[i]; i++)
		if (layer_state->devices[i] == device)
			return i;
	return -1;
}

int layer_row(cl_device_id device)
{
	int row;

	if (!layer_lock())
		return -1;
	row = find_row(device);
	layer_unlock();
	return row;
}

int layer_row_add(cl_device_id device, const char *name, uint64_t total_bytes)
{
	struct ledger *ledger = lock_first();
	int row;

	if (!ledger)
		return -1;
	row = find_row(device); /* another thread may have been here */
	for (int i = 0; row < 0 && i < LEDGER_DEVICES; i++)
		if (!layer_state->devices[i])
			row = i;
	if (row >= 0 && !layer_state->devices[row]) {
		layer_state->devices[row] = device;
		layer_state->totals[row] = total_bytes;
		snprintf(ledger->devices[row].name,
			 sizeof(ledger->devices[row].name), "%s", name);
	}
	layer_unlock();
	return row;
}

/* With the mutex. */
static enum layer_answer charge(const struct block *block)
{
	struct ledger *ledger = layer_state->ledger;

	limit_end();
	if (!limit_fits(block)) {
		limit_refuse(block);
		return LAYER_REFUSED;
	}
	if (!blocks_put(&layer_state->blocks, block))
		return LAYER_UNKNOWN;
	change(block, block->bytes);
	layer_add(&ledger->devices[block->device].kinds[block->kind].allocs, 1);
	recorder_alloc(
		&layer_state->recorder, ledger,
		blocks_find(&layer_state->blocks, block->space, block->key));
	return LAYER_COUNTED;
}

enum layer_answer layer_charge(const struct block *block)
{
	enum layer_answer answer;

	if (!layer_lock())
		return LAYER_UNKNOWN;
	answer = charge(block);
	layer_unlock();
	return answer;
}

void layer_failure(const struct block *wanted, cl_int code)
{
	struct ledger *ledger = layer_lock();

	if (!ledger)
		return;
	layer_add(&ledger->devices[wanted->device].kinds[wanted->kind].failures,
		  1);
	if (code == CL_MEM_OBJECT_ALLOCATION_FAILURE)
		recorder_oom(&layer_state->recorder, ledger, wanted, false);
	layer_unlock();
}

bool layer_discharge(enum block_space space, uint64_t key, bool in_flight)
{
	struct ledger *ledger = layer_lock();
	struct block block;
	bool known;

	if (!ledger)
		return false;
	known = blocks_take(&layer_state->blocks, space, key, &block);
	if (known) {
		change(&block, -block.bytes);
		layer_add(
			&ledger->devices[block.device].kinds[block.kind].frees,
			1);
		recorder_stamp(&layer_state->recorder, &block);
		recorder_free(&layer_state->recorder, &block);
		if (in_flight && layer_limited())
			limit_begin(&block);
	}
	layer_unlock();
	return known;
}

void layer_move(enum block_space from, enum block_space to, uint64_t key)
{
	struct block block;

	if (!layer_lock())
		return;
	/* There is room: one was taken just now. */
	if (blocks_take(&layer_state->blocks, from, key, &block)) {
		block.space = (uint8_t)to;
		(void)blocks_put(&layer_state->blocks, &block);
	}
	layer_unlock();
}

static void add_note(struct ledger *ledger, enum ledger_note note)
{
	if (!ledger)
		return;
	layer_add(&ledger->notes[note], 1);
	layer_unlock();
}

void layer_note(enum ledger_note note)
{
	add_note(layer_lock(), note);
}

void layer_note_first(enum ledger_note note)
{
	add_note(lock_first(), note);
}

/* Not in the pages that a child sees as zeros: an object of the parent's must
 * not have the number of one of its own. */
uint64_t layer_serial(void)
{
	return atomic_fetch_add(&serial, 1) + 1;
}
