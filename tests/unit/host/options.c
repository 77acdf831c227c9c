/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The host backend's options and what devices say of themselves: defaults, each
 * capability switched off, sizes, values that make no sense, latency.
 */
#include "fake.h"

#include <time.h>

static struct gpumem_device_info info_of(int index)
{
	struct gpumem_device_info info = GPUMEM_INIT(struct gpumem_device_info);

	if (host->device_info(index, &info) != GPUMEM_OK)
		bail("device_info: %s", fake_error.text);
	return info;
}

static void test_table(void)
{
	is_uint(host->abi, GPUMEM_BACKEND_ABI, "abi");
	is_uint(host->size, sizeof(struct gpumem_backend), "size");
	is_str(host->name, "host", "name");
	is_str(host->driver_version(), "host simulator 1", "driver_version");
	for (const struct gpumem_option_row *row = host->options; row->key;
	     row++)
		ok(strncmp(row->key, "host.", 5) == 0 && row->text[0] &&
			   !strchr(row->text, '\n'),
		   "%s has a text", row->key);
}

static void test_defaults(void)
{
	struct gpumem_device_info info = info_of(0);
	int count = 0;

	is_status(host->device_count(&count), GPUMEM_OK, "device_count");
	is_int(count, 1, "one device");
	is_str(info.product, "gpumem simulated GPU", "product");
	is_int((int)strlen(info.uuid), 36, "uuid %s", info.uuid);
	is_str(info.pci, "", "no pci address");
	is_uint(info.total_bytes, UINT64_C(64) << 30, "64 GiB");
	is_uint(info.granularity_bytes, PAGE, "pages of 2 MiB");
	is_uint(info.alignment_bytes, 256, "alignment 256");
	is_uint(info.max_alloc_bytes, UINT64_C(64) << 30, "max_alloc");
	is_uint(info.caps,
		GPUMEM_CAP_STREAMS | GPUMEM_CAP_VM | GPUMEM_CAP_COPY |
			GPUMEM_CAP_CAPTURE | GPUMEM_CAP_HOST_ACCESS |
			GPUMEM_CAP_MEMORY_INFO | GPUMEM_CAP_PINNED |
			GPUMEM_CAP_MANAGED | GPUMEM_CAP_PEER |
			GPUMEM_CAP_SHARE_IPC | GPUMEM_CAP_SHARE_FD |
			GPUMEM_CAP_ALIAS | GPUMEM_CAP_FREES_IN_CAPTURE |
			GPUMEM_CAP_SIMULATED,
		"capabilities");
	option("host.capture_frees", "off");
	ok(!(info_of(0).caps & GPUMEM_CAP_FREES_IN_CAPTURE) &&
		   info_of(0).caps & GPUMEM_CAP_CAPTURE,
	   "a capture may forbid to free");
	option("host.capture_frees", NULL);
}

static void test_devices(void)
{
	struct gpumem_device_info a, b, again, none = {.size = sizeof(none)};
	void *device = NULL;
	int count = 0;

	option("host.devices", "3");
	is_status(host->device_count(&count), GPUMEM_OK, "device_count");
	is_int(count, 3, "three devices");
	a = info_of(0);
	b = info_of(2);
	again = info_of(0);
	ok(strcmp(a.uuid, b.uuid) != 0, "each has its own uuid");
	is_str(again.uuid, a.uuid, "which stays");
	is_status(host->device_info(3, &none), GPUMEM_NO_DEVICE, "no fourth");
	is_status(host->device_open(3, &device), GPUMEM_NO_DEVICE, "to open");
	is_status(host->device_open(-1, &device), GPUMEM_NO_DEVICE, "or -1");
	option("host.devices", "0");
	is_status(host->device_count(&count), GPUMEM_NO_DEVICE, "none at all");
	option("host.devices", NULL);
	is_status(gpumem_host_outside(64, 1), GPUMEM_INVALID,
		  "outside of none");
	is_status(gpumem_host_outside(-1, 1), GPUMEM_INVALID, "or less");
	is_uint(gpumem_host_used_bytes(-1), 0, "used of none");
	is_uint(gpumem_host_used_bytes(1000), 0, "or of none beyond");
}

