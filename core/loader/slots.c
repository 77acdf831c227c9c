/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/* See slots.h. */
#include "slots.h"

#include <stddef.h>
#include <string.h>

typedef void (*any_slot)(void);

const struct gm_slot_row gm_slot_rows[] = {
#define SLOT_ROW(slot, group, caps, counted)                                   \
	{#slot, #group, caps, GPUMEM_CALL_##counted},
	GPUMEM_SLOT_LIST(SLOT_ROW)
#undef SLOT_ROW
};

/* The list names every slot, in the order of the table. */
#define SLOT_OFFSET(number)                                                    \
	(offsetof(struct gpumem_backend, init) + (number) * sizeof(any_slot))
_Static_assert(SLOT_OFFSET(GPUMEM_SLOT_COUNT) == sizeof(struct gpumem_backend),
	       "GPUMEM_SLOT_LIST lacks a slot of struct gpumem_backend");
#define IS_IN_ORDER(slot, group, caps, counted)                                \
	_Static_assert(offsetof(struct gpumem_backend, slot) ==                \
			       SLOT_OFFSET(GPUMEM_SLOT_##slot),                \
		       #slot " stands elsewhere in GPUMEM_SLOT_LIST");
GPUMEM_SLOT_LIST(IS_IN_ORDER)
#undef IS_IN_ORDER

/* What gpumem_stats counts is counted as what it is called. */
enum {
#define COUNTED_AS(slot, group, caps, counted)                                 \
	COUNTED_##slot = GPUMEM_CALL_##counted,
	GPUMEM_SLOT_LIST(COUNTED_AS)
#undef COUNTED_AS
};
#define IS_COUNTED(call, slot)                                                 \
	_Static_assert((int)COUNTED_##slot == (int)GPUMEM_CALL_##call,         \
		       #slot " is another call in GPUMEM_CALL_LIST");
GPUMEM_CALL_LIST(IS_COUNTED)
#undef IS_COUNTED

bool gm_backend_has(const struct gpumem_backend *ops, enum gpumem_slot slot)
{
	any_slot function;

	memcpy(&function, (const char *)ops + SLOT_OFFSET(slot),
	       sizeof(function));
	return function != NULL;
}
