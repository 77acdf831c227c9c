/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Adopted contexts of the cuda backend that are destroyed under it: every call
 * says so, no other device notices, and a later context at the same address is
 * not taken for the earlier one. And drivers that fail when one is adopted.
 */
#include "fixture.h"

static void *new_context(void)
{
	void *context = NULL, *popped = NULL;

	if (driver.cuCtxCreate_v2(&context, 0, 0) ||
	    driver.cuCtxPopCurrent_v2(&popped))
		bail("cuCtxCreate");
	return context;
}

static int adopt(void *context)
{
	int index = -1;

	if (!is_status(gpu->device_adopt(context, NULL, &index), GPUMEM_OK,
		       "adopt"))
		bail("%s", said.text);
	return index;
}

/* Another context at the address of the one that was destroyed last. */
static void *new_at(void *address)
{
	void *context;

	driver.fakecuda_recycle();
	context = new_context();
	if (context != address)
		bail("the address was not taken again");
	return context;
}

static void lost(gpumem_status status, const char *slot)
{
	is_status(status, GPUMEM_LOST, "%s", slot);
	ok(strstr(said.text, "has destroyed the device's context"), "%s",
	   said.text);
	said.text[0] = '\0';
}

/* `event` and `block` were made before. */
static void all_lost(void *device, void *event, uint64_t block)
{
	struct gpumem_memory memory = GPUMEM_INIT(struct gpumem_memory);
	uint64_t address = 0;
	gpumem_page page = 0;
	void *made = NULL;

	lost(gpu->memory_info(device, &memory), "memory_info");
	lost(gpu->alloc(device, PAGE, &address), "alloc");
	lost(gpu->free(device, block, PAGE), "free");
	lost(gpu->page_create(device, PAGE, &page), "page_create");
	lost(gpu->va_reserve(device, PAGE, PAGE, &address), "va_reserve");
	lost(gpu->fill(device, block, 1, PAGE, NULL), "fill");
	lost(gpu->stream_create(device, &made), "stream_create");
	lost(gpu->event_create(device, &made), "event_create");
	lost(gpu->event_record(device, event, NULL), "event_record");
	lost(gpu->event_query(device, event), "event_query");
	lost(gpu->event_destroy(device, event), "event_destroy, its end");
	ok(!made && !address && !page, "no output is touched");
	is_ptr(current_context(), NULL, "and no context left current");
}

static void open_used(int index, void **device, void **event, uint64_t *block)
{
	*device = open_device(index);
	if (gpu->event_create(*device, event) != GPUMEM_OK ||
	    gpu->alloc(*device, PAGE, block) != GPUMEM_OK)
		bail("%s", said.text);
}

static void test_gone(void *other)
{
	void *context = new_context(), *device, *event, *opened = NULL;
	int index = adopt(context);
	uint64_t block;

	open_used(index, &device, &event, &block);
	if (driver.cuCtxDestroy_v2(context))
		bail("cuCtxDestroy");
	all_lost(device, event, block);
	gpu->device_close(device);
	lost(gpu->device_open(index, &opened), "device_open");
	is_ptr(opened, NULL, "nothing is opened");
	if (gpu->alloc(other, PAGE, &block) == GPUMEM_OK)
		is_status(gpu->free(other, block, PAGE), GPUMEM_OK,
			  "another context of the device lives on");
}

static void test_again(void)
{
	void *context = new_context(), *device, *event;
	int index = adopt(context), again = 77;
	uint64_t block, raw = 0;

	open_used(index, &device, &event, &block);
	if (driver.cuCtxDestroy_v2(context))
		bail("cuCtxDestroy");
	context = new_at(context);
	is_status(gpu->device_adopt(context, NULL, &again), GPUMEM_INVALID,
		  "a later context at the address of an earlier one");
	ok(strstr(said.text, "still open: close that first") && again == 77,
	   "%s", said.text);
	all_lost(device, event, block);
	gpu->device_close(device);
	is_int(adopt(context), index, "then it has the earlier one's index");
	device = open_device(index);
	is_status(gpu->alloc(device, PAGE, &raw), GPUMEM_OK, "and works");
	is_status(gpu->free(device, raw, PAGE), GPUMEM_OK, "to its end");
	gpu->device_close(device);
	driver.cuCtxDestroy_v2(context);
}

/* Drivers before 12.0 do not number contexts. */
static void test_unnumbered(void)
{
	void *context = new_context(), *device;
	uint64_t raw = 0;
	int index;

	driver.fakecuda_fault("cuCtxGetId", 1, true, 801);
	index = adopt(context);
	is_int(adopt(context), index, "is the same without its number");
	device = open_device(index);
	is_status(gpu->alloc(device, PAGE, &raw), GPUMEM_OK, "works");
	is_status(gpu->free(device, raw, PAGE), GPUMEM_OK, "to its end");
	driver.fakecuda_heal();
	gpu->device_close(device);
	driver.cuCtxDestroy_v2(context);
}

/* Each call of the driver fails once. */
static void test_faults(void)
{
	static const struct {
		const char *name;
		unsigned nth;
		bool primary;
	} rows[] = {
		{"cuThreadExchangeStreamCaptureMode", 1, false},
		{"cuCtxPushCurrent", 1, false},
		{"cuCtxGetDevice", 1, false},
		{"cuDevicePrimaryCtxGetState", 1, false},
		{"cuDevicePrimaryCtxRetain", 1, true},
		{"cuDeviceGetCount", 1, false},
		{"cuDeviceGet", 1, true},
	};
	void *context = new_context(), *primary = NULL;
	struct fakecuda_held before, after;

	if (driver.cuDevicePrimaryCtxRetain(&primary, 0))
		bail("cuDevicePrimaryCtxRetain");
	before = audit();
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		void *one = rows[i].primary ? primary : context;
		int index = 77;

		said.text[0] = '\0';
		driver.fakecuda_fault(rows[i].name, rows[i].nth, false, 999);
		is_status(gpu->device_adopt(one, NULL, &index), GPUMEM_DRIVER,
			  "%s fails", rows[i].name);
		driver.fakecuda_heal();
		after = audit();
		ok(said.text[0] && index == 77 && !current_context() &&
			   !memcmp(&before, &after, sizeof(after)),
		   "and nothing is left: %s", said.text);
	}
	is_int(adopt(primary), 0, "then it works");
	driver.cuDevicePrimaryCtxRelease_v2(0);
	driver.cuCtxDestroy_v2(context);
}

int main(void)
{
	void *kept, *other;

	cuda_start();
	kept = new_context();
	other = open_device(adopt(kept));
	test_gone(other);
	test_again();
	test_unnumbered();
	test_faults();
	gpu->device_close(other);
	driver.cuCtxDestroy_v2(kept);
	is_uint(audit().contexts + audit().events + audit().used_bytes, 0,
		"nothing is left");
	return done_testing();
}
