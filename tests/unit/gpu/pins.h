/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Memory of the process that a plugin pins where it is: its pages are made
 * first, the driver is told once, and what fails leaves nothing pinned, or all.
 * Compiled for each vendor, behind its fixture.
 */
#ifndef GPU_PINS_H
#define GPU_PINS_H

#include "double.h"
#include <sys/mman.h>

#define REGISTER VENDOR("cuMemHostRegister_v2", "hipHostRegister")
#define UNREGISTER VENDOR("cuMemHostUnregister", "hipHostUnregister")

static unsigned char *host_memory(void)
{
	void *memory = mmap(NULL, MIB, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		bail("mmap");
	return memory;
}

static bool has_pages(unsigned char *memory)
{
	unsigned char there[MIB / 4096] = {0};
	bool all = true;

	if (mincore(memory, MIB, there))
		bail("mincore");
	for (size_t i = 0; i < sizeof(there); i++)
		all &= there[i] & 1;
	return all;
}

static void pins_and_copies(void *device, unsigned char *memory)
{
	uint64_t address = 0;

	ok(!has_pages(memory), "memory without pages");
	is_status(gpu->host_pin(device, memory, MIB), GPUMEM_OK, "is pinned");
	is_uint(audit().pinned, 1, "the driver knows it");
	ok(has_pages(memory), "and it has pages");
	ok(gpu->host_pin(device, memory, MIB) != GPUMEM_OK, "once");
	is_uint(audit().pinned, 1, "as before");
	if (gpu->alloc(device, MIB, &address))
		bail("alloc: %s", said.text);
	memset(memory, 0x33, MIB);
	if (gpu->copy(device, address, (uintptr_t)memory, MIB, NULL) ||
	    gpu->stream_sync(device, NULL) ||
	    gpu->copy(device, (uintptr_t)memory + MIB / 2, address, 100,
		      NULL) ||
	    gpu->stream_sync(device, NULL))
		bail("copy: %s", said.text);
	is_int(memory[MIB / 2 + 99], 0x33, "there and back");
	is_status(gpu->free(device, address, MIB), GPUMEM_OK, "free");
	is_status(gpu->host_unpin(device, memory, MIB), GPUMEM_OK,
		  "pinned no more");
	is_uint(audit().pinned, 0, "the driver has forgotten it");
	is_int(memory[0], 0x33, "its content stays");
	ok(gpu->host_unpin(device, memory, MIB) != GPUMEM_OK, "once");
}

static void has_none(void *device)
{
	unsigned char *memory = host_memory();
	uint64_t calls = count_calls(REGISTER);

	munmap(memory + MIB / 2, MIB / 2);
	is_status(gpu->host_pin(device, memory, MIB), GPUMEM_NO_HOST_MEMORY,
		  "where the system gives no pages");
	ok(strstr(said.text, "no pages"), "%s", said.text);
	is_uint(count_calls(REGISTER), calls, "the driver is not asked");
	munmap(memory, MIB / 2);
}

static void fails(void *device, unsigned char *memory)
{
	static const struct {
		int code;
		gpumem_status status;
	} rows[] = {{2, GPUMEM_NO_MEMORY},
		    {801, GPUMEM_UNSUPPORTED},
		    {999, GPUMEM_DRIVER}};

	for (size_t i = 0; i < 3; i++) {
		(void)fail_call(REGISTER, 1, false, rows[i].code);
		is_status(gpu->host_pin(device, memory, MIB), rows[i].status,
			  "it does not pin: %d", rows[i].code);
		ok(strstr(said.text, VENDOR("cuMemHostRegister of 1048576",
					    "hipHostRegister of 1048576")),
		   "%s", said.text);
		is_uint(audit().pinned, 0, "nothing is");
		heal_calls();
	}
	is_status(gpu->host_pin(device, memory, MIB), GPUMEM_OK, "later");
	(void)fail_call(UNREGISTER, 1, false, 999);
	is_status(gpu->host_unpin(device, memory, MIB), GPUMEM_DRIVER,
		  "it does not unpin");
	is_uint(audit().pinned, 1, "it is pinned as before");
	heal_calls();
	is_status(gpu->host_unpin(device, memory, MIB), GPUMEM_OK, "later");
}

static void check_pins(void)
{
	void *device = open_device(0);
	unsigned char *memory = host_memory();

	pins_and_copies(device, memory);
	has_none(device);
	fails(device, memory);
	munmap(memory, MIB);
	gpu->device_close(device);
	is_uint(audit().pinned, 0, "nothing is left");
}

#endif
