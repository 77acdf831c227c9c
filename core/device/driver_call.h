/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What every call of a slot has around it: refused once the device is lost,
 * counted and timed, and turned into a sentence when it fails. Used by
 * driver.c and event_wait.c, whose calls a pool counts, and by ask.c, object.c,
 * share.c and stream.c, whose calls are counted nowhere. No lock.
 */
#ifndef GM_DEVICE_DRIVER_CALL_H
#define GM_DEVICE_DRIVER_CALL_H

#include "driver.h"
#include "live.h"

/* A call under way. */
struct gm_call {
	struct gm_driver *driver; /* that counts it; NULL: not counted */
	struct gpumem_device *device;
	const struct gpumem_backend *ops;
	void *handle;
	enum gpumem_slot slot;
	uint64_t begin_ns;
	uint64_t count;	      /* calls of the slot that this stands for: 1 */
	gpumem_status status; /* not OK after begin: do not call */
	bool made;
	bool entered; /* the gate */
};

struct gm_call gm_call_begin(struct gpumem_device *device,
			     enum gpumem_slot slot);
struct gm_call gm_call_begin_counted(struct gm_driver *driver,
				     enum gpumem_slot slot);
/*
 * What a slot gave with OK: a value that cannot be is DRIVER, with a sentence.
 * Outputs begin as what no slot gives, 0 or NULL where nothing else is said, so
 * that one that was not set is found too. What was given like that is not given
 * back: nobody knows what it is.
 */
void gm_call_check_address(struct gm_call *call, uint64_t address,
			   uint64_t bytes, uint64_t alignment);
void gm_call_check_set(struct gm_call *call, bool set, const char *what);
/* The range overlaps none that is live. */
void gm_call_check_clear(struct gm_call *call, uint64_t address,
			 uint64_t bytes);
/* Both checks, and the range is live from now on; or `live` is freed. */
void gm_call_keep_range(struct gm_call *call, struct gm_live *live,
			uint64_t address, uint64_t bytes, uint64_t alignment);
/* The same with a page and the first of `*live`, if there was such a call. */
void gm_call_keep_page(struct gm_call *call, struct gm_live **live,
		       gpumem_page page);
/* After a call that gave back what `live` stands for, NULL if nobody knows. One
 * that the driver refused and gave to another meanwhile is given back. */
void gm_call_settle(struct gm_call *call, struct gm_live *live);

/* call->status is what the slot gave, or what begin said. */
gpumem_status gm_call_end(const struct gm_call *call);

#endif
