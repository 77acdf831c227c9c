/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The host backend pins memory of the process where it is: in the account of
 * pinned memory, once, and whoever wants it back names it as it was pinned. It
 * stays the process's.
 */
#include "probe.h"
#include <sys/mman.h>

enum { BYTES = 1 << 20 };

static unsigned char *new_memory(int protection)
{
	void *memory = mmap(NULL, BYTES, protection,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		bail("mmap: %s", strerror(errno));
	return memory;
}

/* For what is no test's subject. */
static void must_status(gpumem_status status)
{
	if (status != GPUMEM_OK)
		bail("%s", fake_error.text);
}

static uint64_t pinned(void)
{
	return gpumem_host_kind_bytes(0, GPUMEM_KIND_PINNED);
}

static void test_account(void)
{
	unsigned char *memory = new_memory(PROT_READ | PROT_WRITE);
	unsigned char *half = memory + BYTES / 2;
	uint64_t address = 0;
	void *device;

	option("host.pinned", "1MiB");
	device = open_device(0);
	is_status(host->host_pin(device, half, BYTES / 2), GPUMEM_OK, "half");
	is_uint(pinned(), BYTES / 2, "is pinned");
	is_status(host->host_pin(device, memory, BYTES), GPUMEM_INVALID,
		  "what is pinned in part is not pinned");
	is_status(host->host_pin(device, half + 4096, 4096), GPUMEM_INVALID,
		  "nor a part of it");
	is_status(host->host_pin(device, memory, BYTES / 2), GPUMEM_OK,
		  "but what is beside it");
	is_status(host->kind_alloc(device, GPUMEM_KIND_PINNED, 4096, &address),
		  GPUMEM_NO_MEMORY, "which is all that may be");
	is_status(host->host_unpin(device, memory, BYTES), GPUMEM_INVALID,
		  "not both at once");
	is_status(host->host_unpin(device, memory + 4096, BYTES / 2),
		  GPUMEM_INVALID, "not from the middle");
	is_status(host->kind_free(device, GPUMEM_KIND_PINNED, (uintptr_t)memory,
				  BYTES / 2),
		  GPUMEM_INVALID, "it was not allocated");
	memset(memory, 7, BYTES);
	is_status(host->host_unpin(device, memory, BYTES / 2), GPUMEM_OK,
		  "each by itself");
	is_uint(pinned(), BYTES / 2, "the other is");
	is_status(host->host_unpin(device, memory, BYTES / 2), GPUMEM_INVALID,
		  "not twice");
	is_int(memory[0], 7, "it keeps its content");
	host->device_close(device);
	is_int(half[0], 7, "and outlives the device");
	option("host.pinned", NULL);
	munmap(memory, BYTES);
}

static void test_refused(void)
{
	unsigned char *memory = new_memory(PROT_READ | PROT_WRITE);
	unsigned char *locked = new_memory(PROT_NONE);
	void *device = open_device(0);

	is_status(host->host_pin(device, memory + 1, 4096), GPUMEM_INVALID,
		  "no page");
	is_status(host->host_pin(device, memory, 0), GPUMEM_INVALID, "nothing");
	is_status(host->host_pin(device, locked, BYTES), GPUMEM_NO_HOST_MEMORY,
		  "what cannot be written has no pages");
	munmap(locked, BYTES);
	must_status(gpumem_host_faults("host_pin@1;host_unpin@1"));
	is_status(host->host_pin(device, memory, BYTES), GPUMEM_NO_MEMORY,
		  "a fault fails it as for memory");
	is_uint(pinned(), 0, "nothing is pinned");
	is_status(host->host_pin(device, memory, BYTES), GPUMEM_OK, "once");
	is_status(host->host_unpin(device, memory, BYTES), GPUMEM_DRIVER,
		  "and the other");
	is_uint(pinned(), BYTES, "it is pinned as before");
	is_status(host->host_unpin(device, memory, BYTES), GPUMEM_OK, "now");
	must_status(gpumem_host_faults(NULL));
	host->device_close(device);
	option("host.pinned", "0");
	device = open_device(0);
	is_status(host->host_pin(device, memory, BYTES), GPUMEM_UNSUPPORTED,
		  "a device that pins nothing");
	host->device_close(device);
	option("host.pinned", NULL);
	munmap(memory, BYTES);
}

int main(void)
{
	fake_start();
	test_account();
	test_refused();
	is_uint(pinned(), 0, "of a closed device none");
	return done_testing();
}
