/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A call of each slot of ../loader/fake.h, by its number, for tests of what
 * surrounds every call. One program includes this once.
 */
#ifndef GPUMEM_TESTS_DEVICE_CALLS_H
#define GPUMEM_TESTS_DEVICE_CALLS_H

#include "device/driver.h"
#include "../../tap.h"
#include "../loader/fake.h"

static struct gpumem_device *device;
static struct gm_driver driver;

/* One call of every counted slot, by its number. */
static gpumem_status call(unsigned number)
{
	struct gpumem_memory memory = GPUMEM_INIT(struct gpumem_memory);
	void *event = NULL;
	uint64_t value = 0;
	size_t done;

	switch ((enum gpumem_call)number) {
	case GPUMEM_CALL_ALLOC:
		return gm_driver_alloc(&driver, 4096, &value);
	case GPUMEM_CALL_FREE:
		return gm_driver_free(&driver, 4096, 4096);
	case GPUMEM_CALL_VA_RESERVE:
		return gm_driver_va_reserve(&driver, 4096, 4096, &value);
	case GPUMEM_CALL_VA_RELEASE:
		return gm_driver_va_release(&driver, 4096, 4096);
	case GPUMEM_CALL_PAGE_CREATE:
		return gm_driver_page_create(&driver, 4096, &value, 1, &done);
	case GPUMEM_CALL_PAGE_DESTROY:
		value = 1;
		return gm_driver_page_destroy(&driver, 4096, &value, 1, &done);
	case GPUMEM_CALL_MAP:
		return gm_driver_map(&driver, 4096, &value, 1, 4096);
	case GPUMEM_CALL_UNMAP:
		return gm_driver_unmap(&driver, 4096, 1, 4096);
	case GPUMEM_CALL_STREAM_QUERY:
		return gm_driver_stream_query(&driver, NULL);
	case GPUMEM_CALL_EVENT_CREATE:
		return gm_driver_event_create(&driver, &event);
	case GPUMEM_CALL_EVENT_DESTROY:
		return gm_driver_event_destroy(&driver, &driver);
	case GPUMEM_CALL_EVENT_RECORD:
		return gm_driver_event_record(&driver, &driver, NULL);
	case GPUMEM_CALL_EVENT_QUERY:
		return gm_driver_event_query(&driver, &driver);
	case GPUMEM_CALL_EVENT_SYNC:
		return gm_driver_event_sync(&driver, &driver);
	case GPUMEM_CALL_CAPTURE_ID:
		return gm_driver_capture_id(&driver, NULL, &value);
	case GPUMEM_CALL_MEMORY_INFO:
		return gm_driver_memory_info(&driver, &memory);
	case GPUMEM_CALL_COUNT:
		break;
	}
	bail("call %u is not tested", number);
	return GPUMEM_INVALID;
}

static const char *const names[] = {
#define NAME(name, slot) #slot,
	GPUMEM_CALL_LIST(NAME)
#undef NAME
};

/* Those that are in nobody's counters. */
static const char *const slots[] = {"stream_create", "stream_sync", "fill",
				    "copy", "stream_destroy"};

static gpumem_status use(int number)
{
	gpumem_stream stream;

	switch (number) {
	case 0:
		return gm_stream_create(device, &stream);
	case 1:
		return gm_stream_sync(device, NULL);
	case 2:
		return gm_fill(device, 1, 2, 3, NULL);
	case 3:
		return gm_copy(device, 1, 2, 3, NULL);
	default:
		return gm_stream_destroy(device, NULL);
	}
}

#endif
