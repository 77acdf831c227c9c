/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Lies about raw memory's addresses, and raw memory that does what no slot may.
 * Included by liar.c.
 */
#ifndef LIAR_ADDRESS_H
#define LIAR_ADDRESS_H

#include "liar.h"

#include <sys/mman.h>
#include <unistd.h>

static gpumem_status sets_no_address(void *device, uint64_t bytes,
				     uint64_t *address_out)
{
	uint64_t address;

	(void)address_out;
	return honest()->alloc(device, bytes, &address);
}

static gpumem_status gives_zero(void *device, uint64_t bytes,
				uint64_t *address_out)
{
	gpumem_status status = honest()->alloc(device, bytes, address_out);

	if (status == GPUMEM_OK)
		*address_out = 0;
	return status;
}

static gpumem_status gives_odd(void *device, uint64_t bytes,
			       uint64_t *address_out)
{
	gpumem_status status = honest()->alloc(device, bytes, address_out);

	if (status == GPUMEM_OK)
		*address_out += 1;
	return status;
}

static gpumem_status above_48_bits(void *device, uint64_t bytes,
				   uint64_t *address_out)
{
	gpumem_status status = honest()->alloc(device, bytes, address_out);

	*address_out |= (uint64_t)1 << 56;
	return status;
}

static gpumem_status strip_free(void *device, uint64_t address, uint64_t bytes)
{
	return honest()->free(device, address & ~((uint64_t)1 << 56), bytes);
}

static uint64_t given_twice;

/* Every second block is the first once more. */
static gpumem_status overlaps(void *device, uint64_t bytes,
			      uint64_t *address_out)
{
	gpumem_status status = GPUMEM_OK;

	if (!given_twice) {
		status = honest()->alloc(device, bytes, address_out);
		given_twice = *address_out;
	} else {
		*address_out = given_twice;
		given_twice = 0;
	}
	return status;
}

/* Always the same. */
static gpumem_status repeats(void *device, uint64_t bytes,
			     uint64_t *address_out)
{
	static uint64_t address;
	gpumem_status status = GPUMEM_OK;

	if (!address)
		status = honest()->alloc(device, bytes, &address);
	*address_out = address;
	return status;
}

/* Each begins in the middle of the one before. */
static gpumem_status overlaps_half(void *device, uint64_t bytes,
				   uint64_t *address_out)
{
	static uint64_t before, before_bytes;
	gpumem_status status = GPUMEM_OK;

	if (before) {
		*address_out = before + before_bytes / 2;
		return status;
	}
	status = honest()->alloc(device, bytes, address_out);
	before = *address_out;
	before_bytes = bytes;
	return status;
}

/* Of what was given out twice, the second free is one of nothing. */
static gpumem_status frees_some(void *device, uint64_t address, uint64_t bytes)
{
	(void)honest()->free(device, address, bytes);
	return GPUMEM_OK;
}

static gpumem_status forgets_free(void *device, uint64_t address,
				  uint64_t bytes)
{
	(void)device;
	(void)address;
	(void)bytes;
	return GPUMEM_OK;
}

static gpumem_status refuses_free(void *device, uint64_t address,
				  uint64_t bytes)
{
	(void)device;
	(void)address;
	(void)bytes;
	services.error(5, "LIAR_NEVER", "nothing is taken back");
	return GPUMEM_DRIVER;
}

/* The memory goes; its addresses stay mapped. */
static gpumem_status keeps_mapping(void *device, uint64_t address,
				   uint64_t bytes)
{
	gpumem_status status = honest()->free(device, address, bytes);

	if (status == GPUMEM_OK)
		(void)mmap((void *)(uintptr_t)address, bytes, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return status;
}

/* ---- what no slot may do at all ----------------------------------------- */

static gpumem_status prints(void *device, uint64_t bytes, uint64_t *address_out)
{
	printf("alloc of %llu bytes\n", (unsigned long long)bytes);
	return honest()->alloc(device, bytes, address_out);
}

static gpumem_status prints_error(void *device, uint64_t bytes,
				  uint64_t *address_out)
{
	gpumem_status status = honest()->alloc(device, bytes, address_out);

	if (status != GPUMEM_OK)
		fprintf(stderr, "alloc failed\n");
	return status;
}

static gpumem_status hangs(void *device, uint64_t bytes, uint64_t *address_out)
{
	(void)device;
	(void)bytes;
	(void)address_out;
	while (pause())
		continue;
	return GPUMEM_DRIVER;
}

static gpumem_status ends_process(void *device, uint64_t address,
				  uint64_t bytes)
{
	(void)device;
	(void)address;
	(void)bytes;
	_exit(0);
}

#endif
