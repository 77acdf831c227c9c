/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * A map from IDs to slots: open addressing, keys mixed with a number of this
 * process's own, so that no trace can make it slow on purpose.
 */
#ifndef GPUMEM_TOOLS_TRACE_IDS_H
#define GPUMEM_TOOLS_TRACE_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACE_NO_SLOT UINT32_MAX

struct trace_id {
	uint64_t id;
	uint32_t slot;
};

/* count <= 3/4 * (mask + 1); an entry with slot TRACE_NO_SLOT is empty */
struct trace_ids {
	struct trace_id *entries;
	uint64_t mask, count, seed;
};

void trace_ids_init(struct trace_ids *ids);
/* The ID's slot or TRACE_NO_SLOT. */
uint32_t trace_ids_find(const struct trace_ids *ids, uint64_t id);
/* The ID must not be there. False: out of memory. */
bool trace_ids_add(struct trace_ids *ids, uint64_t id, uint32_t slot);
/* Gives the slot that the ID had, or TRACE_NO_SLOT. */
uint32_t trace_ids_take(struct trace_ids *ids, uint64_t id);
void trace_ids_free(struct trace_ids *ids);

#endif
