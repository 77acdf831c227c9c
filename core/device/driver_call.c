/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* See driver_call.h. */
#include "driver_call.h"
#include "loader/answer.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/status.h"
#include "loader/slots.h"
#include "loss.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct gm_call gm_call_begin(struct gpumem_device *device,
			     enum gpumem_slot slot)
{
	struct gm_call call = {
		.device = device,
		.ops = device->ops,
		.handle = device->handle,
		.slot = slot,
	};

	gm_native_clear();
	if (atomic_load_explicit(&device->lost, memory_order_acquire)) {
		call.status = GPUMEM_LOST;
		return call;
	}
	call.made = true;
	return call;
}

/* What of a driver's is asked for memory or addresses, and so goes before what
 * takes them back. */
static bool takes(enum gpumem_slot slot)
{
	return slot == GPUMEM_SLOT_alloc || slot == GPUMEM_SLOT_va_reserve ||
	       slot == GPUMEM_SLOT_page_create || slot == GPUMEM_SLOT_map;
}

struct gm_call gm_call_begin_counted(struct gm_driver *driver,
				     enum gpumem_slot slot)
{
	struct gm_call call = gm_call_begin(driver->device, slot);

	call.driver = driver;
	call.count = 1;
	call.begin_ns = gm_clock_ns();
	call.entered = takes(slot);
	if (call.entered)
		gm_gate_enter(driver->device->gate);
	return call;
}

/* NOT_READY and CAPTURING are what these are asked for, not failures. */
static bool is_answer(const struct gm_call *call)
{
	return ((call->slot == GPUMEM_SLOT_event_query ||
		 call->slot == GPUMEM_SLOT_event_wait ||
		 call->slot == GPUMEM_SLOT_stream_query) &&
		call->status == GPUMEM_NOT_READY) ||
	       (call->slot == GPUMEM_SLOT_event_record &&
		call->status == GPUMEM_CAPTURING);
}

static void count(const struct gm_call *call, bool failed)
{
	uint64_t spent_ns = gm_clock_ns() - call->begin_ns;
	unsigned number = gm_slot_rows[call->slot].counted;
	struct gm_driver *driver = call->driver;

	atomic_fetch_add_explicit(&driver->calls[number].count, call->count,
				  memory_order_relaxed);
	atomic_fetch_add_explicit(&driver->calls[number].ns, spent_ns,
				  memory_order_relaxed);
	if (failed)
		atomic_fetch_add_explicit(&driver->calls[number].failed, 1,
					  memory_order_relaxed);
}

static void lied(struct gm_call *call, const char *format, ...)
	GPUMEM_PRINTF(2, 3);

static void lied(struct gm_call *call, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	gm_native_error(0, "", "the backend returned success and %s", text);
	call->status = GPUMEM_DRIVER;
}

void gm_call_check_set(struct gm_call *call, bool set, const char *what)
{
	if (call->status == GPUMEM_OK && !set)
		lied(call, "no %s", what);
}

void gm_call_check_address(struct gm_call *call, uint64_t address,
			   uint64_t bytes, uint64_t alignment)
{
	const uint64_t end = UINT64_C(1) << 48;

	gm_call_check_set(call, address != 0, "address");
	if (call->status != GPUMEM_OK)
		return;
	if (address & (alignment - 1))
		lied(call, "the address %#llx, which is not aligned to %llu",
		     (unsigned long long)address,
		     (unsigned long long)alignment);
	else if (bytes > end || address > end - bytes)
		lied(call, "the address %#llx, which is beyond 48 bits",
		     (unsigned long long)address);
}

static void lied_overlap(struct gm_call *call, uint64_t address, uint64_t bytes,
			 const struct gm_overlap *overlap)
{
	lied(call,
	     "the %llu bytes at %#llx, which overlap the %llu bytes at %#llx "
	     "that %s gave and has not taken back",
	     (unsigned long long)bytes, (unsigned long long)address,
	     (unsigned long long)overlap->bytes,
	     (unsigned long long)overlap->from, overlap->device);
}

void gm_call_check_clear(struct gm_call *call, uint64_t address, uint64_t bytes)
{
	struct gm_overlap overlap;

	if (call->status == GPUMEM_OK &&
	    gm_live_overlaps(address, bytes, &overlap))
		lied_overlap(call, address, bytes, &overlap);
}

void gm_call_keep_range(struct gm_call *call, struct gm_live *live,
			uint64_t address, uint64_t bytes, uint64_t alignment)
{
	struct gm_overlap overlap;

	gm_call_check_address(call, address, bytes, alignment);
	if (call->status == GPUMEM_OK) {
		live->from = address;
		live->bytes = bytes;
		if (gm_live_add_range(live, &overlap))
			return;
		lied_overlap(call, address, bytes, &overlap);
	}
	gm_live_discard(live);
}

void gm_call_keep_page(struct gm_call *call, struct gm_live **live,
		       gpumem_page page)
{
	struct gm_live *first = *live;

	gm_call_check_set(call, page != 0, "page");
	if (call->status != GPUMEM_OK)
		return;
	*live = first->more;
	first->more = NULL;
	if (gm_live_add_page(first, page))
		return;
	gm_live_discard(first);
	lied(call,
	     "the page %#llx, which it gave before and has not taken "
	     "back",
	     (unsigned long long)page);
}

void gm_call_settle(struct gm_call *call, struct gm_live *live)
{
	bool settled = gm_live_settle(live, call->status != GPUMEM_OK);

	if (!settled && call->status != GPUMEM_LOST)
		call->status = GPUMEM_OK;
}

/* The device was lost before: no driver was asked. */
static gpumem_status refuse(const struct gm_call *call)
{
	char sentence[64];

	snprintf(sentence, sizeof(sentence), "%s: %s",
		 gm_slot_rows[call->slot].name, gm_status_text(GPUMEM_LOST));
	return gm_fail_lost(call->device, sentence);
}

/* Whatever number a plugin returned becomes a status and a sentence. */
static gpumem_status fail(const struct gm_call *call)
{
	const struct gpumem_device *device = call->device;
	gpumem_status status = gm_answer(call->slot, call->status);
	bool allowed = status == call->status;
	char where[64];

	snprintf(where, sizeof(where), "%s%s%s", device->info.name,
		 allowed ? ": " : "",
		 allowed ? gm_slot_rows[call->slot].name : "");
	return gm_fail_native(status, device->ops->name, where);
}

/* A line in the log; a device that is lost is so for good. */
static gpumem_status tell(const struct gm_call *call)
{
	struct gpumem_error error = GPUMEM_INIT(struct gpumem_error);
	gpumem_status status = call->made ? fail(call) : refuse(call);
	bool first_loss = status == GPUMEM_LOST && gm_device_lose(call->device);

	gm_error_get(&error);
	gm_log(first_loss ? GPUMEM_LOG_ERROR : GPUMEM_LOG_DEBUG, "%s",
	       error.text);
	return status;
}

gpumem_status gm_call_end(const struct gm_call *call)
{
	bool failed = call->status != GPUMEM_OK && !is_answer(call);

	if (call->entered)
		gm_gate_leave(call->device->gate);
	if (call->made && call->driver)
		count(call, failed);
	return failed ? tell(call) : call->status;
}
