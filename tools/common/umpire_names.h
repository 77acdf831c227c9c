/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Between the files that read Umpire's logs: what a line says, and allocators,
 * each with its name and what memory it is of. No locks.
 */
#ifndef GPUMEM_TOOLS_UMPIRE_NAMES_H
#define GPUMEM_TOOLS_UMPIRE_NAMES_H

#include "foreign.h"

#include <jansson.h>

/* What memory an allocator is of; from UMPIRE_POOL on, that pool. */
enum { UMPIRE_NOT_SAID, UMPIRE_OTHER, UMPIRE_CPU, UMPIRE_POOL };

struct umpire {
	struct foreign foreign;
	json_t *uid;		/* of the first line */
	struct trace_ids names; /* number of a name, by the allocator */
	struct trace_ids empty; /* addresses of blocks of no bytes */
	uint8_t memory[TAG_NAMES_MAX + 1]; /* by the number of a name */
	uint16_t open; /* an allocator of which the address is not known */
	unsigned open_count;
};

/* What a line says; NULL where it does not. */
struct umpire_said {
	const char *event, *allocator, *pointer, *name, *base;
	const json_t *size;
	uint64_t us;
};

/* An allocator is made, on that of the name `base`; NULL: it is memory itself.
 */
bool umpire_make(struct umpire *umpire, const struct umpire_said *said,
		 const char *base);
/* The number of the name of the line's allocator. */
bool umpire_find(struct umpire *umpire, const struct umpire_said *said,
		 uint16_t *number_out);

#endif
