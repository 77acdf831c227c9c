/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the files of whole.h share. A whole is two entries of the table of
 * blocks: by its handle, where its state is, and from RESERVED on by its
 * address. Its whole_bytes are those in flight, see limit.h: all of them from
 * RELEASED on, else 0. All with the mutex.
 */
#ifndef GPUMEM_PRELOAD_WHOLE_INSIDE_H
#define GPUMEM_PRELOAD_WHOLE_INSIDE_H

#include "whole.h"

/* From UNMAPPED on the driver has it as LIVE. */
enum whole_state {
	WHOLE_CREATED,
	WHOLE_RESERVED,
	WHOLE_MAPPED,
	WHOLE_LIVE,
	WHOLE_UNMAPPED,
	WHOLE_RELEASED,
	WHOLE_CREATED_AGAIN,
	WHOLE_RESERVED_AGAIN,
	WHOLE_MAPPED_AGAIN
};

/* What the thread's last call began. In a forked child the handle is not in
 * the table. */
struct whole_own {
	uint64_t handle;	    /* of a whole that is not LIVE */
	uint64_t gone, gone_handle; /* of one that the driver unmapped */
	bool released;		    /* and released */
};

extern __thread struct whole_own whole_own
	__attribute__((tls_model("initial-exec")));

static inline const struct whole_kind *whole_kind_of(const struct block *whole)
{
	return whole->context;
}

/* NULL: there is none; 0 is nobody's handle or address. */
struct block *whole_by_handle(struct preload_state *state, uint64_t handle);
struct block *whole_by_address(struct preload_state *state, uint64_t address);
/* The one that this thread is at work on, if it is in that state. */
struct block *whole_own_at(struct preload_state *state, enum whole_state at);
/* All of that one, and it is there. */
static inline bool whole_goes_on(const struct block *whole, uint64_t address,
				 size_t bytes)
{
	return whole && whole->link == address && whole->bytes == bytes;
}

/* It has an address now. False: no memory. */
bool whole_add_range(struct preload_state *state, uint64_t handle,
		     uint64_t address, uint64_t bytes);
void whole_forget(struct preload_state *state, const struct block *whole);
/* The driver makes up for what it was not told, and it is none any more. */
void whole_settle(struct preload_state *state, const struct block *whole);
/* Somebody may use it in another way, or has. NULL: nothing. */
void whole_touch(struct preload_state *state, struct block *whole);
/* A call that does not go on with what this thread had begun. */
void whole_other(struct preload_state *state);
/* The program has released it, and the driver does not know. */
bool whole_is_kept(const struct preload_state *state, enum block_space space,
		   uint64_t key, CUresult *result_out);

#endif
