/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * What a backend says of its devices, before anything is opened. No state, no
 * lock.
 */
#ifndef GM_LOADER_DESCRIBE_H
#define GM_LOADER_DESCRIBE_H

#include "loader.h"

/* The backend's word, completed and checked: name filled, strings ended,
 * capabilities without slots cleared, sizes sane, or DRIVER. The alignment is
 * that of blocks; the backend's own goes to *raw_alignment_out (or NULL). */
gpumem_status gm_device_describe(const struct gm_backend *backend, int index,
				 struct gpumem_device_info *info_out,
				 uint64_t *raw_alignment_out);

#endif
