/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The host backend's faults: every form of the list, bad lists, the option, the
 * size limit, and a device that is lost, by a fault or after so many calls.
 */
#include "fake.h"

static gpumem_status create_page(void *device)
{
	gpumem_page page;

	return host->page_create(device, PAGE, &page);
}

static gpumem_status ask(void *device)
{
	struct gpumem_memory memory = GPUMEM_INIT(struct gpumem_memory);

	return host->memory_info(device, &memory);
}

static void set(const char *faults)
{
	is_status(gpumem_host_faults(faults), GPUMEM_OK, "faults \"%s\"",
		  faults ? faults : "(NULL)");
}

static void test_forms(void *device)
{
	set("page_create@2");
	is_status(create_page(device), GPUMEM_OK, "the first is well");
	is_status(create_page(device), GPUMEM_NO_MEMORY,
		  "the second fails as if for memory");
	is_int(fake_error.code, 2, "with a native code");
	is_status(create_page(device), GPUMEM_OK, "the third is well");
	set("memory_info@2+");
	is_status(ask(device), GPUMEM_OK, "first");
	is_status(ask(device), GPUMEM_DRIVER, "with '+' the second fails");
	is_status(ask(device), GPUMEM_DRIVER, "and all later");
	is_status(create_page(device), GPUMEM_OK, "but no other slot");
	set("memory_info@1:no_host_memory;page_create@2:Gpumem_Unsupported");
	is_status(ask(device), GPUMEM_NO_HOST_MEMORY, "a status by name");
	is_status(create_page(device), GPUMEM_OK, "a list: first");
	is_status(create_page(device), GPUMEM_UNSUPPORTED, "a list: second");
	set("memory_info@1+:INVALID");
	is_status(ask(device), GPUMEM_INVALID, "'+' and a status");
	is_status(ask(device), GPUMEM_INVALID, "again");
	set("*@3");
	is_status(ask(device), GPUMEM_OK, "'*' counts all slots: one");
	is_status(create_page(device), GPUMEM_OK, "two");
	is_status(create_page(device), GPUMEM_NO_MEMORY,
		  "three fails, as its slot would");
	is_status(ask(device), GPUMEM_OK, "four is well");
	set("*@1+");
	is_status(ask(device), GPUMEM_DRIVER, "'*' and '+'");
	is_status(create_page(device), GPUMEM_NO_MEMORY, "each in its way");
	set("memory_info@1:driver;memory_info@1:busy;*@2:corrupt");
	is_status(ask(device), GPUMEM_DRIVER, "the first of a list decides");
	is_status(ask(device), GPUMEM_CORRUPT, "all of it count");
	set(NULL);
	is_status(ask(device), GPUMEM_OK, "NULL: none");
	set("memory_info@1");
	set("");
	is_status(ask(device), GPUMEM_OK, "\"\": none");
	set("event_query@1:not_ready");
	fake_error.count = 0;
	is_status(host->event_query(device, NULL), GPUMEM_NOT_READY,
		  "not ready at will");
	is_uint(fake_error.count, 0, "is still no error");
	set("");
}

static void test_count(void *device)
{
	set("memory_info@2");
	is_uint(gpumem_host_calls(), 0, "no call yet");
	(void)!ask(device);
	(void)!create_page(device);
	is_uint(gpumem_host_calls(), 2, "two calls");
	is_status(ask(device), GPUMEM_DRIVER, "the second of its slot");
	is_uint(gpumem_host_calls(), 3, "a failing call counts");
	set("");
	is_uint(gpumem_host_calls(), 0, "counted from then");
	(void)!ask(device);
	is_uint(gpumem_host_calls(), 1, "without faults too");
}

/* Each slot that can fail can be made to. */
static void test_names(void)
{
	static const char *const slots[] = {
#define NAME(slot, group, caps, counted) #slot,
		GPUMEM_SLOT_LIST(NAME)
#undef NAME
	};
	char fault[64];

	for (size_t i = 0; i < GPUMEM_SLOT_COUNT; i++) {
		if (i == GPUMEM_SLOT_driver_version ||
		    i == GPUMEM_SLOT_device_close)
			continue;
		snprintf(fault, sizeof(fault), "%s@1", slots[i]);
		is_status(gpumem_host_faults(fault), GPUMEM_OK, "%s", fault);
	}
}

