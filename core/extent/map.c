/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* The two-level table of map.h. */
#include "map.h"
#include "base/error.h"

#include <sys/mman.h>

_Atomic(struct gm_region *)
	gm_map_top[1u << (GM_ADDRESS_BITS - GM_REGION_SHIFT)];

static struct gm_region *region_create(void)
{
	void *memory =
		mmap(NULL, sizeof(struct gm_region), PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

/* Two heaps may race for a region that both touch: the loser unmaps its own. */
static gpumem_status region_ensure(uintptr_t top)
{
	struct gm_region *region, *expected = NULL;

	if (atomic_load_explicit(&gm_map_top[top], memory_order_acquire))
		return GPUMEM_OK;
	region = region_create();
	if (!region)
		return gm_fail(GPUMEM_NO_HOST_MEMORY,
			       "no host memory for the map of addresses");
	if (!atomic_compare_exchange_strong(&gm_map_top[top], &expected,
					    region))
		munmap(region, sizeof(*region));
	return GPUMEM_OK;
}

gpumem_status gm_map_ensure(uintptr_t address, size_t bytes)
{
	uintptr_t last = address + bytes - 1;

	if (last < address || last >> GM_ADDRESS_BITS)
		return gm_fail(
			GPUMEM_UNSUPPORTED,
			"the driver gave an address beyond 48 bits: %#zx",
			(size_t)address);
	for (uintptr_t top = address >> GM_REGION_SHIFT;
	     top <= last >> GM_REGION_SHIFT; top++) {
		gpumem_status status = region_ensure(top);

		if (status != GPUMEM_OK)
			return status;
	}
	return GPUMEM_OK;
}

void gm_map_set(uintptr_t address, uintptr_t entry)
{
	struct gm_region *region = atomic_load_explicit(
		&gm_map_top[address >> GM_REGION_SHIFT], memory_order_relaxed);

	atomic_store_explicit(&region->entry[(address >> GM_GRANULE_SHIFT) &
					     (GM_REGION_ENTRIES - 1)],
			      entry, memory_order_release);
}

void gm_map_fill(uintptr_t address, size_t bytes, uintptr_t entry)
{
	for (size_t at = 0; at < bytes; at += (size_t)1 << GM_GRANULE_SHIFT)
		gm_map_set(address + at, entry);
}

uintptr_t gm_map_find_below(uintptr_t address, uintptr_t floor)
{
	const uintptr_t granule = (uintptr_t)1 << GM_GRANULE_SHIFT;
	uintptr_t at = address & ~(granule - 1);

	floor &= ~(granule - 1);
	for (;; at -= granule) {
		if (gm_map_get(at))
			return at;
		if (at <= floor)
			return 0;
	}
}
