/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * An allocation that failed for want of memory: what is known of it, what would
 * help, and who is told. The facts belong to the failing thread and nothing in
 * them is locked; they are of the moment just after the failure.
 *
 *     failure.c    looks, and makes the sentence of the error
 *     advice.c     decides what would help: the only place that does
 *     others.c     what the other pools of the device have
 *     oom.c        tells the program's function and the file of option `oom`
 *     oom_print.c  the same as JSON
 *     pins.c       the blocks that keep most free memory from use
 */
#ifndef GM_REPORT_OOM_H
#define GM_REPORT_OOM_H

#include "report.h"
#include "text.h"

/* A pool, and what it has reserved. */
enum { GM_OOM_HOLDERS = 3 };
struct gm_oom_holder {
	char name[64];
	uint64_t bytes; /* 0: there are no more */
};

struct gm_oom {
	struct gpumem_pool *pool;
	const struct gm_request *request;
	gpumem_status status;
	struct gpumem_stats stats;
	struct gpumem_memory memory;
	struct gpumem_error cause; /* of the last attempt */
	bool known;		   /* the driver said how much is free */
	bool captured; /* a stream is, and nothing may be given back or moved */
	uint64_t busy_bytes;	 /* free, but streams may be at work on it */
	uint64_t unplaced_bytes; /* free, in handles that are mapped nowhere */
	uint64_t need_bytes;	 /* what the driver would have to give */
	uint64_t left_bytes;	 /* what it had, as far as a limit of the
				    device leaves it; 0: unknown */
	bool device_limit;	 /* that limit refused it: device/claim.h */
	uint64_t limit_bytes;	 /* the limit that refused it; or the pool's */
	/* advice.c */
	gpumem_advice advice;
	/* others.c, once they were looked at */
	bool looked;
	uint64_t others_bytes; /* free in the device's other pools, */
	char others_most[64];  /* and the one that has most of it */
	struct gm_oom_holder holder[GM_OOM_HOLDERS]; /* most bytes first */
};

/* Decides oom->advice; all above it is known. Locks the device and its pools,
 * one after the other; for a request that must not wait, not while another
 * thread has the device locked. */
void gm_oom_advise(struct gm_oom *oom);
/* The advice as a sentence, without a full stop. */
void gm_oom_say_advice(const struct gm_oom *oom, struct gm_text *text);

/* Looks at the pools of that kind that the device has, once: locks it and each
 * of them in turn, or not, if the request must not wait and another thread has
 * the device locked. */
void gm_oom_look_at_pools(struct gm_oom *oom);
/* Which pools hold most of the device; nothing if that is not known. */
void gm_oom_say_holders(const struct gm_oom *oom, struct gm_text *text);

/* Tells who wants to know: the sentence is the thread's last error, and is that
 * afterwards too. Called without a lock. */
void gm_oom_tell(const struct gm_oom *oom);
void gm_oom_set(gpumem_oom_fn fn, void *user);

/* oom_print.c. JSON, with `all` everything, without it what needs no host
 * memory. `text` is the sentence. OK, or NO_HOST_MEMORY: it is not whole. */
gpumem_status gm_oom_print(const struct gm_oom *oom, uint64_t fits_bytes,
			   const char *text, bool all,
			   void (*write)(const char *text, void *user),
			   void *user);

/* A live block that keeps free memory from use: in its handle, or without
 * virtual memory its segment, so many bytes are free. */
struct gm_pin {
	uintptr_t address; /* of the handle or segment */
	uint64_t unit_bytes, free_bytes;
	uint32_t blocks; /* live in it; of a slab all count as one */
	/* The first of these by address, and of a slab which slot. Only while
	 * the heap is stopped. */
	const struct gm_extent *first;
	uint32_t slot;
	uintptr_t ptr;
	uint64_t bytes; /* that were requested for it */
	uint32_t tag;
};

/* Those with the most, the largest first. Stops the heap. Returns how many. */
unsigned gm_pins_find(struct gpumem_pool *pool, struct gm_pin *pin,
		      unsigned room);

#endif
