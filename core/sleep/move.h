/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the files of a move share: its threads are in move.c, what one of them
 * copies of a chunk is in pieces.c. See parts.h.
 */
#ifndef GM_SLEEP_MOVE_H
#define GM_SLEEP_MOVE_H

#include "parts.h"
#include "base/error.h"

struct gm_move {
	struct gm_heap *heap;
	struct gm_store *store;
	const struct gm_areas *areas; /* NULL: down, and all of it */
	pthread_mutex_t mutex;
	pthread_cond_t moved; /* `ready` or `stop` */
	size_t next;	      /* chunk that nobody has */
	uintptr_t ready;      /* mapped up to this address */
	bool stop;
	uint64_t bytes; /* copied */
	struct gm_first first;
	struct gpumem_error error;
	pthread_t thread[GM_STORE_WORKERS];
	unsigned threads;
};

/* One thread's. */
struct gm_worker {
	struct gm_move *move;
	struct gm_queue *queue;
	struct gm_chunk *buffer; /* NULL: the store's chunks are pinned */
	uint64_t bytes;
};

/* Copies a chunk to where the store has it, or as far as it is wanted back from
 * there, once that is mapped. All copies are over when it returns. */
gpumem_status gm_move_chunk_down(struct gm_worker *worker, size_t number);
gpumem_status gm_move_chunk_up(struct gm_worker *worker, size_t number);

/* move.c: until all below that address is mapped. False: it is to stop. */
bool gm_move_await(struct gm_move *move, uintptr_t address);

#endif