static void test_bad_lists(void *device)
{
	static const char *const bad[] = {
		"alloc",
		"alloc@",
		"alloc@0",
		"alloc@x",
		"alloc@-1",
		"alloc@1x",
		"alloc@1++",
		"@1",
		"malloc@1",
		"Alloc@1",
		"alloc@1:",
		"alloc@1:ok",
		"alloc@1:none",
		"alloc:lost@1",
		";",
		"alloc@1;",
		";alloc@1",
		"alloc@1;;free@1",
		"alloc@1:lost+",
		"alloc@1 ;free@1",
		"device_close@1",
		"driver_version@1",
		"alloc@99999999999999999999",
	};
	char many[2048] = "alloc@1";

	set("memory_info@1");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		is_status(gpumem_host_faults(bad[i]), GPUMEM_INVALID,
			  "\"%s\" is refused", bad[i]);
	for (int i = 0; i < 100; i++)
		strcat(many, ";alloc@1");
	is_status(gpumem_host_faults(many), GPUMEM_INVALID,
		  "a hundred are too many");
	is_status(ask(device), GPUMEM_DRIVER, "the old ones still hold");
	set("");
}

static void test_option(void)
{
	void *device = NULL;
	int count = 0;

	option("host.fail", "memory_info@2");
	device = open_device(0);
	is_status(ask(device), GPUMEM_OK, "host.fail is read by opening");
	is_status(ask(device), GPUMEM_DRIVER, "and works");
	set("memory_info@1");
	host->device_close(device);
	device = open_device(0);
	is_status(ask(device), GPUMEM_DRIVER,
		  "the same option again does not undo what was set since");
	host->device_close(device);
	option("host.fail", "device_open@1:no_device;device_count@1");
	is_status(host->device_open(0, &device), GPUMEM_NO_DEVICE,
		  "opening can fail");
	is_status(host->device_count(&count), GPUMEM_DRIVER, "counting too");
	option("host.fail", "nonsense");
	is_status(host->device_open(0, &device), GPUMEM_INVALID,
		  "a bad list is refused");
	ok(strstr(fake_error.text, "host.fail") != NULL, "with a sentence: %s",
	   fake_error.text);
	option("host.fail", NULL);
	device = open_device(0);
	is_uint(gpumem_host_calls(), 1, "without it, all is well again");
	host->device_close(device);
}

static void test_above(void)
{
	gpumem_page pages[3];
	uint64_t address = 0;
	void *device;

	option("host.fail_above", "4MiB");
	device = open_device(0);
	is_status(host->page_create(device, 2 * PAGE, &pages[2]), GPUMEM_OK,
		  "4 MiB are well");
	is_status(host->page_create(device, 3 * PAGE, &pages[0]),
		  GPUMEM_NO_MEMORY, "6 MiB are not");
	is_status(host->alloc(device, 3 * PAGE, &address), GPUMEM_NO_MEMORY,
		  "nor raw");
	is_status(host->alloc(device, 2 * PAGE, &address), GPUMEM_OK,
		  "but 4 MiB");
	for (int i = 0; i < 3; i++)
		(void)!host->page_create(device, PAGE, &pages[i]);
	is_status(host->va_reserve(device, 4 * PAGE, PAGE, &address), GPUMEM_OK,
		  "addresses are no memory");
	is_status(host->map(device, address, pages, 3, PAGE), GPUMEM_NO_MEMORY,
		  "three pages in one map are 6 MiB");
	is_status(host->map(device, address, pages, 2, PAGE), GPUMEM_OK,
		  "two are not");
	is_status(host->map(device, address + 2 * PAGE, pages + 2, 1, PAGE),
		  GPUMEM_OK, "and then the third");
	host->device_close(device);
	option("host.fail_above", NULL);
}

/* ---- A lost device ----------------------------------------------------- */

static void set_flag(void *arg)
{
	atomic_store((_Atomic bool *)arg, true);
}

static void check_memory_lost(void *device)
{
	uint64_t n = 77;
	gpumem_page page = 1;

	is_status(ask(device), GPUMEM_LOST, "memory_info");
	is_status(host->alloc(device, PAGE, &n), GPUMEM_LOST, "alloc");
	is_status(host->free(device, n, PAGE), GPUMEM_LOST, "free");
	is_status(host->va_reserve(device, PAGE, PAGE, &n), GPUMEM_LOST,
		  "va_reserve");
	is_status(host->va_release(device, n, PAGE), GPUMEM_LOST, "va_release");
	is_status(host->page_create(device, PAGE, &n), GPUMEM_LOST,
		  "page_create");
	is_status(host->page_destroy(device, n, PAGE), GPUMEM_LOST,
		  "page_destroy");
	is_status(host->map(device, n, &page, 1, PAGE), GPUMEM_LOST, "map");
	is_status(host->unmap(device, n, 1, PAGE), GPUMEM_LOST, "unmap");
	is_status(host->fill(device, n, 0, 1, NULL), GPUMEM_LOST, "fill");
	is_status(host->copy(device, n, n, 1, NULL), GPUMEM_LOST, "copy");
}

