/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The slots of the vendor's objects; see backend.h. Not counted: a program's
 * own business, not a pool's. The caller has looked at the capability. No lock.
 */
#ifndef GM_DEVICE_OBJECT_H
#define GM_DEVICE_OBJECT_H

#include "device.h"

gpumem_status gm_object_of(struct gpumem_device *device, uint64_t address,
			   void **object_out, uint64_t *offset_out);
gpumem_status gm_view_create(struct gpumem_device *device, uint64_t address,
			     uint64_t bytes, void **view_out);
/* OK, BUSY (no failure: the thread's last error is as it was), or a failure. Of
 * a device that is lost never BUSY. */
gpumem_status gm_view_destroy(struct gpumem_device *device, void *view);

/* The vendor's context and device; UNSUPPORTED also without the slot. */
gpumem_status gm_device_native(struct gpumem_device *device, void **context_out,
			       void **native_device_out);

#endif