static void test_sizes(void)
{
	struct gpumem_device_info info;

	option("host.capacity", "1.5GiB");
	option("host.page", "64KiB");
	option("host.alignment", "4KiB");
	info = info_of(0);
	is_uint(info.total_bytes, UINT64_C(3) << 29, "capacity 1.5GiB");
	is_uint(info.granularity_bytes, 65536, "page 64KiB");
	is_uint(info.alignment_bytes, 4096, "alignment 4KiB");
	is_uint(info.max_alloc_bytes, UINT64_C(3) << 29, "max_alloc follows");
	option("host.max_alloc", "1GiB");
	is_uint(info_of(0).max_alloc_bytes, UINT64_C(1) << 30, "or is less");
	option("host.max_alloc", "1TiB");
	is_uint(info_of(0).max_alloc_bytes, UINT64_C(3) << 29, "never more");
	option("host.max_alloc", NULL);
	option("host.capacity", "1TiB");
	is_uint(info_of(0).total_bytes, UINT64_C(1) << 40, "capacity 1TiB");
	option("host.capacity", "12345678");
	is_uint(info_of(0).total_bytes, 12345678, "plain bytes");
	option("host.capacity", "64m");
	is_uint(info_of(0).total_bytes, 64 << 20, "a short unit");
	option("host.capacity", NULL);
	option("host.page", NULL);
	option("host.alignment", NULL);
}

static void refused(const char *key, const char *value)
{
	struct gpumem_device_info info = GPUMEM_INIT(struct gpumem_device_info);
	void *device = NULL;
	int count = 77;

	option(key, value);
	fake_error.text[0] = '\0';
	ok(host->device_count(&count) == GPUMEM_INVALID && count == 77 &&
		   host->device_info(0, &info) == GPUMEM_INVALID &&
		   host->device_open(0, &device) == GPUMEM_INVALID && !device,
	   "%s=\"%s\" is refused", key, value);
	ok(strstr(fake_error.text, key) != NULL, "%s", fake_error.text);
	option(key, NULL);
}

static void test_nonsense(void)
{
	refused("host.devices", "65");
	refused("host.devices", "-1");
	refused("host.capacity", "0");
	refused("host.capacity", "4095");
	refused("host.capacity", "1EiB");
	refused("host.capacity", "99999999999999999999");
	refused("host.capacity", "17179869185GiB");
	refused("host.capacity", "16XiB");
	refused("host.capacity", "1.GiB");
	refused("host.capacity", "1.2.3GiB");
	refused("host.capacity", "");
	refused("host.page", "3000000");
	refused("host.page", "2KiB");
	refused("host.page", "2GiB");
	refused("host.alignment", "8");
	refused("host.alignment", "100");
	refused("host.vm", "maybe");
	refused("host.latency", "alloc");
	refused("host.latency", "alloc=x");
	refused("host.latency", "alloc=1;");
	refused("host.latency", "nothing=1");
	refused("host.latency", "alloc=1.5");
}

/* ---- Capabilities switched off ----------------------------------------- */

static void test_no_vm(void)
{
	gpumem_page page = 77;
	uint64_t n = 77;
	void *device;

	option("host.vm", "off");
	is_uint(info_of(0).caps & GPUMEM_CAP_VM, 0, "no CAP_VM");
	is_uint(info_of(0).granularity_bytes, 4096, "granularity of alloc");
	device = open_device(0);
	is_status(host->va_reserve(device, PAGE, PAGE, &n), GPUMEM_UNSUPPORTED,
		  "va_reserve");
	is_status(host->va_release(device, n, PAGE), GPUMEM_UNSUPPORTED,
		  "va_release");
	is_status(host->page_create(device, PAGE, &page), GPUMEM_UNSUPPORTED,
		  "page_create");
	is_status(host->page_destroy(device, page, PAGE), GPUMEM_UNSUPPORTED,
		  "page_destroy");
	is_status(host->map(device, n, &page, 1, PAGE), GPUMEM_UNSUPPORTED,
		  "map");
	is_status(host->unmap(device, n, 1, PAGE), GPUMEM_UNSUPPORTED, "unmap");
	is_status(host->alloc(device, PAGE, &n), GPUMEM_OK, "alloc works");
	host->device_close(device);
	option("host.vm", NULL);
}

static void test_no_streams(void)
{
	uint32_t groups = GPUMEM_CAP_STREAMS | GPUMEM_CAP_CAPTURE;
	void *device, *p = NULL;
	uint64_t id = 77;
	uint8_t byte = 1, copy = 0;

	option("host.streams", "off");
	is_uint(info_of(0).caps & groups, 0, "no CAP_STREAMS, no CAP_CAPTURE");
	device = open_device(0);
	is_status(host->stream_create(device, &p), GPUMEM_UNSUPPORTED,
		  "stream_create");
	is_status(host->stream_destroy(device, p), GPUMEM_UNSUPPORTED,
		  "stream_destroy");
	is_status(host->stream_query(device, p), GPUMEM_UNSUPPORTED,
		  "stream_query");
	is_status(host->stream_sync(device, p), GPUMEM_UNSUPPORTED,
		  "stream_sync");
	is_status(host->stream_wait(device, p, p), GPUMEM_UNSUPPORTED,
		  "stream_wait");
	is_status(host->event_create(device, &p), GPUMEM_UNSUPPORTED,
		  "event_create");
	is_status(host->event_destroy(device, p), GPUMEM_UNSUPPORTED,
		  "event_destroy");
	is_status(host->event_record(device, p, p), GPUMEM_UNSUPPORTED,
		  "event_record");
	is_status(host->event_query(device, p), GPUMEM_UNSUPPORTED,
		  "event_query");
	is_status(host->event_sync(device, p), GPUMEM_UNSUPPORTED,
		  "event_sync");
	is_status(host->capture_id(device, p, &id), GPUMEM_UNSUPPORTED,
		  "capture_id");
	is_status(gpumem_host_launch(0, NULL, door_kernel, NULL),
		  GPUMEM_INVALID, "launch");
	is_status(host->fill(device, (uintptr_t)&byte, 5, 1, NULL), GPUMEM_OK,
		  "fill works");
	is_status(
		host->copy(device, (uintptr_t)&copy, (uintptr_t)&byte, 1, NULL),
		GPUMEM_OK, "copy works");
	is_uint(copy, 5, "both at once, since nothing can be waited for");
	host->device_close(device);
	option("host.streams", NULL);
}

