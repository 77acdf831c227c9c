/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * How many pages of 2 MiB have at least one live block: what no trim can give
 * back while blocks stay where they are. A block costs the same whatever its
 * size, for only its first and its last page can be shared with others. No
 * locks.
 */
#ifndef GPUMEM_TOOLS_REPORT_PAGES_H
#define GPUMEM_TOOLS_REPORT_PAGES_H

#include "common/trace_ids.h"

#define PAGES_BYTES (UINT64_C(2) << 20)

/* users[ids[page]]: blocks that begin or end in that page. in_use is the number
 * of pages with a block, also of those that one block has to itself. */
struct pages {
	struct trace_ids ids;
	uint32_t *users;
	size_t count, room;
	uint64_t in_use;
};

void pages_init(struct pages *pages);
/* A block of at least one byte; it need not be page-aligned. False: out of
 * memory. */
bool pages_add(struct pages *pages, uint16_t pool, uint64_t address,
	       uint64_t bytes);
/* The same block ends. */
void pages_drop(struct pages *pages, uint16_t pool, uint64_t address,
		uint64_t bytes);
void pages_free(struct pages *pages);

#endif
