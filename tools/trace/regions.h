/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Which addresses blocks ever had, as ranges of whole units that are apart.
 */
#ifndef GPUMEM_TOOLS_TRACE_REGIONS_H
#define GPUMEM_TOOLS_TRACE_REGIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REGIONS_UNIT (UINT64_C(2) << 20)

/* The last address is that of its last byte: a region may end where addresses
 * do. */
struct region {
	uint64_t begin, last;
};

/* After regions_merge(): ascending, and list[i].last + 1 < list[i + 1].begin.
 */
struct regions {
	struct region *list;
	size_t count, room;
};

/* False: out of memory. */
bool regions_add(struct regions *regions, uint64_t address, uint64_t bytes);
void regions_merge(struct regions *regions);
void regions_free(struct regions *regions);

#endif
