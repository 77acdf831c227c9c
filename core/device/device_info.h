/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Names of devices and what backends say of them, before anything is opened.
 * Used by device.c only. No state, no lock.
 */
#ifndef GM_DEVICE_DEVICE_INFO_H
#define GM_DEVICE_DEVICE_INFO_H

#include "device.h"
#include "loader.h"

/* "cuda:0", "cuda" (0), "cuda:UUID", or NULL: which device of which backend.
 * Beside the backend's own refusals: INVALID: not such a name; NO_DEVICE. */
gpumem_status gm_device_find(const char *name,
			     const struct gm_backend **backend_out,
			     int *index_out);

/* The backend's word, completed and checked: name filled, strings ended,
 * capabilities without slots cleared, sizes sane, or DRIVER. The alignment is
 * that of blocks; the backend's own goes to *raw_alignment_out (or NULL). */
gpumem_status gm_device_describe(const struct gm_backend *backend, int index,
				 struct gpumem_device_info *info_out,
				 uint64_t *raw_alignment_out);

#endif
