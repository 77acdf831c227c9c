/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The slots that bring memory to other processes and from them; see backend.h.
 * Not counted: a program's own business, not a pool's. The caller has looked at
 * the capability. No lock.
 */
#ifndef GM_DEVICE_SHARE_H
#define GM_DEVICE_SHARE_H

#include "device.h"

gpumem_status gm_ipc_export(struct gpumem_device *device, uint64_t address,
			    uint64_t bytes, void *handle_out);
gpumem_status gm_ipc_open(struct gpumem_device *device, const void *handle,
			  uint64_t bytes, uint64_t *address_out);
gpumem_status gm_ipc_close(struct gpumem_device *device, uint64_t address);
gpumem_status gm_page_export(struct gpumem_device *device, gpumem_page page,
			     uint64_t bytes, int *fd_out);
gpumem_status gm_page_import(struct gpumem_device *device, int fd,
			     uint64_t bytes, gpumem_page *page_out);

#endif
