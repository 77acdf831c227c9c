/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What is copied of a chunk of a store, down to the host or up again, by one
 * thread with its stream; and zeros. It chooses nothing and locks nothing. See
 * parts.h.
 */
#include "move.h"

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

static gpumem_status copy(struct gm_worker *worker, uintptr_t address,
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
static gpumem_status copy_up(struct gm_worker *worker, uintptr_t address,
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
static gpumem_status copy_chunk(struct gm_worker *worker, size_t number,
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
	if (!worker->move->areas)
		gm_store_expect(store, number);
	over = gm_queue_sync(worker->move->heap, worker->queue);
	return status == GPUMEM_OK ? over : status;
}

gpumem_status gm_move_chunk_down(struct gm_worker *worker, size_t number)
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
	status = gm_chunk_take(worker->move->heap, GM_CHUNK_PINNED,
			       gm_store_chunk(store, number),
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

gpumem_status gm_move_chunk_up(struct gm_worker *worker, size_t number)
{
	struct gm_move *move = worker->move;
	struct gm_store *store = move->store;
	gpumem_status status = GPUMEM_OK;

	if (!wants(move, number))
		return GPUMEM_OK;
	if (store->kind != GM_STORE_PINNED)
		status = gm_store_read(store, number, worker->buffer->memory);
	if (status != GPUMEM_OK ||
	    !gm_move_await(move, chunk_end(store, number)))
		return status;
	return copy_chunk(worker, number,
			  store->kind == GM_STORE_PINNED
				  ? store->chunk[number]->memory
				  : worker->buffer->memory);
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
