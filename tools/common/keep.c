/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See keep.h.
 */
#include "keep.h"

#include <stdatomic.h>
#include <stdlib.h>

struct kept {
	void *ptr;
	struct kept *next;
};

/* Only ever grows. */
static _Atomic(struct kept *) kept_list;

void keep_or_free(void *ptr, bool keep)
{
	struct kept *kept;

	if (!keep) {
		free(ptr);
		return;
	}
	kept = malloc(sizeof(*kept));
	if (!kept)
		return; /* then it is kept, but nobody knows */
	kept->ptr = ptr;
	kept->next = atomic_load(&kept_list);
	while (!atomic_compare_exchange_weak(&kept_list, &kept->next, kept))
		;
}
