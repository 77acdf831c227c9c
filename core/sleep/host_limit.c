/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * How much of the host's memory a sleep asks for, before it has any, and
 * whether the pool's sleeps may hold so much. Without a lock: one sleep or wake
 * is under way at a time. See parts.h.
 */
#include "parts.h"
#include "base/error.h"

/* Pinned memory that is not there yet, for so many whole chunks and the rest of
 * one. Without a retained one of its own the rest may take a whole one's. */
static uint64_t new_bytes(struct gm_heap *heap, size_t chunk_bytes,
			  size_t whole, size_t rest_bytes)
{
	size_t retained =
		gm_chunks_retained(heap, GM_CHUNK_PINNED, chunk_bytes);

	if (rest_bytes && gm_chunks_retained(heap, GM_CHUNK_PINNED,
					     rest_bytes) > retained) {
		rest_bytes = 0;
	} else if (rest_bytes && retained) {
		rest_bytes = 0;
		whole++;
	}
	return rest_bytes + (whole > retained ? whole - retained : 0) *
				    (uint64_t)chunk_bytes;
}

static uint64_t ordinary_bytes(struct gm_heap *heap,
			       const struct gm_store *store)
{
	uint64_t bytes = gm_store_round(store->kept.bytes);

	return store->kind != GM_STORE_PAGEABLE ||
			       gm_chunks_retained(heap, GM_CHUNK_ORDINARY,
						  (size_t)bytes)
		       ? 0
		       : bytes;
}

uint64_t gm_store_needs(struct gm_heap *heap, const struct gm_store *store)
{
	uint64_t bytes = store->kept.bytes;
	size_t chunk_bytes = store->chunk_bytes;

	if (store->kind == GM_STORE_PINNED)
		return new_bytes(heap, chunk_bytes,
				 (size_t)(bytes / chunk_bytes),
				 (size_t)(bytes % chunk_bytes));
	return new_bytes(heap, chunk_bytes, gm_store_workers(store), 0) +
	       ordinary_bytes(heap, store);
}

/* And where nothing is. */
static uint64_t whole_bytes(const struct gm_store *store)
{
	uint64_t bytes = store->kept.bytes;

	if (store->kind == GM_STORE_PINNED)
		return bytes;
	return gm_store_workers(store) * (uint64_t)store->chunk_bytes +
	       (store->kind == GM_STORE_PAGEABLE ? gm_store_round(bytes) : 0);
}

static uint64_t left_bytes(uint64_t held_bytes, uint64_t limit_bytes)
{
	return held_bytes < limit_bytes ? limit_bytes - held_bytes : 0;
}

gpumem_status gm_store_fit(struct gm_heap *heap, const struct gm_store *store,
			   uint64_t limit_bytes)
{
	_Atomic uint64_t *held = &heap->sleep->host_bytes;
	uint64_t retained = gm_chunks_retained_bytes(heap), need, left;

	need = gm_store_needs(heap, store);
	left = left_bytes(*held, limit_bytes);
	if (!limit_bytes || need <= left)
		return GPUMEM_OK;
	if (whole_bytes(store) <= left_bytes(*held - retained, limit_bytes)) {
		gm_chunks_end(heap);
		need = gm_store_needs(heap, store);
		left = left_bytes(*held, limit_bytes);
		if (need <= left)
			return GPUMEM_OK;
	}
	return gm_fail(GPUMEM_LIMIT,
		       "the sleep asks for %llu bytes of host memory, and %llu "
		       "are left of the %llu that the pool's sleeps may hold: "
		       "let it go to a file (`folder`), or drop some of it "
		       "(gpumem_tag_set_sleep())",
		       (unsigned long long)need, (unsigned long long)left,
		       (unsigned long long)limit_bytes);
}
