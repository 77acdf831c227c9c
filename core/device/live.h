/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What backends have given out and not taken back, so that a backend which
 * gives the same twice is found: ranges of addresses, which no two devices of a
 * process may share, and pages, whose numbers are their device's own. Looked at
 * with each call that takes memory from a driver or gives it back, never with
 * a block. Not in here: what ipc_open and page_import gave, since that may be
 * the same as what another such call gave.
 *
 *     no two live ranges of addresses, no two live pages of a device overlap
 *
 * One mutex; nothing is called under it.
 */
#ifndef GM_DEVICE_LIVE_H
#define GM_DEVICE_LIVE_H

#include "device.h"

/* One of them. Outside the table its holder owns it. */
struct gm_live {
	struct gm_live *less, *more;
	struct gpumem_device *device;
	uint64_t claimed_bytes; /* of its memory: claim.h; 0: it is none */
	uint64_t space;		/* 0: of addresses; else a device's pages */
	uint64_t from, bytes;
};

/* What it overlaps. */
struct gm_overlap {
	uint64_t from, bytes;
	char device[sizeof(((struct gpumem_device_info *)0)->name)];
};

/* So many, linked by `more`: before the call that takes memory, which then
 * cannot fail for want of host memory afterwards. OK, or NO_HOST_MEMORY. */
gpumem_status gm_live_new(struct gpumem_device *device, size_t count,
			  struct gm_live **live_out);
/* For memory: so much is claimed for each of them, as far as the device's limit
 * allows. How many have it. It is given back when one is freed. */
size_t gm_live_claim(struct gm_live *live, uint64_t bytes);
/* Those that were not needed. */
void gm_live_discard(struct gm_live *live);

/* Into the table; from and bytes are set. False: it overlaps what is live, and
 * stays the caller's. */
bool gm_live_add_range(struct gm_live *live, struct gm_overlap *overlap_out);
bool gm_live_add_page(struct gm_live *live, gpumem_page page);
/* The range overlaps a live one. */
bool gm_live_overlaps(uint64_t from, uint64_t bytes,
		      struct gm_overlap *overlap_out);

/* Out of the table, before the call that gives it back: once the driver has it,
 * it may give it to another thread. NULL: it is not in there. */
struct gm_live *gm_live_take_range(uint64_t from);
struct gm_live *gm_live_take_page(const struct gpumem_device *device,
				  gpumem_page page);
/* After that call: it was refused, so this is live as before; or it was not,
 * and this is freed. False: it was refused, and is another's by now. */
bool gm_live_settle(struct gm_live *live, bool refused);

/* All of a device that is about to be closed, which ends them. */
void gm_live_forget(const struct gpumem_device *device);

#endif
