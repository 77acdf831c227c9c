/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The growth under way. While the driver creates and maps what a growth needs
 * the heap's mutex is free, so that other threads use what there is; another
 * growth waits for its end, and then looks again for free memory, which is what
 * it would do had it come later. What is new lies in nobody's list meanwhile,
 * and is counted here.
 *
 * It keeps the mutex where its handles are mapped twice (pages/stale.h), where
 * it unmaps (steal.c), and where a block grows in its place
 * (gm_pages_extend()), which may also happen meanwhile.
 *
 *     reserved + flight.creating_bytes <= limit
 *     the flight is 0 while the thread that grows has the mutex
 *     while a growth is under way, or waited for, no arena ends
 *
 * The heap's mutex guards it.
 */
#ifndef GM_SPACE_GROWTH_H
#define GM_SPACE_GROWTH_H

#include "order/order.h"

/* What a growth has of its own while it has let go of the mutex. */
struct gm_flight {
	uint64_t creating_bytes; /* asked of the driver, not reserved yet */
	size_t pages, handles;	 /* reserved, and mapped nowhere */
	size_t mapped_pages;	 /* where it grows */
};

struct gm_growth {
	bool on;	  /* there is one */
	bool let_go;	  /* it has let go of the mutex at least once */
	unsigned waiting; /* threads, for its end */
	pthread_cond_t over;
	struct gm_flight flight;
	size_t spare_count; /* that may become spare: see gm_spare_room() */
};

void gm_growth_init(struct gm_heap *heap);
void gm_growth_fini(struct gm_heap *heap);

/* One begins: true. False: there was one, which is over now, and nothing is as
 * it was before. */
bool gm_growth_begin(struct gm_heap *heap);
void gm_growth_end(struct gm_heap *heap);
/* Nobody is in one or waits for one. */
bool gm_growth_none(const struct gm_heap *heap);

/* Reserved, and neither free nor spare. */
uint64_t gm_growth_bytes(const struct gm_heap *heap);

/* Around a call of the driver that needs no mutex. */
void gm_growth_let_go(struct gm_heap *heap, const struct gm_flight *flight);
void gm_growth_take_up(struct gm_heap *heap, struct gm_attempt *attempt);

#endif
