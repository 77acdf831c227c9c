/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * Entries of one size, by number, in pages of their own, and lists of them. An
 * entry begins with the numbers of those beside it in its list; number 0 is
 * none. The caller locks. A table of zeros is empty.
 */
#ifndef GPUMEM_PRELOAD_TABLE_H
#define GPUMEM_PRELOAD_TABLE_H

#include "cache.h"

/* Those that were given, once or more often: 1 to used - 1. */
struct table {
	char *entries;
	uint32_t room, used, free;
};

/* Of an entry that is in no list; 0: no memory. It may move all of them. */
uint32_t table_new(struct table *table, size_t size);
/* It is all zeros, but for `beside`. */
void table_end(struct table *table, size_t size, uint32_t number);

void table_append(struct table *table, size_t size, struct cache_list *list,
		  uint32_t number);
void table_unlink(struct table *table, size_t size, struct cache_list *list,
		  uint32_t number);

#endif
