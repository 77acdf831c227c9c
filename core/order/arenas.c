/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The arenas of a heap: all of them, by stream, those with free memory, and
 * those whose stream is gone; so that nothing costs more with more streams that
 * hold nothing. See arena.h.
 */
#include "order.h"

#include <stdlib.h>

static struct gm_arena **bucket_of(const struct gm_order *order,
				   gpumem_stream stream)
{
	uint64_t product = (uint64_t)(uintptr_t)stream * 0x9e3779b97f4a7c15u;

	return &order->bucket[(product >> 32) & (order->bucket_count - 1)];
}

static struct gm_arena *of_stream(struct gm_arena *arena, gpumem_stream stream)
{
	while (arena && arena->stream != stream)
		arena = arena->next_of_bucket;
	return arena;
}

struct gm_arena *gm_arenas_any(const struct gm_order *order,
			       gpumem_stream stream)
{
	return of_stream(*bucket_of(order, stream), stream);
}

struct gm_arena *gm_arena_sibling(const struct gm_arena *arena)
{
	struct gm_arena *next = of_stream(arena->next_of_bucket, arena->stream);

	return next ? next : gm_arenas_any(arena->heap->order, arena->stream);
}

struct gm_arena *gm_arenas_of_fate(const struct gm_order *order,
				   gpumem_stream stream, uint32_t fate)
{
	struct gm_arena *arena = *bucket_of(order, stream);

	while (arena && (arena->stream != stream || arena->fate != fate))
		arena = arena->next_of_bucket;
	return arena;
}

struct gm_arena *gm_arenas_of_stream(const struct gm_order *order,
				     gpumem_stream stream)
{
	return gm_arenas_of_fate(order, stream, 0);
}

struct gm_arena *gm_arenas_of_graph(const struct gm_order *order,
				    const struct gpumem_graph *graph,
				    gpumem_stream stream)
{
	struct gm_arena *arena = order->private_arenas;

	while (arena && (arena->graph != graph || arena->stream != stream ||
			 arena->dropped))
		arena = arena->next;
	return arena;
}

static void hash_add(struct gm_order *order, struct gm_arena *arena)
{
	struct gm_arena **bucket = bucket_of(order, arena->stream);

	arena->next_of_bucket = *bucket;
	*bucket = arena;
}

static void hash_remove(struct gm_order *order, const struct gm_arena *arena)
{
	struct gm_arena **link = bucket_of(order, arena->stream);

	while (*link != arena)
		link = &(*link)->next_of_bucket;
	*link = arena->next_of_bucket;
}

/* Doubles a table that is full; one that is too full still works. */
static void hash_grow(struct gm_order *order)
{
	struct gm_arena **larger, *arena;

	if (order->stream_count <= order->bucket_count)
		return;
	larger = calloc(2 * order->bucket_count, sizeof(struct gm_arena *));
	if (!larger)
		return;
	if (order->bucket != order->first_bucket)
		free(order->bucket);
	order->bucket = larger;
	order->bucket_count *= 2;
	for (arena = order->arenas; arena; arena = arena->next)
		if (!arena->dropped)
			hash_add(order, arena);
}

static struct gm_arena **list_of(struct gm_arena *arena)
{
	struct gm_order *order = arena->heap->order;

	return arena->graph ? &order->private_arenas : &order->arenas;
}

static void link_all(struct gm_arena *arena)
{
	struct gm_arena **list = list_of(arena);

	arena->prev = NULL;
	arena->next = *list;
	if (*list)
		(*list)->prev = arena;
	*list = arena;
}

static void unlink_all(struct gm_arena *arena)
{
	if (arena->prev)
		arena->prev->next = arena->next;
	else
		*list_of(arena) = arena->next;
	if (arena->next)
		arena->next->prev = arena->prev;
}

void gm_arenas_add(struct gm_arena *arena)
{
	struct gm_order *order = arena->heap->order;

	link_all(arena);
	if (arena->graph)
		return;
	order->stream_count++;
	hash_add(order, arena);
	hash_grow(order);
}

static void add_dropped(struct gm_arena *arena)
{
	struct gm_order *order = arena->heap->order;

	arena->next_dropped = order->dropped;
	order->dropped = arena;
}

static void remove_dropped(struct gm_arena *arena)
{
	struct gm_arena **link = &arena->heap->order->dropped;

	while (*link != arena)
		link = &(*link)->next_dropped;
	*link = arena->next_dropped;
}

void gm_arenas_drop(struct gm_arena *arena)
{
	struct gm_order *order = arena->heap->order;

	arena->dropped = true;
	if (arena->graph)
		return;
	hash_remove(order, arena);
	order->stream_count--;
	add_dropped(arena);
}

void gm_arenas_publish(struct gm_arena *arena)
{
	unlink_all(arena);
	arena->graph = NULL;
	link_all(arena);
	if (arena->index.count)
		gm_arenas_stock(arena);
	add_dropped(arena);
}

void gm_arenas_remove(struct gm_arena *arena)
{
	struct gm_order *order = arena->heap->order;

	if (arena->dropped && !arena->graph) {
		remove_dropped(arena);
	} else if (!arena->graph) {
		hash_remove(order, arena);
		order->stream_count--;
	}
	gm_arenas_unstock(arena);
	unlink_all(arena);
}

void gm_arenas_stock(struct gm_arena *arena)
{
	struct gm_order *order = arena->heap->order;

	if (arena->stocked || arena->graph)
		return;
	arena->stocked = true;
	arena->prev_stocked = NULL;
	arena->next_stocked = order->stocked;
	if (order->stocked)
		order->stocked->prev_stocked = arena;
	order->stocked = arena;
	order->stocked_count++;
}

void gm_arenas_unstock(struct gm_arena *arena)
{
	struct gm_order *order = arena->heap->order;

	if (!arena->stocked)
		return;
	arena->stocked = false;
	order->stocked_count--;
	if (order->turn == arena)
		order->turn = arena->next_stocked;
	if (arena->prev_stocked)
		arena->prev_stocked->next_stocked = arena->next_stocked;
	else
		order->stocked = arena->next_stocked;
	if (arena->next_stocked)
		arena->next_stocked->prev_stocked = arena->prev_stocked;
}

/* One more: the receiver may come into the list meanwhile. */
size_t gm_arenas_looks(const struct gm_heap *heap, size_t most)
{
	size_t count = heap->order->stocked_count + 1;

	return count < most ? count : most;
}

struct gm_arena *gm_arenas_turn(struct gm_heap *heap)
{
	struct gm_order *order = heap->order;
	struct gm_arena *arena;

	while ((arena = order->turn ? order->turn : order->stocked)) {
		order->turn = arena->next_stocked;
		if (arena->index.count)
			break;
		gm_arenas_unstock(arena);
	}
	return arena;
}

static struct gm_arena *with_memory(struct gm_arena *arena)
{
	while (arena && !arena->index.count)
		arena = arena->next_stocked;
	return arena;
}

struct gm_arena *gm_arena_stocked(const struct gm_heap *heap)
{
	return with_memory(heap->order->stocked);
}

struct gm_arena *gm_arena_stocked_after(const struct gm_arena *arena)
{
	return with_memory(arena->next_stocked);
}

struct gm_arena *gm_arena_first(const struct gm_heap *heap)
{
	return heap->order->arenas ? heap->order->arenas
				   : heap->order->private_arenas;
}

struct gm_arena *gm_arena_after(const struct gm_heap *heap,
				const struct gm_arena *arena)
{
	if (arena->next || arena->graph)
		return arena->next;
	return heap->order->private_arenas;
}
