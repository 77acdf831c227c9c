/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What arrayfire_manager.c remembers, in arrayfire_state.c: the devices of
 * ArrayFire's that were used, and its arrays.
 *
 * The mutex guards both. It is not held while an array's memory is allocated or
 * freed: an array is in the table from after the one until before the other.
 *
 *	place.bytes = sum of the bytes of its arrays in the table
 */
#ifndef ARRAYFIRE_STATE_H
#define ARRAYFIRE_STATE_H

#include <af/backend.h>
#include <af/memory.h>
#include <gpumem/gpumem.h>
#include <pthread.h>
#include <stdbool.h>

/* device and pool are NULL until the first array. */
struct place {
	gpumem_device *device;
	gpumem_pool *pool;
	gpumem_stream stream; /* ArrayFire's */
	size_t bytes, room;   /* in arrays; before its JIT should give way */
};

enum { DEVICES = 64, BUCKETS = 4096 };
enum { BY_ARRAYFIRE = 1, BY_USER = 2 };

/* An array: ptr is what ArrayFire knows it by. */
struct held {
	struct held *next;
	void *ptr, *block;
	size_t bytes;
	struct place *place;
	unsigned locks; /* BY_ARRAYFIRE, BY_USER; never 0 */
};

struct manager {
	af_backend backend;
	pthread_mutex_t mutex;
	struct place places[DEVICES];
	struct held *buckets[BUCKETS];
};

/* ArrayFire's word for a status of gpumem's. */
af_err place_answer(gpumem_status status);

/* The device of that number of ArrayFire's, which is the active one. After an
 * error *place_out is as it was. Under the mutex, as place_close(). */
af_err place_open(af_memory_manager handle, af_backend backend, int id,
		  struct place *place_out);

/* A pool with arrays stays, and its device with it. */
void place_close(struct place *place);

void held_keep(struct manager *manager, struct held *held);

/* Removes a lock. The array, out of the table, when none is left; else NULL. */
struct held *held_let_go(struct manager *manager, const void *ptr,
			 unsigned lock, bool *known_out);

/* The locks of an array after `add` was added, and its size; 0 of no array. */
unsigned held_locks(struct manager *manager, const void *ptr, unsigned add,
		    size_t *bytes_out);

/* Of a device. */
size_t held_bytes(struct manager *manager, const struct place *place);

#endif
