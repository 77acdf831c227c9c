/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * The slots by their numbers: what GPUMEM_SLOT_LIST says of each, and whether a
 * table has it. Constants; no lock.
 */
#ifndef GM_LOADER_SLOTS_H
#define GM_LOADER_SLOTS_H

#include <gpumem/backend.h>

struct gm_slot_row {
	const char *name, *group;
	uint32_t caps;	  /* that go with it; 0: none is needed */
	unsigned counted; /* GPUMEM_CALL_, or GPUMEM_CALL_NONE */
};

extern const struct gm_slot_row gm_slot_rows[GPUMEM_SLOT_COUNT];

bool gm_backend_has(const struct gpumem_backend *ops, enum gpumem_slot slot);

#endif
