/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Blocks for other processes (export.c), and those of other processes here
 * (import.c). An export leaves nothing behind in the library. What is imported
 * is in one list of the process, with a mutex of its own, which is held during
 * the driver's calls. It is never taken with another lock held. It knows heaps,
 * not pools.
 */
#ifndef GM_SHARE_SHARED_H
#define GM_SHARE_SHARED_H

#include "heap/block.h"

/* Sets `shareable` to what option `share` says, where the config leaves it open
 * and the memory is such as can be shared. INVALID: it says nothing known. */
gpumem_status gm_share_by_option(struct gpumem_pool_config *config);

/* See gpumem_export(): of a block whose heap is locked, in a pool of that name.
 */
gpumem_status gm_share_export(const struct gm_block *block, const char *pool,
			      struct gpumem_shared *shared_out, int *fds_out,
			      size_t fd_room);

/* See gpumem_import(), gpumem_import_close(). */
gpumem_status gm_import(struct gpumem_device *device,
			const struct gpumem_shared *shared, const int *fds,
			size_t fd_count, void **ptr_out);
gpumem_status gm_import_close(const void *ptr);

/* import_check.c: OK when they can be imported as far as can be seen. */
gpumem_status gm_import_check(const struct gpumem_device *device,
			      const struct gpumem_shared *shared,
			      const int *fds, size_t fd_count);

/* Whether gpumem_import() gave this pointer. */
bool gm_import_holds(const void *ptr);
/* The caller's word of an import, NULL at first. False: ptr is none's. */
bool gm_import_set_user(const void *ptr, void *user);
bool gm_import_get_user(const void *ptr, void **user_out);
/* Calls fn for each import of the device, until it returns false; the list is
 * locked. */
void gm_imports_visit(const struct gpumem_device *device,
		      bool (*fn)(const void *ptr, void *user), void *user);

/* This process's name in descriptions, 16 bytes. */
const unsigned char *gm_share_process(void);
/* Of what follows the field `check`. */
uint64_t gm_share_check(const struct gpumem_shared *shared);
/* Of the files that descriptors stand for, in their order: the same in any
 * process that has them. False: one is not open. Drivers whose descriptors are
 * all of one file cannot be told apart by it. */
bool gm_share_files(const int *fds, size_t count, uint64_t *sum_out);

/* What `handle` holds with method FD: which export of the exporter's it is, and
 * gm_share_files() of its descriptors. */
struct gm_share_fds {
	uint64_t number, files;
};

#endif
