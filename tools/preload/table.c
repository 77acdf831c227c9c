/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The gpumem developers */

/*
 * See table.h.
 */
#include "table.h"

#include <string.h>
#include <sys/mman.h>

#define ROOM_FIRST 256

static bool grow(struct table *table, size_t size)
{
	uint32_t room = table->room ? table->room * 2 : ROOM_FIRST;
	char *entries = mmap(NULL, room * size, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (entries == MAP_FAILED)
		return false;
	if (table->room) {
		memcpy(entries, table->entries, table->used * size);
		munmap(table->entries, table->room * size);
	} else {
		table->used = 1; /* number 0 is none */
	}
	table->entries = entries;
	table->room = room;
	return true;
}

static struct cache_list *beside(const struct table *table, size_t size,
				 uint32_t number)
{
	return (struct cache_list *)(void *)(table->entries + number * size);
}

uint32_t table_new(struct table *table, size_t size)
{
	uint32_t number = table->free;

	if (number) {
		table->free = beside(table, size, number)->last;
		return number;
	}
	if (table->used == table->room && !grow(table, size))
		return 0;
	return table->used++;
}

void table_end(struct table *table, size_t size, uint32_t number)
{
	memset(beside(table, size, number), 0, size);
	beside(table, size, number)->last = table->free;
	table->free = number;
}

void table_append(struct table *table, size_t size, struct cache_list *list,
		  uint32_t number)
{
	*beside(table, size, number) = (struct cache_list){list->last, 0};
	if (list->last)
		beside(table, size, list->last)->last = number;
	else
		list->first = number;
	list->last = number;
}

void table_unlink(struct table *table, size_t size, struct cache_list *list,
		  uint32_t number)
{
	const struct cache_list *own = beside(table, size, number);

	if (own->first)
		beside(table, size, own->first)->last = own->last;
	else
		list->first = own->last;
	if (own->last)
		beside(table, size, own->last)->first = own->first;
	else
		list->last = own->first;
}
