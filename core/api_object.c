/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* API layer: the vendor's objects and contexts. See api.c. */
#include <gpumem/gpumem.h>

#include "api_check.h"
#include "device/object.h"
#include "pool/pool.h"

gpumem_status gpumem_device_adopt(const char *backend, void *context,
				  void *native_device,
				  gpumem_device **device_out)
{
	GM_SCOPE;
	gpumem_status status = GM_ENTER(backend, context, device_out);

	if (status != GPUMEM_OK)
		return status;
	return gm_device_adopt(backend, context, native_device, device_out);
}

gpumem_status gpumem_device_native(gpumem_device *device, void **context_out,
				   void **native_device_out)
{
	GM_SCOPE;
	gpumem_status status = GM_ENTER(device, context_out, native_device_out);

	if (status != GPUMEM_OK)
		return status;
	return gm_device_native(device, context_out, native_device_out);
}

gpumem_status gpumem_object(const void *ptr, void **object_out,
			    uint64_t *offset_out)
{
	GM_SCOPE;
	gpumem_status status = GM_ENTER(object_out, offset_out);

	if (status != GPUMEM_OK)
		return status;
	return gm_pool_object(ptr, object_out, offset_out);
}

gpumem_status gpumem_view(const void *ptr, void **view_out)
{
	GM_SCOPE;
	gpumem_status status = GM_ENTER(view_out);

	if (status != GPUMEM_OK)
		return status;
	return gm_pool_view(ptr, view_out);
}

gpumem_status gpumem_view_block(gpumem_device *device, const void *view,
				struct gpumem_block *block_out)
{
	struct gpumem_block block = {.size = sizeof(block)};
	GM_SCOPE;
	gpumem_status status = GM_ENTER(device, view, block_out);

	if (status != GPUMEM_OK)
		return status;
	status = gm_check_struct(gpumem_block, block_out);
	if (status == GPUMEM_OK)
		status = gm_pool_view_block(device, view, &block);
	if (status == GPUMEM_OK)
		gm_struct_copy(block_out, &block);
	return status;
}
