/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* Lies about addresses, pages and mappings. Included by liar.c. */
#ifndef LIAR_VIRTUAL_H
#define LIAR_VIRTUAL_H

#include "liar.h"

#include <signal.h>
#include <sys/mman.h>

static gpumem_status no_alignment(void *device, uint64_t bytes,
				  uint64_t alignment, uint64_t *address_out)
{
	const uint64_t page = (uint64_t)2 << 20;
	gpumem_status status = honest()->va_reserve(device, bytes + page,
						    alignment, address_out);

	if (alignment > page)
		*address_out += page;
	return status;
}

static gpumem_status any_release(void *device, uint64_t address, uint64_t bytes)
{
	(void)device;
	(void)address;
	(void)bytes;
	return GPUMEM_OK;
}

static gpumem_status reserves_nothing(void *device, uint64_t bytes,
				      uint64_t alignment, uint64_t *address_out)
{
	(void)device;
	(void)bytes;
	(void)alignment;
	(void)address_out;
	return GPUMEM_OK;
}

static gpumem_status reserves_zero(void *device, uint64_t bytes,
				   uint64_t alignment, uint64_t *address_out)
{
	(void)device;
	(void)bytes;
	(void)alignment;
	*address_out = 0;
	return GPUMEM_OK;
}

static gpumem_status reserves_above(void *device, uint64_t bytes,
				    uint64_t alignment, uint64_t *address_out)
{
	gpumem_status status =
		honest()->va_reserve(device, bytes, alignment, address_out);

	if (status == GPUMEM_OK)
		*address_out |= (uint64_t)1 << 56;
	return status;
}

static gpumem_status reserves_again(void *device, uint64_t bytes,
				    uint64_t alignment, uint64_t *address_out)
{
	static uint64_t address;
	gpumem_status status = GPUMEM_OK;

	if (!address)
		status = honest()->va_reserve(device, bytes, alignment,
					      &address);
	*address_out = address;
	return status;
}

static gpumem_status reserve_touches(void *device, uint64_t bytes,
				     uint64_t alignment, uint64_t *address_out)
{
	gpumem_status status =
		honest()->va_reserve(device, bytes, alignment, address_out);

	if (status != GPUMEM_OK)
		*address_out = 4096;
	return status;
}

static gpumem_status silent_reserve(void *device, uint64_t bytes,
				    uint64_t alignment, uint64_t *address_out)
{
	gpumem_status status;

	is_mute = true;
	status = honest()->va_reserve(device, bytes, alignment, address_out);
	is_mute = false;
	return status;
}

/* ---- pages -------------------------------------------------------------- */

static gpumem_status page_stays(void *device, gpumem_page page, uint64_t bytes)
{
	(void)device;
	(void)page;
	(void)bytes;
	return GPUMEM_OK;
}

static gpumem_status page_zero(void *device, uint64_t bytes,
			       gpumem_page *page_out)
{
	(void)device;
	(void)bytes;
	*page_out = 0;
	return GPUMEM_OK;
}

static gpumem_status page_unset(void *device, uint64_t bytes,
				gpumem_page *page_out)
{
	(void)device;
	(void)bytes;
	(void)page_out;
	return GPUMEM_OK;
}

static gpumem_status page_again(void *device, uint64_t bytes,
				gpumem_page *page_out)
{
	static gpumem_page page;
	gpumem_status status = GPUMEM_OK;

	if (!page)
		status = honest()->page_create(device, bytes, &page);
	*page_out = page;
	return status;
}

static gpumem_status page_touches(void *device, uint64_t bytes,
				  gpumem_page *page_out)
{
	gpumem_status status = honest()->page_create(device, bytes, page_out);

	if (status != GPUMEM_OK)
		*page_out = 1;
	return status;
}

static gpumem_status page_masks(void *device, uint64_t bytes,
				gpumem_page *page_out)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	return honest()->page_create(device, bytes, page_out);
}

static gpumem_status refuses_destroy(void *device, gpumem_page page,
				     uint64_t bytes)
{
	(void)device;
	(void)page;
	(void)bytes;
	services.error(5, "LIAR_NEVER", "no page is taken back");
	return GPUMEM_DRIVER;
}

/* ---- mappings ----------------------------------------------------------- */

static gpumem_status loses_content(void *device, uint64_t address, size_t count,
				   uint64_t page_bytes)
{
	gpumem_status status =
		honest()->fill(device, address, 0, count * page_bytes, NULL);

	if (status == GPUMEM_OK)
		status = honest()->stream_sync(device, NULL);
	return status == GPUMEM_OK
		       ? honest()->unmap(device, address, count, page_bytes)
		       : status;
}

static gpumem_status maps_some(void *device, uint64_t address,
			       const gpumem_page *pages, size_t count,
			       uint64_t page_bytes)
{
	gpumem_status status = GPUMEM_OK;

	for (size_t i = 0; i < count && status == GPUMEM_OK; i++)
		status = honest()->map(device, address + i * page_bytes,
				       pages + i, 1, page_bytes);
	return status;
}

/* What it has mapped before it fails stays behind the addresses, unknown to its
 * own account. */
static gpumem_status maps_half(void *device, uint64_t address,
			       const gpumem_page *pages, size_t count,
			       uint64_t page_bytes)
{
	gpumem_status status =
		honest()->map(device, address, pages, count, page_bytes);
	uint8_t *at = (uint8_t *)(uintptr_t)address;

	if (status != GPUMEM_OK && count == 3 &&
	    mmap(at, page_bytes, PROT_READ | PROT_WRITE,
		 MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
		memset(at, 11, page_bytes); /* as the first page has */
	return status;
}

/* Fills what is there already before it fails. */
static gpumem_status map_tears(void *device, uint64_t address,
			       const gpumem_page *pages, size_t count,
			       uint64_t page_bytes)
{
	gpumem_status status =
		honest()->map(device, address, pages, count, page_bytes);

	if (status != GPUMEM_OK && count == 3)
		(void)honest()->fill(device, address + page_bytes, 1,
				     page_bytes, NULL);
	return status;
}

static gpumem_status map_prints(void *device, uint64_t address,
				const gpumem_page *pages, size_t count,
				uint64_t page_bytes)
{
	gpumem_status status =
		honest()->map(device, address, pages, count, page_bytes);

	if (status != GPUMEM_OK)
		fprintf(stderr, "map: failed\n");
	return status;
}

static gpumem_status map_crashes(void *device, uint64_t address,
				 const gpumem_page *pages, size_t count,
				 uint64_t page_bytes)
{
	(void)device;
	(void)address;
	(void)pages;
	(void)count;
	(void)page_bytes;
	raise(SIGSEGV);
	return GPUMEM_DRIVER;
}

static gpumem_status refuses_map(void *device, uint64_t address,
				 const gpumem_page *pages, size_t count,
				 uint64_t page_bytes)
{
	(void)device;
	(void)address;
	(void)pages;
	(void)count;
	(void)page_bytes;
	services.error(5, "LIAR_NEVER", "nothing is mapped");
	return GPUMEM_DRIVER;
}

static gpumem_status refuses_unmap(void *device, uint64_t address, size_t count,
				   uint64_t page_bytes)
{
	(void)device;
	(void)address;
	(void)count;
	(void)page_bytes;
	services.error(5, "LIAR_NEVER", "nothing is unmapped");
	return GPUMEM_DRIVER;
}

#endif
