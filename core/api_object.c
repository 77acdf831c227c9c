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
	gpumem_status status = gm_enter();

	if (status != GPUMEM_OK)
		return status;
	if (!backend)
		return gm_null_argument("backend");
	if (!context)
		return gm_null_argument("context");
	return device_out ? gm_device_adopt(backend, context, native_device,
					    device_out)
			  : gm_null_argument("device_out");
}

gpumem_status gpumem_device_native(gpumem_device *device, void **context_out,
				   void **native_device_out)
{
	GM_SCOPE;
	gpumem_status status = gm_enter();

	if (status != GPUMEM_OK)
		return status;
	if (!device)
		return gm_null_argument("device");
	if (!context_out)
		return gm_null_argument("context_out");
	return native_device_out ? gm_device_native(device, context_out,
						    native_device_out)
				 : gm_null_argument("native_device_out");
}

gpumem_status gpumem_object(const void *ptr, void **object_out,
			    uint64_t *offset_out)
{
	GM_SCOPE;
	gpumem_status status = gm_enter();

	if (status != GPUMEM_OK)
		return status;
	if (!object_out)
		return gm_null_argument("object_out");
	return offset_out ? gm_pool_object(ptr, object_out, offset_out)
			  : gm_null_argument("offset_out");
}

gpumem_status gpumem_view(const void *ptr, void **view_out)
{
	GM_SCOPE;
	gpumem_status status = gm_enter();

	if (status != GPUMEM_OK)
		return status;
	return view_out ? gm_pool_view(ptr, view_out)
			: gm_null_argument("view_out");
}

gpumem_status gpumem_view_block(gpumem_device *device, const void *view,
				struct gpumem_block *block_out)
{
	struct gpumem_block block = {.size = sizeof(block)};
	GM_SCOPE;
	gpumem_status status = gm_enter();

	if (status != GPUMEM_OK)
		return status;
	if (!device)
		return gm_null_argument("device");
	if (!view)
		return gm_null_argument("view");
	if (!block_out)
		return gm_null_argument("block_out");
	status = gm_check_struct(gpumem_block, block_out);
	if (status == GPUMEM_OK)
		status = gm_pool_view_block(device, view, &block);
	if (status == GPUMEM_OK)
		gm_struct_copy(block_out, &block);
	return status;
}