static void check_streams_lost(void *device, gpumem_stream stream)
{
	uint64_t n = 77;
	gpumem_stream new = NULL;
	void *event = NULL;

	is_status(host->capture_id(device, stream, &n), GPUMEM_LOST,
		  "capture_id");
	is_status(host->stream_create(device, &new), GPUMEM_LOST,
		  "stream_create");
	is_status(host->stream_destroy(device, stream), GPUMEM_LOST,
		  "stream_destroy");
	is_status(host->stream_query(device, stream), GPUMEM_LOST,
		  "stream_query");
	is_status(host->stream_sync(device, stream), GPUMEM_LOST,
		  "stream_sync");
	is_status(host->stream_wait(device, stream, event), GPUMEM_LOST,
		  "stream_wait");
	is_status(host->event_create(device, &event), GPUMEM_LOST,
		  "event_create");
	is_status(host->event_destroy(device, event), GPUMEM_LOST,
		  "event_destroy");
	is_status(host->event_record(device, event, stream), GPUMEM_LOST,
		  "event_record");
	is_status(host->event_query(device, event), GPUMEM_LOST, "event_query");
	is_status(host->event_sync(device, event), GPUMEM_LOST, "event_sync");
	is_status(gpumem_host_launch(0, stream, door_kernel, NULL), GPUMEM_LOST,
		  "launch");
}

static void *lose_soon(void *device)
{
	(void)!ask(device); /* by its fault */
	return NULL;
}

static void test_lost(void)
{
	void *device = open_device(0), *again = NULL;
	gpumem_stream stream = new_stream(device);
	_Atomic bool ran = false;
	struct door door = DOOR;
	pthread_t thread;

	if (gpumem_host_launch(0, stream, door_kernel, &door) != GPUMEM_OK ||
	    gpumem_host_launch(0, stream, set_flag, &ran) != GPUMEM_OK)
		bail("launch: %s", fake_error.text);
	set("memory_info@1:lost");
	if (pthread_create(&thread, NULL, lose_soon, device))
		bail("no thread");
	is_status(host->stream_sync(device, stream), GPUMEM_LOST,
		  "who waits for a stream is told when the device is lost");
	pthread_join(thread, NULL);
	set("");
	check_memory_lost(device);
	check_streams_lost(device, stream);
	is_status(host->device_open(0, &again), GPUMEM_LOST,
		  "it cannot be opened again while it is open");
	door_open(&door);
	host->device_close(device);
	ok(!ran, "what was queued is dropped");
	device = open_device(0);
	is_status(ask(device), GPUMEM_OK, "closed and opened, it is back");
	host->device_close(device);
}

static void test_lose(void)
{
	void *device, *other;

	option("host.devices", "2");
	option("host.lose", "3");
	device = open_device(0);
	other = open_device(1);
	for (int i = 0; i < 3; i++)
		is_status(ask(device), GPUMEM_OK, "call %d of 3", i + 1);
	is_status(ask(device), GPUMEM_LOST, "then it is lost");
	is_status(create_page(device), GPUMEM_LOST, "for good");
	is_status(ask(other), GPUMEM_OK, "the other is not");
	host->device_close(device);
	host->device_close(other);
	option("host.lose", NULL);
	option("host.devices", NULL);
}

int main(void)
{
	void *device;

	is_status(gpumem_host_faults("alloc@"), GPUMEM_INVALID,
		  "a bad list before init");
	is_status(gpumem_host_faults("init@1:no_driver"), GPUMEM_OK,
		  "a good one");
	is_status(host->init(&fake_services), GPUMEM_NO_DRIVER,
		  "init can be made to fail");
	fake_start();
	device = open_device(0);
	test_forms(device);
	test_count(device);
	test_names();
	test_bad_lists(device);
	host->device_close(device);
	test_option();
	test_above();
	test_lost();
	test_lose();
	return done_testing();
}
