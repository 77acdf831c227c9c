/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The host backend's pinned and managed memory: accounts of their own, and
 * everything that a caller could get wrong.
 */
#include "probe.h"

/* For what is no test's subject. */
static void must_status(gpumem_status status)
{
	if (status != GPUMEM_OK)
		bail("%s", fake_error.text);
}

static uint64_t take(void *device, gpumem_kind kind, uint64_t bytes)
{
	uint64_t address = 0;

	if (host->kind_alloc(device, kind, bytes, &address) != GPUMEM_OK)
		bail("kind_alloc: %s", fake_error.text);
	return address;
}

static void accounts(gpumem_kind kind, const char *key)
{
	gpumem_kind other = kind == GPUMEM_KIND_PINNED ? GPUMEM_KIND_MANAGED
						       : GPUMEM_KIND_PINNED;
	uint64_t one, two, address = 42;
	void *device;

	option(key, "3MiB");
	device = open_device(0);
	one = take(device, kind, 1 << 20);
	two = take(device, kind, 2 << 20);
	is_uint(gpumem_host_kind_bytes(0, kind), 3 << 20, "%s is all given",
		key);
	is_uint(gpumem_host_kind_bytes(0, other), 0, "of the other none");
	is_uint(gpumem_host_used_bytes(0), 0, "and none of the device");
	memset(word(one), 1, 1 << 20);
	memset(word(two), 2, 2 << 20);
	is_uint(*word(one), 0x01010101, "each has its own bytes");
	is_status(host->kind_alloc(device, kind, 4096, &address),
		  GPUMEM_NO_MEMORY, "no more");
	is_uint(address, 42, "the output is as it was");
	is_status(host->kind_free(device, kind, one, 4096), GPUMEM_INVALID,
		  "another size");
	is_status(host->kind_free(device, kind, one + 4096, 4096),
		  GPUMEM_INVALID, "another place");
	is_status(host->kind_free(device, other, one, 1 << 20), GPUMEM_INVALID,
		  "another kind");
	is_status(host->free(device, one, 1 << 20), GPUMEM_INVALID,
		  "nor is it device memory");
	is_status(host->kind_free(device, kind, one, 1 << 20), GPUMEM_OK,
		  "free");
	ok(faults(one), "what is freed faults");
	is_status(host->kind_free(device, kind, one, 1 << 20), GPUMEM_INVALID,
		  "not twice");
	is_uint(gpumem_host_kind_bytes(0, kind), 2 << 20, "the rest is left");
	host->device_close(device);
	ok(faults(two), "and goes with the device");
	option(key, NULL);
}

static void absent(gpumem_kind kind, const char *key, enum gpumem_cap cap)
{
	struct gpumem_device_info info = GPUMEM_INIT(struct gpumem_device_info);
	uint64_t address = 42;
	void *device;

	option(key, "0");
	is_status(host->device_info(0, &info), GPUMEM_OK, "%s is 0", key);
	is_uint(info.caps & (uint32_t)cap, 0, "no capability");
	device = open_device(0);
	is_status(host->kind_alloc(device, kind, 4096, &address),
		  GPUMEM_UNSUPPORTED, "no memory");
	is_status(host->kind_alloc(device, (gpumem_kind)9, 4096, &address),
		  GPUMEM_UNSUPPORTED, "nor of a kind that is none");
	is_status(host->kind_alloc(device, GPUMEM_KIND_DEVICE, 4096, &address),
		  GPUMEM_UNSUPPORTED, "nor the device's own");
	is_uint(address, 42, "the output is as it was");
	host->device_close(device);
	option(key, NULL);
}

static void aligned(void)
{
	uint64_t address;
	void *device;

	option("host.alignment", "64KiB");
	device = open_device(0);
	address = take(device, GPUMEM_KIND_PINNED, 4096);
	is_uint(address % (64 << 10), 0, "aligned as the device's memory");
	is_status(host->kind_free(device, GPUMEM_KIND_PINNED, address, 4096),
		  GPUMEM_OK, "and back");
	host->device_close(device);
	option("host.alignment", NULL);
}

static void failing(void)
{
	void *device = open_device(0);
	uint64_t address = take(device, GPUMEM_KIND_PINNED, 4096), other = 42;

	must_status(gpumem_host_faults("kind_alloc@1;kind_free@1"));
	is_status(host->kind_alloc(device, GPUMEM_KIND_PINNED, 4096, &other),
		  GPUMEM_NO_MEMORY, "a fault fails it as for memory");
	is_status(host->kind_free(device, GPUMEM_KIND_PINNED, address, 4096),
		  GPUMEM_DRIVER, "and the free");
	is_uint(gpumem_host_kind_bytes(0, GPUMEM_KIND_PINNED), 4096,
		"which changes nothing");
	must_status(gpumem_host_faults("kind_free@1:lost"));
	is_status(host->kind_free(device, GPUMEM_KIND_PINNED, address, 4096),
		  GPUMEM_LOST, "the device is lost");
	must_status(gpumem_host_faults(NULL));
	is_status(host->kind_alloc(device, GPUMEM_KIND_PINNED, 4096, &other),
		  GPUMEM_LOST, "and stays so");
	is_uint(other, 42, "the output is as it was");
	host->device_close(device);
}

int main(void)
{
	fake_start();
	accounts(GPUMEM_KIND_PINNED, "host.pinned");
	accounts(GPUMEM_KIND_MANAGED, "host.managed");
	absent(GPUMEM_KIND_PINNED, "host.pinned", GPUMEM_CAP_PINNED);
	absent(GPUMEM_KIND_MANAGED, "host.managed", GPUMEM_CAP_MANAGED);
	aligned();
	failing();
	is_uint(gpumem_host_kind_bytes(0, GPUMEM_KIND_PINNED), 0,
		"of a closed device none");
	return done_testing();
}
