/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The live blocks of a pool in groups of one tag and stack, the largest first:
 * what a report of leaks has. It is made while the heap is stopped and read
 * afterwards, because names of frames are looked up with no lock held (see
 * base/stack.h). Nothing of it belongs to the pool: it may outlive it.
 */
#ifndef GM_REPORT_LEAKS_H
#define GM_REPORT_LEAKS_H

#include "report.h"

struct gm_leak {
	uint64_t blocks;     /* 0: no group */
	uint64_t bytes;	     /* requested */
	uint64_t oldest_ns;  /* age; 0: not known */
	void *const *frames; /* of one stack; NULL: not known */
	uint32_t frame_count;
	uint32_t tag;
};

/*
 *     the groups' blocks and bytes add up to blocks and bytes
 *     blocks <= live_blocks, bytes <= live_bytes
 *     until gm_leaks_sort(): a hash table, of which less than 3/4 is used
 */
struct gm_leaks {
	struct gm_leak *group;
	size_t count, room;
	uint64_t since,
		until; /* serials of blocks; until 0: all from since on */
	uint64_t blocks, bytes;
	uint64_t live_blocks, live_bytes; /* whatever their serial */
	uint64_t unknown_blocks; /* of live_blocks, that have no serial */
	bool tracked;
	bool failed; /* there was no memory for a group */
	char pool[sizeof(((struct gpumem_pool *)NULL)->name)];
	char device[sizeof(((struct gpumem_device_info *)NULL)->name)];
};

/* leaks.c. `since` and `until` are set, all else is 0. Stops the heap. OK or
 * NO_HOST_MEMORY; gm_leaks_end() is its end either way. */
gpumem_status gm_leaks_collect(struct gpumem_pool *pool,
			       struct gm_leaks *leaks);
void gm_leaks_end(struct gm_leaks *leaks);

/* leaks_exit.c: is option `leaks` set? It is looked at here, and what it says
 * then is done when the process ends. */
bool gm_leaks_wanted(void);

/* leaks_print.c. No lock is held. */
void gm_leaks_print(const struct gm_leaks *leaks, bool json,
		    void (*write)(const char *text, void *user), void *user);
/* For a sentence: the largest groups, with the innermost frame of each. */
void gm_leaks_tell(const struct gm_leaks *leaks, char *text, size_t bytes);

#endif
