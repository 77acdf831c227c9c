/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* See share.h. Of the same shape as driver.c. */
#include "share.h"
#include "driver_call.h"

gpumem_status gm_ipc_export(struct gpumem_device *device, uint64_t address,
			    uint64_t bytes, void *handle_out)
{
	struct gm_call call = gm_call_begin(device, GPUMEM_SLOT_ipc_export);

	if (call.status == GPUMEM_OK)
		call.status = call.ops->ipc_export(call.handle, address, bytes,
						   handle_out);
	return gm_call_end(&call);
}

gpumem_status gm_ipc_open(struct gpumem_device *device, const void *handle,
			  uint64_t bytes, uint64_t *address_out)
{
	struct gm_call call = gm_call_begin(device, GPUMEM_SLOT_ipc_open);
	uint64_t address = 0;

	if (call.status == GPUMEM_OK)
		call.status = call.ops->ipc_open(call.handle, handle, bytes,
						 &address);
	gm_call_check_address(&call, address, bytes, 1);
	gm_call_check_clear(&call, address, bytes);
	if (call.status == GPUMEM_OK)
		*address_out = address;
	return gm_call_end(&call);
}

gpumem_status gm_ipc_close(struct gpumem_device *device, uint64_t address)
{
	struct gm_call call = gm_call_begin(device, GPUMEM_SLOT_ipc_close);

	if (call.status == GPUMEM_OK)
		call.status = call.ops->ipc_close(call.handle, address);
	return gm_call_end(&call);
}

gpumem_status gm_page_export(struct gpumem_device *device, gpumem_page page,
			     uint64_t bytes, int *fd_out)
{
	struct gm_call call = gm_call_begin(device, GPUMEM_SLOT_page_export);
	int fd = -1;

	if (call.status == GPUMEM_OK)
		call.status =
			call.ops->page_export(call.handle, page, bytes, &fd);
	gm_call_check_set(&call, fd >= 0, "descriptor");
	if (call.status == GPUMEM_OK)
		*fd_out = fd;
	return gm_call_end(&call);
}

gpumem_status gm_page_import(struct gpumem_device *device, int fd,
			     uint64_t bytes, gpumem_page *page_out)
{
	struct gm_call call = gm_call_begin(device, GPUMEM_SLOT_page_import);
	gpumem_page page = 0;

	if (call.status == GPUMEM_OK)
		call.status =
			call.ops->page_import(call.handle, fd, bytes, &page);
	gm_call_check_set(&call, page != 0, "page");
	if (call.status == GPUMEM_OK)
		*page_out = page;
	return gm_call_end(&call);
}
