/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The table of a reservation: what is mapped where, granule by granule (struct
 * host_range). No system call is made here. The callers hold the device's
 * `memory`.
 */
#ifndef GM_HOST_GRANULE_H
#define GM_HOST_GRANULE_H

#include "host_device.h"

/* The places of so many pages of one size, as map and unmap name them. */
struct host_extent {
	struct host_device *device;
	struct host_range *range; /* that holds all of it */
	uint64_t address, bytes;  /* bytes == count * page_bytes */
	uint64_t page_bytes;
	size_t count;
	uint64_t peers; /* mask of the devices that use it too */
};

gpumem_status gm_host_invalid(const char *what, uint64_t address,
			      uint64_t bytes);
/* Fills in range and bytes. INVALID: it does not lie on whole granules of one
 * reservation. The other functions want this to have been OK. */
gpumem_status gm_host_extent_find(struct host_extent *extent);
/* INVALID: something is mapped in it. */
gpumem_status gm_host_extent_vacant(const struct host_extent *extent);
/* INVALID: not each of its places begins a mapping of exactly that size. */
gpumem_status gm_host_extent_mapped(const struct host_extent *extent);
/* What is mapped at place i: a page's number + 1. */
uint32_t gm_host_extent_page(const struct host_extent *extent, size_t i);
/* From now on that is, for the extent's peers too; 0: nothing. */
void gm_host_extent_mark(const struct host_extent *extent, size_t i,
			 uint32_t value);
/* The peers use place i as well as who does so already. */
void gm_host_extent_open(const struct host_extent *extent, size_t i);

#endif
