/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The content of a store goes down to the host, or up again, chunk by chunk,
 * by a few threads with a stream and at most one buffer each: while one waits
 * for the link another pins memory, or copies to where the link does not reach.
 * Up, a chunk begins when all of it is mapped. No lock of the heap's is held;
 * one of its own guards who has which chunk. See parts.h.
 */
#include "parts.h"
#include "base/error.h"
#include "base/scope.h"

#include <signal.h>
#include <stdlib.h>

enum { THREADS = 4 };

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
	pthread_t thread[THREADS];
	unsigned threads;
};

/* One thread's. */
struct worker {
	struct gm_move *move;
	struct gm_queue *queue;
	struct gm_chunk *buffer; /* NULL: the store's chunks are pinned */
	uint64_t bytes;
};

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

/* False: it is to stop. */
static bool wait_until_mapped(struct gm_move *move, uintptr_t address)
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

static const struct gm_piece *piece_at(const struct gm_pieces *pieces,
				       uint64_t at)
{
	size_t low = 0, high = pieces->count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (pieces->piece[middle].at <= at)
			low = middle;
		else
			high = middle;
	}
	return &pieces->piece[low];
}

/* The first that ends behind the address; or the end. */
static const struct gm_area *area_at(const struct gm_areas *areas,
				     uintptr_t address)
{
	size_t low = 0, high = areas->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct gm_area *area = &areas->area[middle];

		if (area->start + area->bytes <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return areas->area + low;
}

static gpumem_status copy(struct worker *worker, uintptr_t address,
			  unsigned char *host, size_t bytes)
{
	struct gpumem_device *device = worker->move->heap->driver.device;
	uint64_t at = (uintptr_t)host;

	worker->bytes += bytes;
	return worker->move->areas ? gm_copy(device, address, at, bytes,
					     worker->queue->stream)
				   : gm_copy(device, at, address, bytes,
					     worker->queue->stream);
}

/* What the areas have of so many bytes at an address. */
static gpumem_status copy_up(struct worker *worker, uintptr_t address,
			     unsigned char *host, size_t bytes)
{
	const struct gm_areas *areas = worker->move->areas;
	const struct gm_area *area = area_at(areas, address);
	uintptr_t end = address + bytes;
	gpumem_status status = GPUMEM_OK;

	for (; status == GPUMEM_OK && area < areas->area + areas->count &&
	       area->start < end;
	     area++) {
		uintptr_t from = area->start > address ? area->start : address;
		uintptr_t to = area->start + area->bytes;

		if (to > end)
			to = end;
		status = copy(worker, from, host + (from - address), to - from);
	}
	return status;
}

/* All copies of a chunk, which are over when it returns. */
static gpumem_status copy_chunk(struct worker *worker, size_t number,
				unsigned char *host)
{
	const struct gm_store *store = worker->move->store;
	const struct gm_pieces *pieces = &store->kept;
	uint64_t start = (uint64_t)number * store->chunk_bytes;
	uint64_t end = start + gm_store_chunk(store, number), at = start;
	const struct gm_piece *piece = piece_at(pieces, start);
	gpumem_status status = GPUMEM_OK, over;

	for (; at < end && status == GPUMEM_OK; piece++) {
		uint64_t into = at - piece->at, bytes = piece->bytes - into;

		if (bytes > end - at)
			bytes = end - at;
		status = worker->move->areas
				 ? copy_up(worker, piece->address + into,
					   host + (at - start), bytes)
				 : copy(worker, piece->address + into,
					host + (at - start), bytes);
		at += bytes;
	}
	over = gm_queue_sync(worker->move->heap, worker->queue);
	return status == GPUMEM_OK ? over : status;
}

static gpumem_status down(struct worker *worker, size_t number)
{
	struct gm_store *store = worker->move->store;
	gpumem_status status = GPUMEM_OK;

	if (store->kind != GM_STORE_PINNED) {
		status = copy_chunk(worker, number, worker->buffer->memory);
		return status == GPUMEM_OK
			       ? gm_store_write(store, number,
						worker->buffer->memory)
			       : status;
	}
	status =
		gm_chunk_take(worker->move->heap, gm_store_chunk(store, number),
			      &store->chunk[number]);
	return status == GPUMEM_OK ? copy_chunk(worker, number,
						store->chunk[number]->memory)
				   : status;
}

/* Where the last byte of a chunk ends on the device, and its first begins. */
static uintptr_t chunk_end(const struct gm_store *store, size_t number)
{
	uint64_t last = (uint64_t)number * store->chunk_bytes +
			gm_store_chunk(store, number) - 1;
	const struct gm_piece *piece = piece_at(&store->kept, last);

	return piece->address + (last - piece->at) + 1;
}

static bool wants(const struct gm_move *move, size_t number)
{
	const struct gm_store *store = move->store;
	const struct gm_piece *piece =
		piece_at(&store->kept, (uint64_t)number * store->chunk_bytes);
	uintptr_t start =
		piece->address + (number * store->chunk_bytes - piece->at);
	const struct gm_area *area = area_at(move->areas, start);

	return area < move->areas->area + move->areas->count &&
	       area->start < chunk_end(store, number);
}

static gpumem_status up(struct worker *worker, size_t number)
{
	struct gm_move *move = worker->move;
	struct gm_store *store = move->store;
	gpumem_status status = GPUMEM_OK;

	if (!wants(move, number))
		return GPUMEM_OK;
	if (store->kind != GM_STORE_PINNED)
		status = gm_store_read(store, number, worker->buffer->memory);
	if (status != GPUMEM_OK ||
	    !wait_until_mapped(move, chunk_end(store, number)))
		return status;
	return copy_chunk(worker, number,
			  store->kind == GM_STORE_PINNED
				  ? store->chunk[number]->memory
				  : worker->buffer->memory);
}

static gpumem_status begin(struct worker *worker)
{
	struct gm_move *move = worker->move;
	gpumem_status status = gm_queue_begin(move->heap, &worker->queue);

	if (status == GPUMEM_OK && move->store->kind != GM_STORE_PINNED)
		status = gm_chunk_take(move->heap, move->store->chunk_bytes,
				       &worker->buffer);
	return status;
}

/* In this order: what is unsure keeps its buffer. */
static void end(struct worker *worker)
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
	struct worker worker = {.move = move};
	gpumem_status status = begin(&worker);
	size_t number;

	while (status == GPUMEM_OK && claim(move, &number))
		status = move->areas ? up(&worker, number)
				     : down(&worker, number);
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

	if (threads > THREADS)
		threads = THREADS;
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
	gpumem_status status = move->first.status;

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
	start(move, store->chunk_count - 1);
	work(move);
	return destroy(move);
}

