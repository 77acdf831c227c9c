/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Names of devices, before anything is opened. Used by device.c only. No state,
 * no lock.
 */
#ifndef GM_DEVICE_DEVICE_INFO_H
#define GM_DEVICE_DEVICE_INFO_H

#include "device.h"
#include "loader/loader.h"

/* "cuda:0", "cuda" (0), "cuda:UUID", or NULL: which device of which backend.
 * Beside the backend's own refusals: INVALID: not such a name; NO_DEVICE. */
gpumem_status gm_device_find(const char *name,
			     const struct gm_backend **backend_out,
			     int *index_out);

#endif
