/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* See object.h. Of the same shape as driver.c. */
#include "object.h"
#include "driver_call.h"
#include "base/error.h"

gpumem_status gm_object_of(struct gpumem_device *device, uint64_t address,
			   void **object_out, uint64_t *offset_out)
{
	struct gm_call call = gm_call_begin(device, GPUMEM_SLOT_object_of);
	uint64_t offset = UINT64_MAX;
	void *object = NULL;

	if (call.status == GPUMEM_OK)
		call.status = call.ops->object_of(call.handle, address, &object,
						  &offset);
	gm_call_check_set(&call, object && offset != UINT64_MAX,
			  "object and offset");
	if (call.status == GPUMEM_OK) {
		*object_out = object;
		*offset_out = offset;
	}
	return gm_call_end(&call);
}

gpumem_status gm_view_create(struct gpumem_device *device, uint64_t address,
			     uint64_t bytes, void **view_out)
{
	struct gm_call call = gm_call_begin(device, GPUMEM_SLOT_view_create);
	void *view = NULL;

	if (call.status == GPUMEM_OK)
		call.status = call.ops->view_create(call.handle, address, bytes,
						    &view);
	gm_call_check_set(&call, view != NULL, "view");
	if (call.status == GPUMEM_OK)
		*view_out = view;
	return gm_call_end(&call);
}

gpumem_status gm_view_destroy(struct gpumem_device *device, void *view)
{
	struct gm_call call = gm_call_begin(device, GPUMEM_SLOT_view_destroy);
	bool lost = !call.made;

	/* What the plugin keeps for it goes, whatever became of the device. */
	call.made = true;
	call.status = call.ops->view_destroy(call.handle, view);
	if (call.status == GPUMEM_BUSY && !lost)
		return GPUMEM_BUSY;
	if (call.status == GPUMEM_BUSY) {
		call.status = GPUMEM_LOST;
		call.made = false;
	}
	return gm_call_end(&call);
}

gpumem_status gm_device_native(struct gpumem_device *device, void **context_out,
			       void **native_device_out)
{
	static char unset; /* nothing of a vendor's is there */
	void *context = &unset, *native = &unset;
	struct gm_call call;

	if (!device->ops->device_native)
		return gm_fail(GPUMEM_UNSUPPORTED,
			       "backend %s does not show what is behind %s",
			       device->ops->name, device->info.name);
	call = gm_call_begin(device, GPUMEM_SLOT_device_native);
	if (call.status == GPUMEM_OK)
		call.status =
			call.ops->device_native(call.handle, &context, &native);
	gm_call_check_set(&call, context != &unset && native != &unset,
			  "context and device");
	if (call.status == GPUMEM_OK) {
		*context_out = context;
		*native_device_out = native;
	}
	return gm_call_end(&call);
}