static void test_no_rest(void)
{
	struct gpumem_memory memory = GPUMEM_INIT(struct gpumem_memory);
	gpumem_page page;
	uint64_t id = 77;
	void *device;

	option("host.copy", "off");
	option("host.capture", "no");
	option("host.memory_info", "0");
	option("host.pinned", "0");
	option("host.managed", "0");
	option("host.peers", "off");
	option("host.share_ipc", "off");
	option("host.share_fd", "off");
	is_uint(info_of(0).caps,
		GPUMEM_CAP_STREAMS | GPUMEM_CAP_VM | GPUMEM_CAP_ALIAS |
			GPUMEM_CAP_HOST_ACCESS | GPUMEM_CAP_SIMULATED,
		"capabilities");
	device = open_device(0);
	is_status(host->fill(device, (uintptr_t)&id, 0, 1, NULL),
		  GPUMEM_UNSUPPORTED, "fill");
	is_status(host->copy(device, (uintptr_t)&id, (uintptr_t)&id, 1, NULL),
		  GPUMEM_UNSUPPORTED, "copy");
	is_status(host->capture_id(device, NULL, &id), GPUMEM_UNSUPPORTED,
		  "capture_id");
	is_uint(id, 77, "the output is left alone");
	is_status(gpumem_host_capture(0, NULL, true), GPUMEM_INVALID,
		  "capture");
	(void)!gpumem_host_outside(0, PAGE);
	(void)!host->page_create(device, PAGE, &page);
	is_status(host->memory_info(device, &memory), GPUMEM_OK, "memory_info");
	is_uint(memory.total_bytes - memory.free_bytes, PAGE,
		"knows only what was taken here");
	(void)!gpumem_host_outside(0, 0);
	host->device_close(device);
	option("host.copy", NULL);
	option("host.capture", NULL);
	option("host.memory_info", NULL);
	option("host.pinned", NULL);
	option("host.managed", NULL);
	option("host.peers", NULL);
}

/* ---- Time -------------------------------------------------------------- */

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* How long the call must take at least is certain; how long it may is not. */
static void test_latency(void)
{
	struct gpumem_memory memory = GPUMEM_INIT(struct gpumem_memory);
	void *event;
	void *device;
	double start;

	option("host.latency", "*=20;event_create=0;memory_info=30000");
	device = open_device(0);
	start = seconds();
	(void)!host->memory_info(device, &memory);
	ok(seconds() - start >= 0.03, "a slot that sleeps 30 ms");
	start = seconds();
	for (int i = 0; i < 100; i++)
		(void)!host->event_query(device, NULL);
	ok(seconds() - start >= 0.002, "100 calls that spin 20 us");
	option("host.latency", NULL);
	start = seconds();
	(void)!host->memory_info(device, &memory);
	ok(seconds() - start >= 0.03, "an open device keeps its options");
	event = new_event(device);
	(void)!host->event_destroy(device, event);
	host->device_close(device);
}

static void test_copy_rate(void)
{
	static uint8_t bytes[1 << 20];
	void *device;
	double start;

	option("host.copy_rate", "20MiB");
	device = open_device(0);
	start = seconds();
	is_status(host->fill(device, (uintptr_t)bytes, 1, sizeof(bytes), NULL),
		  GPUMEM_OK, "fill");
	is_status(host->stream_sync(device, NULL), GPUMEM_OK, "sync");
	ok(seconds() - start >= 0.05, "1 MiB at 20 MiB a second takes 50 ms");
	is_uint(bytes[sizeof(bytes) - 1], 1, "and is done");
	host->device_close(device);
	option("host.copy_rate", NULL);
}

int main(void)
{
	fake_start();
	test_table();
	test_defaults();
	test_devices();
	test_sizes();
	test_nonsense();
	test_no_vm();
	test_no_streams();
	test_no_rest();
	test_latency();
	test_copy_rate();
	return done_testing();
}
