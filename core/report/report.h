/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What the library says of its pools: summaries, the table of a device, leaks,
 * and why an allocation failed (oom.h). It reads pools and changes nothing in
 * them. Text and JSON come from one description (base/print.h). The user's
 * functions are called without a lock.
 */
#ifndef GM_REPORT_REPORT_H
#define GM_REPORT_REPORT_H

#include "pool/pool.h"

struct gm_print;

/* reports.c: what each pool is made with. */
extern const struct gm_pool_reports gm_reports;

/* pool_print.c: as gpumem_pool_print(). */
void gm_pool_print(struct gpumem_pool *pool, bool json,
		   void (*write)(const char *text, void *user), void *user);
/* The numbers, as members of an object that is open. */
void gm_stats_print(struct gm_print *print, const struct gpumem_stats *stats);

/* leaks.c: as gpumem_pool_print_leaks(). */
gpumem_status gm_pool_print_leaks(struct gpumem_pool *pool, uint64_t since,
				  uint64_t until, bool json,
				  void (*write)(const char *text, void *user),
				  void *user);
/* Without a lock: if the pool is tracked, its largest groups of live blocks,
 * with the places of their allocation; else the text stays. */
void gm_pool_tell_leaks(struct gpumem_pool *pool, char *text, size_t bytes);

/* table.c: as gpumem_device_report(). */
gpumem_status gm_device_report(struct gpumem_device *device, bool json,
			       void (*write)(const char *text, void *user),
			       void *user);

/* failure.c: the sentence of a failure for memory, which the program is told if
 * it wants to know (oom.h); returns its status. */
gpumem_status gm_pool_report(struct gpumem_pool *pool, gpumem_status status,
			     const struct gm_request *request);

struct gm_top_tag {
	uint32_t tag; /* 0: no tag */
	uint64_t bytes;
};

/* top_tags.c: the tags with the most requested bytes, the largest first; bytes
 * 0: no further one, or nothing has a tag. */
void gm_pool_top_tags(struct gpumem_pool *pool, struct gm_top_tag *top,
		      unsigned room);

#endif
