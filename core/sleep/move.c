/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The content of a store goes down to the host, or up again, chunk by chunk,
 * by a few threads with a stream and at most one buffer each: while one waits
 * for the link another pins memory, or copies to where the link does not reach.
 * Up, a chunk begins when all of it is mapped. No lock of the heap's is held;
 * one of its own guards who has which chunk. See parts.h.
 */
#include "move.h"
#include "base/scope.h"

#include <signal.h>
#include <stdlib.h>

static bool claim(struct gm_move *move, size_t *number_out)
{
	bool has;

	pthread_mutex_lock(&move->mutex);
	has = !move->stop && move->next < move->store->chunk_count;
	if (has)
		*number_out = move->next++;
	pthread_mutex_unlock(&move->mutex);
	return has;
}

bool gm_move_await(struct gm_move *move, uintptr_t address)
{
	bool mapped;

	pthread_mutex_lock(&move->mutex);
	while (!move->stop && move->ready < address)
		pthread_cond_wait(&move->moved, &move->mutex);
	mapped = !move->stop;
	pthread_mutex_unlock(&move->mutex);
	return mapped;
}

/* The first error is kept, with its text, and stops the others. */
static void fail(struct gm_move *move, gpumem_status status)
{
	pthread_mutex_lock(&move->mutex);
	if (move->first.status == GPUMEM_OK) {
		move->first.status = status;
		move->error = GPUMEM_INIT(struct gpumem_error);
		gm_error_get(&move->error);
	}
	move->stop = true;
	pthread_cond_broadcast(&move->moved);
	pthread_mutex_unlock(&move->mutex);
}

static gpumem_status begin(struct gm_worker *worker)
{
	struct gm_move *move = worker->move;
	gpumem_status status = gm_queue_begin(move->heap, &worker->queue);

	if (status == GPUMEM_OK && move->store->kind != GM_STORE_PINNED)
		status = gm_chunk_take(move->heap, GM_CHUNK_PINNED,
				       move->store->chunk_bytes,
				       &worker->buffer);
	return status;
}

/* In this order: what is unsure keeps its buffer. */
static void end(struct gm_worker *worker)
{
	struct gm_move *move = worker->move;

	if (worker->queue)
		gm_queue_end(move->heap, worker->queue);
	if (worker->buffer)
		gm_chunk_give(move->heap, worker->buffer, move->store->retain);
	pthread_mutex_lock(&move->mutex);
	move->bytes += worker->bytes;
	pthread_mutex_unlock(&move->mutex);
}

static void work(struct gm_move *move)
{
	struct gm_worker worker = {.move = move};
	gpumem_status status = begin(&worker);
	size_t number;

	while (status == GPUMEM_OK && claim(move, &number))
		status = move->areas ? gm_move_chunk_up(&worker, number)
				     : gm_move_chunk_down(&worker, number);
	if (status != GPUMEM_OK)
		fail(move, status);
	end(&worker);
}

static void *run(void *arg)
{
	GM_SCOPE;

	work(arg);
	return NULL;
}

/* As many as may be of so many. */
static void start(struct gm_move *move, size_t threads)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (move->threads < threads &&
	       !pthread_create(&move->thread[move->threads], NULL, run, move))
		move->threads++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static gpumem_status create(struct gm_heap *heap, struct gm_store *store,
			    const struct gm_areas *areas,
			    struct gm_move **move_out)
{
	struct gm_move *move = calloc(1, sizeof(*move));

	if (!move)
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no host memory for copying what sleeps");
	move->heap = heap;
	move->store = store;
	move->areas = areas;
	pthread_mutex_init(&move->mutex, NULL);
	pthread_cond_init(&move->moved, NULL);
	*move_out = move;
	return GPUMEM_OK;
}

/* All threads are over. */
static gpumem_status destroy(struct gm_move *move)
{
	gpumem_status status;

	for (unsigned i = 0; i < move->threads; i++)
		pthread_join(move->thread[i], NULL);
	status = move->first.status;
	if (status != GPUMEM_OK)
		gm_error_set(&move->error);
	pthread_cond_destroy(&move->moved);
	pthread_mutex_destroy(&move->mutex);
	free(move);
	return status;
}

gpumem_status gm_move_down(struct gm_heap *heap, struct gm_store *store)
{
	struct gm_move *move = NULL;
	gpumem_status status = create(heap, store, NULL, &move);

	if (status != GPUMEM_OK)
		return status;
	start(move, gm_store_workers(store) - 1);
	work(move);
	store->pins = false;
	return destroy(move);
}

gpumem_status gm_move_up_begin(struct gm_heap *heap, struct gm_store *store,
			       const struct gm_areas *areas,
			       struct gm_move **move_out)
{
	gpumem_status status = create(heap, store, areas, move_out);

	if (status == GPUMEM_OK)
		start(*move_out, gm_store_workers(store));
	return status;
}

void gm_move_up_to(struct gm_move *move, uintptr_t address)
{
	pthread_mutex_lock(&move->mutex);
	move->ready = address;
	pthread_cond_broadcast(&move->moved);
	pthread_mutex_unlock(&move->mutex);
}

/* Without a thread it is done here. */
gpumem_status gm_move_up_end(struct gm_move *move, bool stop,
			     uint64_t *bytes_out)
{
	pthread_mutex_lock(&move->mutex);
	move->stop |= stop;
	pthread_cond_broadcast(&move->moved);
	pthread_mutex_unlock(&move->mutex);
	if (!move->threads)
		work(move);
	for (unsigned i = 0; i < move->threads; i++)
		pthread_join(move->thread[i], NULL);
	move->threads = 0;
	*bytes_out += move->bytes;
	return destroy(move);
}
