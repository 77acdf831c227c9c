/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * From an address to what lies there, for all heaps of the process: a table of
 * two levels, one entry per 16 KiB of address. An entry is
 *
 *     0           no block of ours begins here, and no run covers this
 *     slab | 1    these 16 KiB belong to a run of small blocks
 *     extent      a large block (more than 16 KiB, so at most one) begins here,
 *                 live, or cached by a thread
 *
 * Reading takes no lock; an entry is written under the mutex of the heap that
 * owns the address. Tables are never freed: at most 8 bytes per 16 KiB of
 * address that was ever used.
 */
#ifndef GM_EXTENT_MAP_H
#define GM_EXTENT_MAP_H

#include <gpumem/gpumem.h>
#include <stdatomic.h>

enum {
	GM_GRANULE_SHIFT = 14,
	GM_REGION_SHIFT = 32, /* one table for 4 GiB */
	GM_ADDRESS_BITS = 48
};

#define GM_REGION_ENTRIES (1u << (GM_REGION_SHIFT - GM_GRANULE_SHIFT))

struct gm_region {
	_Atomic uintptr_t entry[GM_REGION_ENTRIES];
};

extern _Atomic(struct gm_region *)
	gm_map_top[1u << (GM_ADDRESS_BITS - GM_REGION_SHIFT)];

static inline uintptr_t gm_map_get(uintptr_t address)
{
	struct gm_region *region;

	if (address >> GM_ADDRESS_BITS)
		return 0;
	region = atomic_load_explicit(&gm_map_top[address >> GM_REGION_SHIFT],
				      memory_order_acquire);
	if (!region)
		return 0;
	return atomic_load_explicit(
		&region->entry[(address >> GM_GRANULE_SHIFT) &
			       (GM_REGION_ENTRIES - 1)],
		memory_order_acquire);
}

/* Makes tables for [address, address + bytes). OK, NO_HOST_MEMORY, or
 * UNSUPPORTED for an address beyond 48 bits. */
gpumem_status gm_map_ensure(uintptr_t address, size_t bytes);

/* gm_map_ensure() has been called for the address. */
void gm_map_set(uintptr_t address, uintptr_t entry);
void gm_map_fill(uintptr_t address, size_t bytes, uintptr_t entry);

/* The highest address <= `address` and >= `floor` that has an entry, or 0.
 * For finding the large block that holds an interior pointer. */
uintptr_t gm_map_find_below(uintptr_t address, uintptr_t floor);

#endif
