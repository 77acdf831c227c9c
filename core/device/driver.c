/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See driver.h. Every wrapper has the same shape: begin the call, make it if
 * the device is still there, end it. driver_call.c does all the rest.
 */
#include "claim.h"
#include "driver_call.h"

#include "base/error.h"

void gm_driver_init(struct gm_driver *driver, struct gpumem_device *device)
{
	driver->device = device;
	driver->kind = GPUMEM_KIND_DEVICE;
	driver->peers = NULL;
	driver->peer_count = 0;
	driver->share_pages = false;
	gm_driver_reset_counts(driver);
}

void gm_driver_reset_counts(struct gm_driver *driver)
{
	size_t i;

	for (i = 0; i < GPUMEM_CALL_COUNT; i++) {
		atomic_store(&driver->calls[i].count, 0);
		atomic_store(&driver->calls[i].failed, 0);
		atomic_store(&driver->calls[i].ns, 0);
	}
}

gpumem_status gm_driver_memory_info(struct gm_driver *driver,
				    struct gpumem_memory *memory_out)
{
	struct gm_call call =
		gm_call_begin_counted(driver, GPUMEM_SLOT_memory_info);
	struct gpumem_memory memory = GPUMEM_INIT(struct gpumem_memory);

	if (call.status == GPUMEM_OK)
		call.status = call.ops->memory_info(call.handle, &memory);
	if (call.status == GPUMEM_OK) {
		memory_out->total_bytes = memory.total_bytes;
		memory_out->free_bytes = memory.free_bytes < memory.total_bytes
						 ? memory.free_bytes
						 : memory.total_bytes;
	}
	return gm_call_end(&call);
}

/* How much of so many bytes counts for the device's limit. */
static uint64_t claimed(const struct gm_driver *driver, uint64_t bytes)
{
	return driver->kind == GPUMEM_KIND_DEVICE ? bytes : 0;
}

gpumem_status gm_driver_alloc(struct gm_driver *driver, uint64_t bytes,
			      uint64_t *address_out)
{
	struct gm_live *live;
	gpumem_status status = gm_live_new(driver->device, 1, &live);
	uint64_t address = 0;
	struct gm_call call;

	if (status != GPUMEM_OK)
		return status;
	if (!gm_live_claim(live, claimed(driver, bytes))) {
		gm_live_discard(live);
		return gm_claim_refuse(driver->device);
	}
	call = gm_call_begin_counted(driver, GPUMEM_SLOT_alloc);
	if (driver->kind != GPUMEM_KIND_DEVICE)
		call.slot = GPUMEM_SLOT_kind_alloc;
	if (call.status == GPUMEM_OK)
		call.status =
			driver->kind == GPUMEM_KIND_DEVICE
				? call.ops->alloc(call.handle, bytes, &address)
				: call.ops->kind_alloc(call.handle,
						       driver->kind, bytes,
						       &address);
	gm_call_keep_range(&call, live, address, bytes,
			   driver->device->raw_alignment);
	if (call.status == GPUMEM_OK)
		*address_out = address;
	return gm_call_end(&call);
}

gpumem_status gm_driver_free(struct gm_driver *driver, uint64_t address,
			     uint64_t bytes)
{
	struct gm_call call = gm_call_begin_counted(driver, GPUMEM_SLOT_free);
	struct gm_live *live;

	if (driver->kind != GPUMEM_KIND_DEVICE)
		call.slot = GPUMEM_SLOT_kind_free;
	if (call.status != GPUMEM_OK)
		return gm_call_end(&call);
	live = gm_live_take_range(address);
	if (driver->kind == GPUMEM_KIND_DEVICE)
		call.status = call.ops->free(call.handle, address, bytes);
	else
		call.status = call.ops->kind_free(call.handle, driver->kind,
						  address, bytes);
	gm_call_settle(&call, live);
	return gm_call_end(&call);
}

gpumem_status gm_driver_va_reserve(struct gm_driver *driver, uint64_t bytes,
				   uint64_t alignment, uint64_t *address_out)
{
	struct gm_live *live;
	gpumem_status status = gm_live_new(driver->device, 1, &live);
	uint64_t address = 0;
	struct gm_call call;

	if (status != GPUMEM_OK)
		return status;
	call = gm_call_begin_counted(driver, GPUMEM_SLOT_va_reserve);
	if (call.status == GPUMEM_OK)
		call.status = call.ops->va_reserve(call.handle, bytes,
						   alignment, &address);
	gm_call_keep_range(&call, live, address, bytes, alignment);
	if (call.status == GPUMEM_OK)
		*address_out = address;
	return gm_call_end(&call);
}

gpumem_status gm_driver_va_release(struct gm_driver *driver, uint64_t address,
				   uint64_t bytes)
{
	struct gm_call call =
		gm_call_begin_counted(driver, GPUMEM_SLOT_va_release);
	struct gm_live *live;

	if (call.status != GPUMEM_OK)
		return gm_call_end(&call);
	live = gm_live_take_range(address);
	call.status = call.ops->va_release(call.handle, address, bytes);
	gm_call_settle(&call, live);
	return gm_call_end(&call);
}