gpumem_status gm_move_up_begin(struct gm_heap *heap, struct gm_store *store,
			       const struct gm_areas *areas,
			       struct gm_move **move_out)
{
	gpumem_status status = create(heap, store, areas, move_out);

	if (status == GPUMEM_OK)
		start(*move_out, store->chunk_count);
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

static gpumem_status fill(struct gm_heap *heap, const struct gm_piece *piece,
			  const struct gm_areas *areas, gpumem_stream stream)
{
	const struct gm_area *area = area_at(areas, piece->address);
	uintptr_t end = piece->address + piece->bytes;
	gpumem_status status = GPUMEM_OK;

	for (; status == GPUMEM_OK && area < areas->area + areas->count &&
	       area->start < end;
	     area++) {
		uintptr_t from = area->start > piece->address ? area->start
							      : piece->address;
		uintptr_t to = area->start + area->bytes;

		status = gm_fill(heap->driver.device, from, 0,
				 (to < end ? to : end) - from, stream);
	}
	return status;
}

gpumem_status gm_move_zeros(struct gm_heap *heap, const struct gm_store *store,
			    const struct gm_areas *areas)
{
	const struct gm_pieces *zeros = &store->zeros;
	struct gm_queue *queue;
	gpumem_status status, over;

	if (!zeros->count)
		return GPUMEM_OK;
	status = gm_queue_begin(heap, &queue);
	if (status != GPUMEM_OK)
		return status;
	for (size_t i = 0; i < zeros->count && status == GPUMEM_OK; i++)
		status = fill(heap, &zeros->piece[i], areas, queue->stream);
	over = gm_queue_sync(heap, queue);
	gm_queue_end(heap, queue);
	return status == GPUMEM_OK ? over : status;
}
