/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* See share.h. Of the same shape as driver.c. */
#include "share.h"
#include "driver_call.h"

gpumem_status gm_ipc_export(struct gpumem_device *device, uint64_t address,
			    uint64_t bytes, void *handle_out)
{
	struct gm_call call = gm_call_begin(device, "ipc_export");

	if (call.status == GPUMEM_OK)
		call.status = call.ops->ipc_export(call.handle, address, bytes,
						   handle_out);
	return gm_call_end(&call);
}

gpumem_status gm_ipc_open(struct gpumem_device *device, const void *handle,
			  uint64_t bytes, uint64_t *address_out)
{
	struct gm_call call = gm_call_begin(device, "ipc_open");

	if (call.status == GPUMEM_OK)
		call.status = call.ops->ipc_open(call.handle, handle, bytes,
						 address_out);
	return gm_call_end(&call);
}

gpumem_status gm_ipc_close(struct gpumem_device *device, uint64_t address)
{
	struct gm_call call = gm_call_begin(device, "ipc_close");

	if (call.status == GPUMEM_OK)
		call.status = call.ops->ipc_close(call.handle, address);
	return gm_call_end(&call);
}

gpumem_status gm_page_export(struct gpumem_device *device, gpumem_page page,
			     uint64_t bytes, int *fd_out)
{
	struct gm_call call = gm_call_begin(device, "page_export");

	if (call.status == GPUMEM_OK)
		call.status =
			call.ops->page_export(call.handle, page, bytes, fd_out);
	return gm_call_end(&call);
}

gpumem_status gm_page_import(struct gpumem_device *device, int fd,
			     uint64_t bytes, gpumem_page *page_out)
{
	struct gm_call call = gm_call_begin(device, "page_import");

	if (call.status == GPUMEM_OK)
		call.status =
			call.ops->page_import(call.handle, fd, bytes, page_out);
	return gm_call_end(&call);
}