gpumem_status gm_driver_page_create(struct gm_driver *driver, uint64_t bytes,
				    gpumem_page *pages, size_t count,
				    size_t *done_out)
{
	const struct gpumem_backend *ops = driver->device->ops;
	gpumem_status (*create)(void *device, uint64_t bytes,
				gpumem_page *page_out) =
		driver->share_pages ? ops->page_create_shared
				    : ops->page_create;
	struct gm_live *live;
	gpumem_status status = gm_live_new(driver->device, count, &live);
	struct gm_call call;
	size_t i = 0, most;

	*done_out = 0;
	if (status != GPUMEM_OK)
		return status;
	most = gm_live_claim(live, claimed(driver, bytes));
	call = gm_call_begin_counted(driver, GPUMEM_SLOT_page_create);
	while (call.status == GPUMEM_OK && i < most) {
		gpumem_page page = 0;

		call.status = create(call.handle, bytes, &page);
		gm_call_keep_page(&call, &live, page);
		if (call.status == GPUMEM_OK)
			pages[i++] = page;
	}
	gm_live_discard(live);
	*done_out = i;
	call.count = i + (call.status != GPUMEM_OK);
	status = gm_call_end(&call);
	if (status == GPUMEM_OK && most < count)
		status = gm_claim_refuse(driver->device);
	return status;
}

gpumem_status gm_driver_page_destroy(struct gm_driver *driver, uint64_t bytes,
				     const gpumem_page *pages, size_t count,
				     size_t *done_out)
{
	struct gm_call call =
		gm_call_begin_counted(driver, GPUMEM_SLOT_page_destroy);
	size_t i = 0;

	while (call.status == GPUMEM_OK && i < count) {
		struct gm_live *live =
			gm_live_take_page(driver->device, pages[i]);

		call.status =
			call.ops->page_destroy(call.handle, pages[i], bytes);
		gm_call_settle(&call, live);
		i += call.status == GPUMEM_OK;
	}
	*done_out = i;
	call.count = i + (call.status != GPUMEM_OK);
	return gm_call_end(&call);
}

gpumem_status gm_driver_map(struct gm_driver *driver, uint64_t address,
			    const gpumem_page *pages, size_t count,
			    uint64_t page_bytes)
{
	struct gm_call call = gm_call_begin_counted(driver, GPUMEM_SLOT_map);

	if (driver->peer_count)
		call.slot = GPUMEM_SLOT_map_peers;
	if (call.status != GPUMEM_OK)
		return gm_call_end(&call);
	if (!driver->peer_count)
		call.status = call.ops->map(call.handle, address, pages, count,
					    page_bytes);
	else
		call.status = call.ops->map_peers(
			call.handle, address, pages, count, page_bytes,
			driver->peers, driver->peer_count);
	return gm_call_end(&call);
}

gpumem_status gm_driver_unmap(struct gm_driver *driver, uint64_t address,
			      size_t count, uint64_t page_bytes)
{
	struct gm_call call = gm_call_begin_counted(driver, GPUMEM_SLOT_unmap);

	if (call.status == GPUMEM_OK)
		call.status = call.ops->unmap(call.handle, address, count,
					      page_bytes);
	return gm_call_end(&call);
}

gpumem_status gm_driver_event_create(struct gm_driver *driver, void **event_out)
{
	struct gm_call call =
		gm_call_begin_counted(driver, GPUMEM_SLOT_event_create);
	void *event = NULL;

	if (call.status == GPUMEM_OK)
		call.status = call.ops->event_create(call.handle, &event);
	gm_call_check_set(&call, event != NULL, "event");
	if (call.status == GPUMEM_OK)
		*event_out = event;
	return gm_call_end(&call);
}

gpumem_status gm_driver_event_destroy(struct gm_driver *driver, void *event)
{
	struct gm_call call =
		gm_call_begin_counted(driver, GPUMEM_SLOT_event_destroy);

	/* What the plugin keeps for it goes, whatever became of the device. */
	call.made = true;
	call.status = call.ops->event_destroy(call.handle, event);
	return gm_call_end(&call);
}

gpumem_status gm_driver_event_record(struct gm_driver *driver, void *event,
				     gpumem_stream stream)
{
	struct gm_call call =
		gm_call_begin_counted(driver, GPUMEM_SLOT_event_record);

	if (call.status == GPUMEM_OK)
		call.status =
			call.ops->event_record(call.handle, event, stream);
	return gm_call_end(&call);
}

gpumem_status gm_driver_stream_query(struct gm_driver *driver,
				     gpumem_stream stream)
{
	struct gm_call call =
		gm_call_begin_counted(driver, GPUMEM_SLOT_stream_query);

	if (call.status == GPUMEM_OK)
		call.status = call.ops->stream_query(call.handle, stream);
	return gm_call_end(&call);
}

gpumem_status gm_driver_event_query(struct gm_driver *driver, void *event)
{
	struct gm_call call =
		gm_call_begin_counted(driver, GPUMEM_SLOT_event_query);

	if (call.status == GPUMEM_OK)
		call.status = call.ops->event_query(call.handle, event);
	return gm_call_end(&call);
}

gpumem_status gm_driver_event_sync(struct gm_driver *driver, void *event)
{
	struct gm_call call =
		gm_call_begin_counted(driver, GPUMEM_SLOT_event_sync);

	if (call.status == GPUMEM_OK)
		call.status = call.ops->event_sync(call.handle, event);
	return gm_call_end(&call);
}

gpumem_status gm_driver_capture_id(struct gm_driver *driver,
				   gpumem_stream stream, uint64_t *id_out)
{
	uint64_t id = UINT64_MAX;
	gpumem_status status;
	struct gm_call call;

	if (!gm_device_has(driver->device, GPUMEM_CAP_CAPTURE)) {
		*id_out = 0;
		return GPUMEM_OK;
	}
	call = gm_call_begin_counted(driver, GPUMEM_SLOT_capture_id);
	if (call.status == GPUMEM_OK)
		call.status = call.ops->capture_id(call.handle, stream, &id);
	gm_call_check_set(&call, id != UINT64_MAX, "number of a capture");
	if (call.status == GPUMEM_OK)
		*id_out = id;
	status = gm_call_end(&call);
	/* It is the first call that a stream is used for. */
	if (status == GPUMEM_INVALID)
		gm_error_context("the stream cannot be used");
	return status;
}
